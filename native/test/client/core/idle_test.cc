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

class IdleLane : public testing::Test {
 protected:
  explicit IdleLane(bool shm = false, bool ucx = false) : h({"master-0:1"}, shm, ucx), local_(shm) {}
  void SetUp() override { leader = h.lead(); }

  uint64_t beginPut(size_t length = 5) {
    const uint64_t batch = h.put("k" + std::to_string(++objects_), std::string(length, 'v'));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1, local_)}, {1, objects_});
    return batch;
  }
  void finishPut(ConnectionId lane, uint64_t request, uint64_t batch) {
    h.replyWrite(lane, request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  void put(ConnectionId lane, uint64_t batch) { finishPut(lane, h.expectWrite(lane).request, batch); }
  uint64_t beginGet() {
    const uint64_t batch = h.get("k", 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, local_)});
    return batch;
  }
  /// How many heartbeats were sent there.
  size_t heartbeats(ConnectionId lane) {
    size_t count = 0;
    while (const auto sent = h.next<client::SendFrame>()) {
      const bool is = wire::templateOf(bodyOf(sent->frame)) == wire::sbe::Heartbeat::sbeTemplateId();
      if (sent->connection == lane && is) ++count;
    }
    return count;
  }

  CoreHarness h;
  ConnectionId leader = 0;

 private:
  bool local_;
  uint64_t objects_ = 0;
};

class IdleShmLane : public IdleLane {
 protected:
  IdleShmLane() : IdleLane(true) {}
  uint64_t readOnce(ConnectionId lane) {
    const uint64_t batch = beginGet();
    const auto copy = h.next<client::CopyFromSegment>();
    EXPECT_TRUE(copy);
    if (copy) h.core.copiedFromSegment(h.now, lane, copy->transfer, KV_OK, crc32c("value", 5));
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
    return batch;
  }
};

class IdleUcxLane : public IdleLane {
 protected:
  IdleUcxLane() : IdleLane(false, true) {}
  ConnectionId attachUcx() {
    const ConnectionId lane = h.acceptNode(1);
    EXPECT_TRUE(h.next<client::OfferStaging>());
    h.core.stagingOffered(h.now, lane, StagingOffer{client::kStagingBytes, 4096, "worker", "key"});
    (void)h.expectBody(lane);
    wire::Bytes frame;
    node::appendUcxAttached(frame, 1, {});
    h.deliver(lane, frame);
    return lane;
  }
};

TEST_F(IdleLane, ClosesQuietlyAndIsDialledByTheNextUse) {
  uint64_t batch = beginPut();
  const ConnectionId lane = h.acceptNode(1);
  put(lane, batch);
  h.passWith(leader, kIdle - 5);
  EXPECT_FALSE(h.closes(lane));
  h.pass(10);
  EXPECT_TRUE(h.closes(lane));
  EXPECT_EQ(h.core.explanation(), "");
  EXPECT_FALSE(h.next<client::Note>());
  EXPECT_FALSE(h.closes(leader));
  batch = beginPut();
  put(h.acceptNode(1), batch);  // at once: nothing has failed, so nothing has to rest
  EXPECT_EQ(h.core.statistics().retries, 0u);
}

TEST_F(IdleLane, EachUseBeginsTheTimeAnew) {
  const uint64_t first = beginPut();
  const ConnectionId lane = h.acceptNode(1);
  put(lane, first);
  h.passWith(leader, kIdle / 2);
  put(lane, beginPut());
  h.passWith(leader, kIdle / 2 + 1000);
  EXPECT_FALSE(h.closes(lane));
  h.passWith(leader, kIdle / 2);
  EXPECT_TRUE(h.closes(lane));
}

TEST_F(IdleLane, WhatIsUnderWayIsUse) {
  const uint64_t batch = h.get("k", 100, 2 * kIdle);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
  const ConnectionId lane = h.acceptNode(1);
  const uint64_t request = node::readReadRequest(h.expectBody(lane)).requestId;
  for (int64_t passed = 0; passed < kIdle + 10'000; passed += 500) {
    h.passWith(leader, 500);
    h.core.progressed(h.now, lane);
  }
  EXPECT_FALSE(h.closes(lane));
  h.replyRead(lane, request, "value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  h.passWith(leader, kIdle - 1000);
  EXPECT_FALSE(h.closes(lane));
  h.passWith(leader, 1500);
  EXPECT_TRUE(h.closes(lane));
}

TEST_F(IdleLane, ANodeThatClosesFirstIsDialledAtOnce) {
  uint64_t batch = beginPut();
  const ConnectionId lane = h.acceptNode(1);
  put(lane, batch);
  h.cut(lane);
  EXPECT_EQ(h.core.explanation(), "");
  batch = beginPut();
  put(h.acceptNode(1), batch);
}

TEST_F(IdleShmLane, GivesItsMemoryBackAndSharesItAgain) {
  const uint64_t batch = beginGet();
  ConnectionId lane = h.attachShm(1);
  h.core.copiedFromSegment(h.now, lane, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  h.passWith(leader, kIdle + 500);
  EXPECT_TRUE(h.closes(lane));
  EXPECT_EQ(h.core.statistics().shmRefusals, 0u);
  EXPECT_FALSE(h.next<client::Note>());
  const uint64_t again = beginGet();
  lane = h.attachShm(1);
  EXPECT_FALSE(h.dials("node-1:1"));
  h.core.copiedFromSegment(h.now, lane, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(again), KV_OK);
}

TEST_F(IdleShmLane, ACopyThatIsUnderWayKeepsTheMapping) {
  const uint64_t batch = h.get("k", 100, 2 * kIdle);
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1, true)});
  const ConnectionId lane = h.attachShm(1);
  const auto copy = h.next<client::CopyFromSegment>();
  ASSERT_TRUE(copy);
  for (int64_t passed = 0; passed < kIdle + 10'000; passed += 500) {
    h.passWith(leader, 500);
    h.core.progressed(h.now, lane);
  }
  EXPECT_FALSE(h.closes(lane));
  h.core.copiedFromSegment(h.now, lane, copy->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(IdleShmLane, ReadsThatTheNodeDoesNotSeeAreToldToItNowAndThen) {
  const uint64_t batch = beginGet();
  const ConnectionId lane = h.attachShm(1);
  h.core.copiedFromSegment(h.now, lane, h.next<client::CopyFromSegment>()->transfer, KV_OK, crc32c("value", 5));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  (void)heartbeats(lane);
  for (int i = 0; i < 40; ++i) {
    h.passWith(leader, 500);
    readOnce(lane);
  }
  const size_t told = heartbeats(lane);
  EXPECT_GE(told, 3u) << "in 20 s";
  EXPECT_LE(told, 5u);
  h.passWith(leader, 3 * client::kLaneHeartbeatMs);
  EXPECT_LE(heartbeats(lane), 1u) << "of the last read; nothing was read since";
}

TEST_F(IdleUcxLane, AnEndWithNothingUnderWayIsNoReasonToGiveUcxUp) {
  uint64_t batch = beginPut();
  ConnectionId lane = attachUcx();
  for (uint32_t i = 0; i <= client::kUcxLossesMax; ++i) {
    put(lane, batch);
    h.cut(lane);
    batch = beginPut();
    lane = attachUcx();
  }
  put(lane, batch);
  EXPECT_EQ(h.core.statistics().ucxRefusals, 0u);
}

}  // namespace
}  // namespace kvpool::test
