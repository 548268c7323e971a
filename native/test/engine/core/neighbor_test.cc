// SPDX-License-Identifier: Apache-2.0
// Transfers between two processes of one machine: when bytes are copied from memory to memory, what each end then asks
// of the other and of the kernel, and that all of it ends as by tcp.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "core_harness.h"
#include "dev_kvpool_wire/EngineReply.h"

namespace kvpool::engine {
namespace {

namespace sbe = wire::sbe;

constexpr ProcessName kThisProcess{11, 22, 100};
constexpr ProcessName kOtherProcess{11, 22, 200};
constexpr Challenge kOurChallenge{0xa1, 0xa2};
constexpr Challenge kTheirChallenge{0xb1, 0xb2};
constexpr uint64_t kTheirProof = 0x9000;

Config ofThisMachine() {
  Config config = CoreHarness::configuration();
  config.process = kThisProcess;
  return config;
}

ShownProof shownAt(uint64_t address) {
  ShownProof shown;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this process, as a peer learns it
  std::memcpy(&shown, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)), sizeof shown);
  return shown;
}

TEST(ProofTest, ShowsNothingAfterItsEnd) {
  alignas(Proof) std::array<unsigned char, sizeof(Proof)> memory{};
  auto* const proof = new (memory.data()) Proof;
  const uint64_t address = proof->address();
  proof->show(kTheirChallenge);
  EXPECT_EQ(shownAt(address), (ShownProof{kTheirChallenge, 0}));
  proof->withdraw();
  EXPECT_EQ(shownAt(address), (ShownProof{kTheirChallenge, 1}));
  proof->~Proof();
  EXPECT_EQ(shownAt(address), ShownProof{}) << "memory that is freed is still there";
}

// ---- the side that dialled ----

class DiallerTest : public testing::Test, protected CoreHarness {
 protected:
  DiallerTest() : CoreHarness(ofThisMachine()) {}

  static NeighborClaim claim(const ProcessName& process = kOtherProcess) {
    return {process, 5, kTheirProof, kTheirChallenge};
  }
  /// The peer takes the connection.
  void connect(const NeighborClaim& peer = claim(), uint64_t region = 3) {
    open(nullptr, Introduction{4, kOurChallenge});
    greet(7);
    deliver(neighborFrame(peer));
    describe(region);
  }
  BatchId begin(TransferOp op, int64_t timeoutMs = 5000) {
    const BatchId batch = submit(op, timeoutMs);
    if (dialling) connect();
    return batch;
  }
  [[nodiscard]] uint16_t latest() const { return kinds.empty() ? 0 : kinds.back(); }
};

constexpr uint16_t kWrite = sbe::EngineWrite::sbeTemplateId();
constexpr uint16_t kRead = sbe::EngineRead::sbeTemplateId();
constexpr uint16_t kPull = sbe::EnginePull::sbeTemplateId();
constexpr uint16_t kMayRead = sbe::EngineMayRead::sbeTemplateId();

TEST_F(DiallerTest, OffersItselfAndShowsThePeersChallenge) {
  begin(TransferOp::Connect);
  ASSERT_EQ(introductions.size(), 1U);
  EXPECT_EQ(introductions[0].process.pid, kThisProcess.pid);
  EXPECT_EQ(introductions[0].descriptor, 4U);
  EXPECT_EQ(introductions[0].challenge, kOurChallenge);
  EXPECT_EQ(shownAt(introductions[0].proof), (ShownProof{kTheirChallenge, 0}));
  ASSERT_EQ(meets.size(), 1U);
  EXPECT_EQ(meets[0].peer.process.pid, kOtherProcess.pid);
  EXPECT_EQ(meets[0].challenge, kOurChallenge);
}

TEST_F(DiallerTest, SaysNothingOfItselfWhereItTakesNoPart) {
  CoreHarness alone;
  alone.submit(TransferOp::Write, 5000);
  alone.open(nullptr, Introduction{4, kOurChallenge});
  alone.greet(7);
  alone.describe(3);
  EXPECT_TRUE(alone.introductions.empty());
  EXPECT_EQ(alone.requests, 1U);
}

