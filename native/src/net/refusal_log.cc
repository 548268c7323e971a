// SPDX-License-Identifier: Apache-2.0
#include "net/refusal_log.h"

#include "base/log.h"

namespace kvpool::net {

void RefusalLog::add(const std::string& peer, const std::string& why, int64_t nowMs) {
  ++count_;
  if (nowMs >= untilMs_) {
    untilMs_ = nowMs + kPeriodMs;
    lines_ = 0;
    last_.clear();
  }
  if (why == last_ || lines_ == kLinesMax) return;
  last_ = why;
  ++lines_;
  log(LogLevel::Warning, "refused " + peer + ": " + why);
}

}  // namespace kvpool::net
