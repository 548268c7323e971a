// SPDX-License-Identifier: Apache-2.0
#include "net/refusal_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kvpool::net {
namespace {

/// Lines on stderr of `refusals` at this time, each for another reason.
int64_t linesOf(RefusalLog& log, int refusals, int64_t nowMs) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < refusals; ++i)
    log.add("a peer", "reason " + std::to_string(i), nowMs);
  const std::string written = testing::internal::GetCapturedStderr();
  return std::ranges::count(written, '\n');
}

TEST(RefusalLog, TellsOfTenInTenSeconds) {
  RefusalLog log;
  EXPECT_EQ(linesOf(log, 100, 1000), RefusalLog::kLinesMax);
  EXPECT_EQ(linesOf(log, 100, 1000 + RefusalLog::kPeriodMs - 1), 0);
  EXPECT_EQ(linesOf(log, 1, 1000 + RefusalLog::kPeriodMs), 1);
  EXPECT_EQ(log.count(), 201U);
}

TEST(RefusalLog, DoesNotRepeatItself) {
  RefusalLog log;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i)
    log.add("10.0.0." + std::to_string(i), "does not speak TLS", 1000 + i);
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(written, '\n'), 1) << written;
  EXPECT_NE(written.find("refused 10.0.0.0: does not speak TLS"), std::string::npos) << written;
}

}  // namespace
}  // namespace kvpool::net
