// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "node/core/core_context.h"
#include "node/core/payload_check.h"

namespace kvpool::node {

/// Goes through all payloads again and again and drops what no longer matches its checksum. Slow on purpose: bytes per
/// second are bounded, a node that is busy moving payloads is left alone most of the time, and a round begins no sooner
/// than kRoundMs after the one before.
class Scrub {
 public:
  static constexpr uint64_t kRoundMs = 60'000;
  /// Slots looked at in one tick, so that a sparse directory does not hold up the loop.
  static constexpr uint32_t kLooksPerTick = 16384;
  /// A tick's share is never that of a longer time: after a pause there is nothing to catch up with.
  static constexpr uint64_t kElapsedMsMax = 200;
  /// Transfers of more than this since the tick before are load, and only every kTicksUnderLoad-th tick scrubs then.
  static constexpr uint64_t kLoadBytes = uint64_t{8} << 20;
  static constexpr uint32_t kTicksUnderLoad = 20;

  explicit Scrub(CoreContext& context) : context_(context) {}

  void tick(uint64_t nowMs);

 private:
  [[nodiscard]] bool givesWay();
  bool nextObject(uint32_t& looks);
  void endRound();

  CoreContext& context_;
  std::optional<PayloadCheck> check_;
  uint32_t next_ = 0;
  uint64_t lastTickMs_ = 0;
  uint64_t roundBeganMs_ = 0;
  bool resting_ = false;
  uint64_t lastMovedBytes_ = 0;
  uint32_t ticksGivenWay_ = 0;
};

}  // namespace kvpool::node