TEST_F(DiallerTest, HasThePeerCopyWhatItWrites) {
  const BatchId batch = begin(TransferOp::Write);
  ASSERT_EQ(kinds, std::vector<uint16_t>{kPull});
  EXPECT_EQ(payloads, 0U) << "no byte goes by the connection";
  const PullRequest& asked = askedToPull.at(0);
  ASSERT_EQ(asked.to.pieces.size(), 1U);
  EXPECT_EQ(asked.to.pieces[0], (RemotePiece{3, kRemote, kLength}));
  EXPECT_NE(asked.sources.at(0), 0U);
  reply(KV_OK);
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().sameMachineRequests, 1U);
  EXPECT_EQ(core.counters().sameMachineBytes, kLength);
}

TEST_F(DiallerTest, CopiesWhatItReadsOnceThePeerAllowsIt) {
  const BatchId batch = begin(TransferOp::Read);
  ASSERT_EQ(kinds, std::vector<uint16_t>{kMayRead});
  EXPECT_TRUE(pulls.empty()) << "not before the peer has looked whether it is registered";
  reply(KV_OK);
  ASSERT_EQ(pulls.size(), 1U);
  EXPECT_EQ(pulls[0].from, std::vector<uint64_t>{kRemote});
  ASSERT_EQ(pulls[0].to.size(), 1U);
  EXPECT_EQ(pulls[0].to[0].length, kLength);
  EXPECT_EQ(pulls[0].withdrawn, 0U);
  EXPECT_FALSE(ended.contains(batch));
  pulled({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().sameMachineBytes, kLength);
}

TEST_F(DiallerTest, AnotherMachineIsReachedByTcpWithoutARefusal) {
  for (const ProcessName& process : {ProcessName{}, ProcessName{12, 22, 200}}) {
    CoreHarness world(ofThisMachine());
    world.submit(TransferOp::Write, 5000);
    world.open(nullptr, Introduction{4, kOurChallenge});
    world.greet(7);
    world.deliver(neighborFrame(claim(process)));
    world.describe(3);
    EXPECT_EQ(world.kinds, std::vector<uint16_t>{kWrite});
    EXPECT_TRUE(world.meets.empty());
    EXPECT_EQ(world.core.counters().sameMachineRefusals, 0U);
  }
}

TEST_F(DiallerTest, AnotherNamespaceOfProcessesIsARefusal) {
  submit(TransferOp::Write, 5000);
  connect(claim({11, 23, 200}));
  EXPECT_EQ(kinds, std::vector<uint16_t>{kWrite});
  EXPECT_TRUE(meets.empty());
  EXPECT_EQ(core.counters().sameMachineRefusals, 1U);
  EXPECT_NE(core.sameMachineRefusal().find("another namespace of processes"), std::string::npos);
  EXPECT_NE(shownAt(introductions.at(0).proof).challenge, kTheirChallenge);
}

TEST_F(DiallerTest, WhatThePeerCannotCopyGoesByTcpAndSoDoesTheRest) {
  const BatchId batch = begin(TransferOp::Write);
  reply(KV_UNAVAILABLE, "Operation not permitted");
  EXPECT_FALSE(ended.contains(batch));
  ASSERT_EQ(latest(), kWrite);
  EXPECT_EQ(payloads, 1U);
  done();
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().sameMachineBytes, 0U);
  EXPECT_EQ(core.counters().retries, 0U) << "no attempt is lost by it";
  begin(TransferOp::Write);
  EXPECT_EQ(latest(), kWrite);
  begin(TransferOp::Read);
  EXPECT_EQ(latest(), kMayRead) << "the other direction is asked for itself";
  EXPECT_EQ(core.counters().sameMachineRefusals, 1U);
  EXPECT_EQ(core.sameMachineRefusal(), "127.0.0.1:15000: Operation not permitted");
}

