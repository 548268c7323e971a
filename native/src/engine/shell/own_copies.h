// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "ascend/cann/npu.h"
#include "engine/core/actions.h"

namespace kvpool::engine {

/// Moves of a transfer engine to its own memory, which need no channel: copies within the machine, by where both ends
/// are. They are made one after the other, by a thread that begins with the first. Any thread may call it.
class OwnCopies {
 public:
  using Ended = std::function<void(uint64_t move, const Status& status)>;

  /// `ended` is called by that thread, or by begin() where nothing begins any more.
  OwnCopies(std::shared_ptr<ascend::Npu> npu, Ended ended) : npu_(std::move(npu)), ended_(std::move(ended)) {}
  /// As shutDown().
  ~OwnCopies() { shutDown(); }
  OwnCopies(const OwnCopies&) = delete;
  OwnCopies& operator=(const OwnCopies&) = delete;

  void begin(const Move& move);
  /// Waits until those that were begun before have ended.
  void awaitBegun();
  /// Ends all of them; those that wait with KV_CLOSED.
  void shutDown();

 private:
  void run();
  [[nodiscard]] Status copy(const Move& move) const;

  const std::shared_ptr<ascend::Npu> npu_;
  const Ended ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Move> waiting_;
  uint64_t begun_ = 0;
  uint64_t over_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kvpool::engine
