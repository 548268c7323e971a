// SPDX-License-Identifier: Apache-2.0
// Connections that are replaced before the certificates end by which they were opened: nothing is lost with them.
#include <gtest/gtest.h>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::LeaderGone;

constexpr ConnectionId kLeaderLink = 1;
constexpr ConnectionId kStandbyLink = 2;
constexpr ConnectionId kSuccessor = 21;
constexpr ConnectionId kStandbysSuccessor = 22;
constexpr uint64_t kIncarnation = 7;
const LeaderGone kCrashed{kLeader, Departure::Crashed, "master-0:50051", 0, 0};

class RenewalTest : public ::testing::Test {
 protected:
  RenewalTest() : node_(2) {
    node_.tick(0);
    node_.connectMaster(kLeaderLink, 0, kIncarnation);
    node_.connectMaster(kStandbyLink, 1, 8);
    EXPECT_TRUE(node_.fence(kLeaderLink, kLeader).accepted);
    node_.connectClient(kClient);
    node_.dials.clear();
  }

  void renew(ConnectionId connection) {
    node_.core->renew(node_.nowMs, connection);
    node_.tick(NodeCore::kTickMs);
  }
  void dialled(ConnectionId connection, size_t master = 0) {
    node_.core->dialled(node_.nowMs, connection, master, "master-" + std::to_string(master));
    node_.act();
  }
  void welcome(ConnectionId connection, uint64_t incarnation = kIncarnation) {
    node_.frame(connection,
                [&](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome(test::kPool, incarnation)); });
  }
  void end(ConnectionId connection) {
    node_.core->closed(node_.nowMs, connection);
    node_.act();
  }
  void dialFails(bool refused) {
    node_.core->dialFailed(node_.nowMs, 0, refused, "no answer");
    node_.act();
  }
  void put(uint64_t counter) {
    const std::string key = "k" + std::to_string(counter);
    EXPECT_EQ(node_.write(kClient, kLeader, {kLeader.epoch, counter}, key, "value").status, KV_OK);
  }
  /// Keys that a connection was told of, in order.
  std::vector<std::string> keys(ConnectionId connection) {
    std::vector<std::string> out;
    for (const test::Records& part : node_.records(connection))
      for (const test::Record& record : part.records)
        out.push_back(record.key);
    return out;
  }
  std::vector<LeaderGone> told(ConnectionId connection) {
    std::vector<LeaderGone> out;
    for (const wire::Bytes& body : node_.inbox(connection)) {
      if (wire::templateOf(body) == test::sbe::LeaderGone::SBE_TEMPLATE_ID) out.push_back(test::readLeaderGone(body));
    }
    return out;
  }

  CoreInMemory node_;
};

TEST_F(RenewalTest, TheSuccessorTakesOverOnceAMasterHasWelcomedTheNodeThere) {
  put(1);
  renew(kLeaderLink);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0});
  put(2);
  dialled(kSuccessor);
  EXPECT_EQ(wire::readHello(node_.inbox(kSuccessor).front()).self.name, "node-0");
  put(3);
  EXPECT_EQ(keys(kLeaderLink), (std::vector<std::string>{"k1", "k2", "k3"})) << "the first one goes on";
  EXPECT_FALSE(node_.closeReasons.contains(kLeaderLink));
  EXPECT_EQ(node_.core->snapshot().mastersConnected, 2u);

  welcome(kSuccessor);
  EXPECT_TRUE(node_.closeReasons.contains(kLeaderLink));
  EXPECT_EQ(keys(kSuccessor), (std::vector<std::string>{"k1", "k2", "k3"})) << "in its snapshot";
  put(4);
  EXPECT_EQ(keys(kSuccessor).back(), "k4");
  EXPECT_EQ(keys(kLeaderLink).back(), "k3");
  node_.frame(kLeaderLink, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
  EXPECT_TRUE(node_.fence(kSuccessor, kLeader).accepted);
  end(kLeaderLink);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0}) << "nothing is to be dialled again";
  EXPECT_TRUE(told(kStandbyLink).empty());
  EXPECT_EQ(node_.core->snapshot().mastersConnected, 2u);
}

