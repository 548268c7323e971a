// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kvpool::ascend {
namespace {

constexpr const char* kHere = "10.0.0.1:20000";
constexpr const char* kThere = "10.0.0.1:20007";

/// Routes to one peer, and what they want done.
class RoutesTest : public testing::Test {
 protected:
  void make(const RouteSettings& settings) { routes_.emplace(settings); }
  void SetUp() override { make({.connectTimeoutMs = 1500, .transferTimeoutMs = 2500}); }

  void submitTo(const std::string& endpoint, TransferId id, Time deadline = 60000) {
    routes_->submit(now_, {id, {endpoint, 1}, Direction::Write, {}, deadline});
    take();
  }
  void submit(TransferId id, uint64_t registrations = 1, Time deadline = 60000) {
    routes_->submit(now_, {id, {kHere, registrations}, Direction::Read, {{0x1000, 0x2000, 64}}, deadline});
    take();
  }
  void connected(TransportStatus status, const std::string& endpoint = kHere) {
    routes_->connected(now_, endpoint, status);
    take();
  }
  void disconnected(TransportStatus status, const std::string& endpoint = kHere) {
    routes_->disconnected(now_, endpoint, status);
    take();
  }
  void transferred(TransferId id, TransportStatus status) {
    routes_->transferred(now_, id, status);
    take();
  }
  /// A transfer of a channel that works.
  void underWay(TransferId id) {
    submit(id);
    connected(kTransportOk);
    ASSERT_EQ(all<Transfer>().size(), 1U);
    clear();
  }

  void take() {
    for (Action& action : routes_->takeActions())
      actions_.push_back(std::move(action));
  }
  void clear() { actions_.clear(); }
  /// The only action that is left, if it is of this kind.
  template <typename Kind>
  const Kind* next() {
    return actions_.size() == 1 ? std::get_if<Kind>(&actions_.front()) : nullptr;
  }
  template <typename Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Action& action : actions_) {
      if (const Kind* one = std::get_if<Kind>(&action)) found.push_back(*one);
    }
    return found;
  }
  [[nodiscard]] std::optional<Status> endOf(TransferId id) const {
    for (const Finish& finish : all<Finish>()) {
      if (finish.id == id) return finish.status;
    }
    return std::nullopt;
  }

  std::optional<Routes> routes_;
  std::vector<Action> actions_;
  Time now_ = 1000;
};

TEST_F(RoutesTest, AChannelIsMadeOnceAndThenUsed) {
  submit(1);
  submit(2);
  ASSERT_NE(next<Connect>(), nullptr);
  EXPECT_EQ(next<Connect>()->endpoint, kHere);
  EXPECT_EQ(next<Connect>()->timeoutMs, 1500);
  clear();
  connected(kTransportOk);
  submit(3);
  const auto transfers = all<Transfer>();
  ASSERT_EQ(transfers.size(), 3U);
  EXPECT_EQ(transfers[0].id, 1U);
  EXPECT_EQ(transfers[0].timeoutMs, 2500);
  EXPECT_EQ(transfers[0].deadline, 60000);
  EXPECT_EQ(transfers[0].pieces.size(), 1U);
  EXPECT_EQ(transfers[2].id, 3U);
  clear();
  transferred(2, kTransportOk);
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_TRUE(endOf(2)->ok());
  EXPECT_EQ(routes_->counters().connects, 1U);
}

TEST_F(RoutesTest, ItIsCountedWhatBecameOfTransfersAndChannels) {
  make({.channelsMax = 2});
  EXPECT_EQ(routes_->counters().channelsMax, 2U);
  underWay(1);
  transferred(1, kTransportOk);
  RouteCounters counted = routes_->counters();
  EXPECT_EQ(counted.transfers, 1U);
  EXPECT_EQ(counted.connects, 1U);
  EXPECT_EQ(counted.channels, 1U);
  EXPECT_EQ(counted.disconnects, 0U);
  // It does not know memory that came later, nor the channel after it, which CANN has from an earlier life.
  routes_->registered();
  submit(2);
  disconnected(kTransportOk);
  connected(kAlreadyConnected);
  disconnected(kTransportOk);
  connected(kTransportOk);
  transferred(2, kTransportFailed);
  disconnected(kTransportFailed);
  counted = routes_->counters();
  EXPECT_EQ(counted.failures, 1U);
  EXPECT_EQ(counted.timeouts, 0U);
  EXPECT_EQ(counted.connects, 3U);
  EXPECT_EQ(counted.renewals, 2U);
  EXPECT_EQ(counted.disconnects, 3U);
  EXPECT_EQ(counted.channels, 1U);
  EXPECT_EQ(counted.channelsKept, 1U);
  EXPECT_EQ(counted.retries, 0U);
}

