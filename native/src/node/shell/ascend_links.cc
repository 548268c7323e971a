// SPDX-License-Identifier: Apache-2.0
#include "node/shell/ascend_links.h"

#include <algorithm>

#include "base/log.h"
#include "ssd/layout.h"
#include "store/layout.h"

namespace kvpool::node {
namespace {

/// A transfer that takes longer is worth a line.
constexpr uint64_t kSlowUs = 1'000'000;

uint64_t roomFor(uint64_t bytes) {
  return (bytes + store::kExtentAlignment - 1) / store::kExtentAlignment * store::kExtentAlignment;
}

/// ACL says nothing of how its memory is aligned, and a device reads into whole blocks.
void divide(std::span<uint8_t> memory, uint64_t tierBytes, AscendSource& source) {
  const uint64_t behindBlocks =
      tierBytes == 0 ? 0 : (reinterpret_cast<uintptr_t>(memory.data()) + memory.size()) % ssd::kBlockBytes;
  const std::span<uint8_t> used = memory.first(memory.size() - behindBlocks);
  source.ofTier = used.last(tierBytes);
  source.staging = used.first((used.size() - tierBytes) / store::kExtentAlignment * store::kExtentAlignment);
}

}  // namespace

Result<AscendSource> openAscend(const ascend::Station::Terms& terms, uint64_t tierBytes) {
  auto station = ascend::Station::open(terms);
  if (!station.ok()) return station.status();
  const uint64_t ofTier = tierBytes == 0 ? 0 : tierBytes + ssd::kBlockBytes;
  const uint64_t wanted = station.value()->wholeHostMemory(station.value()->stagingBytes() + ofTier);
  const uint64_t least = AscendLinks::kConnectionsLeast * AscendLinks::kConnectionBytesMax + ofTier;
  const auto memory = station.value()->hostMemory(wanted, least);
  if (!memory.ok()) return memory.status();
  const uint64_t had = memory.value().size();
  if (had < wanted) {
    log(LogLevel::Warning, "ascend: the host has no " + std::to_string(wanted) + " bytes for staging memory; it is " +
                               std::to_string(had) + " bytes, so fewer transfers are under way at a time");
  }
  AscendSource source{std::move(station.value()), {}, {}};
  divide(memory.value(), tierBytes, source);
  return source;
}

AscendLinks::AscendLinks(AscendSource source, std::span<uint8_t> segment, RemoteEvents& events,
                         std::function<void()> wake)
    : source_(std::move(source)),
      segment_(segment),
      events_(events),
      wake_(std::move(wake)),
      room_(0, source_.staging.size()) {}

AscendLinks::~AscendLinks() {
  source_.mover->shutDown();
  for (const auto& [number, operation] : std::exchange(operations_, {})) {
    if (operation.kind == Kind::Pull) events_.onPulled(operation.transfer, false, 0);
    if (pushes(operation)) events_.onPushed(operation.transfer, false);
  }
}

void AscendLinks::connect(const ConnectRemote& wanted, uint64_t) {
  const StagingOffer& offer = wanted.offer;
  if (offer.bytes < kProbeBytes) {
    refused_.insert_or_assign(
        wanted.connection, Status(KV_INVALID_ARGUMENT, "the client offers " + std::to_string(offer.bytes) + " bytes"));
    return;
  }
  Link& link = links_[wanted.connection];
  link.place = {offer.worker, offer.registrations};
  link.address = offer.address;
  link.bytes = offer.bytes;
  begin({Kind::Probe, wanted.connection, 0, offer.address, {}});
}

void AscendLinks::pull(const PullPayload& wanted) {
  const std::span<uint8_t> into = segment_.subspan(wanted.offset, wanted.length);
  const auto link = links_.find(wanted.connection);
  const uint64_t remote = link == links_.end() ? 0 : link->second.address + wanted.stagingOffset;
  begin({Kind::Pull,
         wanted.connection,
         wanted.transfer,
         remote,
         into,
         {},
         0,
         {},
         RunningSum::behind(into.data(), into.size(), into.size() >= crc::kStreamBytes)});
}

void AscendLinks::push(const PushPayload& wanted) {
  const auto link = links_.find(wanted.connection);
  const uint64_t remote = link == links_.end() ? 0 : link->second.address + wanted.stagingOffset;
  begin({Kind::Push, wanted.connection, wanted.transfer, remote, segment_.subspan(wanted.offset, wanted.length)});
}

void AscendLinks::pushStaged(const PushStaged& wanted, std::span<uint8_t> staged) {
  const auto link = links_.find(wanted.connection);
  const uint64_t remote = link == links_.end() ? 0 : link->second.address + wanted.stagingOffset;
  const Number number = ++last_;
  Operation& operation =
      operations_.emplace(number, Operation{Kind::PushStaged, wanted.connection, wanted.transfer, remote, staged})
          .first->second;
  if (link == links_.end() || staged.empty()) {
    finished_.emplace_back(number, link != links_.end());
  } else {
    move(number, operation);
  }
}

void AscendLinks::disconnect(ConnectionId connection) {
  refused_.erase(connection);
  const auto link = links_.extract(connection);
  if (!link) return;
  for (const Number number : link.mapped().waiting)
    finished_.emplace_back(number, false);
  const std::string& endpoint = link.mapped().place.endpoint;
  const bool isUsed =
      std::ranges::any_of(links_, [&](const auto& other) { return other.second.place.endpoint == endpoint; });
  if (!isUsed) source_.mover->forget(endpoint);
}

bool AscendLinks::settled() const {
  if (!copying_.empty() || !finished_.empty() || !refused_.empty()) return false;
  const std::lock_guard lock(mutex_);
  return ends_.empty();
}

// ---- transfers ----

void AscendLinks::begin(const Operation& operation) {
  const Number number = ++last_;
  const auto link = links_.find(operation.connection);
  const uint64_t bytes = operation.payload.size();
  const bool moves =
      link != links_.end() && bytes <= kConnectionBytesMax && (bytes > 0 || operation.kind == Kind::Probe);
  if (!moves) finished_.emplace_back(number, link != links_.end() && bytes == 0);
  operations_.emplace(number, operation);
  if (!moves) return;
  link->second.waiting.push_back(number);
  while (beginNext(link->second)) {
  }
}

/// One of each connection in turn, so that none takes all the room.
void AscendLinks::beginWaiting() {
  for (bool any = true; any;) {
    any = false;
    for (auto& [connection, link] : links_)
      any = beginNext(link) || any;
  }
}

bool AscendLinks::beginNext(Link& link) {
  if (link.waiting.empty()) return false;
  const Number number = link.waiting.front();
  Operation& operation = operations_.at(number);
  const uint64_t length = roomFor(operation.kind == Kind::Probe ? kProbeBytes : operation.payload.size());
  if (link.held + length > roomFor(kConnectionBytesMax)) return false;
  const auto offset = room_.allocate(length);
  if (!offset) return false;
  operation.room = {*offset, length};
  link.held += length;
  link.waiting.pop_front();
  if (operation.kind == Kind::Push) {
    copying_.push_back(number);
  } else {
    move(number, operation);
  }
  return true;
}

void AscendLinks::move(Number number, Operation& operation) {
  const auto& link = links_.at(operation.connection);
  const uint64_t length = operation.kind == Kind::Probe ? kProbeBytes : operation.payload.size();
  const bool isStaged = operation.kind == Kind::PushStaged;
  const auto local =
      reinterpret_cast<uintptr_t>(isStaged ? operation.payload.data() : source_.staging.data() + operation.room.offset);
  const auto direction = pushes(operation) ? ascend::Direction::Write : ascend::Direction::Read;
  operation.began = std::chrono::steady_clock::now();
  source_.mover->move(link.place, direction, {{local, operation.remote, length}}, [this, number](const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      ends_.push_back({number, status});
    }
    wake_();
  });
}

