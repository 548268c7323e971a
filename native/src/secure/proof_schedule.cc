// SPDX-License-Identifier: Apache-2.0
#include "secure/proof_schedule.h"

#include <algorithm>
#include <utility>

namespace kvpool::secure {

/// A quarter of what is left of the certificate that the other end knows, so that several attempts have their time
/// before its end, whatever its life.
int64_t ProofSchedule::partOfRest(int64_t unixMs, int64_t least, int64_t most) const {
  const int64_t left = shown_->self().principal.notAfterMs - unixMs;
  return std::clamp(left / 4, least, most);
}

int64_t ProofSchedule::upTo(int64_t ms) {
  return std::uniform_int_distribution<int64_t>(0, ms)(random_);
}

bool ProofSchedule::isDue(int64_t nowMs, int64_t unixMs, const std::shared_ptr<const Credentials>& own) {
  if (sent_) return false;           // its answer comes, or the connection ends
  if (own->showsTheSame(*shown_)) {  // other roots alone are no news to the other end
    next_.reset();
    return false;
  }
  if (own != next_) {
    next_ = own;
    atMs_ = nowMs + upTo(partOfRest(unixMs, 0, kSpreadMsMax));
  }
  if (nowMs < std::max(atMs_, notBeforeMs_)) return false;
  sent_ = true;
  return true;
}

bool ProofSchedule::answered(int64_t nowMs, int64_t unixMs, bool taken) {
  if (!sent_) return false;
  sent_ = false;
  notBeforeMs_ = nowMs + kPauseMsMin;  // from the answer: the proof itself may have come late
  if (taken) {
    shown_ = std::exchange(next_, nullptr);
  } else {
    const int64_t pause = partOfRest(unixMs, kPauseMsMin, kPauseMsMax);
    atMs_ = nowMs + pause / 2 + upTo(pause / 2);
  }
  return true;
}

}  // namespace kvpool::secure