TEST_F(RoutesTest, ATransferThatWaitsForRoomIsARetry) {
  for (const bool connectsByItself : {false, true}) {
    make({.connectsByItself = connectsByItself, .channelsMax = 10});
    submitTo(kThere, 1);
    if (!connectsByItself) connected(kTransportOk, kThere);
    transferred(1, kTransportOk);
    submitTo(kHere, 2);
    if (connectsByItself) {
      transferred(2, kResourceExhausted);
    } else {
      connected(kResourceExhausted);
    }
    EXPECT_EQ(routes_->counters().retries, 1U) << connectsByItself;
    EXPECT_EQ(routes_->counters().roomMade, 1U) << connectsByItself;
    EXPECT_EQ(routes_->counters().failures, 0U) << connectsByItself;
  }
}

TEST_F(RoutesTest, AShortConnectionEndsWithItsTransfers) {
  make({.shortConnections = true});
  underWay(1);
  submit(2);
  clear();
  transferred(1, kTransportOk);
  ASSERT_NE(next<Finish>(), nullptr) << "the other one needs it";
  clear();
  transferred(2, kTransportOk);
  EXPECT_TRUE(endOf(2)->ok());
  EXPECT_EQ(all<Disconnect>().size(), 1U);
}

TEST_F(RoutesTest, APeerThatRestartsCountsItsRegistrationsFromTheBeginning) {
  submit(1, 100);
  connected(kTransportOk);
  transferred(1, kTransportFailed);
  submit(2, 1);
  disconnected(kTransportOk);
  connected(kTransportOk);
  transferred(2, kTransportOk);
  clear();
  submit(3, 2);
  ASSERT_NE(next<Disconnect>(), nullptr) << "the channel does not know what was registered after it was made";
}

TEST_F(RoutesTest, WhereCannConnectsByItselfNothingElseDoes) {
  make({.connectsByItself = true});
  submit(1);
  ASSERT_NE(next<Transfer>(), nullptr);
  clear();
  transferred(1, kTransportOk);
  ASSERT_NE(next<Finish>(), nullptr);
  clear();
  submit(2);
  ASSERT_NE(next<Transfer>(), nullptr);
}

TEST_F(RoutesTest, WhereCannConnectsByItselfAFailedTransferEndsWhenItsChannelIsKnownToHave) {
  for (const TransportStatus gone : {kTransportOk, kNotConnected}) {
    make({.connectsByItself = true});
    clear();
    submit(1);
    clear();
    transferred(1, kTransportFailed);
    ASSERT_NE(next<Disconnect>(), nullptr) << "the failure may be that of CANN's own Disconnect";
    clear();
    disconnected(gone);
    ASSERT_NE(next<Finish>(), nullptr);
    EXPECT_EQ(endOf(1)->code(), KV_TRANSFER_FAILED);
    EXPECT_EQ(routes_->counters().channels, 0U);
  }
}

TEST_F(RoutesTest, AChannelThatCannKeptAfterAFailureIsEndedBeforeTheNextTransferOnceWhateverComesOfIt) {
  make({.connectsByItself = true});
  submit(1);
  transferred(1, kTransportFailed);
  disconnected(kTransportFailed);
  clear();
  submit(2);
  ASSERT_NE(next<Disconnect>(), nullptr);
  clear();
  disconnected(kTransportFailed);
  ASSERT_NE(next<Transfer>(), nullptr);
}

/// The card goes on with what it moves for as long as it repeats it, where CANN cannot end the channel.
TEST_F(RoutesTest, ATransferWhoseChannelCannKeepsEndsWhenTheCardHasGivenUp) {
  for (const bool connectsByItself : {false, true}) {
    SCOPED_TRACE(connectsByItself);
    make({.connectsByItself = connectsByItself, .cardRepeatsMs = 5000});
    now_ = 1000;
    submit(1);
    if (!connectsByItself) connected(kTransportOk);
    transferred(1, kTransportTimeout);
    disconnected(kTransportFailed);
    EXPECT_FALSE(endOf(1));
    // Another peer's, and the next attempt to end the channel, change nothing.
    submit(2);
    disconnected(kTransportFailed);
    now_ += 4999;
    routes_->tick(now_);
    take();
    EXPECT_FALSE(endOf(1));
    EXPECT_EQ(routes_->counters().channelsKept, 1U);
    ++now_;
    routes_->tick(now_);
    take();
    ASSERT_TRUE(endOf(1));
    EXPECT_EQ(endOf(1)->code(), KV_TIMEOUT);
    clear();
  }
}