TEST_F(DiallerTest, WhatItCannotCopyItselfGoesByTcp) {
  const BatchId batch = begin(TransferOp::Read);
  reply(KV_OK);
  pulled({Pulled::How::Refused, "Bad address"});
  EXPECT_FALSE(ended.contains(batch));
  EXPECT_EQ(latest(), kRead);
  begin(TransferOp::Read);
  EXPECT_EQ(latest(), kRead);
  begin(TransferOp::Write);
  EXPECT_EQ(latest(), kPull);
  EXPECT_EQ(core.counters().sameMachineRefusals, 1U);
}

TEST_F(DiallerTest, WhatWasWithdrawnInTheMiddleIsAskedForByTcpOnce) {
  begin(TransferOp::Read);
  deliver(replyFrame({lastAsked, KV_OK, 0, "", 4}));
  EXPECT_EQ(pulls.at(0).withdrawn, 4U) << "what was withdrawn before the peer allowed it is none";
  pulled({Pulled::How::Withdrawn, ""});
  EXPECT_EQ(latest(), kRead) << "the peer says whether it is still registered";
  begin(TransferOp::Read);
  EXPECT_EQ(latest(), kMayRead);
  EXPECT_EQ(core.counters().sameMachineRefusals, 0U);
}

TEST_F(DiallerTest, APeerThatIsGoneIsFoundOutByItsConnection) {
  const BatchId batch = begin(TransferOp::Read);
  reply(KV_OK);
  pulled({Pulled::How::Gone, ""});
  EXPECT_EQ(latest(), kRead);
  EXPECT_FALSE(ended.contains(batch));
  lose("connection reset");
  connect(claim({11, 22, 300}), 8);
  EXPECT_EQ(latest(), kMayRead) << "the next life is met like the first";
  EXPECT_EQ(meets.back().peer.process.pid, 300U);
  reply(KV_OK);
  pulled({});
  EXPECT_EQ(ended.at(batch).status, KV_OK);
  EXPECT_EQ(core.counters().sameMachineRefusals, 0U);
}

TEST_F(DiallerTest, AnEndOfTheConnectionEndsTheCopyAndAnAnswerToItIsNotHeard) {
  const BatchId batch = begin(TransferOp::Read);
  reply(KV_OK);
  const ConnectionId before = connection;
  lose("connection reset");
  core.pulled(now, before, pulls.at(0).pull, {});
  EXPECT_TRUE(core.takeActions().empty());
  EXPECT_FALSE(ended.contains(batch));
}

TEST_F(DiallerTest, ATransferWhoseTimeIsOverIsNotCopiedAnyMore) {
  const BatchId batch = begin(TransferOp::Read, 100);
  reply(KV_OK);
  pass(200);
  EXPECT_EQ(dropped, std::vector<PayloadId>{pulls.at(0).pull});
  EXPECT_EQ(ended.at(batch).status, KV_TIMEOUT);
  EXPECT_TRUE(closes.empty()) << "we were the ones who copied";
  pulled({});  // came too late
  begin(TransferOp::Read);
  EXPECT_EQ(latest(), kMayRead);
}

TEST_F(DiallerTest, NorByThePeerWhichLosesTheConnectionByIt) {
  const BatchId batch = begin(TransferOp::Write, 100);
  pass(200);
  EXPECT_EQ(ended.at(batch).status, KV_TIMEOUT);
  EXPECT_EQ(closes, std::vector<ConnectionId>{connection}) << "its proof is gone with it";
}

TEST_F(DiallerTest, ATransferThatRanOutBeforeThePeerAllowedItIsNotCopied) {
  begin(TransferOp::Read, 100);
  pass(200);
  reply(KV_OK);
  EXPECT_TRUE(pulls.empty());
  EXPECT_TRUE(closes.empty());
}

