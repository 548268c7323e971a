// SPDX-License-Identifier: Apache-2.0
// What a node tells the other masters about a leader that is gone, and all it must not take for that.
#include <gtest/gtest.h>

#include "dev_kvpool_wire/Heartbeat.h"
#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::LeaderGone;

constexpr ConnectionId kLeaderLink = 1;
constexpr ConnectionId kStandbyLink = 2;
constexpr ConnectionId kThirdLink = 3;
constexpr ConnectionId kAgain = 11;
constexpr Authority kAuthority{5, 55};
constexpr uint64_t kIncarnation = 7;

/// A node with a leader (master 0), a standby (master 1) and a third master that is only dialled so far.
class LeaderGoneTest : public ::testing::Test {
 protected:
  LeaderGoneTest() : node_(3) {
    node_.tick(0);
    node_.connectMaster(kLeaderLink, 0, kIncarnation);
    node_.connectMaster(kStandbyLink, 1, 8);
    EXPECT_TRUE(node_.fence(kLeaderLink, kAuthority).accepted);
    node_.dials.clear();
  }

  void end(ConnectionId connection) {
    node_.core->closed(node_.nowMs, connection);
    node_.act();
  }
  void dialFails(size_t master, bool refused) {
    node_.core->dialFailed(node_.nowMs, master, refused, refused ? "refused" : "no answer");
    node_.act();
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

const LeaderGone kCrashed{kAuthority, Departure::Crashed, "master-0:50051", 0, 0};
const LeaderGone kLeft{kAuthority, Departure::Left, "master-0:50051", 0, 0};

TEST_F(LeaderGoneTest, AResetLinkIsDialledAtOnceAndARefusalIsTold) {
  end(kLeaderLink);
  EXPECT_EQ(node_.dials, std::vector<size_t>{0}) << "no back-off";
  EXPECT_TRUE(told(kStandbyLink).empty()) << "a connection can break for many reasons";
  dialFails(0, true);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
  EXPECT_EQ(node_.dials, std::vector<size_t>{0}) << "the next dial waits as usual";
}

TEST_F(LeaderGoneTest, AnotherProcessAtItsAddressIsTold) {
  end(kLeaderLink);
  node_.connectMaster(kAgain, 0, kIncarnation + 1);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
  EXPECT_EQ(told(kAgain), std::vector<LeaderGone>{kCrashed}) << "it may take over as well";
}

TEST_F(LeaderGoneTest, TheSameProcessIsNot) {
  end(kLeaderLink);
  node_.connectMaster(kAgain, 0, kIncarnation);
  EXPECT_TRUE(told(kStandbyLink).empty());
  end(kAgain);
  dialFails(0, true);
  EXPECT_TRUE(told(kStandbyLink).empty()) << "over this connection it was not the leader: no fence came";
}

TEST_F(LeaderGoneTest, ATimeOutSaysNothing) {
  end(kLeaderLink);
  dialFails(0, false);
  EXPECT_TRUE(told(kStandbyLink).empty());
  node_.tick(MasterLinks::kRedialMsMax);
  ASSERT_EQ(node_.dials, (std::vector<size_t>{0, 0}));
  dialFails(0, true);
  EXPECT_TRUE(told(kStandbyLink).empty()) << "only the dial at once is evidence";
}

TEST_F(LeaderGoneTest, SilenceSaysNothing) {
  for (uint64_t waited = 0; waited <= wire::kSilenceMsMax; waited += NodeCore::kTickMs) {
    node_.tick(NodeCore::kTickMs);
    node_.frame(kStandbyLink, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
  }
  ASSERT_TRUE(node_.closeReasons.contains(kLeaderLink));
  end(kLeaderLink);
  EXPECT_TRUE(node_.dials.empty()) << "closed by us: back-off as usual";
  node_.tick(MasterLinks::kRedialMsMax);
  dialFails(0, true);
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(LeaderGoneTest, BrokenBytesSayNothing) {
  node_.frame(kLeaderLink, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
  ASSERT_TRUE(node_.closeReasons.contains(kLeaderLink));
  end(kLeaderLink);
  EXPECT_TRUE(node_.dials.empty());
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(LeaderGoneTest, ADyingProcessMayStillAcceptForAMoment) {
  end(kLeaderLink);
  for (int dial = 1; dial < LeaderWatch::kDialsMax; ++dial) {
    ASSERT_EQ(node_.dials.size(), static_cast<size_t>(dial));
    const ConnectionId brief = kAgain + static_cast<uint64_t>(dial);
    node_.core->dialled(node_.nowMs, brief, 0, "master-0");
    end(brief);
  }
  EXPECT_TRUE(told(kStandbyLink).empty());
  dialFails(0, true);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
}

TEST_F(LeaderGoneTest, ADyingProcessMayTakeADialAndSayNothingOverTls) {
  end(kLeaderLink);
  for (int dial = 1; dial < LeaderWatch::kDialsMax; ++dial) {
    ASSERT_EQ(node_.dials.size(), static_cast<size_t>(dial));
    node_.core->dialDropped(node_.nowMs, 0, "receiving failed: Connection reset by peer");
    node_.act();
  }
  EXPECT_TRUE(told(kStandbyLink).empty());
  dialFails(0, true);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kCrashed});
  node_.core->dialDropped(node_.nowMs, 0, "receiving failed: Connection reset by peer");
  node_.act();
  EXPECT_EQ(node_.dials.size(), static_cast<size_t>(LeaderWatch::kDialsMax)) << "nothing is to be found out any more";
}

TEST_F(LeaderGoneTest, DialsThatAreAcceptedAndDroppedEndSoon) {
  end(kLeaderLink);
  ConnectionId brief = kAgain;
  while (node_.dials.size() <= LeaderWatch::kDialsMax) {
    const size_t dials = node_.dials.size();
    node_.core->dialled(node_.nowMs, ++brief, 0, "master-0");
    end(brief);
    if (node_.dials.size() == dials) break;
  }
  EXPECT_EQ(node_.dials.size(), static_cast<size_t>(LeaderWatch::kDialsMax));
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(LeaderGoneTest, ANodeThatOnlyConnectedLaterSaysNothing) {
  CoreInMemory late(2);
  late.connectMaster(kLeaderLink, 0, kIncarnation);
  late.connectMaster(kStandbyLink, 1, 8);
  late.core->closed(late.nowMs, kLeaderLink);
  late.act();
  late.core->dialFailed(late.nowMs, 0, true, "refused");
  late.act();
  EXPECT_THROW(late.last(kStandbyLink, test::sbe::LeaderGone::SBE_TEMPLATE_ID), std::runtime_error)
      << "no leader's fence came over this connection";
}

TEST_F(LeaderGoneTest, OfTwoLeadersOnlyTheObeyedOneCounts) {
  ASSERT_TRUE(node_.fence(kStandbyLink, {6, 66}).accepted);
  end(kLeaderLink);
  EXPECT_TRUE(node_.dials.empty());
  node_.tick(MasterLinks::kRedialMsMax);
  dialFails(0, true);
  EXPECT_TRUE(told(kStandbyLink).empty()) << "nobody waits for the end of a leader that is deposed";
}

TEST_F(LeaderGoneTest, ALeaderDeposedDuringTheDialIsForgotten) {
  end(kLeaderLink);
  ASSERT_TRUE(node_.fence(kStandbyLink, {6, 66}).accepted);
  dialFails(0, true);
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(LeaderGoneTest, ALeaderThatLeavesIsToldToTheOthers) {
  node_.frame(kLeaderLink, [](wire::Bytes& out) { test::appendLeaderLeaves(out, kAuthority); });
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{kLeft});
  EXPECT_TRUE(told(kLeaderLink).empty());
  end(kLeaderLink);
  dialFails(0, true);
  EXPECT_EQ(told(kStandbyLink), (std::vector<LeaderGone>{kLeft, kCrashed})) << "it may not have got to the Lease";
}

TEST_F(LeaderGoneTest, OnlyTheLeaderItselfCanLeave) {
  node_.frame(kStandbyLink, [](wire::Bytes& out) { test::appendLeaderLeaves(out, kAuthority); });
  node_.frame(kLeaderLink, [](wire::Bytes& out) { test::appendLeaderLeaves(out, {4, 44}); });
  EXPECT_TRUE(told(kStandbyLink).empty());
  EXPECT_TRUE(told(kLeaderLink).empty());
  EXPECT_TRUE(node_.closeReasons.empty());
}

TEST_F(LeaderGoneTest, AMasterThatStreamsLaterHearsItUntilThereIsANewLeader) {
  end(kLeaderLink);
  dialFails(0, true);
  node_.connectMaster(kThirdLink, 2, 9);
  EXPECT_EQ(told(kThirdLink), std::vector<LeaderGone>{kCrashed});
  ASSERT_TRUE(node_.fence(kThirdLink, {6, 66}).accepted);
  node_.connectMaster(kAgain, 0, kIncarnation + 1);
  EXPECT_TRUE(told(kAgain).empty());
}

/// What a node answers to the heartbeats of masters.
class LeaderSilenceTest : public LeaderGoneTest {
 protected:
  void beat(ConnectionId connection, uint64_t number) {
    node_.inbox(connection).clear();
    node_.frame(connection, [&](wire::Bytes& out) { wire::appendHeartbeat(out, {number, {}}); });
  }
  std::vector<uint64_t> echoes(ConnectionId connection) {
    std::vector<uint64_t> out;
    for (const wire::Bytes& body : node_.inbox(connection)) {
      if (wire::templateOf(body) == test::sbe::Heartbeat::SBE_TEMPLATE_ID)
        out.push_back(wire::readHeartbeat(body).beat);
    }
    return out;
  }
  static LeaderGone silentFor(uint32_t ms, uint64_t beat) {
    return {kAuthority, Departure::Silent, "master-0:50051", ms, beat};
  }
};

TEST_F(LeaderSilenceTest, ALeaderHearsThatItIsHeard) {
  node_.tick(2000);
  beat(kLeaderLink, 17);
  EXPECT_EQ(echoes(kLeaderLink), std::vector<uint64_t>{17});
  beat(kLeaderLink, 0);
  EXPECT_TRUE(echoes(kLeaderLink).empty()) << "it did not ask";
}

TEST_F(LeaderSilenceTest, AnotherMasterHearsForHowLongTheLeaderIsSilent) {
  node_.tick(MasterLinks::kSuspectMs - 1);
  beat(kStandbyLink, 1);
  EXPECT_EQ(echoes(kStandbyLink), std::vector<uint64_t>{1});
  EXPECT_TRUE(told(kStandbyLink).empty());
  node_.tick(1);
  beat(kStandbyLink, 2);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{silentFor(MasterLinks::kSuspectMs, 2)});
  EXPECT_TRUE(echoes(kStandbyLink).empty());
  node_.tick(700);
  beat(kStandbyLink, 3);
  EXPECT_EQ(told(kStandbyLink), std::vector<LeaderGone>{silentFor(MasterLinks::kSuspectMs + 700, 3)});
}

TEST_F(LeaderSilenceTest, WhateverComesFromTheLeaderEndsIt) {
  node_.tick(1500);
  node_.fence(kLeaderLink, kAuthority);
  beat(kStandbyLink, 1);
  EXPECT_TRUE(told(kStandbyLink).empty());
}

TEST_F(LeaderSilenceTest, OnlyTheHolderOfWhatIsObeyedCounts) {
  node_.tick(1500);
  ASSERT_TRUE(node_.fence(kStandbyLink, {6, 66}).accepted);
  beat(kLeaderLink, 1);
  EXPECT_TRUE(told(kLeaderLink).empty()) << "the new leader has just spoken";
  node_.tick(MasterLinks::kSuspectMs);
  beat(kLeaderLink, 2);
  EXPECT_EQ(told(kLeaderLink).front().authority, (Authority{6, 66}));
}

TEST_F(LeaderSilenceTest, NothingIsSaidOfALeaderThatIsNotConnected) {
  end(kLeaderLink);
  node_.tick(1500);
  beat(kStandbyLink, 1);
  EXPECT_EQ(echoes(kStandbyLink), std::vector<uint64_t>{1});
}

}  // namespace
}  // namespace kvpool::node