TEST_F(RoutesTest, ATransferWhoseChannelCannKeepsEndsWithTheChannel) {
  underWay(1);
  transferred(1, kTransportTimeout);
  disconnected(kTransportFailed);
  EXPECT_FALSE(endOf(1));
  submit(2);
  disconnected(kTransportOk);
  ASSERT_TRUE(endOf(1));
  EXPECT_EQ(endOf(1)->code(), KV_TIMEOUT);
}

TEST_F(RoutesTest, ATransferWhoseChannelCannKeepsEndsAtTheShutdown) {
  underWay(1);
  transferred(1, kTransportTimeout);
  disconnected(kTransportFailed);
  routes_->shutDown();
  take();
  ASSERT_TRUE(endOf(1));
  EXPECT_EQ(routes_->pending(), 0U);
}

TEST_F(RoutesTest, ATransferThatFailsEndsItsChannelAndTheNextMakesAnother) {
  underWay(1);
  transferred(1, kTransportFailed);
  ASSERT_NE(next<Disconnect>(), nullptr);
  clear();
  disconnected(kTransportOk);
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(1)->code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(endOf(1)->text(), "a transfer with 10.0.0.1:20000 ended with 503900 (failed)");
  clear();
  submit(2);
  ASSERT_NE(next<Connect>(), nullptr);
}

TEST_F(RoutesTest, APeerThatCannotBeConnectedEndsWhatWaitsForIt) {
  submit(1);
  submit(2);
  clear();
  connected(kTransportTimeout);
  for (const TransferId id : {1U, 2U}) {
    ASSERT_TRUE(endOf(id));
    EXPECT_EQ(endOf(id)->code(), KV_CONNECT_FAILED);
    EXPECT_EQ(endOf(id)->text(), "10.0.0.1:20000 cannot be connected: 103901 (timeout)");
  }
  clear();
  submit(3);
  ASSERT_NE(next<Connect>(), nullptr);
}

TEST_F(RoutesTest, ATimeoutEndsTheChannelAndThenTheTransferAsItsMemoryMayBeTouchedUntilThen) {
  underWay(1);
  transferred(1, kTransportTimeout);
  ASSERT_NE(next<Disconnect>(), nullptr);
  disconnected(kTransportOk);
  ASSERT_TRUE(endOf(1));
  EXPECT_EQ(endOf(1)->code(), KV_TIMEOUT);
  EXPECT_EQ(routes_->counters().timeouts, 1U);
}

TEST_F(RoutesTest, AWrongCallIsNotMadeAgainAndKeepsTheChannel) {
  for (const TransportStatus refusal : {kParamInvalid, kUnsupported}) {
    SetUp();
    clear();
    underWay(1);
    transferred(1, refusal);
    ASSERT_NE(next<Finish>(), nullptr) << refusal;
    EXPECT_EQ(next<Finish>()->status.code(), KV_TRANSFER_FAILED);
  }
}

TEST_F(RoutesTest, WhatIsUnderWayEndsBeforeItsChannelDoes) {
  underWay(1);
  submit(2);
  submit(3);
  clear();
  transferred(2, kTransportFailed);
  EXPECT_TRUE(all<Disconnect>().empty());
  submit(4);
  EXPECT_TRUE(all<Transfer>().empty());
  transferred(1, kTransportOk);
  EXPECT_TRUE(all<Disconnect>().empty());
  transferred(3, kTransportOk);
  EXPECT_EQ(all<Disconnect>().size(), 1U);
  clear();
  disconnected(kTransportOk);
  EXPECT_EQ(all<Connect>().size(), 1U);
  EXPECT_TRUE(endOf(2));
}

TEST_F(RoutesTest, AChannelThatCannKeptIsEndedAndMadeAgainOnce) {
  submit(1);
  clear();
  connected(kAlreadyConnected);
  ASSERT_NE(next<Disconnect>(), nullptr);
  clear();
  disconnected(kTransportOk);
  ASSERT_NE(next<Connect>(), nullptr);
  clear();
  connected(kAlreadyConnected);
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(1)->code(), KV_CONNECT_FAILED);
}

