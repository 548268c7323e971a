// SPDX-License-Identifier: Apache-2.0
#include "node/shell/tier_staging.h"

#include "ssd/layout.h"

namespace kvpool::node {

void TierStaging::ask(const TakeStaging& wanted) {
  if (wanted.length > memory_.size() || ssd::tierExtentBytes(wanted.length) > memory_.size()) {
    refused_.push_back({wanted.transfer, false});
  } else {
    waiting_.push_back(wanted);
  }
}

void TierStaging::leave(ConnectionId connection) {
  std::erase_if(waiting_, [&](const TakeStaging& wanted) {
    if (wanted.connection != connection) return false;
    refused_.push_back({wanted.transfer, false});
    return true;
  });
}

void TierStaging::release(uint64_t transfer) {
  const auto held = held_.extract(transfer);
  if (!held) return;
  const store::Range range = held.mapped().range;
  free_.release(range);
  const auto bytes = heldBytes_.find(held.mapped().connection);
  bytes->second -= range.length;
  if (bytes->second == 0) heldBytes_.erase(bytes);
}

std::span<uint8_t> TierStaging::of(uint64_t transfer) const {
  const store::Range range = held_.at(transfer).range;
  return memory_.subspan(range.offset, range.length);
}

/// Those that have their share are passed over. Of the others none overtakes another, or a large payload would wait for
/// as long as small ones come.
std::vector<TierStaging::Answer> TierStaging::takeAnswers() {
  std::vector<Answer> answers = std::exchange(refused_, {});
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto held = heldBytes_.find(next->connection);
    if (held != heldBytes_.end() && held->second > free_.freeBytes() / kShareOfRest) {
      ++next;
      continue;
    }
    const uint64_t length = ssd::tierExtentBytes(next->length);
    const std::optional<uint64_t> offset = free_.allocate(length);
    if (!offset) break;
    held_.emplace(next->transfer, Held{next->connection, {*offset, length}});
    heldBytes_[next->connection] += length;
    answers.push_back({next->transfer, true});
    next = waiting_.erase(next);
  }
  return answers;
}

}  // namespace kvpool::node
