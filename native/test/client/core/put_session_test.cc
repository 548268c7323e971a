// SPDX-License-Identifier: Apache-2.0
// A put in many calls: what each call asks of the nodes and the leader, and what ends it.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

using Step = node::PartsWrite::Step;

class CorePutSession : public testing::Test {
 protected:
  uint64_t start(uint64_t length = 10) { return h.submit(OpCode::PutStart, {operation("k", nullptr, length)}); }
  /// A start of which every node that is named has made room, each in a slot of its own.
  std::vector<ConnectionId> begin(const std::vector<uint64_t>& nodes, ObjectId object = {1, 42}) {
    const uint64_t batch = start();
    std::vector<client::NodeAddress> addresses;
    for (const uint64_t node : nodes)
      addresses.push_back(nodeAddress(node));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, addresses, object);
    std::vector<ConnectionId> connections;
    for (const uint64_t node : nodes) {
      connections.push_back(h.acceptNode(node));
      open(connections.back(), KV_OK, static_cast<uint32_t>(node));
    }
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
    EXPECT_EQ(h.result(batch)->at(0).object, object);
    return connections;
  }
  /// Answers the question for room.
  void open(ConnectionId node, int32_t status, uint32_t slot = 1) {
    const wire::Bytes body = h.expectBody(node);
    const node::WriteRequest request = node::readWriteRequest(body);
    EXPECT_TRUE(request.inParts);
    EXPECT_EQ(request.payloadLength, 10u);
    EXPECT_EQ(request.key, "k");
    EXPECT_FALSE(h.next<client::SendPayload>());
    reply(node, request.requestId, status, {0, slot, 7});
  }
  void reply(ConnectionId node, uint64_t request, int32_t status, const ExtentRef& extent = {}) {
    wire::Bytes frame;
    node::appendWriteReply(frame, {request, status, extent, {1, 5}});
    h.deliver(node, frame);
  }
  /// A read that the leader has said to be at these nodes, of which the bytes have begun to come.
  client::TransferId beginPayload(ConnectionId node, const std::vector<client::NodeAddress>& at) {
    h.replyLookup(leader, h.expectLookup(leader), "value", at);
    EXPECT_TRUE(awaitsRead(node));
    return announce(node);
  }
  bool awaitsRead(ConnectionId node) {
    const auto body = h.nextBody(node);
    if (body) read_ = node::readReadRequest(*body).requestId;
    return body.has_value();
  }
  client::TransferId announce(ConnectionId node) {
    wire::Bytes announced;
    node::appendReadReply(announced, read_, KV_OK, 5);
    h.deliver(node, announced);
    const auto receive = h.next<client::ReceivePayload>();
    EXPECT_TRUE(receive && receive->connection == node);
    return read_;
  }
  bool givesUp(ConnectionId node, client::TransferId transfer) {
    const auto given = h.next<client::GivePayloadUp>();
    return given && given->connection == node && given->transfer == transfer;
  }
  uint64_t parts(ObjectId object = {1, 42}, int64_t timeoutMs = 30000) {
    client::Operation op;
    op.key = "k";
    op.memory = Pieces(pieces_);
    op.length = 5;
    op.offsets = offsets_;
    op.meant = object;
    return h.submit(OpCode::PutParts, {op}, timeoutMs);
  }
  uint64_t end(OpCode how = OpCode::PutEnd, ObjectId object = {1, 42}) {
    client::Operation op;
    op.key = "k";
    op.meant = object;
    return h.submit(how, {op});
  }
  node::PartsWrite expect(ConnectionId node, Step step, uint32_t slot = 1) {
    const node::PartsWrite request = node::readPartsWrite(h.expectBody(node));
    EXPECT_EQ(static_cast<int>(request.step), static_cast<int>(step));
    EXPECT_EQ(request.extent, (ExtentRef{0, slot, 7}));
    EXPECT_EQ(request.objectId, (ObjectId{1, 42}));
    return request;
  }
  /// The parts, whose bytes have gone out.
  uint64_t expectParts(ConnectionId node, uint32_t slot = 1) {
    const node::PartsWrite request = expect(node, Step::Write, slot);
    EXPECT_EQ(request.parts, (std::vector<store::Range>{{7, 3}, {0, 2}}));
    const auto payload = h.next<client::SendPayload>();
    EXPECT_TRUE(payload && payload->transfer == request.requestId && payload->length == 5);
    h.core.payloadSent(h.now, node, request.requestId);
    return request.requestId;
  }
  void end(ConnectionId node, Step step, int32_t status, uint32_t slot = 1) {
    reply(node, expect(node, step, slot).requestId, status, {0, slot, 7});
  }

  CoreHarness h;
  ConnectionId leader = h.lead();
  uint64_t read_ = 0;  // asked for last

 private:
  std::string first_ = "789";
  std::string second_ = "01";
  kv_piece pieces_[2] = {{first_.data(), 3}, {second_.data(), 2}};
  uint64_t offsets_[2] = {7, 0};
};

