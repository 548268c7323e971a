// SPDX-License-Identifier: Apache-2.0
// The part of Lane that follows from time going by: work that stands still, connections that nobody uses.
#include <utility>

#include "client/core/lane.h"

namespace kvpool::client {

bool Lane::stalled() const {
  if (stage_ == Stage::Down || idle()) return false;
  return context_.now - (stage_ == Stage::Ready ? lastProgress_ : since_) >= kFallOverMs;
}

/// A stalled lane keeps what can only be done here; what can be tried at another node is given back.
void Lane::letGo() {
  const int64_t stillMs = context_.now - (stage_ == Stage::Ready ? lastProgress_ : since_);
  const auto lostPatience = [stillMs](const Transfer& transfer) {
    return transfer.patienceMs > 0 && stillMs >= transfer.patienceMs;
  };
  const size_t before = results_.size();
  for (const Transfer& transfer : waiting_) {
    if (lostPatience(transfer)) report(transfer, KV_TRANSFER_FAILED);
  }
  std::erase_if(waiting_, lostPatience);
  bool onTheWay = false;
  for (auto& [id, moving] : moving_) {
    if (moving.orphan || !lostPatience(moving.transfer)) continue;
    if (moving.step == Step::ReceivingPayload || moving.step == Step::SendingPayload) onTheWay = true;
    if (moving.step != Step::AwaitingReply) continue;
    moving.orphan = true;  // a late answer is read and dropped
    report(moving.transfer, KV_TRANSFER_FAILED);
  }
  if (results_.size() > before) {
    context_.explain("node " + node_ + " at " + address_ + ": no progress within " + std::to_string(kFallOverMs) +
                     " ms; trying elsewhere");
  }
  if (onTheWay) fail(Status(KV_TRANSFER_FAILED, "no progress in the middle of a payload; trying elsewhere"));
}

/// Closes what is idle: with nothing under way no failure follows from it, and the memory that is shared goes back.
void Lane::watchUse() {
  if (!idle()) {
    lastUse_ = context_.now;
  } else if (context_.now - lastUse_ >= context_.config.idleTimeoutMs) {
    return fail(Status(KV_CLOSED, "closed: idle"));
  }
  const bool silent = transport_ == Transport::Unix && lastUse_ > lastSaid_;
  if (!silent || context_.now - lastSaid_ < kLaneHeartbeatMs) return;
  lastSaid_ = context_.now;
  wire::Bytes heartbeat;
  wire::appendHeartbeat(heartbeat);
  context_.act(SendFrame{connection_, std::move(heartbeat)});
}

void Lane::tick() {
  if (stage_ == Stage::Down) return;
  if (stalled()) letGo();
  if (stage_ != Stage::Ready && context_.now - since_ >= context_.config.connectTimeoutMs) {
    return fail(
        Status(KV_CONNECT_FAILED, "not connected within " + std::to_string(context_.config.connectTimeoutMs) + " ms"));
  }
  if (stage_ == Stage::Ready && !moving_.empty() && context_.now - lastProgress_ >= context_.config.transferTimeoutMs) {
    fail(Status(KV_TRANSFER_FAILED, "no progress within " + std::to_string(context_.config.transferTimeoutMs) + " ms"));
  }
  if (stage_ == Stage::Ready) watchUse();
}

}  // namespace kvpool::client
