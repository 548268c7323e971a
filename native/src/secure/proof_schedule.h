// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <utility>

#include "secure/credentials.h"

namespace kvpool::secure {

/// When this end of one connection proves a newer certificate to the other. Times are those of a clock that goes on;
/// `unixMs` is the time that certificates end by.
class ProofSchedule {
 public:
  /// Files of many processes may change in the same moment; their proofs come within so long.
  static constexpr int64_t kSpreadMsMax = 5000;
  /// From the answer to one proof to the next proof, and longer behind one that was not taken.
  static constexpr int64_t kPauseMsMin = 1000;
  static constexpr int64_t kPauseMsMax = 30'000;
  /// A peer that sends proofs faster than this is not one of ours: each costs the processor as a handshake does.
  static constexpr int64_t kGapMsMin = 500;

  /// `shown`: by which the other end knows this one.
  ProofSchedule(std::shared_ptr<const Credentials> shown, uint32_t seed) : shown_(std::move(shown)), random_(seed) {}

  /// Whether a proof of `own` is due; then it is sent.
  bool isDue(int64_t nowMs, int64_t unixMs, const std::shared_ptr<const Credentials>& own);
  /// The other end has taken it, or not. False when none was sent: the other end is not one of ours.
  bool answered(int64_t nowMs, int64_t unixMs, bool taken);

 private:
  [[nodiscard]] int64_t partOfRest(int64_t unixMs, int64_t least, int64_t most) const;
  [[nodiscard]] int64_t upTo(int64_t ms);

  std::shared_ptr<const Credentials> shown_;
  std::shared_ptr<const Credentials> next_;  // to be proven, or sent; null: nothing is
  bool sent_ = false;
  int64_t atMs_ = 0;  // when next_ is to be proven
  int64_t notBeforeMs_ = INT64_MIN;
  std::minstd_rand random_;
};

}  // namespace kvpool::secure