TEST_F(RoutesTest, AChannelWhosePeerCouldNotBeToldOfItsEndIsEndedBeforeTheNextOne) {
  underWay(1);
  transferred(1, kTransportTimeout);
  disconnected(kTransportFailed);
  clear();
  submit(2);
  ASSERT_NE(next<Disconnect>(), nullptr);
  clear();
  disconnected(kNotConnected);
  ASSERT_TRUE(endOf(1));
  EXPECT_EQ(all<Connect>().size(), 1U);
}

TEST_F(RoutesTest, MemoryThatThePeerRegisteredAfterwardsRenewsTheChannel) {
  underWay(1);
  submit(2, 2);
  EXPECT_TRUE(actions_.empty());
  transferred(1, kTransportOk);
  EXPECT_EQ(all<Disconnect>().size(), 1U);
  clear();
  disconnected(kTransportOk);
  ASSERT_NE(next<Connect>(), nullptr);
  clear();
  connected(kTransportOk);
  ASSERT_NE(next<Transfer>(), nullptr);
  clear();
  submit(3, 1);
  ASSERT_NE(next<Transfer>(), nullptr);
}

TEST_F(RoutesTest, MemoryThatWasRegisteredHereRenewsTheChannel) {
  underWay(1);
  transferred(1, kTransportOk);
  clear();
  routes_->registered();
  submit(2);
  ASSERT_NE(next<Disconnect>(), nullptr);
}

TEST_F(RoutesTest, WhileChannelsAreHeldAllEndAndNoneIsMade) {
  underWay(1);
  routes_->hold(now_);
  take();
  EXPECT_TRUE(actions_.empty()) << "what is under way ends first";
  submit(2);
  transferred(1, kTransportOk);
  EXPECT_EQ(all<Disconnect>().size(), 1U);
  EXPECT_TRUE(routes_->hasChannels());
  clear();
  disconnected(kTransportOk);
  EXPECT_FALSE(routes_->hasChannels());
  EXPECT_TRUE(actions_.empty());
  routes_->resume(now_);
  take();
  ASSERT_NE(next<Connect>(), nullptr);
}

TEST_F(RoutesTest, ChannelsAreMadeAgainWhenTheLastOfThoseThatHoldThemResumes) {
  routes_->hold(now_);
  routes_->hold(now_);
  submit(1);
  routes_->resume(now_);
  take();
  EXPECT_TRUE(actions_.empty());
  routes_->resume(now_);
  take();
  EXPECT_NE(next<Connect>(), nullptr);
}

TEST_F(RoutesTest, AChannelThatIsMadeWhileTheyAreHeldIsEnded) {
  submit(1);
  clear();
  routes_->hold(now_);
  connected(kTransportOk);
  ASSERT_NE(next<Disconnect>(), nullptr);
  clear();
  disconnected(kTransportOk);
  routes_->resume(now_);
  take();
  ASSERT_NE(next<Connect>(), nullptr);
}

TEST_F(RoutesTest, SoManyAreUnderWayAndTheOthersWait) {
  make({.connectsByItself = true, .underWayMax = 2});
  submit(1);
  submit(2);
  submit(3);
  EXPECT_EQ(all<Transfer>().size(), 2U);
  clear();
  transferred(1, kTransportOk);
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].id, 3U);
}

TEST_F(RoutesTest, ATransferWhoseTimeEndsWhileItWaitsTimesOut) {
  submit(1, 1, now_ + 100);
  submit(2, 1, now_ + 1000);
  clear();
  now_ += 100;
  routes_->tick(now_);
  take();
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(1)->code(), KV_TIMEOUT);
  clear();
  connected(kTransportOk);
  ASSERT_NE(next<Transfer>(), nullptr);
  EXPECT_EQ(next<Transfer>()->id, 2U);
  EXPECT_EQ(next<Transfer>()->timeoutMs, 900);
}

TEST_F(RoutesTest, WhereChannelsAreExhaustedTheOneUsedLeastRecentlyEnds) {
  underWay(1);
  transferred(1, kTransportOk);
  submitTo(kThere, 2);
  clear();
  connected(kResourceExhausted, kThere);
  ASSERT_NE(next<Disconnect>(), nullptr) << "the transfer waits for that";
  EXPECT_EQ(next<Disconnect>()->endpoint, kHere);
  EXPECT_TRUE(next<Disconnect>()->makesRoom);
  clear();
  disconnected(kTransportOk);
  ASSERT_NE(next<Connect>(), nullptr);
  EXPECT_EQ(next<Connect>()->endpoint, kThere);
  EXPECT_EQ(routes_->counters().roomMade, 1U);
}

