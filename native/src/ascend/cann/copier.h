// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ascend/cann/acl.h"
#include "ascend/core/copy_plan.h"
#include "base/status.h"

namespace kvpool::ascend {

/// Where memory is, by ACL's word. Memory that ACL does not know is the host's.
Location locate(const Acl& acl, const void* memory);

/// Copies between memories of a machine: of one thread, with a stream of its own.
class Copier {
 public:
  /// The thread's current context is the device's, now and at each call; it and `acl` must outlive the copier.
  Copier(const Acl& acl, int32_t timeoutMs) : acl_(acl), timeoutMs_(timeoutMs) {}
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /// All of them, or a failure after which any may have been made, and none is made any more. KV_TIMEOUT when the
  /// device did not end them in time.
  Status copy(std::span<const Copy> copies);

 private:
  Status perform(const CopyCall& call, std::span<const Copy> copies);
  /// Nothing when CANN cannot do that here.
  std::optional<Status> atOnce(const CopyCall& call, std::span<const Copy> copies);
  Status oneByOne(const CopyCall& call, std::span<const Copy> copies);
  Status synchronize();

  const Acl& acl_;
  const int32_t timeoutMs_;
  AclStream stream_ = nullptr;
  bool batches_ = true;  // until CANN says that it cannot
};

}  // namespace kvpool::ascend
