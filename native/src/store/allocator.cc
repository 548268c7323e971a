// SPDX-License-Identifier: Apache-2.0
#include "store/allocator.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/checked.h"

namespace kvpool::store {

Allocator::Allocator(uint64_t begin, uint64_t end) : begin_(begin), end_(end) {
  if (begin < end) add({begin, end - begin});
}

Range Allocator::rangeAt(SortedPairs::Cursor free) const {
  const NumberPair& pair = byOffset_.at(free);
  return {pair.first, pair.second};
}

void Allocator::add(Range range, SortedPairs::Cursor place) {
  byOffset_.insertAt(place, {range.offset, range.length});
  bySize_.insert({range.length, range.offset});
  freeBytes_ += range.length;
}

void Allocator::remove(SortedPairs::Cursor free) {
  const Range range = rangeAt(free);
  byOffset_.erase(free);
  bySize_.erase(sizeOf(range));
  freeBytes_ -= range.length;
}

/// Grows or shrinks a free range where it is: it keeps its place among the others.
void Allocator::change(SortedPairs::Cursor free, Range to) {
  const Range from = rangeAt(free);
  byOffset_.replace(free, {to.offset, to.length});
  bySize_.move(sizeOf(from), {to.length, to.offset});
  freeBytes_ += to.length - from.length;
}

std::optional<uint64_t> Allocator::allocate(uint64_t length) {
  if (length == 0) return std::nullopt;
  const SortedPairs::Cursor best = bySize_.lowerBound({length, 0});
  if (best == bySize_.end()) return std::nullopt;
  const Range found{bySize_.at(best).second, bySize_.at(best).first};
  const SortedPairs::Cursor place = byOffset_.lowerBound({found.offset, 0});
  if (found.length == length) {
    byOffset_.erase(place);
    bySize_.erase(best);
  } else {
    const Range rest{found.offset + length, found.length - length};
    byOffset_.replace(place, {rest.offset, rest.length});
    bySize_.move(best, {rest.length, rest.offset});
  }
  freeBytes_ -= length;
  return found.offset;
}

bool Allocator::take(Range range) {
  if (range.length == 0 || !rangeInside(range.offset, range.length, begin_, end_)) return false;
  const SortedPairs::Cursor after = byOffset_.lowerBound({range.offset, UINT64_MAX});
  if (after == byOffset_.begin()) return false;
  const SortedPairs::Cursor around = byOffset_.before(after);
  const Range free = rangeAt(around);
  const uint64_t freeEnd = free.offset + free.length;
  if (!rangeInside(range.offset, range.length, free.offset, freeEnd)) return false;
  remove(around);
  const uint64_t end = range.offset + range.length;
  if (free.offset < range.offset) add({free.offset, range.offset - free.offset});
  if (end < freeEnd) add({end, freeEnd - end});
  return true;
}

void Allocator::takeAll(std::span<const Range> ranges) {
  if (usedBytes() != 0) throw std::logic_error("taking all ranges of an allocator that is in use");
  std::vector<NumberPair> gaps;  // (offset, length)
  uint64_t at = begin_;
  for (const Range& range : ranges) {
    if (range.length == 0 || range.offset < at || !rangeInside(range.offset, range.length, begin_, end_)) {
      throw std::logic_error("ranges to take overlap or lie outside the data area");
    }
    if (range.offset > at) gaps.push_back({at, range.offset - at});
    at = range.offset + range.length;
  }
  if (at < end_) gaps.push_back({at, end_ - at});
  byOffset_.assign(gaps);
  freeBytes_ = 0;
  for (NumberPair& gap : gaps) {
    freeBytes_ += gap.second;
    std::swap(gap.first, gap.second);
  }
  std::sort(gaps.begin(), gaps.end());
  bySize_.assign(gaps);
}

void Allocator::release(Range range) {
  if (range.length == 0 || !rangeInside(range.offset, range.length, begin_, end_)) {
    throw std::logic_error("released a range outside the data area");
  }
  const uint64_t end = range.offset + range.length;
  const SortedPairs::Cursor next = byOffset_.lowerBound({range.offset, 0});
  const bool hasNext = next != byOffset_.end();
  const bool hasPrevious = next != byOffset_.begin();
  const Range after = hasNext ? rangeAt(next) : Range{};
  const Range previous = hasPrevious ? rangeAt(byOffset_.before(next)) : Range{};
  const uint64_t previousEnd = previous.offset + previous.length;
  if ((hasNext && after.offset < end) || (hasPrevious && previousEnd > range.offset)) {
    throw std::logic_error("released a range that is free already");
  }
  const bool joinsNext = hasNext && after.offset == end;
  if (hasPrevious && previousEnd == range.offset) {
    const uint64_t newEnd = joinsNext ? after.offset + after.length : end;
    if (joinsNext) freeBytes_ -= after.length;  // it becomes part of the previous one
    change(byOffset_.before(next), {previous.offset, newEnd - previous.offset});
    if (joinsNext) {
      bySize_.erase(sizeOf(after));
      byOffset_.erase(next);
    }
  } else if (joinsNext) {
    change(next, {range.offset, after.offset + after.length - range.offset});
  } else {
    add(range, next);
  }
}

}  // namespace kvpool::store
