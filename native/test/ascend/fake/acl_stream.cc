// SPDX-License-Identifier: Apache-2.0
#include "acl_stream.h"

#include <chrono>
#include <utility>

#include "acl_call.h"
#include "control.h"
#include "ledger.h"

namespace fake_ascend {

Stream::Stream() : thread_([this] { run(); }) {}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++aborts_;
    queue_.clear();
    changed_.notify_all();
  }
  thread_.join();
}

void Stream::submit(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

aclError Stream::synchronize(int32_t milliseconds) {
  std::unique_lock lock(mutex_);
  const auto idle = [this] { return queue_.empty() && !working_; };
  if (milliseconds < 0) {
    changed_.wait(lock, idle);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), idle)) {
    return refuse(acl::kStreamSyncTimeout, "the stream has work left");
  }
  const aclError error = std::exchange(error_, acl::kSuccess);
  return error == acl::kSuccess ? error : refuse(error, "work of the stream failed");
}

void Stream::abort() {
  std::unique_lock lock(mutex_);
  ++aborts_;
  queue_.clear();
  error_ = acl::kSuccess;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !working_; });
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    working_ = true;
    if (obeyRules(lock)) {
      lock.unlock();
      work();
      lock.lock();
    }
    working_ = false;
    changed_.notify_all();
  }
}

bool Stream::obeyRules(std::unique_lock<std::mutex>& lock) {
  const uint64_t aborts = aborts_;
  const auto aborted = [&] { return aborts_ != aborts; };
  lock.unlock();
  const fake_ascend_order order = Control::instance().next("stream");
  lock.lock();
  if (order.delay_us > 0) changed_.wait_for(lock, std::chrono::microseconds(order.delay_us), aborted);
  while (order.hang != 0 && !aborted()) {
    lock.unlock();
    const bool hangs = Control::instance().hangs(order.hang);
    lock.lock();
    if (!hangs || changed_.wait_for(lock, std::chrono::milliseconds(2), aborted)) break;
  }
  if (aborted()) return false;
  Ledger::instance().ended("stream", order.status, "");
  if (order.status != 0 && error_ == acl::kSuccess) error_ = static_cast<aclError>(order.status);
  return order.status == 0;
}

Streams& Streams::instance() {
  static Streams& streams = *new Streams;
  return streams;
}

aclrtStream Streams::create() {
  const std::lock_guard lock(mutex_);
  const aclrtStream stream = newHandle();
  streams_[stream] = std::make_shared<Stream>();
  Ledger::instance().count("stream", 1);
  return stream;
}

bool Streams::destroy(aclrtStream stream) {
  std::shared_ptr<Stream> gone;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  gone = std::move(found->second);
  streams_.erase(found);
  Ledger::instance().count("stream", -1);
  return true;
}

std::shared_ptr<Stream> Streams::find(aclrtStream stream) {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) {
    auto& own = defaults_[currentDevice().value_or(0)];
    if (own == nullptr) own = std::make_shared<Stream>();
    return own;
  }
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

namespace {

template <typename Body>
aclError callOnStream(const char* function, aclrtStream handle, const std::string& text, Body body) {
  return callInContext(function, text, [&]() -> aclError {
    const auto stream = Streams::instance().find(handle);
    return stream == nullptr ? refuse(acl::kRtParamInvalid, "not a stream") : body(*stream);
  });
}

}  // namespace
}  // namespace fake_ascend

using fake_ascend::callInContext;
using fake_ascend::callOnStream;
using fake_ascend::refuse;
using fake_ascend::Stream;
using fake_ascend::Streams;
namespace acl = fake_ascend::acl;

aclError aclrtCreateStream(aclrtStream* stream) {
  return callInContext("aclrtCreateStream", "", [&]() -> aclError {
    if (stream == nullptr) return refuse(acl::kInvalidParam, "null");
    *stream = Streams::instance().create();
    return acl::kSuccess;
  });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return callInContext("aclrtCreateStreamWithConfig", std::to_string(priority) + " " + std::to_string(flag),
                       [&]() -> aclError {
                         constexpr uint32_t kFastLaunchAndSync = 3;
                         if (stream == nullptr || (flag & ~kFastLaunchAndSync) != 0)
                           return refuse(acl::kInvalidParam, "null, or an unknown flag");
                         *stream = Streams::instance().create();
                         return acl::kSuccess;
                       });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return callInContext("aclrtDestroyStream", "", [&] {
    if (const auto own = stream == nullptr ? nullptr : Streams::instance().find(stream)) (void)own->synchronize(-1);
    return Streams::instance().destroy(stream) ? acl::kSuccess : refuse(acl::kRtParamInvalid, "not a stream");
  });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return callInContext("aclrtDestroyStreamForce", "", [&] {
    return Streams::instance().destroy(stream) ? acl::kSuccess : refuse(acl::kRtParamInvalid, "not a stream");
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return callOnStream("aclrtSynchronizeStream", stream, "", [](Stream& own) { return own.synchronize(-1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds) {
  return callOnStream("aclrtSynchronizeStreamWithTimeout", stream, std::to_string(milliseconds),
                      [&](Stream& own) { return own.synchronize(milliseconds); });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return callOnStream("aclrtStreamAbort", stream, "", [](Stream& own) {
    own.abort();
    return acl::kSuccess;
  });
}
