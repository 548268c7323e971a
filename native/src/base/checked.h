// SPDX-License-Identifier: Apache-2.0
// Arithmetic on numbers that came from a peer or a file: it says so instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>

namespace kvpool {

inline std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// Rounds up to a multiple of `alignment`, a power of two.
inline std::optional<uint64_t> checkedAlignUp(uint64_t value, uint64_t alignment) {
  std::optional<uint64_t> sum = checkedAdd(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

/// Whether [offset, offset + length) lies inside [begin, end).
inline bool rangeInside(uint64_t offset, uint64_t length, uint64_t begin, uint64_t end) {
  return offset >= begin && offset <= end && length <= end - offset;
}

}  // namespace kvpool
