// SPDX-License-Identifier: Apache-2.0
// Clients that ask for nothing: how long they may stay, and who makes way when connections run out.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "dev_kvpool_wire/Welcome.h"
#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;

constexpr uint64_t kTwiceMs = 20'000;

class IdleClientTest : public testing::Test {
 protected:
  IdleClientTest() {
    node.config.clientIdleMs = kTwiceMs / 2;
    node.restart();
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
  }
  void heartbeat(ConnectionId client) {
    node.frame(client, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
  }
  void passInSteps(uint64_t ms) {
    for (uint64_t passed = 0; passed < ms; passed += 1000)
      node.tick(1000);
  }
  bool closes(ConnectionId client) { return node.closeReasons.contains(client); }
  /// So many clients besides the first one, as many as there may be.
  void fill() {
    for (ConnectionId id = kFirst; id < kFirst + 7; ++id) {
      node.connectClient(id);
      ++node.nowMs;
    }
    ASSERT_TRUE(node.closeReasons.empty());
  }

  static constexpr ConnectionId kFirst = 30;
  static constexpr ConnectionId kNew = 50;
  CoreInMemory node;
};

TEST_F(IdleClientTest, EndsAtTwiceTheTimeAtWhichClientsEndThemselves) {
  node.tick(kTwiceMs);
  EXPECT_FALSE(closes(kClient));
  node.tick(1);
  EXPECT_NE(node.closeReasons[kClient].find("was idle"), std::string::npos);
  EXPECT_EQ(node.core->snapshot().counters.protocolErrors, 0u);
}

TEST_F(IdleClientTest, EachRequestAndEachHeartbeatBeginsTheTimeAnew) {
  node.tick(kTwiceMs);
  heartbeat(kClient);
  node.tick(kTwiceMs);
  ASSERT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK);
  node.tick(kTwiceMs);
  EXPECT_FALSE(closes(kClient));
  node.tick(1);
  EXPECT_TRUE(closes(kClient));
}

TEST_F(IdleClientTest, WhatIsUnderWayIsUse) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 5));
  passInSteps(3 * kTwiceMs);
  EXPECT_FALSE(closes(kClient));
  const WriteReply written = node.endWrite(kClient, "value");
  ASSERT_EQ(written.status, KV_OK);
  passInSteps(kTwiceMs);
  node.frame(kClient, [&](wire::Bytes& out) { test::appendRead(out, {2, written.extent, {5, 1}, 5}); });
  passInSteps(3 * kTwiceMs);
  EXPECT_FALSE(closes(kClient)) << "it takes the payload slowly";
  node.core->payloadSent(kClient);
  passInSteps(kTwiceMs - 1000);
  EXPECT_FALSE(closes(kClient));
  passInSteps(2000);
  EXPECT_TRUE(closes(kClient));
}

TEST_F(IdleClientTest, TheLongestIdleOneMakesWayForANewOne) {
  fill();
  node.nowMs += ClientSessions::kMakesWayMs;
  heartbeat(kClient);  // the oldest, and in use
  node.core->accepted(node.nowMs, kNew, false, "client");
  node.act();
  EXPECT_NE(node.closeReasons[kFirst].find("others want one of the 8 connections"), std::string::npos);
  EXPECT_EQ(node.closeReasons.size(), 1u);
  EXPECT_TRUE(node.inbox(kNew).empty()) << "no refusal";

  // The first one is still closing: it counts no more, and makes way only once.
  node.core->accepted(node.nowMs, kNew + 1, false, "client");
  node.act();
  EXPECT_TRUE(closes(kFirst + 1));
  EXPECT_EQ(node.closeReasons.size(), 2u);
  node.core->closed(node.nowMs, kFirst);
  node.core->closed(node.nowMs, kFirst + 1);
  node.core->accepted(node.nowMs, kNew + 2, false, "client");
  node.act();
  EXPECT_TRUE(closes(kFirst + 2)) << "the bound is still the bound";
  EXPECT_EQ(node.closeReasons.size(), 3u);
}

