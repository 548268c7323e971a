// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "store/sorted_pairs.h"

namespace kvpool::store {

/// A piece of the data area, in bytes from the start of the file.
struct Range {
  uint64_t offset = 0;
  uint64_t length = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Gives out ranges of [begin, end): best fit, neighbours joined when they come back. Lengths and offsets are multiples
/// of kExtentAlignment, which callers see to. Knows free ranges only; who holds the others is the directory's business.
///
/// Invariants: free ranges do not overlap, never touch each other, and with the used ones cover [begin, end).
class Allocator {
 public:
  Allocator(uint64_t begin, uint64_t end);

  /// The smallest free range that fits, its lower part; the lowest of equals. Nothing when none fits.
  std::optional<uint64_t> allocate(uint64_t length);

  /// Takes a range out, as at a restart. False when any part of it is taken or outside.
  bool take(Range range);

  /// Takes ranges out of an allocator from which nothing was taken yet: in the order of their offsets, not overlapping.
  /// A million at once is much faster than one by one. Throws std::logic_error for others.
  void takeAll(std::span<const Range> ranges);

  /// Gives a range back that allocate or take handed out. A range that is free already is a defect of the caller and
  /// throws std::logic_error, because going on would hand out bytes twice.
  void release(Range range);

  [[nodiscard]] uint64_t freeBytes() const { return freeBytes_; }
  [[nodiscard]] uint64_t usedBytes() const { return end_ - begin_ - freeBytes_; }
  [[nodiscard]] uint64_t largestFree() const { return bySize_.empty() ? 0 : bySize_.back().first; }
  [[nodiscard]] size_t freeRanges() const { return byOffset_.size(); }

 private:
  void add(Range range) { add(range, byOffset_.lowerBound({range.offset, 0})); }
  void add(Range range, SortedPairs::Cursor place);
  void remove(SortedPairs::Cursor free);
  void change(SortedPairs::Cursor free, Range to);
  [[nodiscard]] Range rangeAt(SortedPairs::Cursor free) const;
  [[nodiscard]] SortedPairs::Cursor sizeOf(Range free) const { return bySize_.lowerBound({free.length, free.offset}); }

  uint64_t begin_;
  uint64_t end_;
  uint64_t freeBytes_ = 0;
  SortedPairs byOffset_;  // (offset, length)
  SortedPairs bySize_;    // (length, offset)
};

}  // namespace kvpool::store
