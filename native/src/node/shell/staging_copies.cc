// SPDX-License-Identifier: Apache-2.0
#include "node/shell/staging_copies.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kvpool::node {

void StagingCopies::forget(ConnectionId connection) {
  memories_.erase(connection);
  waiting_.erase(connection);
}

std::optional<uint32_t> StagingCopies::copy(const CopyStaging& wanted) {
  const bool isLarge = wanted.length >= crc::kStreamBytes;
  const RunningSum sum = RunningSum::behind(segment_.data() + wanted.offset, wanted.length, isLarge);
  Copy copy{wanted.stagingOffset, wanted.offset, wanted.length, sum, wanted.crc};
  if (copy.left > leftOfTurn_) {
    waiting_[wanted.connection] = copy;
    return std::nullopt;
  }
  leftOfTurn_ -= copy.left;
  advance(wanted.connection, copy, copy.left);
  return copy.sum.crc();
}

void StagingCopies::turn(const Copied& copied) {
  leftOfTurn_ = kTurnBytes;
  std::vector<std::pair<ConnectionId, Copy>> whole;
  for (auto& [connection, copy] : waiting_) {
    advance(connection, copy, std::min(copy.left, kTurnBytes));
    if (copy.left == 0) whole.emplace_back(connection, copy);
  }
  for (const auto& [connection, copy] : whole) {
    // What came of an earlier one may have ended this one.
    if (waiting_.erase(connection) > 0) copied(connection, copy.sum.crc(), copy.expected);
  }
}

void StagingCopies::advance(ConnectionId connection, Copy& copy, uint64_t bytes) {
  const std::span<const uint8_t> from = memories_.at(connection).bytes().subspan(copy.from, bytes);
  copy.sum.copy(segment_.data() + copy.to, from.data(), from.size());
  copy.from += bytes;
  copy.to += bytes;
  copy.left -= bytes;
}

}  // namespace kvpool::node
