// SPDX-License-Identifier: Apache-2.0
// How much memory clients may share with a node or an agent. A page that its client never wrote is charged to the
// process that reads it first, so what is admitted here is part of what this process can come to need.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"

namespace kvpool {

inline constexpr uint64_t kSharedStagingBytes = uint64_t{1} << 30;

class StagingBudget {
 public:
  /// `owner` is whom refusals name.
  StagingBudget(uint64_t bytes, std::string owner) : bytes_(bytes), owner_(std::move(owner)) {}

  /// Takes so much out of it. KV_INVALID_ARGUMENT (nothing was asked for), KV_TOO_LARGE (more than all of it) and
  /// KV_NO_SPACE (others hold the rest) leave it as it was.
  Status take(uint64_t bytes);
  void giveBack(uint64_t bytes) { used_ -= bytes; }

  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] uint64_t used() const { return used_; }

 private:
  uint64_t bytes_;
  uint64_t used_ = 0;
  std::string owner_;
};

}  // namespace kvpool
