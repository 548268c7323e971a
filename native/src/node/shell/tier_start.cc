// SPDX-License-Identifier: Apache-2.0
#include "node/shell/tier_start.h"

#include <utility>

#include "ssd/tier_file.h"

namespace kvpool::node {

Result<TierStart> startTier(const OpenTier& tier, uint32_t fresh, const store::SegmentState& state,
                            const store::Directory& directory) {
  ssd::TierHeader header = tier.header;
  const bool believed = tier.created || state.incarnation == 0 || state.tier == header.number;
  if (!believed) {
    header.number = fresh;
    if (Status made = ssd::formatTier(tier.device, header); !made.ok()) return made;
  }
  ssd::Table table(header);
  // A segment that is new beside it knows no epoch: its memory was lost.
  const uint64_t epochMax = state.epoch == 0 ? kEpochMax - 1 : state.epoch;
  Result<ssd::TierRecovery> recovery =
      ssd::loadTable(tier.device, table, [&](const ObjectId& id, std::string_view key) {
        if (id.epoch > epochMax) return ssd::Table::Fate::Above;
        return directory.removed(id, key) ? ssd::Table::Fate::Dead : ssd::Table::Fate::Alive;
      });
  if (!recovery.ok()) return recovery.status();
  return TierStart{std::move(table), recovery.value(), !believed};
}

}  // namespace kvpool::node
