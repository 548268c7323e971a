// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/lent_memory.h"
#include "base/status.h"

namespace kvpool::client {

/// Memory that batches may name: what the caller declared, and what transfer engines lend. Declared regions do not
/// overlap; one that is declared may be lent as well. Thread-safe.
class MemoryRegistry {
 public:
  /// From now on memory of devices, which this process cannot read, may be declared and borrowed too: what `isOfDevice`
  /// says is one.
  void acceptDevices(std::function<bool(const void*)> isOfDevice);
  /// KV_INVALID_ARGUMENT for nothing, for a range that wraps around, for memory that this process cannot read, and for
  /// an overlap.
  Status add(const void* address, uint64_t length);
  /// KV_NOT_REGISTERED unless a region begins there.
  Status remove(const void* address);
  /// From now on what that engine lends counts too. Engines that ended are forgotten.
  void borrowFrom(std::shared_ptr<const LentMemory> lender);
  /// Whether the range lies in one region. Zero bytes need none. What had to be borrowed is added to `loans`, where it
  /// stands once for pieces that follow each other in one region.
  [[nodiscard]] bool covers(const void* address, uint64_t length, LentMemory::Loans& loans) const;

 private:
  [[nodiscard]] bool declared(uintptr_t begin, uint64_t length) const;

  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> regions_;
  std::vector<std::shared_ptr<const LentMemory>> lenders_;
  std::function<bool(const void*)> isOfDevice_;
};

}  // namespace kvpool::client
