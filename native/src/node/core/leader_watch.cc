// SPDX-License-Identifier: Apache-2.0
#include "node/core/leader_watch.h"

#include <utility>

namespace kvpool::node {

bool LeaderWatch::welcomed(size_t master, uint64_t incarnation) {
  Master& known = masters_.at(master);
  const std::optional<Suspicion> suspicion = std::exchange(known.suspicion, std::nullopt);
  known.incarnation = incarnation;
  known.obeyed = {};
  if (!suspicion || suspicion->incarnation == incarnation) return false;
  verdict_ = Verdict{suspicion->authority, Departure::Crashed, master};
  return true;
}

bool LeaderWatch::leaves(size_t master, const Authority& authority, const Authority& seen) {
  const bool its = authority == masters_.at(master).obeyed && authority == seen && authority.epoch != 0;
  if (its) verdict_ = Verdict{authority, Departure::Left, master};
  return its;
}

bool LeaderWatch::dialFailed(size_t master, bool refused) {
  const std::optional<Suspicion> suspicion = std::exchange(masters_.at(master).suspicion, std::nullopt);
  if (!suspicion || !refused) return false;
  verdict_ = Verdict{suspicion->authority, Departure::Crashed, master};
  return true;
}

bool LeaderWatch::lost(size_t master, bool byPeer, const Authority& seen) {
  Master& known = masters_.at(master);
  const Authority obeyed = std::exchange(known.obeyed, {});
  if (!byPeer) {
    known.suspicion.reset();
    return false;
  }
  const bool wasLeader = obeyed.epoch != 0 && obeyed == seen;
  if (wasLeader) known.suspicion = Suspicion{obeyed, known.incarnation, kDialsMax};
  if (!known.suspicion) return false;
  if (known.suspicion->dialsLeft-- > 0) return true;
  known.suspicion.reset();
  return false;
}

std::optional<size_t> LeaderWatch::leader(const Authority& seen) const {
  for (size_t master = 0; master < masters_.size(); ++master) {
    if (seen.epoch != 0 && masters_[master].obeyed == seen) return master;
  }
  return std::nullopt;
}

std::optional<LeaderWatch::Verdict> LeaderWatch::verdict(const Authority& seen) const {
  return verdict_ && verdict_->authority == seen ? verdict_ : std::nullopt;
}

}  // namespace kvpool::node