TEST_F(DiallerTest, TheFailuresOfThePeerAreThoseOfTcp) {
  const BatchId batch = begin(TransferOp::Write);
  reply(KV_NOT_REGISTERED, "gone");
  describe(4);  // asked once more
  EXPECT_EQ(latest(), kPull);
  reply(KV_NOT_REGISTERED, "gone");
  EXPECT_EQ(ended.at(batch).status, KV_NOT_REGISTERED);
  EXPECT_EQ(core.counters().sameMachineRefusals, 0U);
}

TEST_F(DiallerTest, AnswersThatNoEngineGivesAreMalformed) {
  begin(TransferOp::Read);
  EXPECT_THROW(deliver(neighborFrame(claim())), wire::Malformed) << "a second one";
  EXPECT_THROW(deliver(replyFrame({lastAsked, KV_OK, kLength, ""})), wire::Malformed) << "a payload";
  reply(KV_OK);
  EXPECT_THROW(reply(KV_OK), wire::Malformed) << "answered twice";
  CoreHarness plain;
  plain.submit(TransferOp::Write, 5000);
  plain.answer(7, 3);
  EXPECT_THROW(plain.deliver(neighborFrame(claim())), wire::Malformed) << "not asked for";
  EXPECT_THROW(plain.deliver(neighborFrame({kOtherProcess, 5, UINT64_MAX, kTheirChallenge})), wire::Malformed);
  EXPECT_THROW(plain.deliver(neighborFrame({{11, 22, UINT32_MAX}, 5, 1, kTheirChallenge})), wire::Malformed);
}

// ---- the side that was dialled ----

constexpr uint64_t kMemory = 0x10000;

/// A peer that dialled us.
class Dialled {
 public:
  explicit Dialled(const Config& config = ofThisMachine(), const Principal* who = nullptr) : core(config) {
    const kv_region region{kMemory, 4096};
    EXPECT_TRUE(core.registerRegions({&region, 1}).ok());
    if (who != nullptr) core.identify(0, *who);
    session = core.newConnection();
    core.accepted(0, session, "peer", who == nullptr ? std::nullopt : std::optional(*who),
                  Introduction{6, kOurChallenge});
    wire::Bytes hello;
    wire::appendHello(hello, {CoreHarness::identity(9), 0, wire::kMagic});
    deliver(hello);
  }
  void deliver(const wire::Bytes& frame) {
    core.frame(0, session, std::span(frame).subspan(wire::kFrameHeaderBytes));
    look();
  }
  void introduce(const ProcessName& process = kOtherProcess) {
    deliver(neighborFrame({process, 5, kTheirProof, kTheirChallenge}));
  }
  void pull(uint64_t id, uint64_t address = kMemory, uint64_t region = 1) {
    const kv_piece source{&source_, 64};
    deliver(pullFrame(id, std::vector<RemotePiece>{{region, address, 64}}, {&source, 1}));
  }
  void mayRead(uint64_t id, uint64_t address = kMemory, uint64_t region = 1) {
    deliver(mayReadFrame(id, std::vector<RemotePiece>{{region, address, 64}}));
  }
  void pulled(const Pulled& end, size_t which = 0) {
    core.pulled(0, session, pulls.at(which).pull, end);
    look();
  }
  void unregister() {
    const kv_region region{kMemory, 0};
    EXPECT_TRUE(core.unregisterRegions({&region, 1}).ok());
    look();
  }
  /// A copy of a source as it lies here.
  [[nodiscard]] uint64_t source() const { return reinterpret_cast<uintptr_t>(&source_); }

  EngineCore core;
  ConnectionId session = 0;
  std::vector<NeighborClaim> introductions;
  std::vector<Meet> meets;
  std::vector<Pull> pulls;
  std::vector<PayloadId> dropped;
  std::map<uint64_t, int32_t> replies;
  uint64_t withdrawn = 0;  // of the latest

