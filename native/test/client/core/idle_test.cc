// SPDX-License-Identifier: Apache-2.0
// Connections to storage nodes that nobody uses: closed by us, closed by the node, opened again.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "frames.h"

namespace kvpool::test {
namespace {

constexpr int64_t kIdle = client::kIdleTimeoutMs;

class IdleNodeConnection : public testing::Test {
 protected:
  explicit IdleNodeConnection(bool shm = false, bool ucx = false) : h({"master-0:1"}, shm, ucx), local_(shm) {}
  void SetUp() override { leader = h.lead(); }

  uint64_t beginPut(size_t length = 5) {
    const uint64_t batch = h.put("k" + std::to_string(++objects_), std::string(length, 'v'));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, local_)}, {1, objects_});
    return batch;
  }
  void finishPut(ConnectionId connection, uint64_t request, uint64_t batch) {
    h.replyWrite(connection, request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  void put(ConnectionId connection, uint64_t batch) { finishPut(connection, h.expectWrite(connection).request, batch); }
  uint64_t beginGet() {
    const uint64_t batch = h.get("k", 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, local_)});
    return batch;
  }
  /// How many heartbeats were sent there.
  size_t heartbeats(ConnectionId connection) {
    size_t count = 0;
    while (const auto sent = h.next<client::SendFrame>()) {
      const bool is = wire::templateOf(bodyOf(sent->frame)) == wire::sbe::Heartbeat::sbeTemplateId();
      if (sent->connection == connection && is) ++count;
    }
    return count;
  }

  CoreHarness h;
  ConnectionId leader = 0;

 private:
  bool local_;
  uint64_t objects_ = 0;
};

class IdleShmConnection : public IdleNodeConnection {
 protected:
  IdleShmConnection() : IdleNodeConnection(true) {}
  uint64_t readOnce(ConnectionId connection) {
    const uint64_t batch = beginGet();
    const auto copy = h.next<client::CopyFromSegment>();
    EXPECT_TRUE(copy);
    if (copy) h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, crc32c("value", 5));
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
    return batch;
  }
};

class IdleUcxConnection : public IdleNodeConnection {
 protected:
  IdleUcxConnection() : IdleNodeConnection(false, true) {}
  ConnectionId attachUcx() {
    const ConnectionId connection = h.acceptNode(1);
    EXPECT_TRUE(h.next<client::OfferStaging>());
    h.core.stagingOffered(h.now, connection, StagingOffer{client::kStagingBytes, 4096, "worker", "key"});
    (void)h.expectBody(connection);
    wire::Bytes frame;
    node::appendUcxAttached(frame, 1, {});
    h.deliver(connection, frame);
    return connection;
  }
};

TEST_F(IdleNodeConnection, ClosesQuietlyAndIsDialledByTheNextUse) {
  uint64_t batch = beginPut();
  const ConnectionId connection = h.acceptNode(1);
  put(connection, batch);
  h.passWith(leader, kIdle - 5);
  EXPECT_FALSE(h.closes(connection));
  h.pass(10);
  EXPECT_TRUE(h.closes(connection));
  EXPECT_EQ(h.core.explanation(), "");
  EXPECT_FALSE(h.next<client::Note>());
  EXPECT_FALSE(h.closes(leader));
  batch = beginPut();
  put(h.acceptNode(1), batch);  // at once: nothing has failed, so nothing has to rest
  EXPECT_EQ(h.core.statistics().retries, 0u);
}

TEST_F(IdleNodeConnection, EachUseBeginsTheTimeAnew) {
  const uint64_t first = beginPut();
  const ConnectionId connection = h.acceptNode(1);
  put(connection, first);
  h.passWith(leader, kIdle / 2);
  put(connection, beginPut());
  h.passWith(leader, kIdle / 2 + 1000);
  EXPECT_FALSE(h.closes(connection));
  h.passWith(leader, kIdle / 2);
  EXPECT_TRUE(h.closes(connection));
}

TEST_F(IdleNodeConnection, WhatIsUnderWayIsUse) {
  const uint64_t batch = h.get("k", 100, 2 * kIdle);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
  const ConnectionId connection = h.acceptNode(1);
  const uint64_t request = node::readReadRequest(h.expectBody(connection)).requestId;
  for (int64_t passed = 0; passed < kIdle + 10'000; passed += 500) {
    h.passWith(leader, 500);
    h.core.progressed(h.now, connection);
  }
  EXPECT_FALSE(h.closes(connection));
  h.replyRead(connection, request, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  h.passWith(leader, kIdle - 1000);
  EXPECT_FALSE(h.closes(connection));
  h.passWith(leader, 1500);
  EXPECT_TRUE(h.closes(connection));
}

TEST_F(IdleNodeConnection, ANodeThatClosesFirstIsDialledAtOnce) {
  uint64_t batch = beginPut();
  const ConnectionId connection = h.acceptNode(1);
  put(connection, batch);
  h.cut(connection);
  EXPECT_EQ(h.core.explanation(), "");
  batch = beginPut();
  put(h.acceptNode(1), batch);
}

TEST_F(IdleShmConnection, GivesItsMemoryBackAndSharesItAgain) {
  const uint64_t batch = beginGet();
  ConnectionId connection = h.attachShm(1);
  h.core.copiedFromSegment(h.now, connection, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  h.passWith(leader, kIdle + 500);
  EXPECT_TRUE(h.closes(connection));
  EXPECT_EQ(h.core.statistics().shmRefusals, 0u);
  EXPECT_FALSE(h.next<client::Note>());
  const uint64_t again = beginGet();
  connection = h.attachShm(1);
  EXPECT_FALSE(h.dials("node-1:1"));
  h.core.copiedFromSegment(h.now, connection, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(again), KV_OK);
}

TEST_F(IdleShmConnection, ACopyThatIsUnderWayKeepsTheMapping) {
  const uint64_t batch = h.get("k", 100, 2 * kIdle);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  const ConnectionId connection = h.attachShm(1);
  const auto copy = h.next<client::CopyFromSegment>();
  ASSERT_TRUE(copy);
  for (int64_t passed = 0; passed < kIdle + 10'000; passed += 500) {
    h.passWith(leader, 500);
    h.core.progressed(h.now, connection);
  }
  EXPECT_FALSE(h.closes(connection));
  h.core.copiedFromSegment(h.now, connection, copy->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(IdleShmConnection, ReadsThatTheNodeDoesNotSeeAreToldToItNowAndThen) {
  const uint64_t batch = beginGet();
  const ConnectionId connection = h.attachShm(1);
  h.core.copiedFromSegment(h.now, connection, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  (void)heartbeats(connection);
  for (int i = 0; i < 40; ++i) {
    h.passWith(leader, 500);
    readOnce(connection);
  }
  const size_t told = heartbeats(connection);
  EXPECT_GE(told, 3u) << "in 20 s";
  EXPECT_LE(told, 5u);
  h.passWith(leader, 3 * client::kNodeConnectionHeartbeatMs);
  EXPECT_LE(heartbeats(connection), 1u) << "of the last read; nothing was read since";
}

TEST_F(IdleUcxConnection, AnEndWithNothingUnderWayIsNoReasonToGiveUcxUp) {
  uint64_t batch = beginPut();
  ConnectionId connection = attachUcx();
  for (uint32_t i = 0; i <= client::kRemoteLossesMax; ++i) {
    put(connection, batch);
    h.cut(connection);
    batch = beginPut();
    connection = attachUcx();
  }
  put(connection, batch);
  EXPECT_EQ(h.core.statistics().ucx.refusals, 0u);
}

}  // namespace
}  // namespace kvpool::test
