// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engine/core/actions.h"
#include "engine/core/limits.h"

namespace kvpool::engine {

/// A peer that was connected and is not any more: since when, and when it is dialled next. The first dial is due at
/// once; each that fails doubles the wait for the next one, until kRestartMs after the loss.
class Absence {
 public:
  /// Its connection ended.
  void begin(Time now, std::string why);
  void dialFailed(Time now, std::string why);
  /// It is back.
  void end() { *this = Absence(); }

  /// Lost so lately that it may be starting anew.
  [[nodiscard]] bool isFresh(Time now) const { return since_ && now - *since_ < kRestartMs; }
  [[nodiscard]] bool dialDue(Time now) const { return now >= dialAt_; }
  /// Dials that failed since it was lost.
  [[nodiscard]] int dialsFailed() const { return dialsFailed_; }
  /// "was lost ...", for a sentence that begins with its name. Only of a peer that was lost.
  [[nodiscard]] std::string story(Time now) const;

 private:
  std::optional<Time> since_;
  std::string why_;
  Time dialAt_ = 0;
  int64_t wait_ = kRedialFirstMs;
  int dialsFailed_ = 0;
  std::string whyDialFailed_;
};

}  // namespace kvpool::engine
