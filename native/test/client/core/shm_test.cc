// SPDX-License-Identifier: Apache-2.0
// The connection through shared memory: attached when it can be, left for tcp when it cannot.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

TEST(CoreShm, APutIsStagedAndTheNodeToldWhereAndWhatChecksum) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)});
  const auto connection = h.attachShm(1);
  EXPECT_FALSE(h.dials("node-1:1"));
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->length, 5u);
  h.core.copiedToStaging(h.now, connection, copy->transfer, 0xABCD);
  const wire::Bytes body = h.expectBody(connection);
  const node::WriteRequest write = node::readWriteRequest(body);
  EXPECT_TRUE(write.staging);
  EXPECT_EQ(write.stagingOffset, copy->stagingOffset);
  EXPECT_EQ(write.payloadCrc, 0xABCDu);
  h.replyWrite(connection, write.requestId, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().shmBytes, 5u);
}

TEST(CoreShm, AGetCopiesFromTheMappedSegment) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(2), nodeAddress(1, true)});
  const auto connection = h.attachShm(1);  // preferred before the other node
  const auto copy = h.next<client::CopyFromSegment>();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->offset, 4096u);
  h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreShm, ACopyOfOtherBytesIsNotReturned) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  const auto connection = h.attachShm(1);
  const auto copy = h.next<client::CopyFromSegment>();
  h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, 1);
  EXPECT_FALSE(h.result(batch));
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_FOUND);
  EXPECT_EQ(h.core.statistics().checksumFailures, 1u);
}

TEST(CoreShm, WhereTheTenantMayNotEveryPutAndGetGoesByTcp) {
  CoreHarness h({"master-0:1"}, true);
  h.core.shareMemory(h.now, false);
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)});
  const auto tcp = h.acceptNode(1);
  h.replyWrite(tcp, h.expectWrite(tcp).request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().shmBytes, 0u);
  EXPECT_EQ(h.core.statistics().shmRefusals, 0u);
}

TEST(CoreShm, ATenantThatMayNotAnyMoreLeavesTheSocket) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)});
  const auto connection = h.attachShm(1);
  ASSERT_TRUE(h.next<client::CopyToStaging>());

  h.core.shareMemory(h.now, false);

  EXPECT_TRUE(h.closes(connection)) << "the node takes nothing of other tenants while a client maps its memory";
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);  // nothing was written
  h.passWith(leader, 1000);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)}, {1, 2});
  const auto tcp = h.acceptNode(1);
  h.replyWrite(tcp, h.expectWrite(tcp).request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

/// A node on this machine whose memory cannot be shared.
class ShmRefusal : public testing::Test {
 protected:
  void SetUp() override { leader = h.lead(); }

  void beginPut(uint64_t node = 1) {
    batch_ = h.put("k" + std::to_string(++objects_), "value");
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(node, true)}, {1, objects_});
  }
  void finishPut(ConnectionId tcp) {
    h.replyWrite(tcp, h.expectWrite(tcp).request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    EXPECT_EQ(h.expectStatus(batch_), KV_OK);
  }
  void rest(int64_t ms) { h.passWith(leader, ms); }
  /// How many sentences people were told since they were last asked for.
  size_t notes() {
    size_t count = 0;
    while (h.next<client::Note>())
      ++count;
    return count;
  }

  CoreHarness h{{"master-0:1"}, true};
  ConnectionId leader = 0;

 private:
  uint64_t batch_ = 0;
  uint64_t objects_ = 0;
};

TEST_F(ShmRefusal, ANodeConnectionThatCannotAttachLeavesItsTransfersToTcpAndSaysWhy) {
  beginPut();
  h.core.closed(h.now, h.expectDial("/node-1"), "cannot connect to /node-1: Permission denied");
  finishPut(h.acceptNode(1));
  const auto note = h.next<client::Note>();
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text,
            "node node-1 at /node-1: cannot connect to /node-1: Permission denied; shared memory is not used, tcp is");
  EXPECT_EQ(h.core.explanation(), note->text);
  EXPECT_EQ(h.core.statistics().shmRefusals, 1u);
}

TEST_F(ShmRefusal, ItIsTriedAgainAfterARestAndUsedThen) {
  beginPut();
  h.cut(h.expectDial("/node-1"));
  const auto tcp = h.acceptNode(1);
  finishPut(tcp);
  rest(client::kShmRestMs - 5);
  beginPut();
  EXPECT_FALSE(h.dials("/node-1"));
  finishPut(tcp);
  rest(5);
  beginPut();
  h.attachShm(1);
  EXPECT_TRUE(h.next<client::CopyToStaging>());
  EXPECT_EQ(h.core.statistics().shmRefusals, 1u);
}