 private:
  void look() {
    for (const Action& action : core.takeActions()) {
      if (const auto* meet = std::get_if<Meet>(&action)) meets.push_back(*meet);
      if (const auto* one = std::get_if<Pull>(&action)) pulls.push_back(*one);
      if (const auto* drop = std::get_if<DropPull>(&action)) dropped.push_back(drop->pull);
      const auto* send = std::get_if<SendFrame>(&action);
      if (send == nullptr) continue;
      const wire::Body body = std::span(send->frame).subspan(wire::kFrameHeaderBytes);
      if (wire::templateOf(body) == sbe::EngineNeighbor::sbeTemplateId()) introductions.push_back(readNeighbor(body));
      if (wire::templateOf(body) != sbe::EngineReply::sbeTemplateId()) continue;
      const Reply reply = readReply(body);
      EXPECT_FALSE(replies.contains(reply.id)) << "one answer to each";
      replies[reply.id] = reply.status;
      withdrawn = reply.withdrawn;
    }
  }

  uint8_t source_ = 0;
};

TEST(DialledTest, CopiesIntoWhatIsRegistered) {
  Dialled here;
  here.introduce();
  EXPECT_EQ(here.introductions.at(0).process.pid, kThisProcess.pid);
  EXPECT_EQ(here.introductions.at(0).descriptor, 6U);
  EXPECT_EQ(shownAt(here.introductions.at(0).proof), (ShownProof{kTheirChallenge, 0}));
  EXPECT_EQ(here.meets.at(0).challenge, kOurChallenge);
  here.pull(5);
  ASSERT_EQ(here.pulls.size(), 1U);
  EXPECT_EQ(here.pulls[0].from, std::vector<uint64_t>{here.source()});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(here.pulls[0].to.at(0).data), kMemory);
  EXPECT_TRUE(here.replies.empty()) << "not before it is there";
  here.pulled({});
  EXPECT_EQ(here.replies.at(5), KV_OK);
  EXPECT_EQ(here.core.counters().servedWriteBytes, 64U);
}

TEST(DialledTest, LooksAtWhatThePeerNamesAsByTcp) {
  Dialled here;
  here.introduce();
  uint64_t id = 0;
  for (const auto& [address, region] : std::vector<std::pair<uint64_t, uint64_t>>{
           {kMemory - 1, 1}, {kMemory + 4096 - 63, 1}, {kMemory, 2}, {kMemory, 0}, {8, 1}}) {
    here.pull(++id, address, region);
    EXPECT_EQ(here.replies.at(id), KV_NOT_REGISTERED);
    here.mayRead(++id, address, region);
    EXPECT_EQ(here.replies.at(id), KV_NOT_REGISTERED);
  }
  EXPECT_TRUE(here.pulls.empty());
  EXPECT_EQ(here.core.counters().refusedRequests, id);
}

TEST(DialledTest, OneThatMayOnlyReadDoesNotWrite) {
  Principal viewer;
  viewer.role = Principal::Role::Tenant;
  viewer.name = "viewer";
  viewer.tenant = "chat";
  viewer.readsOnly = true;
  Dialled here(ofThisMachine(), &viewer);
  here.introduce();
  here.pull(5);
  EXPECT_EQ(here.replies.at(5), KV_NOT_PERMITTED);
  EXPECT_TRUE(here.pulls.empty());
  here.mayRead(6);
  EXPECT_EQ(here.replies.at(6), KV_OK);
}

TEST(DialledTest, MemoryThatIsTakenBackIsNotWrittenAnyMore) {
  Dialled here;
  here.introduce();
  here.pull(5);
  here.unregister();
  EXPECT_EQ(here.dropped, std::vector<PayloadId>{here.pulls.at(0).pull});
  EXPECT_EQ(here.replies.at(5), KV_NOT_REGISTERED);
  here.pulled({});
  EXPECT_EQ(here.core.counters().servedWrites, 0U);
}

