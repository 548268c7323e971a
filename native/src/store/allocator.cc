// SPDX-License-Identifier: Apache-2.0
#include "store/allocator.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/checked.h"

namespace kvpool::store {

Allocator::Allocator(uint64_t begin, uint64_t end) : begin_(begin), end_(end) {
  if (begin < end) insert(begin, end - begin);
}

void Allocator::insert(uint64_t offset, uint64_t length) {
  byOffset_.emplace(offset, length);
  bySize_.emplace(length, offset);
  freeBytes_ += length;
}

void Allocator::erase(ByOffset::iterator range) {
  bySize_.erase({range->second, range->first});
  freeBytes_ -= range->second;
  byOffset_.erase(range);
}

std::optional<uint64_t> Allocator::allocate(uint64_t length) {
  if (length == 0) return std::nullopt;
  const auto best = bySize_.lower_bound({length, 0});
  if (best == bySize_.end()) return std::nullopt;
  const Range found{best->second, best->first};
  erase(byOffset_.find(found.offset));
  if (found.length > length) insert(found.offset + length, found.length - length);
  return found.offset;
}

bool Allocator::take(Range range) {
  if (range.length == 0 || !rangeInside(range.offset, range.length, begin_, end_)) return false;
  auto around = byOffset_.upper_bound(range.offset);
  if (around == byOffset_.begin()) return false;
  --around;
  const Range free{around->first, around->second};
  if (!rangeInside(range.offset, range.length, free.offset, free.offset + free.length)) return false;
  erase(around);
  if (free.offset < range.offset) insert(free.offset, range.offset - free.offset);
  const uint64_t end = range.offset + range.length;
  if (end < free.offset + free.length) insert(end, free.offset + free.length - end);
  return true;
}

void Allocator::takeAll(std::span<const Range> ranges) {
  if (usedBytes() != 0) throw std::logic_error("taking all ranges of an allocator that is in use");
  std::vector<std::pair<uint64_t, uint64_t>> gaps;  // (length, offset)
  uint64_t at = begin_;
  for (const Range& range : ranges) {
    if (range.length == 0 || range.offset < at || !rangeInside(range.offset, range.length, begin_, end_)) {
      throw std::logic_error("ranges to take overlap or lie outside the data area");
    }
    if (range.offset > at) gaps.emplace_back(range.offset - at, at);
    at = range.offset + range.length;
  }
  if (at < end_) gaps.emplace_back(end_ - at, at);
  byOffset_.clear();
  bySize_.clear();
  freeBytes_ = 0;
  for (const auto& [length, offset] : gaps) {
    byOffset_.emplace_hint(byOffset_.end(), offset, length);
    freeBytes_ += length;
  }
  std::sort(gaps.begin(), gaps.end());
  for (const auto& gap : gaps)
    bySize_.emplace_hint(bySize_.end(), gap);
}

void Allocator::release(Range range) {
  if (range.length == 0 || !rangeInside(range.offset, range.length, begin_, end_)) {
    throw std::logic_error("released a range outside the data area");
  }
  auto next = byOffset_.lower_bound(range.offset);
  if (next != byOffset_.end() && next->first < range.offset + range.length) {
    throw std::logic_error("released a range that is free already");
  }
  if (next != byOffset_.begin()) {
    const auto previous = std::prev(next);
    const uint64_t previousEnd = previous->first + previous->second;
    if (previousEnd > range.offset) throw std::logic_error("released a range that is free already");
    if (previousEnd == range.offset) {
      range = {previous->first, previous->second + range.length};
      erase(previous);
    }
  }
  if (next != byOffset_.end() && next->first == range.offset + range.length) {
    range.length += next->second;
    erase(next);
  }
  insert(range.offset, range.length);
}

}  // namespace kvpool::store