/// Heartbeats keep those of a tenant from being idle.
TEST_F(IdleClientTest, ATenantLeavesAQuarterAndItsConnectionsMakeWayForOthers) {
  node.config.separatesTenants = true;
  node.config.clientConnectionsMax = 4;
  node.restart();
  const auto connect = [this](ConnectionId id, const std::optional<Principal>& who) {
    node.core->accepted(node.nowMs, id, false, "peer", who);
    node.frame(id, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello(CoreInMemory::kIncarnation)); });
    return node.types(id).front() == wire::sbe::Welcome::sbeTemplateId();
  };
  const auto tenant = [](const std::string& name) {
    return Principal{Principal::Role::Tenant, "engine", name, false, 0};
  };
  for (const ConnectionId id : {21UL, 22UL, 23UL})
    EXPECT_TRUE(connect(id, tenant("b")));
  EXPECT_FALSE(connect(24, tenant("b"))) << "a quarter is left";
  EXPECT_TRUE(connect(25, tenant("a")));
  EXPECT_TRUE(connect(26, Principal{Principal::Role::Node, "n", "default", false, 0}));
  EXPECT_FALSE(connect(27, tenant("a"))) << "no tenant has more";
  node.nowMs += ClientSessions::kMakesWayMs;
  EXPECT_TRUE(connect(28, tenant("b"))) << "of its own";
  EXPECT_TRUE(closes(22));
  node.nowMs += ClientSessions::kMakesWayMs;
  heartbeat(25);
  EXPECT_TRUE(connect(29, tenant("a"))) << "it has its share, its own are in use, and another's are not";
  EXPECT_TRUE(closes(23));
}

/// Of plain clients too, which may have all connections: those of a tenant that has fewer are its own, however idle.
TEST_F(IdleClientTest, OneThatHasMostTakesNothingOfThoseThatHaveLittle) {
  node.config.separatesTenants = true;
  node.restart();
  const auto connect = [this](ConnectionId id, const std::optional<Principal>& who) {
    node.core->accepted(node.nowMs, id, false, "peer", who);
    node.frame(id, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello(CoreInMemory::kIncarnation)); });
    return node.types(id).front() == wire::sbe::Welcome::sbeTemplateId();
  };
  const auto tenant = [](const std::string& name) {
    return Principal{Principal::Role::Tenant, "engine", name, false, 0};
  };
  EXPECT_TRUE(connect(21, tenant("b")));
  for (ConnectionId id = 31; id < 38; ++id)
    EXPECT_TRUE(connect(id, std::nullopt));
  node.nowMs += ClientSessions::kMakesWayMs;
  for (ConnectionId id = 31; id < 38; ++id)
    heartbeat(id);
  EXPECT_FALSE(connect(38, std::nullopt));
  EXPECT_FALSE(closes(21));

  for (ConnectionId id = 31; id < 35; ++id)
    node.core->closed(node.nowMs, id);
  EXPECT_TRUE(connect(22, tenant("b")));
  for (const ConnectionId id : {41UL, 42UL, 43UL})
    EXPECT_TRUE(connect(id, tenant("a")));
  node.nowMs += ClientSessions::kMakesWayMs;
  for (const ConnectionId id : {35UL, 36UL, 37UL, 41UL, 42UL, 43UL})
    heartbeat(id);
  EXPECT_FALSE(connect(44, tenant("a"))) << "b has less than a third";
  EXPECT_FALSE(closes(21));
}

TEST_F(IdleClientTest, NobodyMakesWayWhoIsBusyOrWasAMomentAgo) {
  fill();
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 5));
  node.nowMs += ClientSessions::kMakesWayMs;
  for (ConnectionId id = kFirst; id < kFirst + 7; ++id)
    heartbeat(id);
  node.core->accepted(node.nowMs, kNew, false, "client");
  node.act();
  EXPECT_EQ(wire::readRefused(node.inbox(kNew).back()).code, wire::Refusal::Limit);
  EXPECT_EQ(node.closeReasons.size(), 1u);
  EXPECT_TRUE(closes(kNew));
}

}  // namespace
}  // namespace kvpool::node
