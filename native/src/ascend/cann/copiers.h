// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ascend/cann/copier.h"

namespace kvpool::ascend {

/// Copies between memories of a machine for any threads: each has a stream for itself while it copies, and leaves it to
/// the next one. So none waits for another's copies, or has its own ended with them.
class Copiers {
 public:
  /// `context` is the device's; it and `acl` must outlive this.
  Copiers(const Acl& acl, AclContext context, int32_t timeoutMs)
      : acl_(acl), context_(context), timeoutMs_(timeoutMs), ways_(acl) {}
  /// No copy is under way.
  ~Copiers();
  Copiers(const Copiers&) = delete;
  Copiers& operator=(const Copiers&) = delete;

  /// As Copier::copy(). While one may still copy none begins: a device that hangs would take memory for each.
  Status copy(std::span<const Copy> copies) { return copy(copies, timeoutMs_).status; }
  struct End {
    Status status;
    bool mayGoOn = false;  // the device may still use the memory of these copies
  };
  End copy(std::span<const Copy> copies, int32_t timeoutMs);
  /// The earlier failure, while the device may still use memory of its copies; see Copier.
  Status mayStillCopy();

 private:
  Result<std::unique_ptr<Copier>> take();
  /// Of those that could not be aborted, in the device's context and under the mutex.
  Status awaitStuck();

  const Acl& acl_;
  const AclContext context_;
  const int32_t timeoutMs_;
  CopyWays ways_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Copier>> idle_;
  std::vector<std::unique_ptr<Copier>> stuck_;
};

}  // namespace kvpool::ascend
