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
  return begin(wanted.connection,
               {wanted.stagingOffset, {wanted.offset, wanted.length}, wanted.length, {}, 0, sum, wanted.crc});
}

std::optional<uint32_t> StagingCopies::copy(const CopyStagingParts& wanted) {
  return begin(wanted.connection, {wanted.stagingOffset, {}, wanted.length, wanted.parts, 0, RunningSum(), wanted.crc});
}

std::optional<uint32_t> StagingCopies::begin(ConnectionId connection, Copy copy) {
  if (copy.left > leftOfTurn_) {
    waiting_[connection] = std::move(copy);
    return std::nullopt;
  }
  leftOfTurn_ -= copy.left;
  advance(connection, copy, copy.left);
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
  const std::span<const uint8_t> memory = memories_.at(connection).bytes();
  while (bytes > 0) {
    while (copy.to.length == 0)
      copy.to = copy.parts.at(copy.next++);
    const uint64_t run = std::min(bytes, copy.to.length);
    copy.sum.copy(segment_.data() + copy.to.offset, memory.data() + copy.from, run);
    copy.from += run;
    copy.to.offset += run;
    copy.to.length -= run;
    copy.left -= run;
    bytes -= run;
  }
}

}  // namespace kvpool::node