TEST_F(CorePutSession, WritesPartsAsTheyComeAndIsReadableByThePublishOfItsEnd) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t written = parts();
  const uint64_t request = expectParts(node);
  EXPECT_FALSE(h.result(written));
  reply(node, request, KV_OK);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
  EXPECT_EQ(h.result(written)->at(0).length, 5u);
  EXPECT_FALSE(h.nextBody(leader)) << "the leader has no part in it";

  const uint64_t ended = end();
  end(node, Step::Commit, KV_OK);
  EXPECT_FALSE(h.result(ended));
  const auto publish = h.expectPublish(leader);
  EXPECT_TRUE(publish.objects.at(0).written);
  EXPECT_EQ(publish.objects.at(0).committed, std::vector<uint64_t>{1});
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(ended), KV_OK);
  EXPECT_EQ(h.expectStatus(end()), KV_LEASE_EXPIRED) << "it is over";
}

TEST_F(CorePutSession, AsksForTheTimeThatItMayLast) {
  h.submit(OpCode::PutStart, {operation("k", nullptr, 10)}, 5000);
  EXPECT_EQ(h.expectGrant(leader).deadlineMs, 30000u);
}

TEST_F(CorePutSession, OfAKeyThatIsAnothersIsToldSoAtOnce) {
  for (const int32_t status : {KV_EXISTS, KV_BUSY}) {
    const uint64_t batch = start();
    h.replyGrant(leader, h.expectGrant(leader), status, {});
    EXPECT_EQ(h.expectStatus(batch), status);
  }
}

TEST_F(CorePutSession, WhoseGrantWasLostOnTheWayWaitsForItToEnd) {
  const uint64_t batch = start();
  (void)h.expectGrant(leader);
  h.cut(leader);
  h.pass(100);
  leader = h.lead();
  h.replyGrant(leader, h.expectGrant(leader), KV_BUSY, {});
  EXPECT_FALSE(h.result(batch)) << "it may be our own";
  h.passWith(leader, 500);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  open(h.acceptNode(1), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(CorePutSession, FindsRoomElsewhereBeforeItBegins) {
  const uint64_t batch = start();
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  open(h.acceptNode(1), KV_NO_SPACE);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  h.pass(1000);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(2)}, {1, 43});
  open(h.acceptNode(2), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.result(batch)->at(0).object, (ObjectId{1, 43}));
}

TEST_F(CorePutSession, OfTwoCopiesOneMayBeLost) {
  const auto nodes = begin({1, 2});
  const uint64_t written = parts();
  reply(nodes[0], expectParts(nodes[0], 1), KV_OK);
  expectParts(nodes[1], 2);
  EXPECT_FALSE(h.result(written));
  h.cut(nodes[1]);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
  const uint64_t ended = end();
  end(nodes[0], Step::Commit, KV_OK, 1);
  const auto publish = h.expectPublish(leader);
  EXPECT_EQ(publish.objects.at(0).committed, std::vector<uint64_t>{1});
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(ended), KV_OK);
}

TEST_F(CorePutSession, ACopyThatLacksAPartIsGivenBack) {
  const auto nodes = begin({1, 2});
  const uint64_t written = parts();
  reply(nodes[0], expectParts(nodes[0], 1), KV_OK);
  reply(nodes[1], expectParts(nodes[1], 2), KV_QUEUE_FULL);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
  expect(nodes[1], Step::Abort, 2);
}

TEST_F(CorePutSession, IsOverWithItsOnlyNodeAndItsKeyIsFreeAgain) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t written = parts();
  expectParts(node);
  h.cut(node);
  EXPECT_EQ(h.expectStatus(written), KV_TRANSFER_FAILED);
  EXPECT_EQ(h.expectStatus(parts()), KV_LEASE_EXPIRED);
  const uint64_t ended = end();
  const auto publish = h.expectPublish(leader);
  EXPECT_FALSE(publish.objects.at(0).written);
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(ended), KV_LEASE_EXPIRED);
}