TEST_F(ShmRefusal, ANodeThatDoesNotAnswerInTimeIsARefusalToo) {
  beginPut();
  h.open(h.expectDial("/node-1"));
  rest(client::kConnectTimeoutMs);
  EXPECT_EQ(h.core.statistics().shmRefusals, 1u);
  EXPECT_EQ(h.next<client::Note>()->text,
            "node node-1 at /node-1: not connected within 3000 ms; shared memory is not used, tcp is");
  EXPECT_FALSE(h.dials("/node-1"));
}

TEST_F(ShmRefusal, EveryTryIsCountedAndEachLifeOfANodeToldOnce) {
  beginPut();
  h.cut(h.expectDial("/node-1"));
  const auto tcp = h.acceptNode(1);
  finishPut(tcp);
  EXPECT_EQ(notes(), 1u);
  for (uint64_t tries = 2; tries <= 4; ++tries) {
    rest(client::kShmRestMs);
    beginPut();
    h.cut(h.expectDial("/node-1"));
    finishPut(tcp);
    EXPECT_EQ(h.core.statistics().shmRefusals, tries);
  }
  EXPECT_EQ(notes(), 0u);
  beginPut(2);
  h.cut(h.expectDial("/node-2"));
  EXPECT_EQ(notes(), 1u) << "another life";
}

TEST_F(ShmRefusal, AnotherLifeAtThePathOfAConnectionThatWorkedIsNone) {
  beginPut();
  const auto connection = h.attachShm(1);
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  h.core.copiedToStaging(h.now, connection, copy->transfer, 0);
  const wire::Bytes body = h.expectBody(connection);
  h.replyWrite(connection, node::readWriteRequest(body).requestId, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  h.cut(connection);
  beginPut();
  const auto next = h.expectDial("/node-1");
  h.open(next);
  wire::Bytes refused;
  wire::appendRefused(refused,
                      {wire::Refusal::IdentityMismatch, wire::kWireVersions, "this is another life of the node"});
  h.deliver(next, refused);
  EXPECT_EQ(h.core.statistics().shmRefusals, 0u);
  EXPECT_EQ(notes(), 0u);
}

TEST(CoreShm, AClientWithoutTcpTriesAgainSoonAndFailsWithTheReason) {
  CoreHarness h({"master-0:1"}, true, false, false);
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  h.cut(h.expectDial("/node-1"));
  EXPECT_EQ(h.next<client::Note>()->text, "node node-1 at /node-1: cut by the test; shared memory is not used");
  h.pass(client::kNodeConnectionRestMs);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  h.attachShm(1);
  const auto copy = h.next<client::CopyFromSegment>();
  ASSERT_TRUE(copy);
  h.core.copiedFromSegment(h.now, copy->connection, copy->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CoreShm, AnotherMachinesNodeIsReachedByTcp) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  h.put("k", "value");
  client::NodeAddress far = nodeAddress(1, true);
  far.shm = "another-boot:/node-1";
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {far});
  EXPECT_TRUE(h.dials("node-1:1"));
  EXPECT_FALSE(h.dials("/node-1"));
}

TEST(CoreShm, AnObjectTooLargeForStagingGoesByTcp) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  char byte = 0;
  h.submit(OpCode::Put, {operation("k", &byte, client::kStagingBytes + 1)});
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)});
  EXPECT_TRUE(h.dials("node-1:1"));
}

TEST(CoreShm, AFullStagingMemoryMakesWritesWait) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  char byte = 0;
  std::vector<client::Operation> lines;
  const std::vector<std::string> keys{"a", "b", "c", "d", "e"};
  for (const std::string& key : keys)
    lines.push_back(operation(key, &byte, client::kStagingBytes / 4));
  h.submit(OpCode::Put, lines);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, true)});
  const auto connection = h.attachShm(1);
  std::vector<TransferId> copies;
  while (const auto copy = h.next<client::CopyToStaging>())
    copies.push_back(copy->transfer);
  ASSERT_EQ(copies.size(), 4u);
  h.core.copiedToStaging(h.now, connection, copies[0], 0);
  const wire::Bytes body = h.expectBody(connection);
  h.replyWrite(connection, node::readWriteRequest(body).requestId, KV_OK);
  EXPECT_TRUE(h.next<client::CopyToStaging>());
}

TEST(CoreShm, TheDeadlineCancelsCopies) {
  CoreHarness h({"master-0:1"}, true);
  const auto leader = h.lead();
  const uint64_t batch = h.get("k", 100, 500);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  const auto connection = h.attachShm(1);
  const auto copy = h.next<client::CopyFromSegment>();
  h.pass(500);
  const auto cancel = h.next<client::CancelCopy>();
  ASSERT_TRUE(cancel);
  EXPECT_EQ(cancel->transfer, copy->transfer);
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
  EXPECT_FALSE(h.closes(connection));
}

}  // namespace
}  // namespace kvpool::test
