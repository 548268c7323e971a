// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ascend/cann/acl.h"
#include "ascend/cann/copiers.h"
#include "ascend/cann/copy_memory.h"
#include "ascend/core/copy_plan.h"
#include "base/status.h"

namespace kvpool::ascend {

/// An NPU as this process uses it: a context, and copies between its memory and the host's. It needs ACL alone. Any
/// thread may call it.
class Npu {
 public:
  /// That of this thread's context, or the first one where it has none. KV_IO says what ACL refused. `acl` must outlive
  /// it; `timeoutMs` is for the copies of one call.
  static Result<std::unique_ptr<Npu>> open(const Acl& acl, int32_t timeoutMs);
  ~Npu();
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;

  [[nodiscard]] AclContext context() const { return context_; }
  /// Whether memory is an NPU's, which this process itself cannot read.
  [[nodiscard]] bool holds(const void* memory) const;
  /// Copies within the machine, all of them or a failure; see Copier. Those between host and NPU are to `by` or from
  /// it, which is kept if they may go on.
  Status copy(std::span<const Copy> copies, int32_t timeoutMs, CopyMemory::Piece& by);
  /// See Copiers.
  Status mayStillCopy() { return copiers_->mayStillCopy(); }
  /// The longest time of a call.
  [[nodiscard]] int32_t timeoutMs() const { return timeoutMs_; }
  /// Memory of the host for that; given back before this ends.
  Result<CopyMemory::Piece> copyMemory(uint64_t bytes) { return copyMemory_->take(bytes); }

 private:
  Npu(const Acl& acl, int32_t timeoutMs) : acl_(acl), timeoutMs_(timeoutMs) {}
  Status useDevice();

  const Acl& acl_;
  const int32_t timeoutMs_;
  AclContext context_ = nullptr;
  bool ownsContext_ = false;
  std::unique_ptr<Copiers> copiers_;
  std::unique_ptr<CopyMemory> copyMemory_;
};

}  // namespace kvpool::ascend