void AscendLinks::work(uint64_t) {
  for (const auto& [connection, why] : std::exchange(refused_, {}))
    events_.onRemoteConnected(connection, why);
  std::vector<End> ends;
  {
    const std::lock_guard lock(mutex_);
    ends.swap(ends_);
  }
  for (const End& end : ends)
    moved(end);
  copy();
  for (const auto& [number, good] : std::exchange(finished_, {}))
    finish(number, good);
  beginWaiting();
}

void AscendLinks::moved(const End& end) {
  const Operation& operation = operations_.at(end.operation);
  const auto link = links_.find(operation.connection);
  const ConnectionId connection = operation.connection;
  measure(operation, end.status);
  const bool isThere = link != links_.end();
  if (operation.kind == Kind::Pull && end.status.ok() && isThere) return copying_.push_back(end.operation);
  const bool isProbe = operation.kind == Kind::Probe;
  finish(end.operation, end.status.ok() && isThere);
  if (!isThere || (end.status.ok() && !isProbe)) return;
  if (isProbe && end.status.ok()) {
    link->second.reached = true;
    return events_.onRemoteConnected(connection, {});
  }
  // A channel that was left from the client's port before does not know its memory; it has ended by now.
  const bool isStale = isProbe && end.status.code() != KV_TIMEOUT && !std::exchange(link->second.probedAgain, true);
  if (isStale) return begin({Kind::Probe, connection, 0, link->second.address, {}});
  const bool reached = link->second.reached;
  const std::string why = end.status.text();
  disconnect(connection);
  if (reached) return events_.onRemoteLost(connection, why);
  events_.onRemoteConnected(connection, {KV_CONNECT_FAILED, "CANN does not reach the client: " + why});
}

