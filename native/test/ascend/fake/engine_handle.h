// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "adxl_engine.h"

namespace fake_ascend {

/// What an object of AdxlEngine or Hixl holds: an engine while it is initialized. The frame of each of their methods.
class EngineHandle {
 public:
  ~EngineHandle() { finalize(); }

  Status initialize(const std::string& name, const std::map<std::string, std::string>& options,
                    const std::string& prefix);
  void finalize();

  /// Runs a method that has no timeout, unless a rule lets it fail.
  template <typename Body>
  Status call(const char* method, const std::string& text, Body body) {
    return callUntil(method, text, kNoDeadline, body);
  }

  /// The same for a method with a timeout, which rules may use up.
  template <typename Body>
  Status callFor(const char* method, const std::string& text, int32_t milliseconds, Body body) {
    const Deadline deadline = afterMs(milliseconds);
    return callUntil(method, text, deadline, [&](Engine& engine) -> Status {
      return milliseconds <= 0 ? kParamInvalid : body(engine, deadline);
    });
  }

  /// GetTransferStatus. Of requests that wait, callers ask often: those calls are not noted.
  Status look(void* request, Progress& progress);

  /// What tells a rule's timeout of a transfer to its channel.
  void timedOut(const std::string& peer) {
    if (const auto engine = find()) engine->timedOut(peer);
  }

  std::shared_ptr<Engine> find();

 private:
  template <typename Body>
  Status callUntil(const char* method, const std::string& text, Deadline deadline, Body body) {
    fake_ascend_order order{};
    fake_ascend_begin(method, &order);
    const auto engine = find();
    Status status = kFailed;
    if (engine != nullptr) {
      const Io io = obeyDelay(order, engine->closing(), deadline);
      if (io == Io::kDone)
        status = order.status != 0 ? order.status : body(*engine);
      else
        status = io == Io::kTimedOut ? kTimeout : kFailed;
    }
    fake_ascend_end(method, status, text.c_str());
    return status;
  }

  std::mutex mutex_;
  std::shared_ptr<Engine> engine_;
};

}  // namespace fake_ascend
