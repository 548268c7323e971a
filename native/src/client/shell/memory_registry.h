// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "base/status.h"

namespace kvpool::client {

/// Memory the caller declared. Regions do not overlap. Thread-safe.
class MemoryRegistry {
 public:
  /// KV_INVALID_ARGUMENT for nothing, for a range that wraps around, and for an overlap.
  Status add(const void* address, uint64_t length);
  /// KV_NOT_REGISTERED unless a region begins there.
  Status remove(const void* address);
  /// Whether the range lies in one region. Zero bytes need none.
  [[nodiscard]] bool covers(const void* address, uint64_t length) const;

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> regions_;
};

}  // namespace kvpool::client
