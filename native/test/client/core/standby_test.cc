// SPDX-License-Identifier: Apache-2.0
// Masters that stay connected beside the leader, so that one that follows it is asked without a handshake.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

client::Config withStandbys(std::vector<std::string> masters, size_t count) {
  client::Config config = configFor(std::move(masters), false, false, true);
  config.standbys = count;
  return config;
}

ConnectionId answerAsStandby(CoreHarness& h, const std::string& address) {
  const ConnectionId master = h.expectDial(address);
  h.open(master);
  h.welcome(master, wire::Role::Master, 900);
  h.answerProbe(master, KV_NOT_LEADER);
  return master;
}

void beat(CoreHarness& h, std::initializer_list<ConnectionId> connections) {
  wire::Bytes heartbeat;
  wire::appendHeartbeat(heartbeat);
  for (const ConnectionId connection : connections)
    h.deliver(connection, heartbeat);
}

/// The time passes, and these masters stay.
void passWith(CoreHarness& h, std::initializer_list<ConnectionId> connections, int64_t ms) {
  for (; ms > 0; ms -= client::kHeartbeatMs) {
    h.pass(std::min(ms, client::kHeartbeatMs));
    beat(h, connections);
  }
}

class CoreStandby : public testing::Test {
 protected:
  CoreHarness h{withStandbys({"master-0:1", "master-1:1"}, 1)};
};

