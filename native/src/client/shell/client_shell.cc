// SPDX-License-Identifier: Apache-2.0
#include "client/shell/client_shell.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "ucx/library.h"

namespace kvpool::client {
namespace {

/// Copied between two looks at the sockets.
constexpr uint64_t kCopyBytesPerRound = 1 << 20;

}  // namespace

ClientShell::ClientShell(Config config, std::chrono::microseconds busyWait, Listener& listener)
    : listener_(listener),
      core_(std::move(config)),
      resolver_(loop_),
      copier_(*this),
      busy_(std::thread::hardware_concurrency() > 1 ? busyWait : std::chrono::microseconds{0}) {}

Time ClientShell::now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void ClientShell::post(Submission submission) {
  // std::function wants something that can be copied.
  auto shared = std::make_shared<Submission>(std::move(submission));
  loop_.post([this, shared] { core_.submit(now(), std::move(*shared)); });
}

void ClientShell::postCancel(BatchId batch) {
  loop_.post([this, batch] { core_.cancel(now(), batch); });
}

ClientShell::Snapshot ClientShell::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

// ---- turns ----

void ClientShell::submit(Submission submission) {
  core_.submit(now(), std::move(submission));
  settle();
  // Small objects in shared memory are there by now, without a look at the sockets.
  copier_.run(kCopyBytesPerRound);
  settle();
}

void ClientShell::round(int64_t waitMs) {
  if (now() - lastTick_ >= core_.tickMs()) {
    core_.tick(now());
    lastTick_ = now();
  }
  settle();
  publishSnapshot();
  settleUcx();
  const bool mayWait = copier_.idle() && !ucxBusy_;
  loop_.runOnce(mayWait ? static_cast<int>(std::min(core_.tickMs(), waitMs)) : 0, &busy_);
  copier_.run(kCopyBytesPerRound);
  settle();
  settleUcx();
}

void ClientShell::shutDown() {
  core_.shutDown(now());
  performAll();
  if (ucx_) loop_.remove(ucx_->descriptor());
  publishSnapshot();
}

void ClientShell::settle() {
  performAll();
  while (!toFlush_.empty()) {
    for (ConnectionId id : std::exchange(toFlush_, {})) {
      if (const auto found = connections_.find(id); found != connections_.end()) {
        const std::shared_ptr<Connection> keep = found->second;
        keep->flush();
      }
    }
    performAll();
  }
  buried_.clear();
}

void ClientShell::performAll() {
  for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
    for (Action& action : actions) {
      std::visit([this](auto& wanted) { perform(wanted); }, action);
    }
  }
}

void ClientShell::publishSnapshot() {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const bool wasReady = snapshot_.readiness.ok();
    snapshot_.statistics = core_.statistics();
    if (snapshot_.explanation != core_.explanation()) snapshot_.explanation = core_.explanation();
    if (!wasReady || !snapshot_.statistics.leaderKnown) {
      snapshot_.readiness = core_.readiness();
      snapshot_.hopeless = core_.hopeless();
      changed = true;
    }
  }
  if (changed) listener_.stateChanged();
}

Connection* ClientShell::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

void ClientShell::bury(ConnectionId id) {
  copier_.detach(id);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  found->second->close();
  buried_.push_back(std::move(found->second));
  connections_.erase(found);
}

// ---- what the core asks for ----

void ClientShell::perform(const Dial& dial) {
  auto connection = std::make_shared<Connection>(loop_, static_cast<Connection::Listener&>(*this), dial.connection);
  connections_[dial.connection] = connection;
  if (dial.transport == Transport::Unix) {
    connection->dialUnix(dial.address);
  } else {
    connection->dialTcp(resolver_, dial.address);
  }
}

void ClientShell::perform(SendFrame& send) {
  Connection* connection = find(send.connection);
  if (connection == nullptr) return;
  connection->addFrame(std::move(send.frame));
  toFlush_.push_back(send.connection);
}

void ClientShell::perform(const SendPayload& send) {
  // Goes with the frame just added.
  if (Connection* connection = find(send.connection)) connection->addPayload(send.transfer, send.memory, send.length);
}

void ClientShell::perform(const ReceivePayload& receive) {
  if (Connection* connection = find(receive.connection)) {
    connection->expectPayload(receive.transfer, receive.destination, receive.length);
  }
}

