// SPDX-License-Identifier: Apache-2.0
// get, exists and remove, step by step.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

/// Looks up, accepts the node, and hands back the read request.
node::ReadRequest beginRead(CoreHarness& h, ConnectionId leader, const std::string& value, ConnectionId* node) {
  h.replyLookup(leader, h.expectLookup(leader), value, {nodeAddress(1)});
  *node = h.acceptNode(1);
  return node::readReadRequest(h.expectBody(*node));
}

TEST(CoreGet, ReadsIntoTheCallersMemory) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  ConnectionId node = 0;
  const auto read = beginRead(h, leader, "value", &node);
  EXPECT_EQ(read.payloadLength, 5u);
  EXPECT_EQ(read.extent, (ExtentRef{0, 7, 9}));
  h.replyRead(node, read.requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.result(batch)->front().length, 5u);
  EXPECT_EQ(h.latestMemory().substr(0, 5), "value");
}

TEST(CoreGet, AnUnknownKeyIsNotFound) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_FOUND);
  EXPECT_EQ(h.core.statistics().misses, 1u);
}

TEST(CoreGet, ASmallBufferIsToldTheLength) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 4);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
  EXPECT_EQ(h.expectStatus(batch), KV_BUFFER_TOO_SMALL);
  EXPECT_EQ(h.result(batch)->front().length, 5u);
  EXPECT_FALSE(h.dials("node-1:1"));
}

TEST(CoreGet, BytesThatDoNotMatchTheLeadersChecksumAreNeverReturned) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  ConnectionId node = 0;
  auto read = beginRead(h, leader, "value", &node);
  h.replyRead(node, read.requestId, "wrong");  // whole on the wire, but of another object
  for (uint32_t i = 1; i < client::kLookupsPerGet; ++i) {
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    read = node::readReadRequest(h.expectBody(node));
    h.replyRead(node, read.requestId, "wrong");
  }
  EXPECT_EQ(h.expectStatus(batch), KV_CHECKSUM);
  EXPECT_EQ(h.core.statistics().checksumFailures, client::kLookupsPerGet);
  EXPECT_EQ(h.result(batch)->front().length, 0u);
}

TEST(CoreGet, TheNextReplicaHelpsWithoutAskingTheLeader) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1), nodeAddress(2)});
  const bool firstIsOne = h.dials("node-1:1");
  const uint64_t first = firstIsOne ? 1 : 2;
  const uint64_t second = firstIsOne ? 2 : 1;
  const auto a = h.acceptNode(first);
  h.refuseRead(a, node::readReadRequest(h.expectBody(a)).requestId, KV_NOT_FOUND);
  const auto b = h.acceptNode(second);
  h.replyRead(b, node::readReadRequest(h.expectBody(b)).requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_FALSE(h.nextBody(leader));
}

/// Asks for a key with copies on nodes 1 and 2 and answers the greeting of the one tried first; the other is `*other`.
ConnectionId beginAtOneOfTwo(CoreHarness& h, ConnectionId leader, uint64_t* other) {
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1), nodeAddress(2)});
  const uint64_t first = h.dials("node-1:1") ? 1 : 2;
  *other = 3 - first;
  return h.acceptNode(first);
}

/// Like pass(), with a leader that shows signs of life.
void passWith(CoreHarness& h, ConnectionId leader, int64_t ms) {
  for (int64_t passed = 0; passed < ms; passed += 500) {
    h.pass(500);
    wire::Bytes heartbeat;
    wire::appendHeartbeat(heartbeat);
    h.deliver(leader, heartbeat);
  }
}

TEST(CoreGet, ANodeAtAStandstillLosesTheReadToTheOtherCopy) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  uint64_t other = 0;
  const auto stuck = beginAtOneOfTwo(h, leader, &other);
  const auto asked = node::readReadRequest(h.expectBody(stuck));
  h.pass(client::kFallOverMs);
  const auto good = h.acceptNode(other);
  h.replyRead(good, node::readReadRequest(h.expectBody(good)).requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_FALSE(h.closes(stuck)) << "it may only be slow";

  // The late answer finds nobody: it must not touch the memory of a batch that is over.
  wire::Bytes late;
  node::appendReadReply(late, asked.requestId, KV_OK, 5);
  h.deliver(stuck, late);
  const auto receive = h.next<client::ReceivePayload>();
  ASSERT_TRUE(receive);
  EXPECT_FALSE(receive->destination);
}

