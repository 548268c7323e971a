// SPDX-License-Identifier: Apache-2.0
#include "engine/core/absence.h"

#include <algorithm>
#include <utility>

namespace kvpool::engine {

void Absence::begin(Time now, std::string why) {
  *this = Absence();
  since_ = now;
  why_ = std::move(why);
}

void Absence::dialFailed(Time now, std::string why) {
  ++dialsFailed_;
  whyDialFailed_ = std::move(why);
  if (!isFresh(now)) return;
  dialAt_ = std::min(now + wait_, *since_ + kRestartMs);  // the last dial is made when the time is over
  wait_ *= 2;
}

std::string Absence::story(Time now) const {
  std::string text =
      "was lost " + std::to_string(now - since_.value()) + " ms ago (" + why_ + ") and is being dialled since";
  if (dialsFailed_ > 0) text += ", " + std::to_string(dialsFailed_) + " times in vain, the last: " + whyDialFailed_;
  return text;
}

}  // namespace kvpool::engine