TEST_F(RoutesTest, WhereChannelsAreExhaustedAndNoneCanEndTheTransferFails) {
  submit(1);
  clear();
  connected(kResourceExhausted);
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(1)->code(), KV_CONNECT_FAILED);
}

TEST_F(RoutesTest, WhereCannThatConnectsByItselfHasNoRoomAnotherChannelEndsAndTheTransferIsMadeAgain) {
  make({.connectsByItself = true});
  submit(1);
  transferred(1, kTransportOk);
  submitTo(kThere, 2);
  clear();
  transferred(2, kResourceExhausted);
  ASSERT_NE(next<Disconnect>(), nullptr);
  EXPECT_EQ(next<Disconnect>()->endpoint, kHere);
  clear();
  disconnected(kTransportOk);
  ASSERT_NE(next<Transfer>(), nullptr);
  EXPECT_EQ(next<Transfer>()->id, 2U);
  clear();
  transferred(2, kResourceExhausted);
  ASSERT_NE(next<Finish>(), nullptr) << "there is nothing left that could end";
  EXPECT_EQ(endOf(2)->code(), KV_TRANSFER_FAILED);
}

TEST_F(RoutesTest, ATransferOverAChannelThatIsThereIsNotShortOfOne) {
  make({.connectsByItself = true});
  submitTo(kThere, 1);
  transferred(1, kTransportOk);
  submit(2);
  transferred(2, kTransportOk);
  submit(3);
  clear();
  transferred(3, kResourceExhausted);
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(3)->code(), KV_TRANSFER_FAILED);
}

/// Routes to some peers, in both ways to connect.
class ChannelsMaxTest : public RoutesTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override { make({.connectsByItself = GetParam(), .channelsMax = 2}); }
  static std::string peer(int number) { return "10.0.0.2:" + std::to_string(20000 + number); }
  /// From here to the end of what CANN is asked then.
  void begin(int number, TransferId id) {
    submitTo(peer(number), id);
    answerConnects();
  }
  /// Where CANN has no room for its channel.
  void refused(TransferId id) {
    const std::vector<Connect> connects = all<Connect>();
    clear();
    for (const Connect& connect : connects)
      connected(kResourceExhausted, connect.endpoint);
    if (GetParam()) transferred(id, kResourceExhausted);
  }
  void answerConnects() {
    for (const Connect& connect : all<Connect>())
      connected(kTransportOk, connect.endpoint);
  }
  void move(int number, TransferId id) {
    begin(number, id);
    transferred(id, kTransportOk);
    clear();
  }
};

TEST_P(ChannelsMaxTest, TheOneUsedLongestAgoEndsBeforeAnotherIsMade) {
  move(1, 1);
  move(2, 2);
  move(1, 3);
  begin(3, 4);
  ASSERT_NE(next<Disconnect>(), nullptr);
  EXPECT_EQ(next<Disconnect>()->endpoint, peer(2));
  clear();
  disconnected(kTransportOk, peer(2));
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].endpoint, peer(3));
  EXPECT_EQ(routes_->counters().connects, 3U);
  EXPECT_EQ(routes_->counters().roomMade, 1U);
}

TEST_P(ChannelsMaxTest, OneThatMovesBytesStaysAndTheOtherPeerWaits) {
  begin(1, 1);
  begin(2, 2);
  clear();
  begin(3, 3);
  EXPECT_TRUE(actions_.empty());
  transferred(2, kTransportOk);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  EXPECT_EQ(all<Disconnect>()[0].endpoint, peer(2));
  clear();
  disconnected(kTransportOk, peer(2));
  answerConnects();
  EXPECT_EQ(all<Transfer>().size(), 1U);
}

TEST_P(ChannelsMaxTest, PeersGetTheRoomInTheOrderInWhichTheyCame) {
  begin(1, 1);
  begin(2, 2);
  submitTo(peer(9), 3);
  submitTo(peer(3), 4);
  transferred(1, kTransportOk);
  clear();
  disconnected(kTransportOk, peer(1));
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].endpoint, peer(9));
}