TEST(CoreGet, ANodeThatDoesNotGreetLosesTheReadToTheOtherCopy) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1), nodeAddress(2)});
  const uint64_t first = h.dials("node-1:1") ? 1 : 2;
  h.open(h.expectDial(nodeAddress(first).tcp));
  h.pass(client::kFallOverMs);
  const auto good = h.acceptNode(3 - first);
  h.replyRead(good, node::readReadRequest(h.expectBody(good)).requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreGet, AStandstillInTheMiddleOfAPayloadClosesBeforeReadingElsewhere) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  uint64_t other = 0;
  const auto stuck = beginAtOneOfTwo(h, leader, &other);
  wire::Bytes announced;
  node::appendReadReply(announced, node::readReadRequest(h.expectBody(stuck)).requestId, KV_OK, 5);
  h.deliver(stuck, announced);
  ASSERT_TRUE(h.next<client::ReceivePayload>());
  h.pass(client::kFallOverMs);
  EXPECT_TRUE(h.closes(stuck)) << "it still writes into the caller's memory";
  const auto good = h.acceptNode(other);
  h.replyRead(good, node::readReadRequest(h.expectBody(good)).requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreGet, ANodeAtAStandstillIsTriedLast) {
  CoreHarness h;
  const auto leader = h.lead();
  h.get("first", 100);
  uint64_t other = 0;
  const auto stuck = beginAtOneOfTwo(h, leader, &other);
  (void)h.expectBody(stuck);
  h.pass(client::kFallOverMs);
  const auto good = h.acceptNode(other);
  h.replyRead(good, node::readReadRequest(h.expectBody(good)).requestId, "value");
  for (int i = 0; i < 20; ++i) {
    const uint64_t batch = h.get("again-" + std::to_string(i), 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1), nodeAddress(2)});
    h.replyRead(good, node::readReadRequest(h.expectBody(good)).requestId, "value");
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
}

TEST(CoreGet, TheOnlyCopyIsWaitedForAsLongAsATransferMayTake) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  ConnectionId node = 0;
  const auto read = beginRead(h, leader, "value", &node);
  passWith(h, leader, 5 * client::kFallOverMs);
  EXPECT_FALSE(h.result(batch));
  h.replyRead(node, read.requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreGet, AnObjectGoneWithinItsLeaseIsNotFoundAndAfterItExpired) {
  for (const bool expired : {false, true}) {
    CoreHarness h;
    const auto leader = h.lead();
    const uint64_t batch = h.get("k", 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)}, 1000);
    const auto node = h.acceptNode(1);
    const auto read = node::readReadRequest(h.expectBody(node));
    if (expired) h.pass(2000);
    h.refuseRead(node, read.requestId, KV_NOT_FOUND);
    h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
    EXPECT_EQ(h.expectStatus(batch), expired ? KV_LEASE_EXPIRED : KV_NOT_FOUND);
  }
}

TEST(CoreGet, OnlyTheLeaderSaysThatThereIsNoObject) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  ConnectionId node = 0;
  for (uint32_t tried = 0; tried < client::kLookupsPerGet; ++tried) {
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    if (tried == 0) node = h.acceptNode(1);
    h.refuseRead(node, node::readReadRequest(h.expectBody(node)).requestId, KV_NOT_FOUND);
    if (tried > 0) {
      EXPECT_FALSE(h.nextBody(leader)) << "it needs a moment to hear of it too";
      h.pass(client::kRetryLongestMs);
    }
  }
  EXPECT_EQ(h.expectStatus(batch), KV_UNAVAILABLE) << "a node that is away may have a copy, as the leader knows";
}

TEST(CoreGet, AReadThatOutlivedItsLeaseAndStillFitsIsGood) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)}, 1000);
  const auto node = h.acceptNode(1);
  const auto read = node::readReadRequest(h.expectBody(node));
  h.pass(2500);
  h.replyRead(node, read.requestId, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreGet, AnUnreachableNodeEndsUnavailableAfterABoundedNumberOfLookups) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  for (uint32_t i = 0; i < client::kLookupsPerGet; ++i) {
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    if (h.dials("node-1:1")) h.cut(h.expectDial("node-1:1"));
    h.pass(client::kRetryLongestMs);
  }
  EXPECT_EQ(h.expectStatus(batch), KV_UNAVAILABLE);
  EXPECT_NE(h.core.explanation().find("node-1"), std::string::npos);
}

TEST(CoreGet, ANodeThatAnnouncesAnotherLengthIsCutOff) {
  CoreHarness h;
  const auto leader = h.lead();
  h.get("k", 100);
  ConnectionId node = 0;
  const auto read = beginRead(h, leader, "value", &node);
  wire::Bytes frame;
  node::appendReadReply(frame, read.requestId, KV_OK, 1u << 30);
  h.deliver(node, frame);
  EXPECT_TRUE(h.closes(node));
  EXPECT_FALSE(h.next<client::ReceivePayload>());
}