void ClientShell::perform(const SendStaging& send) {
  Connection* connection = find(send.connection);
  if (connection == nullptr) return;
  auto staging = StagingMemory::create(send.bytes);
  if (!staging.ok()) return connectionEnded(send.connection, staging.status().text());
  const int descriptor = staging.value()->descriptor();
  copier_.attachment(send.connection).staging = std::move(staging.value());
  const std::shared_ptr<Connection> keep = connections_.at(send.connection);
  keep->sendWithDescriptor(send.frame, descriptor);
  toFlush_.push_back(send.connection);
}

void ClientShell::perform(const OfferStaging& offer) {
  if (find(offer.connection) != nullptr) core_.stagingOffered(now(), offer.connection, offerStaging(offer));
}

Result<StagingOffer> ClientShell::offerStaging(const OfferStaging& offer) {
  if (!ucx_) {
    const Result<const ucx::Api*> api = ucx::load();
    if (!api.ok()) return api.status();
    auto worker = ucx::Worker::create(*api.value());
    if (!worker.ok()) return worker.status();
    ucx_ = std::move(worker.value());
    loop_.add(ucx_->descriptor(), EPOLLIN, [this](uint32_t) { settleUcx(); });
  }
  auto exposed = ucx::ExposedMemory::create(*ucx_, offer.bytes);
  if (!exposed.ok()) return exposed.status();
  Attachment& attachment = copier_.attachment(offer.connection);
  attachment.exposed = std::move(exposed.value());
  return attachment.exposed->offer();
}

/// UCX answers nodes on our behalf, where no device does.
void ClientShell::settleUcx() {
  ucxBusy_ = ucx_ && !ucx_->settle();
}

void ClientShell::perform(const MapSegments& map) {
  Connection* connection = find(map.connection);
  if (connection == nullptr) return;
  const std::vector<Fd> descriptors = connection->takeDescriptors();
  if (descriptors.size() != map.segments.size()) {
    core_.segmentsMapped(now(), map.connection,
                         Status(KV_PROTOCOL, "named " + std::to_string(map.segments.size()) + " segments, sent " +
                                                 std::to_string(descriptors.size()) + " descriptors"));
    return;
  }
  Attachment& attachment = copier_.attachment(map.connection);
  for (size_t i = 0; i < descriptors.size(); ++i) {
    auto view = SegmentView::map(descriptors[i], map.segments[i].fileBytes);
    if (!view.ok()) return core_.segmentsMapped(now(), map.connection, view.status());
    attachment.segments[map.segments[i].segment] = std::move(view.value());
  }
  core_.segmentsMapped(now(), map.connection, Status());
}

void ClientShell::perform(const Note& note) {
  log(LogLevel::Warning, note.text);
}

void ClientShell::perform(const FinishBatch& finished) {
  publishSnapshot();  // who waited for the batch finds its numbers and its explanation
  listener_.batchFinished(finished);
}

// ---- what happened ----

void ClientShell::connectionOpened(ConnectionId id) {
  core_.opened(now(), id);
}

void ClientShell::connectionEnded(ConnectionId id, const std::string& reason) {
  bury(id);
  core_.closed(now(), id, reason);
}

void ClientShell::nameUnknown(ConnectionId id, const std::string& reason) {
  bury(id);
  core_.nameUnknown(now(), id, reason);
}

void ClientShell::frameArrived(ConnectionId id, wire::Body body) {
  core_.frame(now(), id, body);
  performAll();  // at once: the payload that follows needs its destination
}

void ClientShell::bytesMoved(ConnectionId id) {
  core_.progressed(now(), id);
}

void ClientShell::payloadSent(ConnectionId id, TransferId transfer) {
  core_.payloadSent(now(), id, transfer);
}

void ClientShell::payloadReceived(ConnectionId id, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc) {
  core_.payloadReceived(now(), id, transfer, computedCrc, sentCrc);
}

void ClientShell::copiedToStaging(ConnectionId id, TransferId transfer, uint32_t crc) {
  core_.copiedToStaging(now(), id, transfer, crc);
}

void ClientShell::copiedFromSegment(ConnectionId id, TransferId transfer, int32_t status, uint32_t crc) {
  core_.copiedFromSegment(now(), id, transfer, status, crc);
}

}  // namespace kvpool::client
