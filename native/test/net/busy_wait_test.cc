// SPDX-License-Identifier: Apache-2.0
#include "net/busy_wait.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvpool::net {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

constexpr int kTimeoutMs = 5;

/// Finds something at the given look, and notes how long each was allowed to wait.
struct Scene {
  int foundAt;
  std::vector<int> looks;

  int operator()(int ms) {
    looks.push_back(ms);
    return static_cast<int>(looks.size()) >= foundAt ? 1 : 0;
  }
};

TEST(BusyWait, LooksWithoutSleepingUntilSomethingIsThere) {
  BusyWait busy(hours(1));
  Scene scene{4, {}};
  EXPECT_EQ(busy.await(kTimeoutMs, std::ref(scene)), 1);
  EXPECT_EQ(scene.looks, (std::vector<int>{0, 0, 0, 0}));
}

TEST(BusyWait, SleepsWhenItHasLookedLongEnough) {
  BusyWait busy(microseconds(1));
  int sleeps = 0;
  // Nothing is there before it sleeps, however long that takes on this machine.
  const int found = busy.await(kTimeoutMs, [&](int ms) {
    sleeps += ms == 0 ? 0 : 1;
    return ms == 0 ? 0 : 7;
  });
  EXPECT_EQ(found, 7);
  EXPECT_EQ(sleeps, 1);
}

TEST(BusyWait, SleepsAtOnceWhenItIsOff) {
  BusyWait busy(microseconds(0));
  for (int i = 0; i < 3; ++i) {
    Scene scene{1, {}};
    EXPECT_EQ(busy.await(kTimeoutMs, std::ref(scene)), 1);
    EXPECT_EQ(scene.looks, std::vector<int>{kTimeoutMs});
  }
}

TEST(BusyWait, NothingInTimeIsNothing) {
  BusyWait busy(microseconds(1));
  EXPECT_EQ(busy.await(kTimeoutMs, [](int) { return 0; }), 0);
}

TEST(BusyWait, GivesUpWhereWaitsAreLongAndComesBackWhenTheyAreShort) {
  BusyWait busy(microseconds(100));
  EXPECT_TRUE(busy.promises());
  busy.took(hours(1));
  EXPECT_TRUE(busy.promises()) << "one long wait says little";
  for (int i = 0; i < 8; ++i)
    busy.took(hours(1));
  EXPECT_FALSE(busy.promises());
  Scene scene{1, {}};
  EXPECT_EQ(busy.await(kTimeoutMs, std::ref(scene)), 1);
  EXPECT_EQ(scene.looks, std::vector<int>{kTimeoutMs});
  for (int i = 0; i < 8; ++i)
    busy.took(microseconds(20));
  EXPECT_TRUE(busy.promises());
}

TEST(BusyWait, AMixThatIsShortOnAverageGoesOn) {
  BusyWait busy(microseconds(100));
  for (int i = 0; i < 100; ++i) {
    busy.took(microseconds(25));
    busy.took(microseconds(130));
    EXPECT_TRUE(busy.promises());
  }
}

}  // namespace
}  // namespace kvpool::net