TEST(CoreGet, AnAnswerNobodyAskedForEndsTheConnection) {
  CoreHarness h;
  const auto leader = h.lead();
  h.get("k", 100);
  ConnectionId node = 0;
  (void)beginRead(h, leader, "value", &node);
  h.refuseRead(node, 123456, KV_NOT_FOUND);
  EXPECT_TRUE(h.closes(node));
}

TEST(CoreGet, TheDeadlineInTheMiddleOfAPayloadClosesTheConnectionFirst) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100, 500);
  ConnectionId node = 0;
  const auto read = beginRead(h, leader, "value", &node);
  wire::Bytes frame;
  node::appendReadReply(frame, read.requestId, KV_OK, 5);
  h.deliver(node, frame);
  ASSERT_TRUE(h.next<client::ReceivePayload>());
  h.pass(500);
  EXPECT_TRUE(h.closes(node));
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
}

TEST(CoreGet, AnAnswerAfterTheDeadlineIsDropped) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100, 500);
  ConnectionId node = 0;
  const auto read = beginRead(h, leader, "value", &node);
  h.pass(500);
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
  wire::Bytes frame;
  node::appendReadReply(frame, read.requestId, KV_OK, 5);
  h.deliver(node, frame);
  const auto receive = h.next<client::ReceivePayload>();
  ASSERT_TRUE(receive);
  EXPECT_FALSE(receive->destination);
  EXPECT_FALSE(h.closes(node)) << "the connection is good, only the bytes are not wanted";
}

TEST(CoreGet, ASilentNodeEndsByTheTransferTimeout) {
  CoreHarness h;
  const auto leader = h.lead();
  h.get("k", 100, 120000);
  ConnectionId node = 0;
  (void)beginRead(h, leader, "value", &node);
  for (int i = 0; i < 31; ++i) {
    h.pass(1000);
    wire::Bytes heartbeat;
    wire::appendHeartbeat(heartbeat);
    h.deliver(leader, heartbeat);
  }
  EXPECT_TRUE(h.closes(node));
  EXPECT_EQ(h.core.statistics().retries, 1u);
}

TEST(CoreKeys, ExistsTellsTheLength) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Exists, {{"a"}, {"b"}});
  const auto request = readExistsRequest(h.expectBody(leader));
  ASSERT_EQ(request.keys.size(), 2u);
  h.deliver(leader, existsReply({request.request, KV_OK, {{KV_OK, 12}, {KV_NOT_FOUND, 0}}}));
  const auto lines = h.result(batch);
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->at(0).status, KV_OK);
  EXPECT_EQ(lines->at(0).length, 12u);
  EXPECT_EQ(lines->at(1).status, KV_NOT_FOUND);
}

TEST(CoreKeys, ARemoveWhoseAnswerWasLostIsNotReportedAsNotFound) {
  CoreHarness h;
  auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Remove, {{"a"}});
  (void)readRemoveRequest(h.expectBody(leader));
  h.cut(leader);
  h.pass(client::kRetryLongestMs);
  leader = h.lead();
  const auto again = readRemoveRequest(h.expectBody(leader));
  h.deliver(leader, removeReply({again.request, KV_OK, {{KV_NOT_FOUND, 0}}}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreKeys, HintsSayWhatIsMeantAndReportForHowManyObjects) {
  const std::pair<OpCode, client::Hint> kinds[] = {{OpCode::Retain, client::Hint::Retain},
                                                   {OpCode::Release, client::Hint::Release},
                                                   {OpCode::Prefetch, client::Hint::Prefetch}};
  for (const auto& [op, hint] : kinds) {
    CoreHarness h;
    const auto leader = h.lead();
    client::Submission asked;
    asked.op = op;
    asked.retainMs = op == OpCode::Retain ? 60000 : 0;
    asked.lines = {{"a"}, {"b"}};
    const uint64_t batch = h.submit(asked);
    const auto request = readHintRequest(h.expectBody(leader));
    EXPECT_EQ(request.wish.hint, hint);
    EXPECT_EQ(request.wish.forMs, asked.retainMs);
    EXPECT_FALSE(request.wish.ofGroup);
    ASSERT_EQ(request.keys.keys, (std::vector<std::string>{"a", "b"}));
    h.deliver(leader, hintReply({request.keys.request, KV_OK, {{KV_OK, 7}, {KV_NO_SPACE, 0}}}));
    const auto lines = h.result(batch);
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines->at(0).status, KV_OK);
    EXPECT_EQ(lines->at(0).length, 7u);
    EXPECT_EQ(lines->at(1).status, KV_NO_SPACE);
    if (op == OpCode::Retain) {
      EXPECT_NE(h.core.explanation().find("half of the memory"), std::string::npos);
    }
  }
}

