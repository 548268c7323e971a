// SPDX-License-Identifier: Apache-2.0
// Peers that ask and take nothing: what waits for all of them together has a bound, and a stall is no idle connection.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/core/core_harness.h"
#include "engine/core/engine_core.h"
#include "engine/core/messages.h"
#include "wire/frame.h"

namespace kvpool::engine {
namespace {

class UnsentTest : public ::testing::Test {
 protected:
  UnsentTest() {
    std::vector<kv_region> regions;
    for (uint64_t i = 0; i < KV_ENGINE_REGIONS_MAX; ++i)
      regions.push_back({0x10000 + 2 * i, 1});
    EXPECT_TRUE(core.registerRegions(regions).ok());
  }

  ConnectionId connect() {
    const ConnectionId id = core.newConnection();
    core.accepted(now, id, "peer " + std::to_string(++peers));
    wire::Bytes hello;
    wire::appendHello(hello, {CoreHarness::identity(99), 0, wire::kMagic});
    deliver(id, hello);
    take(id);
    return id;
  }
  void deliver(ConnectionId id, const wire::Bytes& frame) {
    core.received(now, id);
    core.frame(now, id, std::span(frame).subspan(wire::kFrameHeaderBytes));
    look();
  }
  void ask(ConnectionId id) { deliver(id, describeFrame(1)); }
  /// The peer takes all that waits for it.
  void take(ConnectionId id) {
    waiting[id] = 0;
    core.sent(now, id, 0);
  }
  void pass(Time ms) {
    for (const Time until = now + ms; now < until;) {
      now += 100;
      core.tick(now);
      look();
    }
  }
  void look() {
    for (const Action& action : core.takeActions()) {
      if (const auto* send = std::get_if<SendFrame>(&action)) waiting[send->connection] += send->frame.size();
      if (const auto* close = std::get_if<Close>(&action)) {
        waiting.erase(close->connection);
        closed[close->connection] = close->reason;
      }
    }
  }
  [[nodiscard]] uint64_t waitingInAll() const {
    uint64_t sum = 0;
    for (const auto& [id, bytes] : waiting)
      sum += bytes;
    return sum;
  }

  EngineCore core{CoreHarness::configuration()};
  Time now = 1000;
  size_t peers = 0;
  std::map<ConnectionId, uint64_t> waiting;
  std::map<ConnectionId, std::string> closed;
};

TEST_F(UnsentTest, WhatWaitsForManyPeersHasABound) {
  std::vector<ConnectionId> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(connect());
  for (int round = 0; round < 12; ++round) {
    for (const ConnectionId id : ids) {
      if (!closed.contains(id)) ask(id);
      ASSERT_LE(waitingInAll(), kUnsentFramesMax);
    }
  }
  EXPECT_FALSE(closed.empty());
  EXPECT_NE(closed.begin()->second.find(std::to_string(kUnsentFramesMax)), std::string::npos) << closed.begin()->second;
}

TEST_F(UnsentTest, WhoLetsTheMostWaitLosesItsConnection) {
  const ConnectionId polite = connect();
  const ConnectionId greedy = connect();
  for (int round = 0; round < 1000 && closed.empty(); ++round) {
    ask(greedy);
    ask(polite);
    take(polite);
  }
  EXPECT_TRUE(closed.contains(greedy));
  ask(polite);
  EXPECT_FALSE(closed.contains(polite));
  EXPECT_EQ(core.clientsConnected(), 1u);
}

TEST_F(UnsentTest, PeersThatLeaveTakeTheirShareWithThem) {
  for (uint64_t left = 0; left <= kUnsentFramesMax + kUnsentFramesMax / 8;) {
    const ConnectionId id = connect();
    ask(id);
    core.closed(now, id, "it left");
    ASSERT_GT(waiting[id], 0u);
    left += waiting.extract(id).mapped();
  }
  EXPECT_TRUE(closed.empty());
}

TEST_F(UnsentTest, OutputThatIsNotTakenIsAStallAlsoOfWhoGoesOnAsking) {
  const ConnectionId silent = connect();
  const ConnectionId asking = connect();
  const ConnectionId taking = connect();
  ask(silent);
  for (Time passed = 0; passed <= kTransferTimeoutMs; passed += 1000) {
    if (!closed.contains(asking)) ask(asking);
    ask(taking);
    take(taking);
    pass(1000);
  }
  ASSERT_TRUE(closed.contains(silent));
  EXPECT_NE(closed[silent].find("took nothing of what it asked for in 30000 ms"), std::string::npos) << closed[silent];
  EXPECT_TRUE(closed.contains(asking));
  EXPECT_FALSE(closed.contains(taking));
  pass(kTransferTimeoutMs + 1000);
  EXPECT_FALSE(closed.contains(taking)) << "it asks for nothing";
}

}  // namespace
}  // namespace kvpool::engine
