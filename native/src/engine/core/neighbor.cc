// SPDX-License-Identifier: Apache-2.0
#include "engine/core/neighbor.h"

namespace kvpool::engine {

std::optional<Status> Neighbor::meet(const NeighborClaim& peer) {
  heard_ = true;
  if (peer.process.pid == 0 || self_.pid == 0 || peer.process.boot != self_.boot) return std::nullopt;
  if (peer.process.pidNamespace != self_.pidNamespace) {
    return Status(KV_UNAVAILABLE, "it is on this machine, but in another namespace of processes");
  }
  proof_->show(peer.challenge);
  met_ = true;
  return Status();
}

}  // namespace kvpool::engine
