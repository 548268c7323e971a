// SPDX-License-Identifier: Apache-2.0
// Reading again what the leader described before, while the lease on it holds.
#include <gtest/gtest.h>

#include <deque>

#include "client/core/core_harness.h"
#include "client/core/descriptor_cache.h"

namespace kvpool::test {
namespace {

using client::Descriptor;
using client::DescriptorCache;

/// A client that has read "k" from node 1 under a lease of 10 s.
class CoreKnown : public testing::Test {
 protected:
  CoreKnown() : leader(h.lead()) {
    const uint64_t batch = get("k", 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    node = h.acceptNode(1);
    serve("value");
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
  /// A get that may use what is known.
  uint64_t get(const std::string& key, uint64_t room) {
    client::Submission submission;
    submission.op = OpCode::Get;
    submission.reuse = true;
    keys_.push_back(key);
    memory_.emplace_back(room, '.');
    submission.lines = {operation(keys_.back(), memory_.back().data(), room)};
    return h.submit(std::move(submission));
  }
  [[nodiscard]] const std::string& latestMemory() const { return memory_.back(); }
  void serve(const std::string& value) {
    h.replyRead(node, node::readReadRequest(h.expectBody(node)).requestId, value);
  }
  /// Lets time pass in which leader and client hear of each other.
  void pass(int64_t ms) {
    for (; ms > 0; ms -= 500) {
      h.pass(std::min<int64_t>(ms, 500));
      wire::Bytes frame;
      wire::appendHeartbeat(frame);
      h.deliver(leader, frame);
    }
  }

  CoreHarness h;
  ConnectionId leader;
  ConnectionId node = 0;

 private:
  std::deque<std::string> keys_, memory_;  // never move: batches point into them
};

TEST_F(CoreKnown, IsReadWithoutAskingTheLeader) {
  const uint64_t batch = get("k", 100);
  EXPECT_FALSE(h.nextBody(leader));
  serve("value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(latestMemory().substr(0, 5), "value");
}

TEST_F(CoreKnown, AGetThatMustNotUseItAsksTheLeader) {
  const uint64_t batch = h.get("k", 100);
  h.replyLookup(leader, h.expectLookup(leader), "newer", {nodeAddress(1)});
  serve("newer");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.latestMemory().substr(0, 5), "newer");
}

TEST_F(CoreKnown, OnlyWhatIsUnknownInABatchIsAsked) {
  std::string first(100, ' '), second(100, ' ');
  client::Submission submission;
  submission.op = OpCode::Get;
  submission.reuse = true;
  submission.lines = {operation("k", first.data(), 100), operation("new", second.data(), 100)};
  const uint64_t batch = h.submit(std::move(submission));
  serve("value");
  const auto lookup = h.expectLookup(leader);
  EXPECT_EQ(lookup.keys, (std::vector<std::string>{"new"}));
  h.replyLookup(leader, lookup, "other", {nodeAddress(1)});
  serve("other");
  EXPECT_EQ((*h.result(batch))[0].status, KV_OK);
  EXPECT_EQ((*h.result(batch))[1].status, KV_OK);
}

TEST_F(CoreKnown, IsAskedAgainOnceTheLeaseIsOver) {
  pass(10000);
  const uint64_t batch = get("k", 100);
  h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_FOUND);
}

TEST_F(CoreKnown, TheLeaseCountsFromTheQuestionNotFromTheAnswer) {
  const uint64_t first = get("slow", 100);
  const auto lookup = h.expectLookup(leader);
  pass(2000);
  h.replyLookup(leader, lookup, "value", {nodeAddress(1)}, 3000);
  serve("value");
  EXPECT_EQ(h.expectStatus(first), KV_OK);
  pass(1000);
  get("slow", 100);
  EXPECT_EQ(h.expectLookup(leader).keys.front(), "slow");
}

TEST_F(CoreKnown, AnotherGenerationMakesItAskTheLeader) {
  const uint64_t batch = get("k", 100);
  h.refuseRead(node, node::readReadRequest(h.expectBody(node)).requestId, KV_NOT_FOUND);
  h.replyLookup(leader, h.expectLookup(leader), "newer", {nodeAddress(1)});
  serve("newer");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(latestMemory().substr(0, 5), "newer");
}

TEST_F(CoreKnown, RemovedWithinItsLeaseIsNotFoundAndAfterItExpired) {
  for (const bool expired : {false, true}) {
    const uint64_t batch = get("k", 100);
    const auto read = node::readReadRequest(h.expectBody(node));
    if (expired) pass(10001);
    h.refuseRead(node, read.requestId, KV_NOT_FOUND);
    h.replyLookupStatus(leader, h.expectLookup(leader), KV_NOT_FOUND);
    EXPECT_EQ(h.expectStatus(batch), expired ? KV_LEASE_EXPIRED : KV_NOT_FOUND);
    if (expired) return;
    const uint64_t again = get("k", 100);  // told again, for the second turn
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    serve("value");
    EXPECT_EQ(h.expectStatus(again), KV_OK);
  }
}

TEST_F(CoreKnown, IsForgottenWhenThisClientRemovesOrReplacesIt) {
  for (const OpCode op : {OpCode::Remove, OpCode::RemoveAll}) {
    const uint64_t batch = h.submit(op, {{op == OpCode::Remove ? "k" : ""}});
    const wire::Bytes body = h.expectBody(leader);
    if (op == OpCode::Remove) {
      h.deliver(leader, removeReply({readRemoveRequest(body).request, KV_OK, {{KV_OK, 0}}}));
    } else {
      h.deliver(leader, removeAllReply({readRemoveAllRequest(body).request, KV_OK, 1}));
    }
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
    const uint64_t again = get("k", 100);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    serve("value");
    EXPECT_EQ(h.expectStatus(again), KV_OK);
  }
}

TEST_F(CoreKnown, AValueTooLargeForTheBufferIsAskedAgain) {
  const uint64_t batch = get("k", 4);
  h.replyLookup(leader, h.expectLookup(leader), "v", {nodeAddress(1)});
  serve("v");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(CoreKnown, ANodeThatCannotBeReachedMakesItAskTheLeader) {
  h.cut(node);
  const uint64_t batch = get("k", 100);
  h.cut(h.expectDial("node-1:1"));
  h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(2)});
  node = h.acceptNode(2);
  serve("value");
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST_F(CoreKnown, ANewEpochForgetsEverything) {
  const uint64_t other = get("other", 100);
  const auto lookup = h.expectLookup(leader);
  h.deliver(leader, lookupReply({lookup.request, KV_OK, {2, 6}, 10000, {}, {{KV_NOT_FOUND, {}, 0, 0, {}}}}));
  EXPECT_EQ(h.expectStatus(other), KV_NOT_FOUND);
  get("k", 100);
  EXPECT_EQ(h.expectLookup(leader).keys.front(), "k");
}

Descriptor descriptorUntil(client::Time leasedUntil) {
  Descriptor descriptor;
  descriptor.leasedUntil = leasedUntil;
  return descriptor;
}

TEST(DescriptorCache, KeepsNoMoreThanItsBoundAndNothingThatIsOver) {
  DescriptorCache cache(3);
  for (const char* key : {"a", "b", "c", "d"})
    cache.put(key, descriptorUntil(100), 0);
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.find("a", 0), nullptr) << "put longest ago";
  EXPECT_NE(cache.find("d", 99), nullptr);
  EXPECT_EQ(cache.find("d", 100), nullptr);
  cache.put("e", descriptorUntil(300), 200);
  cache.put("f", descriptorUntil(300), 200);
  EXPECT_EQ(cache.size(), 2u) << "what was over is gone";
}

TEST(DescriptorCache, ALaterPutCountsAndIsKeptLonger) {
  DescriptorCache cache(2);
  cache.put("a", descriptorUntil(100), 0);
  cache.put("b", descriptorUntil(100), 0);
  cache.put("a", descriptorUntil(200), 0);
  cache.put("c", descriptorUntil(200), 0);
  EXPECT_EQ(cache.find("b", 0), nullptr);
  ASSERT_NE(cache.find("a", 0), nullptr);
  EXPECT_EQ(cache.find("a", 0)->leasedUntil, 200);
  cache.drop("a");
  cache.drop("never put");
  EXPECT_EQ(cache.find("a", 0), nullptr);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace kvpool::test
