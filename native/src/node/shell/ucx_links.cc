// SPDX-License-Identifier: Apache-2.0
#include "node/shell/ucx_links.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "ucx/library.h"

namespace kvpool::node {
namespace {

/// Calls of UCX in which cancelled transfers must end when a node does; each does something.
constexpr int kLastRounds = 100000;

/// What the SSD reads is sent by tcp where there is no such memory.
void stageTier(UcxSource& source, uint64_t bytes) {
  ssd::BlockBuffer memory(bytes);
  const auto registered = source.worker->map(memory.bytes().data(), bytes);
  if (!registered.ok()) {
    return log(LogLevel::Warning, "what lies on the SSD is sent by tcp, not by ucx: " + registered.status().text());
  }
  source.ofTier = std::move(memory);
  source.tier = registered.value();
}

}  // namespace

UcxLinks::UcxLinks(UcxSource source, std::span<uint8_t> segment, RemoteEvents& events, uint64_t connectTimeoutMs)
    : source_(std::move(source)), segment_(segment), events_(events), connectTimeoutMs_(connectTimeoutMs) {}

UcxLinks::~UcxLinks() {
  for (auto& [connection, link] : links_) {
    link.memory->close();
    closing_.push_back(std::move(link));
  }
  for (int round = 0; round < kLastRounds && !closing_.empty(); ++round) {
    (void)source_.worker->settle();
    discardClosed();
  }
  if (!closing_.empty()) log(LogLevel::Warning, "UCX did not end what it had under way with clients");
  source_.worker->unmap(source_.segment);
  if (source_.tier != nullptr) source_.worker->unmap(source_.tier);
}

Result<UcxSource> openUcx(std::span<uint8_t> segment, uint64_t tierBytes) {
  const Result<const ucx::Api*> api = ucx::load();
  if (!api.ok()) return api.status();
  UcxSource source;
  auto worker = ucx::Worker::create(*api.value());
  if (!worker.ok()) return worker.status();
  source.worker = std::move(worker.value());
  auto registered = source.worker->map(segment.data(), segment.size());
  if (!registered.ok()) return registered.status();
  source.segment = registered.value();
  if (tierBytes > 0) stageTier(source, tierBytes);
  return source;
}

void UcxLinks::connect(const ConnectRemote& wanted, uint64_t nowMs) {
  settled_ = false;
  auto opened = ucx::RemoteMemory::open(*source_.worker, wanted.offer);
  if (!opened.ok()) {
    refused_.insert_or_assign(wanted.connection, opened.status());
    return;
  }
  Link& link = links_[wanted.connection];
  link.memory = std::move(opened.value());
  link.probe.resize(std::min<uint64_t>(kProbeBytes, wanted.offer.bytes));
  link.probeUntilMs = nowMs + connectTimeoutMs_;
  link.memory->read(kProbe, 0, link.probe);
}

void UcxLinks::pull(const PullPayload& wanted) {
  settled_ = false;
  const std::span<uint8_t> into = segment_.subspan(wanted.offset, wanted.length);
  pulls_[wanted.transfer] = Pull{into, 0, RunningSum::behind(into.data(), into.size())};
  const auto link = links_.find(wanted.connection);
  if (link == links_.end() || wanted.length == 0) {
    ended_.push_back({wanted.transfer, link != links_.end()});
  } else {
    link->second.memory->read(wanted.transfer, wanted.stagingOffset, into);
  }
}

void UcxLinks::push(const PushPayload& wanted) {
  write(wanted.connection, wanted.transfer, wanted.stagingOffset, segment_.subspan(wanted.offset, wanted.length));
}

void UcxLinks::pushStaged(const PushStaged& wanted, std::span<uint8_t> staged) {
  write(wanted.connection, wanted.transfer, wanted.stagingOffset, staged);
}

void UcxLinks::write(ConnectionId connection, uint64_t transfer, uint64_t stagingOffset, std::span<uint8_t> from) {
  settled_ = false;
  const auto link = links_.find(connection);
  if (link == links_.end() || from.empty()) {
    ended_.push_back({transfer, link != links_.end()});
  } else {
    link->second.memory->write(transfer, stagingOffset, from);
  }
}

void UcxLinks::disconnect(ConnectionId connection) {
  refused_.erase(connection);
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  settled_ = false;
  found->second.memory->close();
  closing_.push_back(std::move(found->second));
  links_.erase(found);
}

void UcxLinks::work(uint64_t nowMs) {
  settled_ = source_.worker->settle();
  for (const auto& [connection, why] : std::exchange(refused_, {}))
    events_.onRemoteConnected(connection, why);
  for (const auto& completion : std::exchange(ended_, {}))
    completed(completion);
  std::vector<ConnectionId> all;
  all.reserve(links_.size());
  for (const auto& [connection, link] : links_)
    all.push_back(connection);
  for (const ConnectionId connection : all) {
    if (const auto link = links_.find(connection); link != links_.end()) look(connection, link->second, nowMs);
  }
  sum();
  discardClosed();
  if (!toSum_.empty() || !ended_.empty()) settled_ = false;
}

void UcxLinks::look(ConnectionId connection, Link& link, uint64_t nowMs) {
  if (link.memory->advance()) settled_ = false;
  for (const auto& completion : link.memory->takeCompletions()) {
    settled_ = false;  // what follows from it may be another call of UCX
    if (completion.operation != kProbe) {
      completed(completion);
    } else if (completion.good) {
      link.probe.clear();
      events_.onRemoteConnected(connection, {});
    }
  }
  const bool late = !link.probe.empty() && nowMs >= link.probeUntilMs;
  if (late) return giveUp(connection, link, "no answer within " + std::to_string(connectTimeoutMs_) + " ms");
  if (!link.memory->failure().empty()) giveUp(connection, link, link.memory->failure());
}

void UcxLinks::giveUp(ConnectionId connection, Link& link, const std::string& why) {
  const bool reached = link.probe.empty();
  disconnect(connection);
  if (reached) return events_.onRemoteLost(connection, why);
  events_.onRemoteConnected(connection, {KV_CONNECT_FAILED, "UCX does not reach the client: " + why});
}

void UcxLinks::completed(const ucx::RemoteMemory::Completion& completion) {
  if (!pulls_.contains(completion.operation)) return events_.onPushed(completion.operation, completion.good);
  if (completion.good) return toSum_.push_back(completion.operation);
  pulls_.erase(completion.operation);
  events_.onPulled(completion.operation, false, 0);
}

/// The bytes are ours alone by now; in turns, so that a large payload holds up nobody.
void UcxLinks::sum() {
  uint64_t budget = kTurnBytes;
  while (!toSum_.empty() && budget > 0) {
    const uint64_t transfer = toSum_.front();
    Pull& pull = pulls_.at(transfer);
    const uint64_t part = std::min<uint64_t>(budget, pull.into.size() - pull.summed);
    pull.sum.add(pull.into.data() + pull.summed, part);
    pull.summed += part;
    budget -= part;
    if (pull.summed < pull.into.size()) return;
    const uint32_t crc = pull.sum.crc();
    toSum_.pop_front();
    pulls_.erase(transfer);
    events_.onPulled(transfer, true, crc);
  }
}

void UcxLinks::discardClosed() {
  for (Link& link : closing_) {
    (void)link.memory->advance();
    for (const auto& completion : link.memory->takeCompletions()) {
      if (completion.operation != kProbe) completed(completion);
    }
  }
  std::erase_if(closing_, [](const Link& link) { return link.memory->closed(); });
}

}  // namespace kvpool::node
