// SPDX-License-Identifier: Apache-2.0
// The connection by tcp with memory that UCX reaches: used when both sides have it, left for plain tcp when one has
// not.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

constexpr size_t kLarge = client::kRemoteInlineBytes + 1;

class UcxConnection : public testing::Test {
 protected:
  void SetUp() override { leader = h.lead(); }

  ConnectionId greet() {
    const ConnectionId connection = h.expectDial("node-1:1");
    h.open(connection);
    h.welcome(connection, wire::Role::Node, 1);
    return connection;
  }
  /// Until the node is to answer the offer.
  ConnectionId offer() {
    const ConnectionId connection = greet();
    const auto wanted = h.next<client::OfferStaging>();
    EXPECT_TRUE(wanted && wanted->connection == connection && wanted->bytes == client::kStagingBytes);
    h.core.stagingOffered(h.now, connection, StagingOffer{client::kStagingBytes, 4096, "worker", "key"});
    const wire::Bytes body = h.expectBody(connection);
    EXPECT_EQ(node::readUcxAttach(body).offer.key, "key");
    return connection;
  }
  void answerOffer(ConnectionId connection, const Status& status) {
    wire::Bytes frame;
    node::appendUcxAttached(frame, 1, status);
    h.deliver(connection, frame);
  }
  ConnectionId attach() {
    const ConnectionId connection = offer();
    answerOffer(connection, {});
    return connection;
  }
  uint64_t beginPut(size_t length = kLarge, const std::string& key = "k") {
    const uint64_t batch = h.put(key, std::string(length, 'v'));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, ++objects_});
    return batch;
  }
  uint64_t beginGet(const std::string& value, uint16_t segment = kMemorySegment) {
    const uint64_t batch = h.get("k", value.size());
    h.replyLookup(leader, h.expectLookup(leader), value, {nodeAddress(1)}, 10000, segment);
    return batch;
  }
  void finishPut(ConnectionId connection, uint64_t request) {
    h.replyWrite(connection, request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  }

  CoreHarness h{{"master-0:1"}, false, true};
  ConnectionId leader = 0;

 private:
  uint64_t objects_ = 0;
};

TEST_F(UcxConnection, APutIsStagedAndTheNodeFetchesIt) {
  const uint64_t batch = beginPut();
  const auto connection = attach();
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  h.core.copiedToStaging(h.now, connection, copy->transfer, 0xABCD);
  const wire::Bytes body = h.expectBody(connection);
  const node::WriteRequest write = node::readWriteRequest(body);
  EXPECT_TRUE(write.staging);
  EXPECT_EQ(write.payloadCrc, 0xABCDu);
  finishPut(connection, write.requestId);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ucx.bytes, kLarge);
  EXPECT_EQ(h.core.statistics().ucx.lanes, 1u);
}

TEST_F(UcxConnection, AGetIsCopiedOutOfWhereTheNodePutIt) {
  const std::string value(kLarge, 'v');
  const uint64_t batch = beginGet(value);
  const auto connection = attach();
  const wire::Bytes body = h.expectBody(connection);
  const node::StagedRead read = node::readStagedRead(body);
  EXPECT_EQ(read.read.payloadLength, kLarge);
  wire::Bytes reply;
  node::appendReadReply(reply, read.read.requestId, KV_OK, kLarge);
  h.deliver(connection, reply);
  EXPECT_FALSE(h.next<client::ReceivePayload>()) << "no payload follows";
  const auto copy = h.next<client::CopyFromStaging>();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->stagingOffset, read.stagingOffset);
  h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, crc32c(value.data(), value.size()));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ucx.bytes, kLarge);
}

TEST_F(UcxConnection, WhatLiesOnAnSsdIsMovedLikeWhatLiesInMemory) {
  const std::string value(kLarge, 'v');
  const uint64_t batch = beginGet(value, kTierSegment);
  const auto connection = attach();
  const wire::Bytes body = h.expectBody(connection);
  const node::StagedRead read = node::readStagedRead(body);
  EXPECT_EQ(read.read.extent.segment, kTierSegment);
  wire::Bytes reply;
  node::appendReadReply(reply, read.read.requestId, KV_OK, kLarge);
  h.deliver(connection, reply);
  const auto copy = h.next<client::CopyFromStaging>();
  ASSERT_TRUE(copy);
  h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, crc32c(value.data(), value.size()));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ucx.bytes, kLarge);
}

