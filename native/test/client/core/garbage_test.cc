// SPDX-License-Identifier: Apache-2.0
// Peers that send nonsense: cut-off, flipped and random bytes in every reply. Nothing is believed that does not decode,
// the connection ends, and the client goes on with the next one.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "client/core/core_harness.h"
#include "frames.h"
#include "seed.h"

namespace kvpool::test {
namespace {

/// What a frame carries, to be cut and changed.
wire::Bytes carried(const wire::Bytes& frame) {
  const wire::Body body = bodyOf(frame);
  return {body.begin(), body.end()};
}

client::LookupReply lookupFor(uint64_t request) {
  client::LookupReply reply{request, KV_OK, {1, 5}, 10000, {nodeAddress(1), nodeAddress(2)}, {}};
  client::Located& object = reply.objects.emplace_back();
  object.object = {1, 1};
  object.payloadLength = 5;
  object.payloadCrc = crc32c("value", 5);
  object.replicas = {{0, {0, 7, 9}, 4096}, {1, {0, 3, 4}, 8192}};
  return reply;
}

wire::Bytes grantFor(uint64_t request) {
  return carried(grantReply({request, KV_OK, {1, 5}, {nodeAddress(1)}, {{KV_OK, {1, 1}, {{0, {}}}}}}, 30000));
}

TEST(CoreGarbage, AReplyCutOffAnywhereEndsTheConnection) {
  const size_t whole = carried(lookupReply(lookupFor(1))).size();
  for (size_t length = 0; length < whole; ++length) {
    CoreHarness h;
    const auto leader = h.lead();
    h.get("k", 100);
    wire::Bytes body = carried(lookupReply(lookupFor(h.expectLookup(leader).request)));
    body.resize(length);
    h.core.frame(h.now, leader, body);
    ASSERT_TRUE(h.closes(leader)) << "cut to " << length << " of " << whole;
    ASSERT_FALSE(h.dials("node-1:1"));
  }
}

TEST(CoreGarbage, FlippedBytesOfTheLeaderNeverBreakTheClient) {
  const uint64_t value = seed(11);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  for (int round = 0; round < 3000; ++round) {
    CoreHarness h;
    const auto leader = h.lead();
    const bool isPut = dice.oneIn(2);
    const uint64_t batch = isPut ? h.put("k", "value", 1000) : h.get("k", 100, 1000);
    wire::Bytes body = isPut ? grantFor(h.expectGrant(leader).request)
                             : carried(lookupReply(lookupFor(h.expectLookup(leader).request)));
    for (uint64_t flips = 1 + dice.below(4); flips > 0; --flips) {
      body[dice.below(body.size())] = static_cast<uint8_t>(dice.next());
    }
    h.core.frame(h.now, leader, body);
    h.pass(1000);
    ASSERT_TRUE(h.result(batch)) << "round " << round << ": the batch never ended";
  }
}

TEST(CoreGarbage, FlippedBytesOfANodeNeverBecomeAValue) {
  const uint64_t value = seed(12);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  for (int round = 0; round < 3000; ++round) {
    CoreHarness h;
    const auto leader = h.lead();
    const uint64_t batch = h.get("k", 100, 1000);
    h.replyLookup(leader, h.expectLookup(leader), "value", {nodeAddress(1)});
    const auto node = h.acceptNode(1);
    wire::Bytes frame;
    node::appendReadReply(frame, node::readReadRequest(h.expectBody(node)).requestId, KV_OK, 5);
    wire::Bytes body = carried(frame);
    body[dice.below(body.size())] = static_cast<uint8_t>(dice.next());
    h.core.frame(h.now, node, body);
    if (const auto receive = h.next<client::ReceivePayload>()) {
      const std::string bytes = dice.oneIn(2) ? "value" : "vaIue";
      std::copy(bytes.begin(), bytes.end(), static_cast<char*>(receive->destination->address()));
      h.core.payloadReceived(h.now, node, receive->transfer, crc32c(bytes), crc32c(bytes));
    }
    const auto lines = h.result(batch);
    const bool succeeded = lines && lines->front().status == KV_OK;
    ASSERT_TRUE(!succeeded || h.latestMemory().substr(0, 5) == "value") << "round " << round;
  }
}

TEST(CoreGarbage, RandomBytesFromAnyoneEndTheConnection) {
  const uint64_t value = seed(13);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  for (int round = 0; round < 2000; ++round) {
    CoreHarness h;
    const auto master = h.expectDial("master-0:1");
    h.open(master);
    wire::Bytes body(dice.below(300));
    for (uint8_t& byte : body)
      byte = static_cast<uint8_t>(dice.next());
    h.core.frame(h.now, master, body);
    ASSERT_TRUE(h.closes(master));
  }
}

}  // namespace
}  // namespace kvpool::test