/// The time of a call is over while bytes of it are on the way on the connection that has the room.
TEST_F(CorePutSession, OutlivesAReadWhoseTimeIsOverInTheMiddle) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t got = h.get("other", 100, 500);
  const client::TransferId read = beginPayload(node, {nodeAddress(1)});
  h.passWith(leader, 600);
  EXPECT_EQ(h.expectStatus(got), KV_TIMEOUT);
  EXPECT_FALSE(h.closes(node));
  EXPECT_TRUE(givesUp(node, read)) << "the caller has its memory again";
  const uint64_t written = parts();
  h.core.payloadReceived(h.now, node, read, 0, 1);
  reply(node, expectParts(node), KV_OK);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
  EXPECT_EQ(h.core.statistics().checksumFailures, 0u);
}

TEST_F(CorePutSession, OutlivesPartsOfAnotherWhoseTimeIsOverInTheMiddle) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t second = start();
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 43});
  open(node, KV_OK, 2);
  ASSERT_EQ(h.expectStatus(second), KV_OK);
  const uint64_t late = parts({1, 43}, 500);
  const uint64_t request = node::readPartsWrite(h.expectBody(node)).requestId;
  ASSERT_TRUE(h.next<client::SendPayload>());
  h.passWith(leader, 600);
  EXPECT_EQ(h.expectStatus(late), KV_TIMEOUT);
  EXPECT_FALSE(h.closes(node));
  EXPECT_TRUE(givesUp(node, request));
  const uint64_t written = parts();
  h.core.payloadSent(h.now, node, request);
  reply(node, request, KV_CHECKSUM);
  reply(node, expectParts(node), KV_OK);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
}

TEST_F(CorePutSession, OutlivesAReadThatStandsStillAndIsDoneElsewhere) {
  const std::vector<ConnectionId> nodes = begin({1, 2});
  const uint64_t got = h.get("other", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1), nodeAddress(2)});
  const bool first = awaitsRead(nodes[0]);
  const ConnectionId stuck = first ? nodes[0] : nodes[1];
  const ConnectionId good = first ? nodes[1] : nodes[0];
  EXPECT_TRUE(first || awaitsRead(stuck));
  const client::TransferId read = announce(stuck);
  h.passWith(leader, client::kFallOverMs);
  EXPECT_FALSE(h.closes(stuck));
  EXPECT_TRUE(givesUp(stuck, read)) << "the memory is for another read";
  ASSERT_TRUE(awaitsRead(good));
  h.replyRead(good, read_, "value");
  EXPECT_EQ(h.expectStatus(got), KV_OK);
  h.core.payloadReceived(h.now, stuck, read, 0, 1);
  const uint64_t written = parts();
  reply(nodes[0], expectParts(nodes[0], 1), KV_OK);
  reply(nodes[1], expectParts(nodes[1], 2), KV_OK);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
}

TEST_F(CorePutSession, KeepsItsConnectionWhenItsNodeSaysAnotherAddress) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t second = start();
  client::NodeAddress moved = nodeAddress(1);
  moved.tcp = "elsewhere:1";
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {moved}, {1, 43});
  EXPECT_FALSE(h.closes(node));
  open(node, KV_OK, 2);
  EXPECT_EQ(h.expectStatus(second), KV_OK);
}

/// Another connection to the same node knows nothing of it.
TEST_F(CorePutSession, IsOverWithItsConnection) {
  h.cut(begin({1}).at(0));
  EXPECT_EQ(h.expectStatus(parts()), KV_LEASE_EXPIRED);
  EXPECT_FALSE(h.dials("node-1:1"));
}

TEST_F(CorePutSession, UnderALeaderThatWasFollowedIsOver) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t ended = end();
  end(node, Step::Commit, KV_STALE_EPOCH);
  h.replyPublish(leader, h.expectPublish(leader), KV_STALE_EPOCH);
  EXPECT_EQ(h.expectStatus(ended), KV_LEASE_EXPIRED);
}

TEST_F(CorePutSession, WhosePublishWasLostWithItsLeaderIsPublishedToTheNext) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t ended = end();
  end(node, Step::Commit, KV_OK);
  (void)h.expectPublish(leader);
  h.cut(leader);
  h.pass(100);
  leader = h.lead();
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(ended), KV_OK);
}

TEST_F(CorePutSession, ThatIsRevokedGivesRoomAndKeyBack) {
  const ConnectionId node = begin({1}).at(0);
  const uint64_t revoked = end(OpCode::PutRevoke);
  end(node, Step::Abort, KV_OK);
  const auto publish = h.expectPublish(leader);
  EXPECT_FALSE(publish.objects.at(0).written);
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(revoked), KV_OK);
  EXPECT_EQ(h.expectStatus(parts()), KV_LEASE_EXPIRED);
}

