// SPDX-License-Identifier: Apache-2.0
// Transfers that CANN makes: what the core asks for, and that no batch ends while CANN may use its memory.
#include <gtest/gtest.h>

#include "core_harness.h"
#include "dev_kvpool_wire/EngineReply.h"

namespace kvpool::engine {
namespace {

constexpr const char* kOurs = "10.0.0.1:20000";
constexpr const char* kTheirs = "10.0.0.2:20100";
constexpr const char* kAfterwards = "10.0.0.2:20101";
const Status kFailed(KV_TRANSFER_FAILED, "it failed");

class MoveTest : public testing::Test, protected CoreHarness {
 protected:
  MoveTest() : CoreHarness(withAscend()) { registerLocal(); }

  static Config withAscend() {
    Config config = configuration();
    config.ascend = kOurs;
    return config;
  }
  /// A transfer that CANN is making.
  BatchId moving(int64_t timeoutMs = 5000) {
    const BatchId batch = submit(TransferOp::Write, timeoutMs);
    answer(7, 3, kTheirs);
    EXPECT_EQ(moves.size(), 1U);
    return batch;
  }
};

TEST_F(MoveTest, APeerWithAnEngineOfCannIsReachedByIt) {
  const BatchId batch = moving();
  const Move& move = moves.at(0);
  EXPECT_EQ(move.endpoint, kTheirs);
  EXPECT_EQ(move.registrations, 3U);
  EXPECT_FALSE(move.read);
  EXPECT_EQ(move.deadline, now + 5000);
  ASSERT_EQ(move.pieces.size(), 1U);
  EXPECT_EQ(move.pieces[0].remote, kRemote);
  EXPECT_EQ(move.pieces[0].length, kLength);
  EXPECT_EQ(requests, 0U) << "nothing goes by tcp";
  moved({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MoveTest, ItsOwnMemoryIsNamedAsSuchAndMustBeThere) {
  BatchId batch = submit(TransferOp::Write, 5000);
  answer(configuration().me.incarnation, 3, kOurs);
  EXPECT_TRUE(moves.empty()) << "the description has it, but it is not registered here any more";
  EXPECT_EQ(ended.at(batch).status, KV_NOT_REGISTERED);
  const kv_region remote{kRemote, kLength};
  EXPECT_TRUE(core.registerRegions({&remote, 1}).ok());
  batch = submit(TransferOp::Write, 5000);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_TRUE(moves[0].isOwn);
  moved({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MoveTest, APeerWithoutOneIsReachedByTcp) {
  submit(TransferOp::Write, 5000);
  answer(7, 3);
  EXPECT_TRUE(moves.empty());
  EXPECT_EQ(requests, 1U);
}

TEST_F(MoveTest, WithoutAnEngineOfOurOwnAllGoesByTcp) {
  CoreHarness plain;
  plain.registerLocal();
  plain.submit(TransferOp::Write, 5000);
  plain.answer(7, 3, kTheirs);
  EXPECT_TRUE(plain.moves.empty());
  EXPECT_EQ(plain.requests, 1U);
}

TEST_F(MoveTest, AFailureIsTriedAgainOnceWhereThePeerSaysThatItIsThen) {
  const BatchId batch = moving();
  moved(kFailed);
  EXPECT_FALSE(ended.contains(batch));
  EXPECT_EQ(moves.size(), 1U) << "not before the peer was asked again";
  describe(4, kAfterwards);
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[1].endpoint, kAfterwards);
  EXPECT_EQ(moves[1].registrations, 4U);
  moved(kFailed);
  EXPECT_EQ(ended.at(batch).status, KV_TRANSFER_FAILED);
  EXPECT_EQ(core.counters().retries, 1U);
  EXPECT_EQ(core.explanation(), "127.0.0.1:15000: it failed");
}

TEST_F(MoveTest, ABatchWhoseTimeIsOverEndsWhenCannHasEndedIt) {
  const BatchId batch = moving(100);
  pass(500);
  EXPECT_FALSE(ended.contains(batch));
  moved({KV_TIMEOUT, "late"});
  pass(kStep);
  EXPECT_EQ(ended.at(batch).status, KV_TIMEOUT);
  EXPECT_EQ(moves.size(), 1U) << "nothing begins for a batch whose time is over";
}

TEST_F(MoveTest, TheEndOfTheConnectionIsNotTheEndOfTheMove) {
  const BatchId batch = moving();
  lose("connection reset");
  EXPECT_FALSE(ended.contains(batch));
  moved({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MoveTest, TheChannelToAPeerThatIsGoneIsForgotten) {
  moving();
  moved({});
  EXPECT_TRUE(forgotten.empty());
  lose("connection reset");
  EXPECT_EQ(forgotten, std::vector<std::string>{kTheirs});
  submit(TransferOp::Write, 5000);
  for (int step = 0; step < 400 && !dialling; ++step)
    pass(kStep);
  answer(8, 1, kAfterwards);
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[1].endpoint, kAfterwards);
  EXPECT_EQ(forgotten.size(), 1U);
}

TEST_F(MoveTest, TheChannelIsForgottenWithAConnectionThatIsReplacedToo) {
  moving();
  moved({});
  core.renew(now, connection);
  submit(TransferOp::Write, 5000);
  EXPECT_EQ(forgotten, std::vector<std::string>{kTheirs}) << "the peer may be gone before it is dialled again";
}

TEST_F(MoveTest, APeerWithoutAnEngineOfCannHasNoChannelToForget) {
  submit(TransferOp::Write, 5000);
  answer(7, 3);
  done();
  lose("connection reset");
  EXPECT_TRUE(forgotten.empty());
}

TEST_F(MoveTest, ANotificationThatIsNeverSentEndsWithItsBatch) {
  const BatchId batch = submit(TransferOp::Write, 20000, std::make_shared<const Notification>());
  answer(7, 3, kTheirs);
  lose("connection reset");
  moved({});
  passRefused(20000);
  EXPECT_TRUE(ended.contains(batch));
  // The peer is back.
  const BatchId next = submit(TransferOp::Write, 5000);
  for (int step = 0; step < 400 && !dialling; ++step)
    pass(kStep);
  answer(8, 4, kAfterwards);
  ASSERT_EQ(moves.size(), 2U);
  moved({});
  EXPECT_EQ(ended.at(next).status, KV_OK);
}

TEST_F(MoveTest, OneThatMayOnlyReadDoesNotWrite) {
  Principal viewer;
  viewer.role = Principal::Role::Tenant;
  viewer.name = "viewer";
  viewer.tenant = "chat";
  viewer.readsOnly = true;
  core.identify(now, viewer);
  const BatchId write = submit(TransferOp::Write, 5000);
  open(&viewer);
  greet(7);
  describe(3, kTheirs);
  EXPECT_TRUE(moves.empty()) << "the peer would not refuse it";
  EXPECT_EQ(ended.at(write).status, KV_NOT_PERMITTED);
  EXPECT_NE(core.explanation().find("tenant/chat/ro/viewer may read and not write"), std::string::npos)
      << core.explanation();
  submit(TransferOp::Read, 5000);
  EXPECT_EQ(moves.size(), 1U);
}

TEST_F(MoveTest, APeerThatRestartsInTheMiddleIsReachedWhereItIsThen) {
  const BatchId batch = moving();
  lose("connection reset");
  answer(8, 1, kAfterwards);
  EXPECT_EQ(moves.size(), 1U) << "the first attempt still uses the memory";
  moved(kFailed);
  if (moves.size() == 1) describe(1, kAfterwards);
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[1].endpoint, kAfterwards);
  moved({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MoveTest, AHostThatAnswersNothingIsNotTheEndOfTheMoveEither) {
  const BatchId batch = moving();
  silence("its host acknowledges nothing");
  passRefused(2000);
  EXPECT_FALSE(ended.contains(batch));
  moved(kFailed);
  passRefused(5000);
  EXPECT_TRUE(ended.contains(batch));
  EXPECT_NE(ended.at(batch).status, KV_OK);
}

TEST_F(MoveTest, WithoutTcpInTheListAPeerThatHasNoEngineOfCannIsRefused) {
  Config config = withAscend();
  config.tcp = false;
  CoreHarness strict(config);
  strict.registerLocal();
  const BatchId batch = strict.submit(TransferOp::Write, 5000);
  strict.answer(7, 3);
  EXPECT_EQ(strict.requests, 0U);
  EXPECT_EQ(strict.ended.at(batch).status, KV_CONNECT_FAILED);
  EXPECT_EQ(
      strict.core.explanation(),
      "the transfer engine at 127.0.0.1:15000 has no engine of CANN, and tcp is not in the list of protocols here");
}

TEST_F(MoveTest, MemoryOfADeviceIsNotReadByTheProcessor) {
  CoreHarness plain(withAscend());
  plain.registerLocal(true);
  const BatchId batch = plain.submit(TransferOp::Write, 5000);
  plain.answer(7, 3);
  EXPECT_EQ(plain.requests, 0U);
  EXPECT_EQ(plain.ended.at(batch).status, KV_INVALID_ARGUMENT);
  EXPECT_NE(
      plain.core.explanation().find("are memory of an NPU, which goes by ascend alone, and the transfer engine at "),
      std::string::npos)
      << plain.core.explanation();
}

/// What a peer that dialled us is answered.
class Asking {
 public:
  explicit Asking(EngineCore& core) : core_(core), session_(core.newConnection()) {
    core.accepted(0, session_, "peer");
    wire::Bytes hello;
    wire::appendHello(hello, {CoreHarness::identity(9), 0, wire::kMagic});
    deliver(hello);
  }
  int32_t status(const wire::Bytes& request) {
    deliver(request);
    return status_;
  }

 private:
  void deliver(const wire::Bytes& frame) {
    core_.frame(0, session_, std::span(frame).subspan(wire::kFrameHeaderBytes));
    for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
      for (const Action& action : actions) {
        if (std::holds_alternative<ReceivePayload>(action)) core_.payloadReceived(0, session_, 1, 1);
        const auto* send = std::get_if<SendFrame>(&action);
        if (send == nullptr) continue;
        const wire::Body body = std::span(send->frame).subspan(wire::kFrameHeaderBytes);
        if (wire::templateOf(body) == wire::sbe::EngineReply::sbeTemplateId()) status_ = readReply(body).status;
      }
    }
  }

  EngineCore& core_;
  const ConnectionId session_;
  int32_t status_ = KV_INTERNAL;
};

TEST_F(MoveTest, NorIsItServedByTcp) {
  constexpr uint64_t kOnDevice = 0x10000;
  EngineCore serving(configuration());
  const std::vector<kv_region> regions{{kOnDevice, 64}, {kOnDevice + 64, 64}};
  const std::vector<uint64_t> ofDevice{kOnDevice};
  ASSERT_TRUE(serving.registerRegions(regions, ofDevice).ok());
  Asking peer(serving);
  EXPECT_EQ(peer.status(readFrame(5, std::vector<RemotePiece>{{1, kOnDevice, 64}})), KV_INVALID_ARGUMENT);
  EXPECT_EQ(peer.status(writeFrame(6, std::vector<RemotePiece>{{1, kOnDevice + 63, 1}})), KV_INVALID_ARGUMENT);
  EXPECT_EQ(peer.status(writeFrame(7, std::vector<RemotePiece>{{2, kOnDevice + 64, 64}})), KV_OK);
  ASSERT_TRUE(serving.unregisterRegions({regions.data(), 1}).ok());
  ASSERT_TRUE(serving.registerRegions({regions.data(), 1}).ok());
  EXPECT_EQ(peer.status(writeFrame(8, std::vector<RemotePiece>{{3, kOnDevice, 64}})), KV_OK) << "the host's now";
}

TEST_F(MoveTest, MemoryThatIsNotRegisteredHereIsNotMoved) {
  CoreHarness unregistered(withAscend());
  const BatchId batch = unregistered.submit(TransferOp::Write, 5000);
  unregistered.answer(7, 3, kTheirs);
  EXPECT_TRUE(unregistered.moves.empty());
  EXPECT_EQ(unregistered.ended.at(batch).status, KV_NOT_REGISTERED);
}

TEST_F(MoveTest, ShuttingDownAfterTheMovesEndsTheBatches) {
  const BatchId batch = moving();
  moved(kFailed);
  shutDown();
  EXPECT_EQ(ended.at(batch).status, KV_CLOSED);
}

TEST_F(MoveTest, AnEndpointThatIsNoneEndsTheConnection) {
  submit(TransferOp::Write, 5000);
  open();
  greet(7);
  EXPECT_THROW(describe(3, "nowhere"), wire::Malformed);
  EXPECT_THROW(describe(3, std::string(65, '1')), wire::Malformed);
}

}  // namespace
}  // namespace kvpool::engine
