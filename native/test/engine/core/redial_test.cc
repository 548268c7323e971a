// SPDX-License-Identifier: Apache-2.0
// What becomes of transfers whose peer is lost, as time passes.
#include "engine/core/core_harness.h"

namespace kvpool::engine {
namespace {

using Op = TransferOp;

/// An engine that is connected to its peer, incarnation 2, and has done a transfer with region 7 of it.
class Redial : public testing::Test, protected CoreHarness {
 protected:
  void SetUp() override {
    const BatchId first = submit(Op::Write, 1000);
    answer(2, 7);
    done();
    ASSERT_EQ(ended.at(first).status, KV_OK);
    dials.clear();
    requests = 0;
  }
  [[nodiscard]] bool runs(BatchId batch) const { return !ended.contains(batch); }
  [[nodiscard]] bool explains(const std::string& part) const {
    return core.explanation().find(part) != std::string::npos;
  }
};

TEST_F(Redial, APeerThatComesBackGetsTheTransferOnceMoreAsItIsRegisteredThere) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  EXPECT_EQ(dials.size(), 1u) << "it may be there";
  lose("connection refused");
  passRefused(500);
  ASSERT_TRUE(runs(batch));
  while (!dialling)
    pass(kStep);
  answer(3, 8);
  EXPECT_EQ(requests, 2u);
  EXPECT_EQ(named, 8u);
  done();
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().retries, 1u);
  EXPECT_EQ(core.counters().peerRestarts, 1u);
  // The next loss begins with a dial at once again.
  const BatchId next = submit(Op::Write, 30000);
  dials.clear();
  lose("the peer closed the connection");
  EXPECT_EQ(dials, std::vector<Time>{now});
  EXPECT_TRUE(runs(next));
}

TEST_F(Redial, WaitsTwiceAsLongEachTimeAndGivesUpAfterASecond) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  const Time lost = now;
  lose("connection refused");
  passRefused(5000);
  std::vector<Time> after;
  for (const Time dial : dials)
    after.push_back(dial - lost);
  EXPECT_EQ(after, (std::vector<Time>{0, 50, 150, 350, 750, kRestartMs}));
  EXPECT_EQ(ended.at(batch).status, KV_CONNECT_FAILED);
  EXPECT_EQ(ended.at(batch).at, lost + kRestartMs);
  EXPECT_TRUE(explains("cannot reach the transfer engine at 127.0.0.1:15000: connection refused"));
  EXPECT_EQ(notes.size(), 1u) << "said once";
}

TEST_F(Redial, TheFirstTransferToAPeerThatDiedLongAgoEndsAtItsRefusal) {
  lose("the peer closed the connection");
  pass(kRestartMs);
  for (const Op op : {Op::Write, Op::Connect, Op::Probe}) {
    const BatchId batch = submit(op, 30000);
    lose("connection refused");
    EXPECT_EQ(ended.at(batch).status, KV_CONNECT_FAILED);
    EXPECT_EQ(ended.at(batch).at, now);
  }
  EXPECT_TRUE(core.quiet());
}

TEST_F(Redial, AHostThatIsSilentIsGivenUpAfterTheConnectTimeout) {
  const BatchId batch = submit(Op::Write, 30000);
  const Time since = now;
  lose("the connection was reset");
  passRefused(100);
  while (!dialling)
    pass(kStep);
  pass(kConnectTimeoutMs + 100);  // neither an answer nor a refusal
  EXPECT_EQ(ended.at(batch).status, KV_CONNECT_FAILED);
  EXPECT_LE(ended.at(batch).at, since + kRestartMs + kConnectTimeoutMs + kStep);
  EXPECT_TRUE(explains("no answer within 3000 ms"));
}

TEST_F(Redial, TransfersUnderWayToAHostThatIsSilentEndWithItsConnection) {
  const BatchId batch = submit(Op::Write, 30000);
  silence("its host does not answer");
  EXPECT_EQ(ended.at(batch).status, KV_TRANSFER_FAILED);
  EXPECT_TRUE(explains("its host does not answer"));
  EXPECT_TRUE(dials.empty()) << "it had its time";
  const BatchId next = submit(Op::Write, 30000);
  EXPECT_EQ(dials.size(), 1u);
  answer(2, 7);
  done();
  EXPECT_EQ(ended.at(next).status, KV_OK);
}

TEST_F(Redial, TheDeadlineHoldsAndSaysWhatWasWaitedFor) {
  const BatchId batch = submit(Op::Write, 600);
  const Time deadline = now + 600;
  pass(100);
  lose("the peer closed the connection");
  lose("connection refused");
  passRefused(2500);
  EXPECT_EQ(ended.at(batch).status, KV_TIMEOUT);
  EXPECT_EQ(ended.at(batch).at, deadline);
  EXPECT_EQ(core.explanation(),
            "ran out of time: 127.0.0.1:15000 was lost 500 ms ago (the peer closed the connection) and is being "
            "dialled since, 4 times in vain, the last: connection refused");
  EXPECT_LT(dials.back(), deadline) << "nobody is dialled for nobody";
  EXPECT_TRUE(core.quiet());
}