TEST_P(ChannelsMaxTest, APeerThatStopsWaitingHoldsUpNoOther) {
  begin(1, 1);
  begin(2, 2);
  submitTo(peer(3), 3, now_ + 100);
  transferred(1, kTransportOk);
  now_ += 100;
  routes_->tick(now_);
  take();
  clear();
  submitTo(peer(4), 4);
  disconnected(kTransportOk, peer(1));
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].endpoint, peer(4));
}

TEST_P(ChannelsMaxTest, AForgottenPeersChannelEndsWhenItIsIdle) {
  begin(1, 1);
  clear();
  routes_->forget(now_, peer(1));
  take();
  EXPECT_TRUE(actions_.empty()) << "it moves bytes";
  transferred(1, kTransportOk);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  disconnected(kTransportOk, peer(1));
  EXPECT_FALSE(routes_->hasChannels());
  clear();
  begin(1, 2);
  EXPECT_EQ(all<Transfer>().size(), 1U);
  clear();
  transferred(2, kTransportOk);
  EXPECT_TRUE(all<Disconnect>().empty()) << "it was wanted again";
  routes_->forget(now_, peer(7));
  take();
  EXPECT_TRUE(all<Disconnect>().empty()) << "there was none";
}

TEST_P(ChannelsMaxTest, EndsThatNothingWaitsForComeOneAtATime) {
  move(1, 1);
  move(2, 2);
  for (const int number : {1, 2})
    routes_->forget(now_, peer(number));
  take();
  ASSERT_NE(next<Disconnect>(), nullptr);
  EXPECT_TRUE(next<Disconnect>()->yields);
  EXPECT_EQ(next<Disconnect>()->endpoint, peer(1));
  EXPECT_FALSE(routes_->isAwaited(peer(1)));
  clear();
  disconnected(kTransportOk, peer(1));
  ASSERT_NE(next<Disconnect>(), nullptr);
  EXPECT_EQ(next<Disconnect>()->endpoint, peer(2));
  disconnected(kTransportOk, peer(2));
  EXPECT_FALSE(routes_->hasChannels());
}

TEST_P(ChannelsMaxTest, AChannelWhoseTurnToEndHasNotComeIsUsedAgain) {
  move(1, 1);
  move(2, 2);
  for (const int number : {1, 2})
    routes_->forget(now_, peer(number));
  submitTo(peer(2), 3);
  ASSERT_EQ(all<Transfer>().size(), 1U);
  transferred(3, kTransportOk);
  clear();
  disconnected(kTransportOk, peer(1));
  EXPECT_TRUE(all<Disconnect>().empty()) << "it was wanted again";
}

TEST_P(ChannelsMaxTest, AnEndThatSomethingBeginsToWaitForIsAwaited) {
  move(1, 1);
  move(2, 2);
  routes_->forget(now_, peer(1));
  EXPECT_FALSE(routes_->isAwaited(peer(1)));
  submitTo(peer(3), 3);
  EXPECT_TRUE(routes_->isAwaited(peer(1))) << "for its room";
  routes_->tick(60000);
  EXPECT_FALSE(routes_->isAwaited(peer(1)));
  submitTo(peer(1), 4, 120000);
  EXPECT_TRUE(routes_->isAwaited(peer(1))) << "for another channel";
}

TEST_P(ChannelsMaxTest, WhereRoomIsNeededForgottenChannelsEndFirst) {
  make({.connectsByItself = GetParam(), .channelsMax = 3});
  for (const int number : {3, 1, 2})
    move(number, static_cast<TransferId>(number));
  for (const int number : {1, 2})
    routes_->forget(now_, peer(number));
  take();
  clear();
  submitTo(peer(4), 4);
  submitTo(peer(5), 5);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  EXPECT_EQ(all<Disconnect>()[0].endpoint, peer(2)) << "peer 3 was used longer ago, and may be used again";
}

/// The client is gone before what waits for its channel is over.
TEST_P(ChannelsMaxTest, AForgottenPeersChannelEndsThoughItIsMadeAgain) {
  begin(1, 1);
  routes_->registered();
  submitTo(peer(1), 2);
  routes_->forget(now_, peer(1));
  take();
  clear();
  transferred(1, kTransportOk);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  clear();
  disconnected(kTransportOk, peer(1));
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  clear();
  transferred(2, kTransportOk);
  EXPECT_EQ(all<Disconnect>().size(), 1U);
}

