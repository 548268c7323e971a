// SPDX-License-Identifier: Apache-2.0
// Connections whose certificates end soon: others take their place, and no call is lost by that.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

class Renewal : public testing::Test {
 protected:
  void SetUp() override { leader = h.lead(); }

  void renew(ConnectionId connection) { h.core.renew(h.now, connection); }
  uint64_t beginPut() {
    const uint64_t batch = h.put("k" + std::to_string(++objects_), "value");
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, objects_});
    return batch;
  }
  void finishPut(ConnectionId node, uint64_t request, uint64_t batch) {
    h.replyWrite(node, request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  CoreHarness h{{"master-0:1"}};
  ConnectionId leader = 0;

 private:
  uint64_t objects_ = 0;
};

TEST_F(Renewal, ANodeConnectionInUseEndsWhatItHasWhileAnotherTakesWhatComes) {
  const uint64_t first = beginPut();
  const ConnectionId old = h.acceptNode(1);
  const auto write = h.expectWrite(old);
  renew(old);
  EXPECT_FALSE(h.closes(old)) << "a write is under way";

  const uint64_t second = beginPut();
  const ConnectionId newer = h.acceptNode(1);
  EXPECT_NE(newer, old);
  const auto later = h.expectWrite(newer);
  finishPut(old, write.request, first);
  h.passWith(leader, 10);
  EXPECT_TRUE(h.closes(old)) << "nothing is under way there any more";
  finishPut(newer, later.request, second);
  EXPECT_FALSE(h.closes(newer));
}

TEST_F(Renewal, ANodeConnectionThatIsNotUsedIsClosedAndDialledWhenItIsNeeded) {
  const uint64_t first = beginPut();
  const ConnectionId old = h.acceptNode(1);
  finishPut(old, h.expectWrite(old).request, first);
  renew(old);
  EXPECT_TRUE(h.closes(old));
  const uint64_t second = beginPut();
  const ConnectionId newer = h.acceptNode(1);
  finishPut(newer, h.expectWrite(newer).request, second);
}

TEST_F(Renewal, TheLeaderIsDialledAgainWhenNoCallIsUnderWayAndIsNoOtherLeader) {
  const uint64_t asked = h.submit(OpCode::Exists, {operation("k", nullptr, 0)});
  const KeysRequest question = master::readExistsRequest(h.expectBody(leader));
  renew(leader);
  const uint64_t waits = h.put("later", "v");
  EXPECT_FALSE(h.nextBody(leader)) << "it waits for the newer connection";
  EXPECT_FALSE(h.closes(leader));

  h.deliver(leader, master::existsReply({question.request, KV_OK, {{KV_OK, 1}}}));
  EXPECT_EQ(h.expectStatus(asked), KV_OK);
  EXPECT_TRUE(h.closes(leader));
  leader = h.lead();
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 1});
  const ConnectionId node = h.acceptNode(1);
  finishPut(node, h.expectWrite(node).request, waits);
  EXPECT_EQ(h.core.statistics().leaderChanges, 0u);
}

TEST_F(Renewal, ACallThatTakesLongIsAskedAgain) {
  const uint64_t batch = h.submit(OpCode::Exists, {operation("k", nullptr, 0)});
  (void)h.expectBody(leader);
  renew(leader);
  h.passWith(leader, client::kRenewPauseMs - 100);
  EXPECT_FALSE(h.closes(leader));
  h.passWith(leader, 200);
  EXPECT_TRUE(h.closes(leader));
  leader = h.lead();
  const KeysRequest again = master::readExistsRequest(h.expectBody(leader));
  h.deliver(leader, master::existsReply({again.request, KV_OK, {{KV_OK, 1}}}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(Renewal, AMasterThatDoesNotLeadIsAskedAgainWhenThatIsDue) {
  h.cut(leader);
  h.pass(10);
  const ConnectionId standby = h.expectDial("master-0:1");
  h.open(standby);
  h.welcome(standby, wire::Role::Master, 1);
  h.answerProbe(standby, KV_NOT_LEADER);
  renew(standby);
  EXPECT_TRUE(h.closes(standby));
  h.pass(10);
  leader = h.lead();
  EXPECT_TRUE(h.core.readiness().ok());
}

}  // namespace
}  // namespace kvpool::test
