// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/grant.h"
#include "base/ids.h"
#include "secure/grant_seal.h"
#include "store/segment_header.h"

namespace kvpool::node {

/// Whom the node obeys: the highest authority it has seen, which is in the segment file before anyone hears of it.
class FencingState {
 public:
  explicit FencingState(store::StatePages& state) : state_(state) {}

  [[nodiscard]] Authority seen() const { return {state_.get().epoch, state_.get().nonce}; }
  /// Whether the holder of the authority was met in this life.
  [[nodiscard]] bool fenced() const { return fenced_; }

  /// A leader fences the node. True when it is obeyed from now on, also after a restart. Of an epoch the first
  /// holder wins: an equal epoch with another nonce is refused, and epoch 0 is nobody's.
  /// Its purge id is stored with it; what its grants are told by is not.
  bool fence(const Authority& authority, uint64_t objectLeaseMs, const ObjectId& purgeId, const GrantSecret& secret) {
    const bool newer = authority.epoch > seen().epoch;
    if (!newer && (authority != seen() || authority.epoch == 0)) return false;
    if (newer || objectLeaseMs > state_.get().objectLeaseMaxMs || purgeId > purged()) {
      state_.update([&](store::SegmentState& state) {
        state.epoch = authority.epoch;
        state.nonce = authority.nonce;
        if (objectLeaseMs > state.objectLeaseMaxMs) state.objectLeaseMaxMs = objectLeaseMs;
        raisePurge(state, purgeId);
      });
    }
    if (newer) oldestGrant_ = 0;
    fenced_ = true;
    seal_.emplace(secret);
    return true;
  }

  /// What a leader says of the grants that it has given: those with lower ids are published, given up or out of time.
  /// Their numbers only grow, so this needs no clock. Of another leader than the one that is obeyed it means nothing.
  void endGrantsBelow(const ObjectId& oldest) {
    if (fenced_ && oldest.epoch == seen().epoch) oldestGrant_ = std::max(oldestGrant_, oldest.counter);
  }
  /// Whether a grant of the leader that is obeyed is over, so that nothing of it may be begun any more.
  [[nodiscard]] bool isOver(const ObjectId& granted) const { return granted.counter < oldestGrant_; }

  /// Objects with a lower id are gone from now on, whatever happens to this process.
  void purge(const ObjectId& purgeId) {
    if (purgeId <= purged()) return;
    state_.update([&](store::SegmentState& state) { raisePurge(state, purgeId); });
  }
  [[nodiscard]] ObjectId purged() const { return {state_.get().purgeEpoch, state_.get().purgeCounter}; }

  /// KV_OK, KV_NOT_FENCED (only masters raise epochs) or KV_STALE_EPOCH, for a command or grant of `authority`.
  [[nodiscard]] int32_t judge(const Authority& authority) const {
    if (seen().epoch == 0 || authority.epoch > seen().epoch) return KV_NOT_FENCED;
    return authority == seen() ? KV_OK : KV_STALE_EPOCH;
  }

  /// The same for the grant of a write, which is of the epoch that its object is of: an object of a later one would be
  /// newer than whatever later leaders grant. A leader that was not met in this life has told nothing to judge it by.
  [[nodiscard]] int32_t judgeWrite(const Authority& authority, const ObjectId& id) const {
    const int32_t judged = judge(authority);
    if (judged != KV_OK) return judged;
    if (!fenced_) return KV_NOT_FENCED;
    return id.epoch == authority.epoch ? KV_OK : KV_INVALID_ARGUMENT;
  }

  /// Whether the leader that was met granted this, here. Of what judgeWrite finds in order.
  [[nodiscard]] bool granted(const GrantClaims& claims, const GrantMac& mac) {
    return seal_ && seal_->of(claims) == mac;
  }

 private:
  static void raisePurge(store::SegmentState& state, const ObjectId& purgeId) {
    if (purgeId <= ObjectId{state.purgeEpoch, state.purgeCounter}) return;
    state.purgeEpoch = purgeId.epoch;
    state.purgeCounter = purgeId.counter;
  }

  store::StatePages& state_;
  bool fenced_ = false;
  uint64_t oldestGrant_ = 0;
  std::optional<secure::GrantSeal> seal_;  // of whom it obeys, once fenced
};

}  // namespace kvpool::node
