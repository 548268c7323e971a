// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ascend/cann/acl.h"
#include "ascend/cann/copy_ways.h"
#include "ascend/core/copy_plan.h"
#include "base/status.h"

namespace kvpool::ascend {

/// Where memory is, by ACL's word. Memory that ACL does not know is the host's.
Location locate(const Acl& acl, const void* memory);

/// Copies between memories of a machine, on a stream of its own. One thread at a time.
class Copier {
 public:
  /// The thread's current context is the device's at each call and at the end; it, `acl` and `ways` must outlive the
  /// copier. `timeoutMs` is for all copies of a call together.
  Copier(const Acl& acl, CopyWays& ways, int32_t timeoutMs) : acl_(acl), ways_(ways), timeoutMs_(timeoutMs) {}
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /// All of them, or a failure after which any may have been made, and none is made any more; it says which. KV_TIMEOUT
  /// when the device did not end them in time.
  Status copy(std::span<const Copy> copies);

 private:
  using Clock = std::chrono::steady_clock;
  /// A part of the caller's copies.
  struct Part {
    const CopyCall& call;
    std::span<const Copy> all;
    Clock::time_point until;
  };

  Status perform(const Part& part);
  /// Nothing when CANN does not support that way.
  std::optional<Status> atOnce(const Part& part, CopyWay way);
  Status oneByOne(const Part& part);
  Status makeStream();
  /// Waits for what the stream has to do.
  Status synchronize(const Part& part);
  /// After a failure: nothing of the stream's work is done any more.
  Status giveUp(int32_t code, const std::string& why);

  const Acl& acl_;
  CopyWays& ways_;
  const int32_t timeoutMs_;
  AclStream stream_ = nullptr;
};

}  // namespace kvpool::ascend
