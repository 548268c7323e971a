// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ascend/cann/acl.h"
#include "ascend/cann/copiers.h"
#include "ascend/cann/copy_memory.h"
#include "ascend/core/copy_plan.h"
#include "ascend/core/settings.h"
#include "base/status.h"

namespace kvpool::ascend {

/// An NPU as this process uses it: a context, and copies between its memory and the host's. It needs ACL alone. Any
/// thread may call it.
class Npu {
 public:
  /// That of this thread's context; where it has none that whose `memory` is, or the first one if that is nothing.
  /// KV_IO says what ACL refused, KV_INVALID_ARGUMENT that it does not know the memory as one's, or not whose of many.
  /// `acl` must outlive it; the transfer timeout is for the copies of one call.
  static Result<std::unique_ptr<Npu>> open(const Acl& acl, const Settings& settings, const void* memory = nullptr);
  ~Npu();
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;

  [[nodiscard]] AclContext context() const { return context_; }
  /// Where memory of the host for it is to lie; nothing: anywhere.
  [[nodiscard]] std::optional<uint32_t> hostNode() const { return hostNode_; }
  /// Whether memory is its own, which this process itself cannot read. KV_INVALID_ARGUMENT for another NPU's, as a
  /// context reaches that of one only.
  [[nodiscard]] Result<bool> holds(const void* memory) const;
  /// Copies within the machine, all of them or a failure; see Copier. Those between host and NPU are to `by` or from
  /// it, which is kept if they may go on.
  Status copy(std::span<const Copy> copies, int32_t timeoutMs, CopyMemory::Piece& by);
  /// Copies between memories of this process, wherever each lies: all of them, or a failure after which any may have
  /// been made. The device does not touch the host's but memory of ACL's in their place, a part after the other, so
  /// that the time is kept. Where it may still use its own after a failure, the text says so.
  Status copyWithin(std::span<const Copy> asked, int32_t timeoutMs);
  /// See Copiers.
  Status mayStillCopy() { return copiers_->mayStillCopy(); }
  /// The longest time of a call.
  [[nodiscard]] int32_t timeoutMs() const { return timeoutMs_; }
  /// Memory of the host for that; given back before this ends.
  Result<CopyMemory::Piece> copyMemory(uint64_t bytes) { return copyMemory_->take(bytes); }

 private:
  Npu(const Acl& acl, int32_t timeoutMs) : acl_(acl), timeoutMs_(timeoutMs) {}
  Status useDevice(const void* memory);
  Status openOwn(int32_t device);
  [[nodiscard]] std::string nameOf(uint32_t numberInMemory) const;

  const Acl& acl_;
  const int32_t timeoutMs_;
  int32_t device_ = 0;
  std::optional<uint32_t> hostNode_;
  std::optional<uint32_t> numberInMemory_;
  AclContext context_ = nullptr;
  bool ownsContext_ = false;
  std::unique_ptr<Copiers> copiers_;
  std::unique_ptr<CopyMemory> copyMemory_;
};

}  // namespace kvpool::ascend
