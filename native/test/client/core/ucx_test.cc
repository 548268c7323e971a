// SPDX-License-Identifier: Apache-2.0
// The lane by tcp with memory that UCX reaches: used when both sides have it, left for plain tcp when one has not.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

constexpr size_t kLarge = client::kUcxInlineBytes + 1;

class UcxLane : public testing::Test {
 protected:
  void SetUp() override { leader = h.lead(); }

  ConnectionId greet() {
    const ConnectionId lane = h.expectDial("node-1:1");
    h.open(lane);
    h.welcome(lane, wire::Role::Node, 1);
    return lane;
  }
  /// Until the node is to answer the offer.
  ConnectionId offer() {
    const ConnectionId lane = greet();
    const auto wanted = h.next<client::OfferStaging>();
    EXPECT_TRUE(wanted && wanted->connection == lane && wanted->bytes == client::kStagingBytes);
    h.core.stagingOffered(h.now, lane, StagingOffer{client::kStagingBytes, 4096, "worker", "key"});
    const wire::Bytes body = h.expectBody(lane);
    EXPECT_EQ(node::readUcxAttach(body).offer.key, "key");
    return lane;
  }
  void answerOffer(ConnectionId lane, const Status& status) {
    wire::Bytes frame;
    node::appendUcxAttached(frame, 1, status);
    h.deliver(lane, frame);
  }
  ConnectionId attach() {
    const ConnectionId lane = offer();
    answerOffer(lane, {});
    return lane;
  }
  uint64_t beginPut(size_t length = kLarge, const std::string& key = "k") {
    const uint64_t batch = h.put(key, std::string(length, 'v'));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, ++objects_});
    return batch;
  }
  uint64_t beginGet(const std::string& value) {
    const uint64_t batch = h.get("k", value.size());
    h.replyLookup(leader, h.expectLookup(leader), value, {nodeAddress(1)});
    return batch;
  }
  void finishPut(ConnectionId lane, uint64_t request) {
    h.replyWrite(lane, request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  }

  CoreHarness h{{"master-0:1"}, false, true};
  ConnectionId leader = 0;

 private:
  uint64_t objects_ = 0;
};

TEST_F(UcxLane, APutIsStagedAndTheNodeFetchesIt) {
  const uint64_t batch = beginPut();
  const auto lane = attach();
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  h.core.copiedToStaging(h.now, lane, copy->transfer, 0xABCD);
  const wire::Bytes body = h.expectBody(lane);
  const node::WriteRequest write = node::readWriteRequest(body);
  EXPECT_TRUE(write.staging);
  EXPECT_EQ(write.payloadCrc, 0xABCDu);
  finishPut(lane, write.requestId);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ucxBytes, kLarge);
  EXPECT_EQ(h.core.statistics().ucxLanes, 1u);
}

TEST_F(UcxLane, AGetIsCopiedOutOfWhereTheNodePutIt) {
  const std::string value(kLarge, 'v');
  const uint64_t batch = beginGet(value);
  const auto lane = attach();
  const wire::Bytes body = h.expectBody(lane);
  const node::StagedRead read = node::readStagedRead(body);
  EXPECT_EQ(read.read.payloadLength, kLarge);
  wire::Bytes reply;
  node::appendReadReply(reply, read.read.requestId, KV_OK, kLarge);
  h.deliver(lane, reply);
  EXPECT_FALSE(h.next<client::ReceivePayload>()) << "no payload follows";
  const auto copy = h.next<client::CopyFromStaging>();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->stagingOffset, read.stagingOffset);
  h.core.copiedFromSegment(h.now, lane, copy->transfer, KV_OK, crc32c(value.data(), value.size()));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ucxBytes, kLarge);
}

TEST_F(UcxLane, WrongBytesAreNotReturned) {
  const uint64_t batch = beginGet(std::string(kLarge, 'v'));
  const auto lane = attach();
  const wire::Bytes body = h.expectBody(lane);
  wire::Bytes reply;
  node::appendReadReply(reply, node::readStagedRead(body).read.requestId, KV_OK, kLarge);
  h.deliver(lane, reply);
  h.core.copiedFromSegment(h.now, lane, h.next<client::CopyFromStaging>()->transfer, KV_OK, 1);
  EXPECT_FALSE(h.result(batch));
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_FOUND);
  EXPECT_EQ(h.core.statistics().checksumFailures, 1u);
}

