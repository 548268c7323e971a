// SPDX-License-Identifier: Apache-2.0
#include "node/core/scrub.h"

#include <algorithm>
#include <utility>

namespace kvpool::node {

void Scrub::tick(uint64_t nowMs) {
  const uint64_t elapsedMs = std::min(nowMs - std::exchange(lastTickMs_, nowMs), kElapsedMsMax);
  if (resting_ && nowMs - roundBeganMs_ < kRoundMs) return;
  if (std::exchange(resting_, false)) roundBeganMs_ = nowMs;
  if (givesWay()) return;
  uint64_t budget = context_.config.scrubBytesPerSecond * elapsedMs / 1000;
  uint32_t looks = 0;
  while (budget > 0 && looks < kLooksPerTick) {
    if (!check_ && !nextObject(looks)) {
      if (next_ >= context_.directory.slotsTouched()) return endRound();
      continue;
    }
    const uint64_t before = check_->checkedBytes();
    const PayloadCheck::Outcome outcome = check_->step(context_.directory, budget);
    const uint64_t checked = check_->checkedBytes() - before;
    budget -= std::min(budget, std::max<uint64_t>(checked, 1));
    context_.stats.scrubbedBytes += checked;
    if (outcome == PayloadCheck::Outcome::More) continue;
    if (outcome == PayloadCheck::Outcome::Damaged) dropDamaged(context_, check_->slot(), "the scrub");
    if (outcome == PayloadCheck::Outcome::Intact) context_.directory.setVerified(check_->slot());
    check_.reset();
  }
}

bool Scrub::givesWay() {
  const CoreStats& stats = context_.stats;
  const uint64_t moved = stats.writeBytes + stats.readBytes + stats.copiesInBytes;
  const bool load = moved - std::exchange(lastMovedBytes_, moved) > kLoadBytes;
  ticksGivenWay_ = load ? ticksGivenWay_ + 1 : 0;
  return ticksGivenWay_ % kTicksUnderLoad != 0;
}

/// Whether the slot it looks at holds an object, which is then the one to check.
bool Scrub::nextObject(uint32_t& looks) {
  const store::Directory& directory = context_.directory;
  if (next_ >= directory.slotsTouched()) return false;
  ++looks;
  const uint32_t number = next_++;
  const store::Slot& slot = directory.slot(number);
  if (slot.state != store::SlotState::Committed) return false;
  check_.emplace(number, slot.generation);
  return true;
}

void Scrub::endRound() {
  ++context_.stats.scrubRounds;
  next_ = 0;
  resting_ = true;
}

}  // namespace kvpool::node
