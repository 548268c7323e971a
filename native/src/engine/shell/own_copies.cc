// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/own_copies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "net/clock.h"

namespace kvpool::engine {
namespace {

const Status kClosed(KV_CLOSED, "the transfer engine ends");

}  // namespace

void OwnCopies::begin(const Move& move) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      if (!thread_.joinable()) thread_ = startQuietThread("kvpool-own-copy", [this] { run(); });
      waiting_.push_back(move);
      ++begun_;
      changed_.notify_all();
      return;
    }
  }
  ended_(move.move, kClosed);
}

void OwnCopies::awaitBegun() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, last = begun_] { return over_ >= last; });
}

void OwnCopies::shutDown() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void OwnCopies::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Move move = std::move(waiting_.front());
    waiting_.pop_front();
    const bool isClosed = stopping_;
    lock.unlock();
    ended_(move.move, isClosed ? kClosed : copy(move));
    lock.lock();
    ++over_;
    changed_.notify_all();
  }
}

Status OwnCopies::copy(const Move& move) const {
  const Time leftMs = move.deadline - net::steadyMs();
  if (leftMs <= 0) return {KV_TIMEOUT, "its time ended while it waited for other copies within this engine"};
  std::vector<ascend::Copy> copies;
  copies.reserve(move.pieces.size());
  for (const MovedPiece& piece : move.pieces) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of the caller, in a region of this engine
    auto* const there = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(piece.remote));
    copies.push_back({move.read ? piece.local : there, move.read ? there : piece.local, piece.length});
  }
  return npu_->copyWithin(copies, static_cast<int32_t>(std::min<Time>(leftMs, npu_->timeoutMs())));
}

}  // namespace kvpool::engine