TEST_F(UcxLane, SmallAndVeryLargeValuesTravelWithTheirRequests) {
  ConnectionId lane = 0;
  for (const size_t length : {size_t{0}, size_t{client::kUcxInlineBytes}, size_t{client::kStagingBytes + 1}}) {
    const uint64_t batch = beginPut(length, std::to_string(length));
    if (lane == 0) lane = attach();
    const auto write = h.expectWrite(lane);
    EXPECT_EQ(write.payload.size(), length);
    finishPut(lane, write.request);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  EXPECT_FALSE(h.next<client::CopyToStaging>());
  EXPECT_EQ(h.core.statistics().ucxBytes, 0u);
}

TEST_F(UcxLane, WithoutALibraryEverythingGoesByTcpAndTheReasonIsTold) {
  const uint64_t batch = beginPut();
  const auto lane = greet();
  ASSERT_TRUE(h.next<client::OfferStaging>());
  h.core.stagingOffered(h.now, lane, Status(KV_IO, "libucp.so.0 cannot be used"));
  finishPut(lane, h.expectWrite(lane).request);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  const auto note = h.next<client::Note>();
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text, "node node-1 is used by tcp, not by ucx: libucp.so.0 cannot be used");
  EXPECT_EQ(h.core.explanation(), note->text);
  EXPECT_EQ(h.core.statistics().ucxRefusals, 1u);
}

TEST_F(UcxLane, ANodeThatRefusesIsNotAskedAgainInItsLife) {
  const uint64_t batch = beginPut();
  const auto lane = offer();
  answerOffer(lane, Status(KV_CONNECT_FAILED, "not here"));
  finishPut(lane, h.expectWrite(lane).request);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_NE(h.core.explanation().find("the node says: not here"), std::string::npos);
  h.cut(lane);
  beginPut(kLarge, "k2");
  h.pass(client::kLaneRestMs);
  const auto again = greet();
  EXPECT_EQ(h.expectWrite(again).key, "k2");
  EXPECT_FALSE(h.next<client::OfferStaging>());
}

TEST_F(UcxLane, AnOfferThatIsNeverAnsweredEndsInTcp) {
  beginPut();
  const auto lane = offer();
  h.pass(client::kConnectTimeoutMs);
  EXPECT_TRUE(h.closes(lane));
  EXPECT_EQ(h.core.statistics().ucxRefusals, 1u);
}

TEST_F(UcxLane, ConnectionsThatBreakWithUcxAgainAndAgainGoOnWithoutIt) {
  for (uint32_t loss = 0; loss < client::kUcxLossesMax; ++loss) {
    beginPut(kLarge, "k" + std::to_string(loss));
    const auto lane = attach();
    ASSERT_TRUE(h.next<client::CopyToStaging>());
    h.cut(lane);
    ASSERT_TRUE(h.nextBody(leader)) << "the write is given back";
  }
  EXPECT_EQ(h.core.statistics().ucxRefusals, 1u);
  beginPut(kLarge, "after");
  const auto plain = greet();
  EXPECT_FALSE(h.next<client::OfferStaging>());
  EXPECT_EQ(h.expectWrite(plain).key, "after");
}

TEST_F(UcxLane, ABatchThatEndsKeepsItsStagingUntilTheNodeIsThrough) {
  const uint64_t batch = h.get("k", kLarge, 500);
  h.replyLookup(leader, h.expectLookup(leader), std::string(kLarge, 'v'), {nodeAddress(1)});
  const auto lane = attach();
  const wire::Bytes body = h.expectBody(lane);
  const node::StagedRead read = node::readStagedRead(body);
  h.pass(500);
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
  EXPECT_FALSE(h.closes(lane));
  beginPut();
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  EXPECT_NE(copy->stagingOffset, read.stagingOffset) << "the node may still write there";
  wire::Bytes reply;
  node::appendReadReply(reply, read.read.requestId, KV_OK, kLarge);
  h.deliver(lane, reply);
  EXPECT_FALSE(h.next<client::CopyFromStaging>()) << "nobody waits for it";
}

}  // namespace
}  // namespace kvpool::test
