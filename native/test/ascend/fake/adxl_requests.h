// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "adxl_channel.h"

namespace fake_ascend {

enum class Progress : uint32_t { kWaiting = 0, kCompleted = 1, kOutOfTime = 2, kUnsuccessful = 3 };

/// Asynchronous transfers: each is waiting, then in a final state, and forgotten once somebody has seen that.
class Requests {
 public:
  ~Requests();

  /// Runs the work by a thread of its own.
  void* start(std::shared_ptr<Channel> channel, std::function<Status()> work);
  Status look(void* request, Progress& progress);
  /// Waits for all; the channels must be closed.
  void end();

 private:
  struct Request {
    std::shared_ptr<Channel> channel;
    std::atomic<bool> ended{false};
    std::atomic<Status> status{kSuccess};
    std::thread thread;
  };

  std::unique_ptr<Request> take(void* request);

  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Request>> requests_;
  uintptr_t last_ = 0;
};

}  // namespace fake_ascend