TEST(CoreKeys, EachGroupIsARequestOfItsOwn) {
  CoreHarness h;
  const auto leader = h.lead();
  client::Submission asked;
  asked.op = OpCode::Remove;
  asked.ofGroups = true;
  asked.lines = {{"one"}, {"two"}};
  const uint64_t batch = h.submit(asked);
  for (const char* name : {"one", "two"}) {
    const auto request = readRemoveRequest(h.expectBody(leader));
    EXPECT_TRUE(request.ofGroup);
    ASSERT_EQ(request.keys, std::vector<std::string>{name});
    h.deliver(leader, removeReply({request.request, KV_OK, {{KV_OK, 0}}}));
  }
  EXPECT_TRUE(h.result(batch));
}

TEST(CoreKeys, ARemoveOfOneCopyNamesItsNode) {
  CoreHarness h;
  const auto leader = h.lead();
  h.submit(OpCode::Remove, {{"a"}, {"b"}});
  EXPECT_EQ(readRemoveRequest(h.expectBody(leader)).node, "");
  client::Submission submission;
  submission.op = OpCode::Remove;
  submission.lines = {{"c"}, {"d"}};
  submission.nodes = "host:1";
  h.submit(std::move(submission));
  const auto request = readRemoveRequest(h.expectBody(leader));
  EXPECT_EQ(request.keys, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(request.node, "host:1");
}

TEST(CoreKeys, RemoveReportsWhatTheLeaderSaid) {
  for (const int32_t status : {KV_OK, KV_NOT_FOUND, KV_HAS_LEASE, KV_BUSY, KV_UNAVAILABLE}) {
    CoreHarness h;
    const auto leader = h.lead();
    const uint64_t batch = h.submit(OpCode::Remove, {{"a"}});
    const auto request = readRemoveRequest(h.expectBody(leader));
    h.deliver(leader, removeReply({request.request, KV_OK, {{status, 0}}}));
    EXPECT_EQ(h.expectStatus(batch), status);
  }
}

TEST(CoreKeys, RemoveAllTellsTheNumber) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::RemoveAll, {{}});
  const auto request = readRemoveAllRequest(h.expectBody(leader));
  h.deliver(leader, removeAllReply({request.request, KV_OK, 7}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.result(batch)->front().length, 7u);
}

TEST(CoreKeys, RemoveAllSaysOfWhichKeys) {
  CoreHarness h;
  const auto leader = h.lead();
  h.submit(OpCode::RemoveAll, {{"^model-a/"}});
  EXPECT_EQ(readRemoveAllRequest(h.expectBody(leader)).keys, std::vector<std::string>{"^model-a/"});
}

TEST(CoreKeys, AnEmptyBatchIsDoneAtOnce) {
  CoreHarness h;
  const uint64_t batch = h.submit(OpCode::Get, {});
  const auto lines = h.result(batch);
  ASSERT_TRUE(lines);
  EXPECT_TRUE(lines->empty());
}

/// A get of two parts, 3 bytes from 7 on and 2 from the beginning.
class CoreParts : public testing::Test {
 protected:
  uint64_t get(std::vector<uint64_t> offsets = {7, 0}, ObjectId meant = {}) {
    offsets_ = std::move(offsets);
    client::Submission submission;
    submission.op = client::OpCode::Get;
    submission.reuse = true;
    client::Operation& line = submission.lines.emplace_back();
    line.key = "k";
    line.memory = Pieces(std::span<const kv_piece>(pieces_));
    line.length = 5;
    line.offsets = offsets_.data();
    line.meant = meant;
    return h.submit(std::move(submission));
  }
  /// Names the object of the key, which is leased then.
  uint64_t name(ObjectId meant = {}) {
    client::Submission submission;
    submission.op = client::OpCode::Get;
    submission.reuse = true;
    client::Operation& line = submission.lines.emplace_back();
    line.key = "k";
    line.offsets = offsets_.data();
    line.meant = meant;
    return h.submit(std::move(submission));
  }
  static constexpr const char* kTenBytes = "0123456789";

  CoreHarness h;
  std::array<char, 5> memory_{};
  std::vector<kv_piece> pieces_{{memory_.data(), 3}, {memory_.data() + 3, 2}};
  std::vector<uint64_t> offsets_{0};
};

