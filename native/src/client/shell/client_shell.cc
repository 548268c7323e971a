// SPDX-License-Identifier: Apache-2.0
#include "client/shell/client_shell.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "net/clock.h"
#include "ucx/exposed_memory.h"
#include "ucx/library.h"

namespace kvpool::client {
namespace {

/// Copied between two looks at the sockets.
constexpr uint64_t kCopyBytesPerRound = 1 << 20;
/// Between two looks at when certificates end.
constexpr int64_t kWatchMs = 100;

secure::Expected expectedOf(const Dial& dial) {
  if (dial.node.empty()) return secure::Expected::master();
  return secure::Expected::storageNode(dial.node, dial.isTransient);
}

Config withStandbys(Config config, const secure::Security& security) {
  if (security.isOn()) config.standbys = kStandbysMax;
  return config;
}

/// The unix socket of a storage node says nothing of tenants: who comes by it is of `default`, and what the leader
/// grants to another tenant is refused there.
bool mayShareMemory(const secure::Security& security) {
  if (!security.isOn()) return true;
  const Principal& self = security.credentials()->self().principal;
  return self.role != Principal::Role::Tenant || self.tenant == Principal{}.tenant;
}

}  // namespace

ClientShell::ClientShell(const Config& config, std::chrono::microseconds busyWait,
                         std::shared_ptr<secure::Security> security, Listener& listener)
    : listener_(listener),
      core_(withStandbys(config, *security)),
      security_(std::move(security)),
      resolver_(loop_),
      remote_(config.remote),
      copier_(*this),
      busy_(std::thread::hardware_concurrency() > 1 ? busyWait : std::chrono::microseconds{0}),
      streams_(loop_, static_cast<net::Stream::Listener&>(*this)) {
  core_.shareMemory(net::steadyMs(), mayShareMemory(*security_));
  if (remote_ != RemoteProtocol::Ascend) return;
  auto opened = AscendStaging::open(config.masters, config.me.name);
  if (opened.ok()) ascend_ = std::move(opened.value());
  ascendProblem_ = opened.status();
}

void ClientShell::post(Submission submission) {
  // std::function wants something that can be copied.
  auto shared = std::make_shared<Submission>(std::move(submission));
  loop_.post([this, shared] { core_.submit(net::steadyMs(), std::move(*shared)); });
}

void ClientShell::postCancel(BatchId batch) {
  loop_.post([this, batch] { core_.cancel(net::steadyMs(), batch); });
}

ClientShell::Snapshot ClientShell::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

// ---- turns ----

void ClientShell::submit(Submission submission) {
  core_.submit(net::steadyMs(), std::move(submission));
  settle();
  // Small objects in shared memory are there by now, without a look at the sockets.
  copier_.run(kCopyBytesPerRound);
  settle();
}

void ClientShell::round(int64_t waitMs) {
  if (net::steadyMs() - lastTick_ >= core_.tickMs()) {
    core_.tick(net::steadyMs());
    lastTick_ = net::steadyMs();
    security_->look(lastTick_);
    if (security_->isOn()) watchCertificates();
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

void ClientShell::watchCertificates() {
  streams_.endUnauthenticated(lastTick_);
  if (lastTick_ - lastWatch_ < kWatchMs) return;
  lastWatch_ = lastTick_;
  const int64_t now = net::unixMs();
  core_.shareMemory(lastTick_, mayShareMemory(*security_));
  const secure::Credentials& own = *security_->credentials();
  streams_.forEach([this, now, &own](net::Stream& stream) {
    stream.endExpired(now, own);
    if (stream.isToBeRenewed(now, own)) core_.renew(lastTick_, stream.id());
  });
}

void ClientShell::shutDown() {
  core_.shutDown(net::steadyMs());
  performAll();
  if (ucx_) loop_.remove(ucx_->descriptor());
  publishSnapshot();
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

void ClientShell::drop(ConnectionId id) {
  copier_.detach(id);
  streams_.drop(id);
}

// ---- what the core asks for ----

void ClientShell::perform(const Dial& dial) {
  const std::shared_ptr<net::Stream> stream = streams_.add(dial.connection);
  if (dial.transport == Transport::Unix) {
    stream->dialUnix(dial.address);
  } else {
    if (security_->isOn()) {
      const auto payloads = dial.node.empty() ? secure::Payloads::Encrypted : security_->payloads();
      stream->secure({security_->credentials(), secure::Session::Side::Dialer, expectedOf(dial), false, payloads});
    }
    stream->dialTcp(resolver_, dial.address);
  }
}

void ClientShell::perform(SendFrame& send) {
  if (net::OutQueue* out = streams_.outOf(send.connection)) out->addFrame(std::move(send.frame));
}

void ClientShell::perform(const SendPayload& send) {
  if (net::OutQueue* out = streams_.outOf(send.connection)) out->addPayload(send.transfer, send.memory, send.length);
}

void ClientShell::perform(const ReceivePayload& receive) {
  if (net::Stream* stream = streams_.find(receive.connection)) {
    stream->expectPayload(receive.transfer, receive.destination, receive.length);
  }
}

void ClientShell::perform(const GivePayloadUp& given) {
  if (net::Stream* stream = streams_.find(given.connection)) stream->givePayloadUp(given.transfer);
}

void ClientShell::perform(SendStaging& send) {
  net::OutQueue* out = streams_.outOf(send.connection);
  if (out == nullptr) return;
  auto staging = StagingMemory::create(send.bytes);
  if (!staging.ok()) return streamEnded(send.connection, {net::Stream::Ending::How::Lost, staging.status().text()});
  out->addFrames(std::make_shared<const wire::Bytes>(std::move(send.frame)), staging.value()->descriptor());
  copier_.attachment(send.connection).staging = std::move(staging.value());
}

void ClientShell::perform(const OfferStaging& offer) {
  if (streams_.find(offer.connection) == nullptr) return;
  auto memory = offeredMemory(offer.bytes);
  if (!memory.ok()) return core_.stagingOffered(net::steadyMs(), offer.connection, memory.status());
  Attachment& attachment = copier_.attachment(offer.connection);
  attachment.offered = std::move(memory.value());
  core_.stagingOffered(net::steadyMs(), offer.connection, attachment.offered->offer());
}

Result<std::unique_ptr<OfferedMemory>> ClientShell::offeredMemory(uint64_t bytes) {
  if (*remote_ == RemoteProtocol::Ucx) return exposedMemory(bytes);
  if (!ascend_) return ascendProblem_;
  return ascend_->lend(bytes, net::steadyMs());
}

Result<std::unique_ptr<OfferedMemory>> ClientShell::exposedMemory(uint64_t bytes) {
  if (!ucx_) {
    const Result<const ucx::Api*> api = ucx::load();
    if (!api.ok()) return api.status();
    auto worker = ucx::Worker::create(*api.value());
    if (!worker.ok()) return worker.status();
    ucx_ = std::move(worker.value());
    loop_.add(ucx_->descriptor(), EPOLLIN, [this](uint32_t) { settleUcx(); });
  }
  auto exposed = ucx::ExposedMemory::create(*ucx_, bytes);
  if (!exposed.ok()) return exposed.status();
  return std::unique_ptr<OfferedMemory>(std::move(exposed.value()));
}

/// UCX answers nodes on our behalf, where no device does.
void ClientShell::settleUcx() {
  ucxBusy_ = ucx_ && !ucx_->settle();
}

void ClientShell::perform(const MapSegments& map) {
  net::Stream* stream = streams_.find(map.connection);
  if (stream == nullptr) return;
  const std::vector<Fd> descriptors = stream->takeDescriptors();
  if (descriptors.size() != map.segments.size()) {
    core_.segmentsMapped(net::steadyMs(), map.connection,
                         Status(KV_PROTOCOL, "named " + std::to_string(map.segments.size()) + " segments, sent " +
                                                 std::to_string(descriptors.size()) + " descriptors"));
    return;
  }
  Attachment& attachment = copier_.attachment(map.connection);
  for (size_t i = 0; i < descriptors.size(); ++i) {
    auto view = SegmentView::map(descriptors[i], map.segments[i].fileBytes);
    if (!view.ok()) return core_.segmentsMapped(net::steadyMs(), map.connection, view.status());
    attachment.segments[map.segments[i].segment] = std::move(view.value());
  }
  core_.segmentsMapped(net::steadyMs(), map.connection, Status());
}

void ClientShell::perform(const FinishBatch& finished) {
  publishSnapshot();  // who waited for the batch finds its numbers and its explanation
  listener_.batchFinished(finished);
}

// ---- what happened ----

void ClientShell::streamOpened(ConnectionId id) {
  core_.opened(net::steadyMs(), id);
}

void ClientShell::streamEnded(ConnectionId id, const net::Stream::Ending& ending) {
  drop(id);
  if (ending.how == net::Stream::Ending::How::Unknown) return core_.nameUnknown(net::steadyMs(), id, ending.why);
  core_.closed(net::steadyMs(), id, ending.why);
}

void ClientShell::streamMalformed(ConnectionId id, const std::string& what) {
  streamEnded(id, {net::Stream::Ending::How::Lost, "sent malformed bytes: " + what});
}

void ClientShell::frameArrived(ConnectionId id, wire::Body body) {
  core_.frame(net::steadyMs(), id, body);
  performAll();  // at once: the payload that follows needs its destination
}

void ClientShell::bytesReceived(ConnectionId id) {
  core_.progressed(net::steadyMs(), id);
}

void ClientShell::bytesSent(ConnectionId id, uint64_t) {
  core_.progressed(net::steadyMs(), id);
}

void ClientShell::payloadSent(ConnectionId id, TransferId transfer) {
  core_.payloadSent(net::steadyMs(), id, transfer);
}

void ClientShell::payloadReceived(ConnectionId id, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc) {
  core_.payloadReceived(net::steadyMs(), id, transfer, computedCrc, sentCrc);
}

void ClientShell::copiedToStaging(ConnectionId id, TransferId transfer, uint32_t crc) {
  core_.copiedToStaging(net::steadyMs(), id, transfer, crc);
}

void ClientShell::copiedFromSegment(ConnectionId id, TransferId transfer, int32_t status, uint32_t crc) {
  core_.copiedFromSegment(net::steadyMs(), id, transfer, status, crc);
}

}  // namespace kvpool::client