TEST_F(CoreStandby, TheOneThatFollowsIsAskedByTheConnectionThatIsThere) {
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  const ConnectionId leader = h.lead("master-0:1");
  passWith(h, {leader, standby}, 20'000);
  EXPECT_FALSE(h.closes(standby));
  EXPECT_FALSE(h.nextBody(standby)) << "what it is needs no question";

  h.cut(leader);
  const uint64_t batch = h.put("k", "value");
  h.pass(5);
  EXPECT_FALSE(h.dials("master-1:1")) << "that would be a handshake";
  h.answerProbe(standby, KV_OK);
  EXPECT_TRUE(h.core.readiness().ok());
  h.replyGrant(standby, h.expectGrant(standby), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(CoreStandby, TheOneThatFollowsGetsTheQuestionAlone) {
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  const ConnectionId leader = h.lead("master-0:1");
  passWith(h, {leader, standby}, client::kStandbyHeartbeatMs / 2);
  while (h.next<client::SendFrame>())
    continue;
  h.cut(leader);
  h.pass(5);
  size_t frames = 0;
  while (const auto sent = h.next<client::SendFrame>())
    frames += sent->connection == standby ? 1U : 0U;
  EXPECT_EQ(frames, 1U) << "a heartbeat beside it would be one more from every client at once";
}

TEST_F(CoreStandby, OneThatIsNotThereYetIsDialledAgainNowAndThenAndExplainsNothing) {
  const ConnectionId leader = h.lead("master-0:1");
  h.cut(h.expectDial("master-1:1"));
  const uint64_t explained = h.core.explanation().size();
  passWith(h, {leader}, client::kStandbyRedialMs / 2 - 10);
  EXPECT_FALSE(h.dials("master-1:1"));
  passWith(h, {leader}, client::kStandbyRedialMs / 2 + 20);
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  passWith(h, {leader, standby}, 10'000);
  EXPECT_FALSE(h.closes(standby));
  EXPECT_EQ(h.core.explanation().size(), explained) << h.core.explanation();
  EXPECT_TRUE(h.core.readiness().ok());
}

TEST_F(CoreStandby, AFormerLeaderThatHandedOverStays) {
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  const ConnectionId former = h.lead("master-0:1");
  const uint64_t batch = h.put("k", "value");
  h.refuseGrant(former, h.expectGrant(former), KV_NOT_LEADER);
  h.pass(5);
  h.answerProbe(standby, KV_OK);
  h.replyGrant(standby, h.expectGrant(standby), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_FALSE(h.closes(former));
}

TEST_F(CoreStandby, ASilentOneIsDroppedAndDialledAgain) {
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  const ConnectionId leader = h.lead("master-0:1");
  passWith(h, {leader}, client::kSilenceMs + 500);
  EXPECT_TRUE(h.closes(standby));
  EXPECT_FALSE(h.closes(leader));
  passWith(h, {leader}, client::kStandbyRedialMs + 500);
  EXPECT_TRUE(h.dials("master-1:1"));
}

TEST_F(CoreStandby, ItsConnectionIsRenewedBesideTheLeader) {
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  const ConnectionId leader = h.lead("master-0:1");
  passWith(h, {leader, standby}, 1000);
  h.core.renew(h.now, standby);
  EXPECT_TRUE(h.closes(standby));
  h.pass(5);
  EXPECT_NE(answerAsStandby(h, "master-1:1"), standby);
  EXPECT_FALSE(h.closes(leader));
}

TEST(CoreStandbys, AsManyStayAsTheSettingsHaveAndClientsPreferDifferentOnes) {
  const std::vector<std::string> masters{"master-0:1", "master-1:1", "master-2:1", "master-3:1"};
  std::vector<size_t> kept(masters.size());
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    client::Config config = withStandbys(masters, 2);
    config.seed = seed;
    CoreHarness h(config);
    std::vector<ConnectionId> standbys;
    for (size_t i = 1; i < masters.size(); ++i)
      standbys.push_back(answerAsStandby(h, masters[i]));
    const ConnectionId leader = h.lead("master-0:1");
    passWith(h, {leader, standbys[0], standbys[1], standbys[2]}, 1000);
    size_t open = 0;
    for (size_t i = 0; i < standbys.size(); ++i) {
      if (h.closes(standbys[i])) continue;
      ++kept[i + 1];
      ++open;
    }
    EXPECT_EQ(open, 2u) << "seed " << seed;
  }
  for (size_t i = 1; i < kept.size(); ++i)
    EXPECT_GE(kept[i], 10u) << masters[i];
}

/// Its pod was being made when the client began.
TEST_F(CoreStandby, ANameThatGetsItsAddressLaterBecomesAStandby) {
  h.nameless(h.expectDial("master-1:1"));
  const ConnectionId leader = h.lead("master-0:1");
  passWith(h, {leader}, client::kStandbyRedialMs + 500);
  const ConnectionId standby = answerAsStandby(h, "master-1:1");
  passWith(h, {leader, standby}, 10'000);
  EXPECT_FALSE(h.closes(standby));
}

/// It may refuse this client for ever, and most names of a pool's masters never get an address.
TEST_F(CoreStandby, OneThatNeverAnswersIsDialledEverMoreRarely) {
  h.cut(h.expectDial("master-1:1"));
  const ConnectionId leader = h.lead("master-0:1");
  size_t dials = 0;
  for (int second = 0; second < 600; ++second) {
    passWith(h, {leader}, 1000);
    if (!h.dials("master-1:1")) continue;
    h.cut(h.expectDial("master-1:1"));
    ++dials;
  }
  EXPECT_GE(dials, 600'000u / client::kStandbyRedialLongestMs);
  EXPECT_LE(dials, 4 + 2 * 600'000u / client::kStandbyRedialLongestMs);
}

/// That of a machine that is gone is only given up after a while.
TEST(CoreStandbys, OnesThatAreThereStayRatherThanOnesThatAreDialled) {
  const std::vector<std::string> masters{"master-0:1", "master-1:1", "master-2:1"};
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    client::Config config = withStandbys(masters, 1);
    config.seed = seed;
    CoreHarness h(config);
    const ConnectionId standby = answerAsStandby(h, "master-2:1");
    const ConnectionId leader = h.lead("master-0:1");
    passWith(h, {leader, standby}, 1000);
    EXPECT_FALSE(h.closes(standby)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kvpool::test
