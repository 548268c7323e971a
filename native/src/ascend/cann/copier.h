// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ascend/cann/acl.h"
#include "ascend/cann/copy_ways.h"
#include "ascend/core/copy_plan.h"
#include "base/status.h"

namespace kvpool::ascend {

/// Where memory is, by ACL's word, and by the driver's number of a device. Memory that ACL does not know is the host's.
MemoryLocation locate(const Acl& acl, const void* memory);

/// Copies between memories of a machine, on a stream of its own. One thread at a time.
class Copier {
 public:
  /// The thread's current context is the device's at each call and at the end; it, `acl` and `ways` must outlive the
  /// copier. `timeoutMs` is for all copies of a call together.
  Copier(const Acl& acl, CopyWays& ways, int32_t timeoutMs);
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /// All of them, or a failure after which any may have been made, and none is made any more; it says which. KV_TIMEOUT
  /// when the device did not end them in time.
  Status copy(std::span<const Copy> copies) { return copy(copies, timeoutMs_); }
  /// Within this time, if that is less.
  Status copy(std::span<const Copy> copies, int32_t timeoutMs);
  /// The earlier failure, when CANN could not abort its stream: the device may still write and read the memory of its
  /// copies, so that must not be freed, and no more copies are taken until it has ended.
  Status mayStillCopy();

 private:
  using Clock = std::chrono::steady_clock;
  /// A part of the caller's copies.
  struct Part {
    const CopyCall& call;
    std::span<const Copy> all;
    int32_t timeoutMs;
    Clock::time_point until;
  };

  /// Of CANN's functions for many copies of one direction.
  class Arguments;

  Status perform(const Part& part);
  /// Nothing when CANN does not support that way.
  std::optional<Status> atOnce(const Part& part, CopyWay way);
  Status oneByOne(const Part& part);
  Status makeStream();
  /// Waits for what the stream has to do.
  Status synchronize(const Part& part);
  /// After a failure: nothing of the stream's work is done any more, or mayStillCopy() says that it may be.
  Status giveUp(int32_t code, const std::string& why);
  void destroyStream();

  const Acl& acl_;
  CopyWays& ways_;
  const int32_t timeoutMs_;
  AclStream stream_ = nullptr;
  std::unique_ptr<Arguments> arguments_;  // CANN may read them until the stream is done
  Status stuck_;                          // why the stream was to be aborted, which failed
};

}  // namespace kvpool::ascend