TEST_P(ChannelsMaxTest, ATransferWhoseTimeEndsBeforeCannIsAskedLeavesItsChannelAlone) {
  begin(1, 1);
  begin(1, 2);
  clear();
  now_ = 60000;
  routes_->expired(now_, 1);
  take();
  ASSERT_NE(next<Finish>(), nullptr);
  EXPECT_EQ(endOf(1)->code(), KV_TIMEOUT);
  transferred(2, kTransportOk);
  EXPECT_TRUE(endOf(2)->ok());
  clear();
  submitTo(peer(1), 3, 120000);
  EXPECT_NE(next<Transfer>(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Ways, ChannelsMaxTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "ByCann" : "ByUs"; });

/// Peers come with new addresses, so no transfer to that endpoint finds the channel again.
TEST_P(ChannelsMaxTest, AChannelThatCannKeepsIsAskedForAgainLessAndLessOften) {
  move(1, 1);
  routes_->forget(now_, peer(1));
  Time rest = 500;
  for (int attempt = 0; attempt < 12; ++attempt) {
    take();
    ASSERT_NE(next<Disconnect>(), nullptr) << attempt;
    EXPECT_TRUE(next<Disconnect>()->yields);
    clear();
    disconnected(kTransportFailed, peer(1));
    EXPECT_FALSE(routes_->hasChannels());
    rest = std::min<Time>(2 * rest, 300000);
    routes_->tick(now_ += rest - 1);
    take();
    EXPECT_TRUE(actions_.empty()) << attempt;
    routes_->tick(now_ += 1);
  }
  take();
  clear();
  disconnected(kNotConnected, peer(1));
  routes_->tick(now_ += 1000000);
  take();
  EXPECT_TRUE(actions_.empty());
}

TEST_P(ChannelsMaxTest, AChannelThatCannKeepsTakesRoomAndIsAskedForWhenThatIsNeeded) {
  move(1, 1);
  move(2, 2);
  routes_->forget(now_, peer(1));
  disconnected(kTransportFailed, peer(1));
  clear();
  submitTo(peer(3), 3);
  ASSERT_NE(next<Disconnect>(), nullptr);
  EXPECT_EQ(next<Disconnect>()->endpoint, peer(2));
  disconnected(kTransportOk, peer(2));
  answerConnects();
  clear();
  now_ += 1000;
  submitTo(peer(4), 4);
  ASSERT_NE(next<Disconnect>(), nullptr) << "the one to peer 3 moves bytes";
  EXPECT_EQ(next<Disconnect>()->endpoint, peer(1));
  EXPECT_TRUE(routes_->isAwaited(peer(1)));
  clear();
  disconnected(kNotConnected, peer(1));
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].endpoint, peer(4));
}

TEST_P(ChannelsMaxTest, ARefusalForLackOfRoomAsksForAChannelThatCannKeeps) {
  make({.connectsByItself = GetParam()});
  move(1, 1);
  routes_->forget(now_, peer(1));
  disconnected(kTransportFailed, peer(1));
  begin(2, 2);
  now_ += 1000;
  submitTo(peer(3), 3);
  refused(3);
  EXPECT_TRUE(endOf(3)) << "that will hardly be in time";
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  EXPECT_EQ(all<Disconnect>()[0].endpoint, peer(1));
}

TEST_P(ChannelsMaxTest, ChannelsThatCannKeepsLeaveRoomForOthers) {
  make({.connectsByItself = GetParam(), .channelsMax = 4});
  begin(100, 100);
  clear();
  for (int number = 1; number <= 50; ++number) {
    move(number, static_cast<TransferId>(number));
    routes_->forget(now_, peer(number));
    take();
    disconnected(kTransportFailed, peer(number));
  }
  clear();
  begin(99, 101);
  EXPECT_EQ(all<Transfer>().size(), 1U);
}

TEST_P(ChannelsMaxTest, AChannelThatIsIdleAsNothingWaitsInTimeGivesItsRoomAtOnce) {
  make({.connectsByItself = GetParam(), .underWayMax = 1, .channelsMax = 2});
  move(2, 1);
  begin(3, 2);
  submitTo(peer(3), 3);
  submitTo(peer(2), 4, now_ + 100);
  submitTo(peer(1), 5);
  clear();
  now_ += 100;
  transferred(2, kTransportOk);
  EXPECT_EQ(endOf(4)->code(), KV_TIMEOUT);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  EXPECT_EQ(all<Disconnect>()[0].endpoint, peer(2));
}

