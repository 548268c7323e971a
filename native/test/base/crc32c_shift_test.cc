// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c_shift.h"

#include <gtest/gtest.h>

#include <string>

#include "base/crc32c.h"
#include "seed.h"

namespace kvpool {
namespace {

TEST(Crc32cShift, JoinsTheChecksumsOfBytesThatFollowEachOther) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(dice.below(dice.oneIn(10) ? 300'000 : 2'000), ' ');
    for (char& byte : bytes)
      byte = static_cast<char>(dice.next());
    const std::string_view all = bytes;
    const size_t at = dice.below(bytes.size() + 1);
    const std::string_view behind = all.substr(at);
    EXPECT_EQ(crc32cShift(crc32c(all.substr(0, at)), behind.size()) ^ crc32c(behind), crc32c(all));
  }
}

TEST(Crc32cShift, GoesBackOverAnyLength) {
  test::Dice dice(test::seed(2));
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{65535}, uint64_t{1} << 31, (uint64_t{1} << 31) - 1,
                               (uint64_t{1} << 40) + 7, UINT64_MAX}) {
    for (int round = 0; round < 20; ++round) {
      const auto crc = static_cast<uint32_t>(dice.next());
      EXPECT_EQ(crc32cShiftBack(crc32cShift(crc, bytes), bytes), crc) << bytes;
      EXPECT_EQ(crc32cShift(crc32cShiftBack(crc, bytes), bytes), crc) << bytes;
    }
  }
}

}  // namespace
}  // namespace kvpool