TEST_F(CoreParts, AreAskedForByPlaceAndLength) {
  const auto leader = h.lead();
  const uint64_t batch = get();
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  const wire::Bytes body = h.expectBody(node);
  const node::PartsRead asked = node::readPartsRead(body);
  EXPECT_EQ(asked.read.payloadLength, 10u);
  EXPECT_EQ(asked.payloadCrc, crc32c(kTenBytes));
  EXPECT_EQ(asked.parts, (std::vector<store::Range>{{7, 3}, {0, 2}}));
  wire::Bytes frame;
  node::appendReadReply(frame, asked.read.requestId, KV_OK, 5);
  h.deliver(node, frame);
  const auto receive = h.next<client::ReceivePayload>();
  ASSERT_TRUE(receive);
  EXPECT_EQ(receive->length, 5u);
  EXPECT_EQ(receive->destination->pieces().size(), 2u);
  h.core.payloadReceived(h.now, node, receive->transfer, 77, 77);
  ASSERT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ((*h.result(batch))[0].length, 10u) << "of the whole value";
  EXPECT_EQ(h.core.statistics().getBytes, 5u);

  const uint64_t again = get();
  EXPECT_FALSE(h.nextBody(leader)) << "it is leased";
  (void)h.expectBody(node);
  EXPECT_FALSE(h.result(again));
}

TEST_F(CoreParts, WithAnotherChecksumThanTheNodeSaysAreReadFromTheNextCopy) {
  const auto leader = h.lead();
  const uint64_t batch = get();
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1), nodeAddress(2)});
  const uint64_t first = h.dials("node-1:1") ? 1 : 2;
  for (const uint64_t number : {first, 3 - first}) {
    const auto node = h.acceptNode(number);
    wire::Bytes frame;
    node::appendReadReply(frame, node::readPartsRead(h.expectBody(node)).read.requestId, KV_OK, 5);
    h.deliver(node, frame);
    const auto receive = h.next<client::ReceivePayload>();
    ASSERT_TRUE(receive);
    h.core.payloadReceived(h.now, node, receive->transfer, 77, number == first ? 78 : 77);
  }
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().checksumFailures, 1u);
}

TEST_F(CoreParts, OutsideOfTheValueAreNotAskedFor) {
  const auto leader = h.lead();
  for (const std::vector<uint64_t>& outside : {std::vector<uint64_t>{8, 0}, {UINT64_MAX, 0}, {0, 9}}) {
    const uint64_t batch = get(outside);
    h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)});
    EXPECT_EQ(h.expectStatus(batch), KV_INVALID_ARGUMENT);
    EXPECT_EQ((*h.result(batch))[0].length, 10u);
  }
  EXPECT_FALSE(h.dials("node-1:1"));
}

TEST_F(CoreParts, OfAnotherLengthThanAskedForEndTheConnection) {
  const auto leader = h.lead();
  (void)get();
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  wire::Bytes frame;
  node::appendReadReply(frame, node::readPartsRead(h.expectBody(node)).read.requestId, KV_OK, 10);
  h.deliver(node, frame);
  EXPECT_TRUE(h.closes(node));
}

TEST_F(CoreParts, NoneNameTheObjectWithoutReadingIt) {
  const auto leader = h.lead();
  const uint64_t batch = name();
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)});
  ASSERT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ((*h.result(batch))[0].object, (ObjectId{1, 1}));
  EXPECT_EQ((*h.result(batch))[0].length, 10u);
  EXPECT_FALSE(h.dials("node-1:1"));
}

TEST_F(CoreParts, OfAnObjectThatWasReplacedAreNotThoseOfTheNext) {
  const auto leader = h.lead();
  const uint64_t batch = get({7, 0}, {1, 99});
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)});
  EXPECT_EQ(h.expectStatus(batch), KV_LEASE_EXPIRED);
  const uint64_t gone = get({7, 0}, {1, 99});
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(gone), KV_LEASE_EXPIRED);
  EXPECT_FALSE(h.dials("node-1:1"));
}

TEST_F(CoreParts, OfOneObjectProlongItsLeaseWhenHalfOfItIsOver) {
  const auto leader = h.lead();
  (void)name();
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)}, 10'000);
  h.passWith(leader, 4'500);
  EXPECT_EQ(h.expectStatus(name({1, 1})), KV_OK) << "by what is known";
  h.passWith(leader, 500);
  const uint64_t batch = name({1, 1});
  h.replyLookup(leader, h.expectLookup(leader), kTenBytes, {nodeAddress(1)}, 10'000);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  h.passWith(leader, 4'500);
  EXPECT_EQ(h.expectStatus(name({1, 1})), KV_OK) << "the lease is a new one";
}

}  // namespace
}  // namespace kvpool::test