TEST_F(CorePutSession, ThatIsLeftAloneGivesItsRoomBack) {
  const ConnectionId node = begin({1}).at(0);
  h.passWith(leader, client::kOpenPutMs);
  expect(node, Step::Abort);
  EXPECT_EQ(h.expectStatus(parts()), KV_LEASE_EXPIRED);
}

/// As many transfers as a connection takes are before it.
TEST_F(CorePutSession, WhoseEndDidNotGetItsTurnInTimeGivesItsRoomBack) {
  const ConnectionId node = begin({1}).at(0);
  h.submit(OpCode::PutStart, std::vector(client::kTransfersInFlight, operation("k", nullptr, 10)));
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 100});
  std::vector<uint64_t> starts;
  for (size_t i = 0; i < client::kTransfersInFlight; ++i) {
    const wire::Bytes body = h.expectBody(node);
    starts.push_back(node::readWriteRequest(body).requestId);
  }
  client::Operation op;
  op.key = "k";
  op.meant = {1, 42};
  const uint64_t ended = h.submit(OpCode::PutEnd, {op}, 500);
  h.passWith(leader, 600);
  EXPECT_EQ(h.expectStatus(ended), KV_TIMEOUT);
  reply(node, starts.front(), KV_OK, {0, 2, 7});
  expect(node, Step::Abort);
}

TEST_F(CorePutSession, PartsOutsideOfTheValueAreNotSent) {
  const ConnectionId node = begin({1}).at(0);
  char byte = 0;
  kv_piece piece{&byte, 1};
  const uint64_t offset = 10;
  client::Operation op;
  op.key = "k";
  op.memory = Pieces(std::span<const kv_piece>(&piece, 1));
  op.length = 1;
  op.offsets = &offset;
  op.meant = {1, 42};
  EXPECT_EQ(h.expectStatus(h.submit(OpCode::PutParts, {op})), KV_INVALID_ARGUMENT);
  EXPECT_FALSE(h.nextBody(node));
  const uint64_t written = parts();
  reply(node, expectParts(node), KV_OK);
  EXPECT_EQ(h.expectStatus(written), KV_OK) << "it goes on";
}

TEST_F(CorePutSession, AStartWhoseTimeIsOverGivesBackWhatItGot) {
  const uint64_t batch = h.submit(OpCode::PutStart, {operation("k", nullptr, 10)}, 500);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1), nodeAddress(2)}, {1, 42});
  const auto first = h.acceptNode(1);
  const auto second = h.acceptNode(2);
  open(first, KV_OK, 1);
  const node::WriteRequest late = node::readWriteRequest(h.expectBody(second));
  h.pass(600);
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
  expect(first, Step::Abort, 1);
  reply(second, late.requestId, KV_OK, {0, 2, 7});
  expect(second, Step::Abort, 2);
}

TEST(CorePutSessionShm, PartsAreStagedForTheNode) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t started = h.submit(OpCode::PutStart, {operation("k", nullptr, 10)});
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)}, {1, 42});
  const auto node = h.attachShm(1);
  const node::WriteRequest request = node::readWriteRequest(h.expectBody(node));
  EXPECT_TRUE(request.inParts);
  wire::Bytes frame;
  node::appendWriteReply(frame, {request.requestId, KV_OK, {0, 1, 7}, {1, 5}});
  h.deliver(node, frame);
  EXPECT_EQ(h.expectStatus(started), KV_OK);

  std::string bytes = "345";
  kv_piece piece{bytes.data(), 3};
  const uint64_t offset = 3;
  client::Operation op;
  op.key = "k";
  op.memory = Pieces(std::span<const kv_piece>(&piece, 1));
  op.length = 3;
  op.offsets = &offset;
  op.meant = {1, 42};
  const uint64_t written = h.submit(OpCode::PutParts, {op});
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy && copy->length == 3);
  h.core.copiedToStaging(h.now, node, copy->transfer, 0xABCD);
  const node::PartsWrite parts = node::readPartsWrite(h.expectBody(node));
  EXPECT_TRUE(parts.staging);
  EXPECT_EQ(parts.stagingOffset, copy->stagingOffset);
  EXPECT_EQ(parts.partsCrc, 0xABCDu);
  EXPECT_EQ(parts.parts, (std::vector<store::Range>{{3, 3}}));
  wire::Bytes answer;
  node::appendWriteReply(answer, {parts.requestId, KV_OK, {}, {1, 5}});
  h.deliver(node, answer);
  EXPECT_EQ(h.expectStatus(written), KV_OK);
  EXPECT_EQ(h.core.statistics().shmBytes, 3u);
}

}  // namespace
}  // namespace kvpool::test
