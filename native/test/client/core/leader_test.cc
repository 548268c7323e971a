// SPDX-License-Identifier: Apache-2.0
// Finding the leader, losing it, and masters that do not fit.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"
#include "dev_kvpool_wire/ExistsRequest.h"

namespace kvpool::test {
namespace {

const std::vector<std::string> kTwo{"master-0:1", "master-1:1"};

ConnectionId standby(CoreHarness& h, const std::string& address) {
  const ConnectionId master = h.expectDial(address);
  h.open(master);
  h.welcome(master, wire::Role::Master, 900);
  h.answerProbe(master, KV_NOT_LEADER);
  return master;
}

void refuse(CoreHarness& h, ConnectionId connection, wire::Refusal code, const std::string& sentence) {
  h.open(connection);
  wire::Bytes frame;
  wire::appendRefused(frame, {code, wire::kWireVersions, sentence});
  h.deliver(connection, frame);
}

TEST(CoreLeader, AsksAllMastersAtOnceAndKeepsTheOneThatServes) {
  CoreHarness h(kTwo);
  const auto other = standby(h, "master-0:1");
  EXPECT_FALSE(h.core.readiness().ok());
  h.lead("master-1:1");
  EXPECT_TRUE(h.core.readiness().ok());
  EXPECT_TRUE(h.core.statistics().leaderKnown);
  EXPECT_TRUE(h.closes(other));
}

TEST(CoreLeader, ARecoveringLeaderIsAskedAgain) {
  CoreHarness h;
  const auto master = h.expectDial("master-0:1");
  h.open(master);
  h.welcome(master, wire::Role::Master, 900);
  h.answerProbe(master, KV_RECOVERING);
  EXPECT_EQ(h.core.readiness().code(), KV_RECOVERING);
  h.pass(client::kRetryLongestMs);
  h.answerProbe(master, KV_OK);
  EXPECT_TRUE(h.core.readiness().ok());
}

TEST(CoreLeader, NamesEachMasterAndWhyItDidNotDo) {
  CoreHarness h(kTwo);
  (void)standby(h, "master-0:1");
  h.cut(h.expectDial("master-1:1"));
  const Status status = h.core.readiness();
  EXPECT_EQ(status.code(), KV_NOT_LEADER);
  EXPECT_NE(status.text().find("master-0:1: peer is a standby"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("master-1:1: cut by the test"), std::string::npos) << status.text();
}

/// A pool names every master it may ever have; most of the names have no address.
TEST(CoreLeader, NamesWithoutAnAddressAreAskedForRarelyAndCounted) {
  CoreHarness h({"master-0:1", "master-1:1", "master-2:1"});
  (void)standby(h, "master-0:1");
  h.nameless(h.expectDial("master-1:1"));
  h.nameless(h.expectDial("master-2:1"));
  const std::string why = h.core.readiness().text();
  EXPECT_NE(why.find("master-0:1: peer is a standby; 2 more names have no address"), std::string::npos) << why;
  h.pass(client::kUnknownNameMs - 10);
  EXPECT_FALSE(h.dials("master-1:1"));
  h.pass(10);
  EXPECT_TRUE(h.dials("master-1:1"));
}

TEST(CoreLeader, AMasterThatCameMeanwhileIsAskedAsSoonAsTheLeaderIsLost) {
  CoreHarness h(kTwo);
  h.nameless(h.expectDial("master-1:1"));
  const auto leader = h.lead("master-0:1");
  h.pass(100);
  h.cut(leader);
  h.pass(1);
  h.lead("master-1:1");
  EXPECT_TRUE(h.core.readiness().ok());
}

TEST(CoreLeader, NamesWithoutAnAddressAreAskedForOftenWhileNobodyIsThere) {
  CoreHarness h;
  h.nameless(h.expectDial("master-0:1"));
  h.pass(client::kRetryFirstMs);
  EXPECT_TRUE(h.dials("master-0:1")) << "the pool may just be starting";
}

TEST(CoreLeader, ARequestRefusedByAFormerLeaderGoesToTheNewOne) {
  CoreHarness h(kTwo);
  const auto former = h.lead("master-0:1");
  const uint64_t batch = h.put("k", "value");
  h.refuseGrant(former, h.expectGrant(former), KV_NOT_LEADER);
  h.pass(5);
  const auto leader = h.lead("master-1:1");
  EXPECT_TRUE(h.closes(former));
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreLeader, WhenALeaderWasLostTheOthersAreAskedOftenForAShortTime) {
  CoreHarness h(kTwo);
  (void)h.expectDial("master-1:1");
  h.cut(h.lead("master-0:1"));
  h.pass(10);
  const auto other = standby(h, "master-1:1");
  client::Time lastAsked = h.now;
  client::Time longest = 0;
  for (const client::Time until = h.now + 1000; h.now < until; h.pass(5)) {
    const std::optional<wire::Bytes> question = h.nextBody(other);
    if (!question) continue;
    longest = std::max(longest, h.now - lastAsked);
    lastAsked = h.now;
    h.deliver(other, existsReply({readExistsRequest(*question).request, KV_NOT_LEADER, {}}));
  }
  EXPECT_LE(longest, client::kTakeoverLongestMs + 5);
  EXPECT_GE(lastAsked, h.now - client::kTakeoverLongestMs - 5);
}

TEST(CoreLeader, AMasterThatOnlyClaimsToLeadIsNotAskedWithoutEnd) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value", 3000);
  int grants = 0;
  for (const client::Time until = h.now + 2000; h.now < until; h.pass(5)) {
    while (const std::optional<wire::Bytes> body = h.nextBody(leader)) {
      if (wire::templateOf(*body) == wire::sbe::ExistsRequest::sbeTemplateId()) {
        h.deliver(leader, existsReply({readExistsRequest(*body).request, KV_OK, {}}));
      } else {
        ++grants;
        h.refuseGrant(leader, readGrantRequest(*body), KV_NOT_LEADER);
      }
    }
  }
  EXPECT_GE(grants, 3);
  EXPECT_LE(grants, 40);
  EXPECT_FALSE(h.result(batch));
}

TEST(CoreLeader, WithoutALeaderABatchEndsAtItsDeadlineAndSaysWhy) {
  CoreHarness h;
  h.cut(h.expectDial("master-0:1"));
  const uint64_t batch = h.put("k", "value", 1000);
  for (int i = 0; i < 220 && !h.result(batch); ++i) {
    if (h.dials("master-0:1")) h.cut(h.expectDial("master-0:1"));
    h.pass(5);
  }
  EXPECT_EQ(h.expectStatus(batch), KV_CONNECT_FAILED);
  EXPECT_NE(h.core.explanation().find("master-0:1: cut by the test"), std::string::npos);
}

TEST(CoreLeader, ASilentLeaderIsLeft) {
  CoreHarness h;
  const auto leader = h.lead();
  h.pass(client::kSilenceMs);
  EXPECT_TRUE(h.closes(leader));
  EXPECT_FALSE(h.core.statistics().leaderKnown);
}

TEST(CoreLeader, ASilentLeaderIsLeftForOneThatHasFollowed) {
  CoreHarness h(kTwo);
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Exists, {{"a"}});
  (void)readExistsRequest(h.expectBody(leader));
  h.pass(client::kDoubtMs);
  EXPECT_FALSE(h.closes(leader)) << "it may come back";
  const auto next = h.lead("master-1:1");
  EXPECT_TRUE(h.closes(leader));
  const auto request = readExistsRequest(h.expectBody(next));
  h.deliver(next, existsReply({request.request, KV_OK, {{KV_OK, 12}}}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreLeader, ALeaderThatIsHeardAgainIsKept) {
  CoreHarness h(kTwo);
  const auto leader = h.lead();
  h.pass(client::kDoubtMs);
  const auto other = standby(h, "master-1:1");
  wire::Bytes heartbeat;
  wire::appendHeartbeat(heartbeat);
  h.deliver(leader, heartbeat);
  h.pass(100);
  EXPECT_TRUE(h.closes(other)) << "the others are not asked any more";
  EXPECT_TRUE(h.core.statistics().leaderKnown);
  EXPECT_FALSE(h.closes(leader));
}

TEST(CoreLeader, HeartbeatsKeepAnIdleConnection) {
  CoreHarness h;
  const auto leader = h.lead();
  wire::Bytes heartbeat;
  wire::appendHeartbeat(heartbeat);
  for (int i = 0; i < 20; ++i) {
    h.pass(1000);
    h.deliver(leader, heartbeat);
  }
  EXPECT_FALSE(h.closes(leader));
  size_t sent = 0;
  while (const auto frame = h.next<client::SendFrame>())
    sent += frame->connection == leader ? 1u : 0u;
  EXPECT_GE(sent, 30u);
}

TEST(CoreLeader, VersionsThatDoNotFitAreHopelessAndNameBothSides) {
  CoreHarness h;
  refuse(h, h.expectDial("master-0:1"), wire::Refusal::WireVersion, "client knows [1, 1], master knows [2, 3]");
  EXPECT_TRUE(h.core.hopeless());
  EXPECT_EQ(h.core.readiness().code(), KV_VERSION_MISMATCH);
  EXPECT_NE(h.core.readiness().text().find("client knows [1, 1], master knows [2, 3]"), std::string::npos);
}

TEST(CoreLeader, OneMasterOfAnotherVersionIsNotHopelessDuringAnUpgrade) {
  CoreHarness h(kTwo);
  refuse(h, h.expectDial("master-0:1"), wire::Refusal::WireVersion, "too new");
  EXPECT_FALSE(h.core.hopeless());
  h.lead("master-1:1");
  EXPECT_TRUE(h.core.readiness().ok());
}

TEST(CoreLeader, AMasterOfAnotherPoolIsNotUsed) {
  CoreHarness h(kTwo);
  (void)standby(h, "master-0:1");
  const auto stranger = h.expectDial("master-1:1");
  h.open(stranger);
  h.welcome(stranger, wire::Role::Master, 901, {5, 5});
  EXPECT_TRUE(h.closes(stranger));
  EXPECT_EQ(h.core.readiness().code(), KV_IDENTITY_MISMATCH);
}

TEST(CoreLeader, MalformedBytesEndTheConnection) {
  for (const size_t length : {0u, 3u, 7u, 8u, 40u}) {
    CoreHarness h;
    const auto leader = h.lead();
    const wire::Bytes garbage(length, 0xA5);
    h.core.frame(h.now, leader, garbage);
    EXPECT_TRUE(h.closes(leader)) << length;
  }
}

TEST(CoreLeader, AnswersWithTheWrongNumberOfResultsEndTheConnection) {
  CoreHarness h;
  const auto leader = h.lead();
  h.submit(OpCode::Exists, {{"a"}, {"b"}});
  const auto request = readExistsRequest(h.expectBody(leader));
  h.deliver(leader, existsReply({request.request, KV_OK, {{KV_OK, 12}}}));
  EXPECT_TRUE(h.closes(leader));
}

TEST(CoreLeader, ShutDownEndsEveryBatchClosed) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t one = h.put("k", "value");
  const uint64_t two = h.get("j", 10);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  h.core.shutDown(h.now);
  EXPECT_EQ(h.expectStatus(one), KV_CLOSED);
  EXPECT_EQ(h.expectStatus(two), KV_CLOSED);
  EXPECT_TRUE(h.closes(node));
  EXPECT_TRUE(h.closes(leader));
}

}  // namespace
}  // namespace kvpool::test
