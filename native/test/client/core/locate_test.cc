// SPDX-License-Identifier: Apache-2.0
// Where copies are: one lookup, and no read.
#include <gtest/gtest.h>

#include <array>

#include "client/core/core_harness.h"
#include "client/shell/pending_batches.h"

namespace kvpool::test {
namespace {

client::LookupReply onMemoryAndSsd(uint64_t request) {
  client::LookupReply reply{request, KV_OK, {1, 5}, 1000, {nodeAddress(1), nodeAddress(2)}, {}};
  client::Located& there = reply.objects.emplace_back();
  there.status = KV_OK;
  there.object = {1, 1};
  there.payloadLength = 500;
  there.replicas = {{1, {kMemorySegment, 7, 9}, 4096}, {0, {1, 8, 10}, 8192}};
  reply.objects.emplace_back().status = KV_NOT_FOUND;
  return reply;
}

TEST(CoreLocate, TellsEveryCopyAndReadsNone) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.submit(OpCode::Locate, {operation("a", nullptr, 0), operation("b", nullptr, 0)});
  const auto asked = h.expectLookup(leader);
  EXPECT_EQ(asked.keys.size(), 2u);
  h.deliver(leader, master::lookupReply(onMemoryAndSsd(asked.request)));
  const auto results = h.result(batch);
  ASSERT_TRUE(results);
  const client::LineResult& found = results->front();
  EXPECT_EQ(found.status, KV_OK);
  ASSERT_EQ(found.places.size(), 2u);
  EXPECT_EQ(found.places[0].node, nodeAddress(2).id);
  EXPECT_EQ(found.places[0].address, nodeAddress(2).tcp);
  EXPECT_TRUE(found.places[0].inMemory);
  EXPECT_EQ(found.places[0].offset, 4096u);
  EXPECT_EQ(found.places[0].objectBytes, 500u);
  EXPECT_EQ(found.places[1].node, nodeAddress(1).id);
  EXPECT_FALSE(found.places[1].inMemory);
  EXPECT_EQ(results->back().status, KV_NOT_FOUND);
  EXPECT_FALSE(h.dials("node-1:1") || h.dials("node-2:1"));
}

TEST(CoreLocate, MoreCopiesThanThereIsRoomForAreCountedAndNotWritten) {
  client::PendingBatches pending(10);
  std::array<kv_replica, 2> room{};
  room[1].length = 77;
  kv_op line{};
  line.data = room.data();
  line.length = 1;
  client::Submission submission;
  submission.op = OpCode::Locate;
  submission.lines.resize(1);
  const uint64_t batch = pending.add(submission, &line, 1).value();
  client::LineResult result{KV_OK, 2};
  result.places = {{std::string(300, 'n'), "h:1", false, 5, 6}, {"m", "h:2", true, 7, 8}};
  ASSERT_TRUE(pending.finish({batch, {result}}));
  EXPECT_EQ(line.result_length, 2u);
  EXPECT_EQ(std::string(room[0].node), std::string(255, 'n'));
  EXPECT_STREQ(room[0].address, "h:1");
  EXPECT_EQ(room[0].medium, static_cast<uint32_t>(KV_MEDIUM_SSD));
  EXPECT_EQ(room[0].offset, 5u);
  EXPECT_EQ(room[0].length, 6u);
  EXPECT_EQ(room[1].length, 77u);
}

}  // namespace
}  // namespace kvpool::test