TEST_P(ChannelsMaxTest, LackOfRoomIsToldWithTheNumbersAndARemedy) {
  move(3, 1);
  routes_->forget(now_, peer(3));
  disconnected(kTransportFailed, peer(3));
  begin(1, 2);
  submitTo(peer(2), 3, now_ + 100);
  clear();
  now_ += 100;
  routes_->tick(now_);
  take();
  ASSERT_TRUE(endOf(3));
  EXPECT_EQ(endOf(3)->code(), KV_TIMEOUT);
  EXPECT_EQ(endOf(3)->text(),
            "the time of the transfer ended while it waited for a channel, as there are 2 of at most 2 channels, 1 of "
            "them to peers that are gone. Let fewer processes transfer with this one at a time, or raise "
            "max_active_channels in ASCEND_GLOBAL_RESOURCE_CONFIG; a restart of this process gives the room of those "
            "that are gone back");
  make({.connectsByItself = GetParam()});
  submitTo(peer(1), 4);
  refused(4);
  ASSERT_TRUE(endOf(4));
  EXPECT_NE(endOf(4)->text().find("203900 (resources exhausted), as there are 0 of at most 512 channels, 0 of them to "
                                  "peers that are gone. Let fewer processes transfer with this one at a time"),
            std::string::npos)
      << endOf(4)->text();
}

TEST_P(ChannelsMaxTest, ATransferIsRefusedForLackOfRoomTwiceAtMost) {
  make({.connectsByItself = GetParam()});
  for (const int number : {1, 2, 3})
    move(number, static_cast<TransferId>(number));
  submitTo(peer(9), 9);
  refused(9);
  ASSERT_NE(next<Disconnect>(), nullptr);
  disconnected(kTransportOk, next<Disconnect>()->endpoint);
  refused(9);
  ASSERT_TRUE(endOf(9)) << "it is the peer that has no room";
  EXPECT_EQ(all<Disconnect>().size(), 0U);
  EXPECT_EQ(routes_->counters().roomMade, 1U);
}

TEST_P(ChannelsMaxTest, ARefusalIsBelievedLessAndLess) {
  make({.connectsByItself = GetParam()});
  begin(1, 1);
  move(2, 2);
  submitTo(peer(9), 9);
  refused(9);
  ASSERT_EQ(all<Disconnect>().size(), 1U);
  clear();
  submitTo(peer(5), 10);
  EXPECT_TRUE(actions_.empty()) << "two fit, and one of them ends for another peer";
  disconnected(kTransportOk, peer(2));
  answerConnects();
  EXPECT_EQ(all<Transfer>().size(), 1U);
  clear();
  routes_->tick(now_ += 999);
  take();
  EXPECT_TRUE(actions_.empty());
  routes_->tick(now_ += 1);
  take();
  answerConnects();
  ASSERT_EQ(all<Transfer>().size(), 1U);
  EXPECT_EQ(all<Transfer>()[0].endpoint, peer(5));
}

TEST_P(ChannelsMaxTest, AChannelThatEndsToBeMadeAgainGivesNoRoom) {
  make({.connectsByItself = GetParam()});
  begin(1, 1);
  routes_->registered();
  submitTo(peer(1), 2);
  submitTo(peer(9), 9);
  refused(9);
  EXPECT_TRUE(endOf(9));
}

TEST_F(RoutesTest, AChannelThatIsMadeAfterTheShutdownIsEnded) {
  submit(1);
  routes_->shutDown();
  take();
  clear();
  connected(kTransportOk);
  ASSERT_NE(next<Disconnect>(), nullptr);
  disconnected(kTransportOk);
  EXPECT_FALSE(routes_->hasChannels());
}

TEST_F(RoutesTest, ShuttingDownEndsWhatWaitsNowAndTheRestWhenItIsAnswered) {
  underWay(1);
  submit(2);
  submitTo(kThere, 3);
  clear();
  routes_->shutDown();
  take();
  ASSERT_TRUE(endOf(3));
  EXPECT_EQ(endOf(3)->code(), KV_CLOSED);
  EXPECT_FALSE(endOf(1));
  transferred(1, kTransportFailed);
  transferred(2, kTransportOk);
  EXPECT_TRUE(endOf(2)->ok());
  EXPECT_EQ(all<Disconnect>().size(), 1U);
  disconnected(kTransportOk);
  ASSERT_TRUE(endOf(1));
  EXPECT_EQ(endOf(1)->code(), KV_CLOSED);
  submit(4);
  EXPECT_EQ(endOf(4)->code(), KV_CLOSED);
  EXPECT_EQ(routes_->pending(), 0U);
}

}  // namespace
}  // namespace kvpool::ascend
