// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "acl_api.h"

namespace fake_ascend {

/// Work in order, by a thread of its own. An error is reported by the synchronization that follows it.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void submit(std::function<void()> work);
  /// Waits until all work is done; a negative time is no limit.
  aclError synchronize(int32_t milliseconds);
  /// Gives up all work that is queued or delayed; what moves bytes already ends first.
  void abort();

 private:
  void run();
  /// Obeys the rules for "stream"; false if the work must not be done.
  bool obeyRules(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool working_ = false;
  bool stopping_ = false;
  uint64_t aborts_ = 0;
  aclError error_ = acl::kSuccess;
  std::thread thread_;
};

class Streams {
 public:
  static Streams& instance();

  aclrtStream create();
  bool destroy(aclrtStream stream);
  /// The stream, of which a null one is the default of the current device; null if there is none.
  std::shared_ptr<Stream> find(aclrtStream stream);

 private:
  std::mutex mutex_;
  std::map<aclrtStream, std::shared_ptr<Stream>> streams_;
  std::map<int, std::shared_ptr<Stream>> defaults_;
};

}  // namespace fake_ascend