TEST_F(Redial, EachTransferHasItsOwnDeadline) {
  const BatchId brief = submit(Op::Write, 500);
  const BatchId patient = submit(Op::Write, 5000);
  lose("the peer closed the connection");
  passRefused(300);
  const BatchId later = submit(Op::Write, 5000);
  const size_t dialled = dials.size();
  passRefused(kStep);
  EXPECT_LE(dials.size(), dialled + 1) << "it waits with the others";
  passRefused(300);
  EXPECT_EQ(ended.at(brief).status, KV_TIMEOUT);
  ASSERT_TRUE(runs(patient));
  ASSERT_TRUE(runs(later));
  while (!dialling)
    pass(kStep);
  answer(3, 8);
  done();
  EXPECT_EQ(requests, 4u) << "two were on their way when it was lost, two are now";
}

TEST_F(Redial, LostTwiceIsAFailureThatSaysSo) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  lose("connection refused");
  passRefused(200);
  while (!dialling)
    pass(kStep);
  answer(3, 8);
  const BatchId young = submit(Op::Write, 30000);
  lose("the connection was reset");
  EXPECT_EQ(ended.at(batch).status, KV_TRANSFER_FAILED);
  EXPECT_EQ(core.explanation(),
            "lost the connection to 127.0.0.1:15000: the connection was reset, in the second and last attempt of a "
            "transfer");
  EXPECT_TRUE(runs(young)) << "that was its first";
}

TEST_F(Redial, APeerThatDiesWhileItStartsIsNoAttempt) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  open();
  lose("the peer closed the connection");
  while (!dialling)
    pass(kStep);
  open();
  greet(3);
  lose("the connection was reset");
  while (!dialling)
    pass(kStep);
  answer(4, 9);
  done();
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().retries, 1u);
}

TEST_F(Redial, AnotherProgramAtTheAddressEndsTheWait) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  open();
  wire::Bytes refused;
  wire::appendRefused(refused, {wire::Refusal::WireVersion, {7, 9}, "too old"});
  deliver(refused);
  EXPECT_EQ(ended.at(batch).status, KV_VERSION_MISMATCH);
  dials.clear();
  pass(5000);
  EXPECT_TRUE(dials.empty());
}

TEST_F(Redial, WhoeverAsksWhetherThePeerIsThereIsToldAtOnce) {
  const BatchId transfer = submit(Op::Write, 30000);
  const BatchId during = submit(Op::Probe, 30000);
  lose("the peer closed the connection");
  EXPECT_TRUE(runs(during));
  lose("connection refused");
  EXPECT_EQ(ended.at(during).status, KV_CONNECT_FAILED);
  const BatchId after = submit(Op::Probe, 30000);
  passRefused(kRedialFirstMs);
  EXPECT_EQ(ended.at(after).status, KV_CONNECT_FAILED);
  EXPECT_TRUE(runs(transfer));
}

TEST_F(Redial, WhoeverWantsAConnectionHasTheOneThereIs) {
  const size_t asked = question;
  EXPECT_EQ(ended.at(submit(Op::Connect, 30000)).status, KV_OK);
  EXPECT_EQ(question, asked) << "the peer is asked nothing";
  const BatchId transfer = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  const BatchId connecting = submit(Op::Connect, 30000);
  EXPECT_TRUE(runs(connecting));
  answer(3, 8);
  EXPECT_EQ(ended.at(connecting).status, KV_OK);
  EXPECT_TRUE(runs(transfer));
}

TEST_F(Redial, ALostPeerThatNobodyWaitsForIsLeftAlone) {
  lose("the peer closed the connection");
  pass(500);
  EXPECT_TRUE(dials.empty());
  const BatchId batch = submit(Op::Write, 5000);
  EXPECT_EQ(dials.size(), 1u);
  lose("connection refused");
  EXPECT_TRUE(runs(batch)) << "it was there a moment ago";
}

TEST_F(Redial, TheEngineEndsWhileTransfersWait) {
  const BatchId batch = submit(Op::Write, 30000);
  lose("the peer closed the connection");
  lose("connection refused");
  const size_t dialled = dials.size();
  core.shutDown(now);
  pass(5000);
  EXPECT_EQ(ended.at(batch).status, KV_CLOSED);
  EXPECT_EQ(dials.size(), dialled);
}

TEST(Dialling, APeerThatWasNeverThereIsAFailureAtOnce) {
  CoreHarness harness;
  const BatchId batch = harness.submit(Op::Write, 30000);
  harness.lose("connection refused");
  EXPECT_EQ(harness.ended.at(batch).status, KV_CONNECT_FAILED);
  const BatchId silent = harness.submit(Op::Write, 30000);
  harness.open();
  harness.greet(2);  // not connected before it says what is registered
  harness.pass(kConnectTimeoutMs + 100);
  EXPECT_EQ(harness.ended.at(silent).status, KV_CONNECT_FAILED);
  harness.pass(5000);
  EXPECT_EQ(harness.dials.size(), 2u);
}

}  // namespace
}  // namespace kvpool::engine
