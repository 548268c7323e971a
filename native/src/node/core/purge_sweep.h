// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "node/core/core_context.h"

namespace kvpool::node {

/// Frees objects and tombstones below the purge id, a slice at a time. Nothing new can come to lie below it, so one
/// walk over the slots is enough; what a walk did not reach is dropped by the recovery of the next life.
class PurgeSweep {
 public:
  /// About a millisecond each, so that others get their turns.
  static constexpr uint32_t kFreesPerSlice = 1024;
  static constexpr uint32_t kLooksPerSlice = 16384;

  explicit PurgeSweep(CoreContext& context) : context_(context) {}

  /// From the first slot on: the purge id was raised.
  void begin() {
    next_ = 0;
    running_ = true;
  }
  [[nodiscard]] bool running() const { return running_; }
  void slice();

 private:
  CoreContext& context_;
  uint32_t next_ = 0;
  bool running_ = false;
};

}  // namespace kvpool::node
