// SPDX-License-Identifier: Apache-2.0
#include "store/pins.h"

#include <stdexcept>

namespace kvpool::store {

std::optional<Range> Pins::unpin(uint64_t generation) {
  const auto found = pins_.find(generation);
  if (found == pins_.end()) throw std::logic_error("unpinned an extent that is not pinned");
  if (--found->second.count > 0) return std::nullopt;
  const std::optional<Range> freed = found->second.freed;
  pins_.erase(found);
  if (freed) quarantinedBytes_ -= freed->length;
  return freed;
}

bool Pins::quarantine(uint64_t generation, Range range) {
  const auto found = pins_.find(generation);
  if (found == pins_.end()) return false;
  if (found->second.freed) throw std::logic_error("freed a pinned extent twice");
  found->second.freed = range;
  quarantinedBytes_ += range.length;
  return true;
}

}  // namespace kvpool::store
