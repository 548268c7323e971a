// SPDX-License-Identifier: Apache-2.0
// A leader that has reached one of its bounds: the caller hears which.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

std::string said(const CoreHarness& h) {
  return h.core.explanation();
}

TEST(CoreBounds, APutThatTheLeaderKeepsNoGrantForIsTriedAgainAndSaysSoAtTheEnd) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value", 3000);
  uint32_t asked = 0;
  for (int64_t passed = 0; passed < 3000; passed += 100) {
    if (const auto body = h.nextBody(leader)) {
      ++asked;
      h.replyGrant(leader, readGrantRequest(*body), KV_QUEUE_FULL, {});
    }
    ASSERT_FALSE(h.result(batch)) << "after " << passed << " ms";
    h.pass(100);
  }
  EXPECT_GT(asked, 1u);
  EXPECT_EQ(h.expectStatus(batch), KV_QUEUE_FULL);
  EXPECT_NE(said(h).find("as many grants as it takes"), std::string::npos) << said(h);
}

TEST(CoreBounds, ARemovalWithoutRoomForItsTombstoneNamesThat) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Remove, {{"a"}});
  const auto request = readRemoveRequest(h.expectBody(leader));
  h.deliver(leader, removeReply({request.request, KV_OK, {{KV_QUEUE_FULL, 0}}}));
  EXPECT_EQ(h.expectStatus(batch), KV_QUEUE_FULL);
  EXPECT_NE(said(h).find("as many tombstones as it takes"), std::string::npos) << said(h);
}

TEST(CoreBounds, ARequestThatMayNotWaitAtTheLeaderNamesThat) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Remove, {{"a"}}, 500);
  const auto request = readRemoveRequest(h.expectBody(leader));
  h.deliver(leader, removeReply({request.request, KV_QUEUE_FULL, {}}));
  h.pass(500);
  EXPECT_EQ(h.expectStatus(batch), KV_QUEUE_FULL);
  EXPECT_NE(said(h).find("as many waiting_requests as it takes"), std::string::npos) << said(h);
}

TEST(CoreBounds, ARemoveAllNamesBothThatItMayBe) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::RemoveAll, {{}}, 500);
  const auto request = readRemoveAllRequest(h.expectBody(leader));
  h.deliver(leader, removeAllReply({request.request, KV_QUEUE_FULL, 0}));
  h.pass(500);
  EXPECT_EQ(h.expectStatus(batch), KV_QUEUE_FULL);
  EXPECT_NE(said(h).find("as many sweeps or waiting_requests as it takes"), std::string::npos) << said(h);
}

}  // namespace
}  // namespace kvpool::test