TEST_F(UcxConnection, ANodeThatDoesNotMoveWhatLiesOnItsSsdIsAskedOnceAndSendsIt) {
  const std::string value(kLarge, 'v');
  ConnectionId connection = 0;
  for (const bool first : {true, false}) {
    const uint64_t batch = beginGet(value, kTierSegment);
    if (first) {
      connection = attach();
      const wire::Bytes body = h.expectBody(connection);
      wire::Bytes refusal;
      node::appendReadReply(refusal, node::readStagedRead(body).read.requestId, KV_INVALID_ARGUMENT, 0);
      h.deliver(connection, refusal);
    }
    const wire::Bytes body = h.expectBody(connection);
    const node::ReadRequest read = node::readReadRequest(body);
    EXPECT_EQ(read.extent.segment, kTierSegment);
    wire::Bytes reply;
    node::appendReadReply(reply, read.requestId, KV_OK, kLarge);
    h.deliver(connection, reply);
    const auto payload = h.next<client::ReceivePayload>();
    ASSERT_TRUE(payload);
    const uint32_t crc = crc32c(value.data(), value.size());
    h.core.payloadReceived(h.now, connection, payload->transfer, crc, crc);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  EXPECT_EQ(h.core.statistics().ucx.bytes, 0u);
}

TEST_F(UcxConnection, WrongBytesAreNotReturned) {
  const uint64_t batch = beginGet(std::string(kLarge, 'v'));
  const auto connection = attach();
  const wire::Bytes body = h.expectBody(connection);
  wire::Bytes reply;
  node::appendReadReply(reply, node::readStagedRead(body).read.requestId, KV_OK, kLarge);
  h.deliver(connection, reply);
  h.core.copiedFromSegment(h.now, connection, h.next<client::CopyFromStaging>()->transfer, KV_OK, 1);
  EXPECT_FALSE(h.result(batch));
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_FOUND);
  EXPECT_EQ(h.core.statistics().checksumFailures, 1u);
}

TEST_F(UcxConnection, SmallAndVeryLargeValuesTravelWithTheirRequests) {
  ConnectionId connection = 0;
  for (const size_t length : {size_t{0}, size_t{client::kRemoteInlineBytes}, size_t{client::kStagingBytes + 1}}) {
    const uint64_t batch = beginPut(length, std::to_string(length));
    if (connection == 0) connection = attach();
    const auto write = h.expectWrite(connection);
    EXPECT_EQ(write.payload.size(), length);
    finishPut(connection, write.request);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  EXPECT_FALSE(h.next<client::CopyToStaging>());
  EXPECT_EQ(h.core.statistics().ucx.bytes, 0u);
}

TEST_F(UcxConnection, WithoutALibraryEverythingGoesByTcpAndTheReasonIsTold) {
  const uint64_t batch = beginPut();
  const auto connection = greet();
  ASSERT_TRUE(h.next<client::OfferStaging>());
  h.core.stagingOffered(h.now, connection, Status(KV_IO, "libucp.so.0 cannot be used"));
  finishPut(connection, h.expectWrite(connection).request);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  const auto note = h.next<client::Note>();
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text, "node node-1 is used by tcp, not by ucx: libucp.so.0 cannot be used");
  EXPECT_EQ(h.core.explanation(), note->text);
  EXPECT_EQ(h.core.statistics().ucx.refusals, 1u);
}

TEST_F(UcxConnection, ANodeThatRefusesIsNotAskedAgainInItsLife) {
  const uint64_t batch = beginPut();
  const auto connection = offer();
  answerOffer(connection, Status(KV_CONNECT_FAILED, "not here"));
  finishPut(connection, h.expectWrite(connection).request);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_NE(h.core.explanation().find("the node says: not here"), std::string::npos);
  h.cut(connection);
  beginPut(kLarge, "k2");
  h.pass(client::kNodeConnectionRestMs);
  const auto again = greet();
  EXPECT_EQ(h.expectWrite(again).key, "k2");
  EXPECT_FALSE(h.next<client::OfferStaging>());
}

TEST_F(UcxConnection, AnOfferThatIsNeverAnsweredEndsInTcp) {
  beginPut();
  const auto connection = offer();
  h.pass(client::kConnectTimeoutMs);
  EXPECT_TRUE(h.closes(connection));
  EXPECT_EQ(h.core.statistics().ucx.refusals, 1u);
}

TEST_F(UcxConnection, ConnectionsThatBreakWithUcxAgainAndAgainGoOnWithoutIt) {
  for (uint32_t loss = 0; loss < client::kRemoteLossesMax; ++loss) {
    beginPut(kLarge, "k" + std::to_string(loss));
    const auto connection = attach();
    ASSERT_TRUE(h.next<client::CopyToStaging>());
    h.cut(connection);
    ASSERT_TRUE(h.nextBody(leader)) << "the write is given back";
  }
  EXPECT_EQ(h.core.statistics().ucx.refusals, 1u);
  beginPut(kLarge, "after");
  const auto plain = greet();
  EXPECT_FALSE(h.next<client::OfferStaging>());
  EXPECT_EQ(h.expectWrite(plain).key, "after");
}

TEST_F(UcxConnection, ABatchThatEndsKeepsItsStagingUntilTheNodeIsThrough) {
  const uint64_t batch = h.get("k", kLarge, 500);
  h.replyLookup(leader, h.expectLookup(leader), std::string(kLarge, 'v'), {nodeAddress(1)});
  const auto connection = attach();
  const wire::Bytes body = h.expectBody(connection);
  const node::StagedRead read = node::readStagedRead(body);
  h.pass(500);
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
  EXPECT_FALSE(h.closes(connection));
  beginPut();
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  EXPECT_NE(copy->stagingOffset, read.stagingOffset) << "the node may still write there";
  wire::Bytes reply;
  node::appendReadReply(reply, read.read.requestId, KV_OK, kLarge);
  h.deliver(connection, reply);
  EXPECT_FALSE(h.next<client::CopyFromStaging>()) << "nobody waits for it";
}

}  // namespace
}  // namespace kvpool::test