void AscendLinks::measure(const Operation& operation, const Status& status) {
  const auto took = std::chrono::steady_clock::now() - operation.began;
  const auto us = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  ++(status.ok() ? outcomes_.transfers : outcomes_.failures);
  const bool isSlow = us >= kSlowUs;
  if (status.ok() && !isSlow) return;
  log(LogLevel::Warning, "ascend: a transfer of " + std::to_string(operation.payload.size()) + " bytes took " +
                             std::to_string(us / 1000) + " ms" + (status.ok() ? "" : " and failed: " + status.text()));
}

/// Between the staging memory and the segment, in turns, so that a large payload holds up no other work of the node.
void AscendLinks::copy() {
  uint64_t budget = kTurnBytes;
  while (!copying_.empty() && budget > 0) {
    const Number number = copying_.front();
    Operation& operation = operations_.at(number);
    if (!links_.contains(operation.connection)) {
      copying_.pop_front();
      finish(number, false);
      continue;
    }
    if (!copyPart(operation, budget)) return;
    copying_.pop_front();
    if (operation.kind == Kind::Push) {
      move(number, operation);
    } else {
      finish(number, true);
    }
  }
}

bool AscendLinks::copyPart(Operation& operation, uint64_t& budget) {
  uint8_t* staged = source_.staging.data() + operation.room.offset + operation.copied;
  uint8_t* stored = operation.payload.data() + operation.copied;
  const uint64_t part = std::min<uint64_t>(budget, operation.payload.size() - operation.copied);
  if (operation.kind == Kind::Pull) {
    operation.sum.copy(stored, staged, part);
  } else {
    std::copy_n(stored, part, staged);
  }
  operation.copied += part;
  budget -= part;
  return operation.copied == operation.payload.size();
}

/// CANN is through with its memory.
void AscendLinks::finish(Number number, bool good) {
  const auto node = operations_.extract(number);
  const Operation& operation = node.mapped();
  if (operation.room.length > 0) {
    room_.release(operation.room);
    const auto link = links_.find(operation.connection);
    if (link != links_.end()) link->second.held -= operation.room.length;
  }
  if (operation.kind == Kind::Pull) events_.onPulled(operation.transfer, good, operation.sum.crc());
  if (pushes(operation)) events_.onPushed(operation.transfer, good);
}

}  // namespace kvpool::node
