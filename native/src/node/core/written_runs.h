// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "store/allocator.h"

namespace kvpool::node {

/// Which bytes of a payload were written: runs that neither overlap nor touch.
class WrittenRuns {
 public:
  void add(const store::Range& range) {
    if (range.length == 0) return;
    uint64_t begin = range.offset;
    uint64_t end = range.offset + range.length;
    auto next = runs_.upper_bound(end);
    while (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (before->second < begin) break;
      begin = std::min(begin, before->first);
      end = std::max(end, before->second);
      next = runs_.erase(before);
    }
    runs_[begin] = end;
  }

  /// All bytes of a payload of this length, to which none were added that it does not have.
  [[nodiscard]] bool cover(uint64_t length) const {
    return length == 0 || (runs_.size() == 1 && runs_.begin()->first == 0 && runs_.begin()->second == length);
  }
  [[nodiscard]] size_t count() const { return runs_.size(); }

 private:
  std::map<uint64_t, uint64_t> runs_;  // begin -> end
};

}  // namespace kvpool::node
