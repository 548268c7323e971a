// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/lent_memory.h"
#include "base/status.h"

namespace kvpool::client {

/// What a registry asks of memory that may be a device's. Thread-safe.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Whether it is a device's that batches may name. A failure says why one that it is cannot be used.
  virtual Result<bool> holds(const void* memory) = 0;
  /// holds() does not know it, and this process cannot read it: KV_OK when it is a device's all the same, else why not.
  virtual Status admit(const void* memory) = 0;
};

/// Memory that batches may name: what the caller declared, and what transfer engines lend. Declared regions do not
/// overlap; one that is declared may be lent as well. Thread-safe.
class MemoryRegistry {
 public:
  /// `devices` must outlive it.
  explicit MemoryRegistry(DeviceMemory& devices) : devices_(devices) {}
  /// KV_INVALID_ARGUMENT for nothing, for a range that wraps around or ends behind a device's memory, for memory that
  /// neither this process nor a device can read, and for an overlap. What the device says where it cannot be used.
  Status add(const void* address, uint64_t length);
  /// KV_NOT_REGISTERED unless a region begins there. Returns when no batch uses it any more, so after the timeout of a
  /// batch at the most.
  Status remove(const void* address);
  /// From now on what that engine lends counts too. Engines that ended are forgotten.
  void borrowFrom(std::shared_ptr<const LentMemory> lender);
  /// Whether the range lies in one region. Zero bytes need none. The region is added to `loans`, where it stands once
  /// for pieces in turn in a few regions.
  [[nodiscard]] bool covers(const void* address, uint64_t length, LentMemory::Loans& loans) const;

 private:
  Status judge(const void* address, uint64_t length);
  /// The last byte of a region whose first one is a device's.
  Status judgeLast(const void* last);

  DeviceMemory& devices_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> regions_;
  LentMemory own_;  // the same regions
  std::vector<std::shared_ptr<const LentMemory>> lenders_;
};

}  // namespace kvpool::client