TEST(DialledTest, WhatAPeerCopiesOfMemoryThatIsTakenBackCountsForNothing) {
  Dialled here;
  here.introduce();
  here.mayRead(5);
  EXPECT_EQ(here.replies.at(5), KV_OK);
  EXPECT_EQ(here.core.counters().servedReadBytes, 64U);
  here.unregister();
  EXPECT_EQ(shownAt(here.introductions.at(0).proof), (ShownProof{kTheirChallenge, 1}));
  const kv_region again{kMemory, 4096};
  ASSERT_TRUE(here.core.registerRegions({&again, 1}).ok());
  here.mayRead(6, kMemory, 2);
  EXPECT_EQ(here.withdrawn, 1U) << "what is allowed after that is not withdrawn by it";
}

TEST(DialledTest, SaysByWhatElseItGoesWhereItCannotCopy) {
  Dialled stranger;
  stranger.pull(5);
  stranger.mayRead(6);
  EXPECT_EQ(stranger.replies.at(5), KV_UNAVAILABLE) << "it did not introduce itself";
  EXPECT_EQ(stranger.replies.at(6), KV_UNAVAILABLE);
  Dialled refused;
  refused.introduce();
  refused.pull(5);
  refused.pulled({Pulled::How::Refused, "Operation not permitted"});
  EXPECT_EQ(refused.replies.at(5), KV_UNAVAILABLE);
  EXPECT_EQ(refused.core.counters().sameMachineRefusals, 1U);
  EXPECT_EQ(refused.core.counters().servedWrites, 0U);
  for (const auto how : {Pulled::How::Gone, Pulled::How::Withdrawn}) {
    Dialled left;
    left.introduce();
    left.pull(5);
    left.pulled({how, ""});
    EXPECT_EQ(left.replies.at(5), KV_UNAVAILABLE);
    EXPECT_EQ(left.core.counters().sameMachineRefusals, 0U);
  }
}

TEST(DialledTest, TellsOnlyProcessesOfThisMachineWhichOneItIs) {
  for (const ProcessName& process : {ProcessName{12, 22, 200}, ProcessName{}}) {
    Dialled here;
    here.introduce(process);
    EXPECT_EQ(here.introductions.at(0).process.pid, 0U);
    EXPECT_EQ(here.introductions.at(0).proof, 0U);
    EXPECT_TRUE(here.meets.empty());
    EXPECT_EQ(here.core.counters().sameMachineRefusals, 0U);
  }
  Dialled off(CoreHarness::configuration());
  off.introduce();
  EXPECT_EQ(off.introductions.at(0).process.pid, 0U);
  Dialled elsewhere;
  elsewhere.introduce({11, 23, 200});
  EXPECT_TRUE(elsewhere.meets.empty());
  EXPECT_EQ(elsewhere.core.counters().sameMachineRefusals, 1U);
  elsewhere.pull(5);
  EXPECT_EQ(elsewhere.replies.at(5), KV_UNAVAILABLE);
}

TEST(DialledTest, MoreThanOneMayHaveUnderWayIsMalformed) {
  Dialled here;
  here.introduce();
  for (uint64_t id = 1; id <= kRequestsInFlight; ++id)
    here.pull(id);
  EXPECT_THROW(here.pull(99), wire::Malformed);
  here.pulled({});
  here.pull(100);
  EXPECT_EQ(here.pulls.size(), kRequestsInFlight + 1);
  EXPECT_THROW(here.introduce(), wire::Malformed) << "once";
}

TEST(DialledTest, SourcesThatAreNoMemoryAreMalformed) {
  Dialled here;
  here.introduce();
  for (const uint64_t source : {uint64_t{0}, UINT64_MAX - 62}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const kv_piece piece{reinterpret_cast<void*>(source), 64};
    EXPECT_THROW(here.deliver(pullFrame(1, std::vector<RemotePiece>{{1, kMemory, 64}}, {&piece, 1})), wire::Malformed);
  }
}

}  // namespace
}  // namespace kvpool::engine