TEST_F(RenewalTest, ASuccessorThatDoesNotWorkCostsNothingAndIsTriedAgain) {
  renew(kLeaderLink);
  dialFails(true);
  EXPECT_TRUE(told(kStandbyLink).empty());
  node_.tick(MasterLinks::kRedialMsMin);
  ASSERT_EQ(node_.dials, (std::vector<size_t>{0, 0}));
  node_.core->dialDropped(node_.nowMs, 0, "the peer does not take our certificate");
  node_.act();
  node_.tick(MasterLinks::kRedialMsMin);
  EXPECT_EQ(node_.dials.size(), 2u) << "later and later";
  node_.tick(MasterLinks::kRedialMsMin);
  ASSERT_EQ(node_.dials.size(), 3u);
  dialled(kSuccessor);
  node_.frame(kSuccessor, [](wire::Bytes& out) {
    wire::appendRefused(out, {wire::Refusal::IdentityMismatch, wire::kWireVersions, "which may not be a storage node"});
  });
  EXPECT_TRUE(node_.closeReasons.contains(kSuccessor));
  end(kSuccessor);
  put(1);
  EXPECT_EQ(keys(kLeaderLink), std::vector<std::string>{"k1"});
  EXPECT_FALSE(node_.closeReasons.contains(kLeaderLink));
  EXPECT_NE(node_.notes.back().find("cannot be renewed before its certificates end"), std::string::npos);
  EXPECT_NE(node_.notes.back().find("which may not be a storage node"), std::string::npos);

  for (int i = 0; i < 100; ++i) {
    node_.frame(kLeaderLink, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
    node_.frame(kStandbyLink, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
    if (node_.dials.size() > 3) break;
    node_.tick(MasterLinks::kRedialMsMin);
  }
  ASSERT_EQ(node_.dials.size(), 4u);
  dialled(kStandbysSuccessor);
  welcome(kStandbysSuccessor);
  EXPECT_EQ(keys(kStandbysSuccessor), std::vector<std::string>{"k1"});
}

TEST_F(RenewalTest, ASilentSuccessorIsGivenUp) {
  renew(kLeaderLink);
  dialled(kSuccessor);
  for (uint64_t waited = 0; waited <= wire::kSilenceMsMax; waited += NodeCore::kTickMs) {
    node_.frame(kLeaderLink, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
    node_.tick(NodeCore::kTickMs);
  }
  EXPECT_TRUE(node_.closeReasons.contains(kSuccessor));
  EXPECT_FALSE(node_.closeReasons.contains(kLeaderLink));
}

TEST_F(RenewalTest, OneMasterAtATime) {
  node_.core->renew(node_.nowMs, kStandbyLink);
  node_.core->renew(node_.nowMs, kLeaderLink);
  node_.core->renew(node_.nowMs, kLeaderLink);
  node_.tick(NodeCore::kTickMs);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0});
  dialled(kSuccessor);
  node_.tick(NodeCore::kTickMs);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0}) << "the first is not over";
  welcome(kSuccessor);
  node_.tick(NodeCore::kTickMs);
  EXPECT_EQ(node_.dials, (std::vector<size_t>{0, 1}));
}

TEST_F(RenewalTest, OneThatTakesLongDoesNotKeepTheOthersFromTheirs) {
  node_.core->renew(node_.nowMs, kLeaderLink);
  node_.core->renew(node_.nowMs, kStandbyLink);
  node_.tick(NodeCore::kTickMs);
  for (uint64_t waited = 0; waited < MasterLinks::kRenewWaitMsMax; waited += 1000) {
    EXPECT_EQ(node_.dials, std::vector<size_t>{0});
    for (const ConnectionId link : {kLeaderLink, kStandbyLink})
      node_.frame(link, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
    node_.tick(1000);
  }
  EXPECT_EQ(node_.dials, (std::vector<size_t>{0, 1}));
}

TEST_F(RenewalTest, TheMasterMayCloseTheFirstOneBeforeItsWelcomeIsHere) {
  renew(kLeaderLink);
  dialled(kSuccessor);
  end(kLeaderLink);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0});
  put(1);
  welcome(kSuccessor);
  EXPECT_EQ(keys(kSuccessor), std::vector<std::string>{"k1"});
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(RenewalTest, ALeaderThatCrashesMeanwhileIsTold) {
  renew(kLeaderLink);
  dialled(kSuccessor);
  end(kLeaderLink);
  end(kSuccessor);
  EXPECT_EQ(node_.dials, (std::vector<size_t>{0, 0})) << "no back-off";
  dialFails(true);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
}

TEST_F(RenewalTest, ADialUnderWayIsThatOfALinkThatEnded) {
  renew(kLeaderLink);
  end(kLeaderLink);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0}) << "never two of one master";
  dialFails(true);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
  node_.tick(MasterLinks::kRedialMsMax);
  ASSERT_EQ(node_.dials, (std::vector<size_t>{0, 0}));
  node_.connectMaster(kSuccessor, 0, kIncarnation + 1);
  EXPECT_EQ(node_.core->snapshot().mastersConnected, 2u);
}

TEST_F(RenewalTest, ANodeThatLeavesClosesBoth) {
  renew(kLeaderLink);
  dialled(kSuccessor);
  node_.core->leave();
  node_.act();
  for (const ConnectionId link : {kLeaderLink, kSuccessor, kStandbyLink}) {
    EXPECT_TRUE(node_.closeReasons.contains(link)) << link;
    EXPECT_FALSE(node_.core->hasLeft()) << link;
    end(link);
  }
  EXPECT_TRUE(node_.core->hasLeft());
}

}  // namespace
}  // namespace kvpool::node
