// SPDX-License-Identifier: Apache-2.0
// Reads of parts of objects: what is sent, and the checksum it must have, which comes from the object's sums.
#include <gtest/gtest.h>

#include "client/core/requests.h"
#include "node/core/tier_fixture.h"
#include "seed.h"

namespace kvpool::node {
namespace {

using test::kClient;
using test::kLeader;

using Parts = std::vector<store::Range>;

std::string randomText(test::Dice& dice, size_t length) {
  std::string text(length, ' ');
  for (char& byte : text)
    byte = static_cast<char>(dice.next());
  return text;
}

class PartsTest : public TierTest {
 protected:
  /// Frames of these parts, as a client sends them.
  static wire::Bytes request(uint64_t number, const ExtentRef& extent, const std::string& value, const Parts& parts,
                             uint32_t crc) {
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (const store::Range& part : parts) {
      pieces.push_back({nullptr, part.length});
      offsets.push_back(part.offset);
    }
    return client::partsRead(number, extent, {5, 1}, value.size(), crc, pieces, offsets.data());
  }
  void askParts(const ExtentRef& extent, const std::string& value, const Parts& parts) {
    askParts(extent, value, parts, crc32c(value));
  }
  void askParts(const ExtentRef& extent, const std::string& value, const Parts& parts, uint32_t crc) {
    node.others.clear();
    node.inbox(kClient).clear();
    node.frame(kClient, [&](wire::Bytes& out) { out = request(9, extent, value, parts, crc); });
  }
  int32_t status() { return replies(kClient).at(0).status; }
  /// The bytes that are sent; whether they have the checksum that goes with them is in `fits`.
  std::string sent(bool* fits) {
    const auto& send = std::get<SendParts>(node.others.back());
    std::string bytes;
    for (const store::Range& part : send.parts)
      bytes.append(reinterpret_cast<const char*>(node.segment.memory.data()) + part.offset, part.length);
    EXPECT_EQ(send.length, bytes.size());
    EXPECT_EQ(replies(kClient).at(0).payloadLength, bytes.size());
    *fits = send.crc == crc32c(bytes);
    node.core->payloadSent(kClient);
    node.act();
    return bytes;
  }
  bool intact() {
    bool fits = false;
    (void)sent(&fits);
    return fits;
  }
  uint8_t& byteOf(const ExtentRef& extent, uint64_t offset) {
    return node.segment.memory[node.segment.directory->slot(extent.slot).payloadOffset() + offset];
  }
};

TEST_F(PartsTest, AreSentInTheOrderAskedForWithTheChecksumTheyMustHave) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  uint64_t counter = 0;
  for (const uint64_t length : {uint64_t{1}, uint64_t{1000}, kSumBlockBytes - 1, kSumBlockBytes, kSumBlockBytes + 1,
                                4 * kSumBlockBytes, 5 * kSumBlockBytes + 4321}) {
    const std::string value = randomText(dice, length);
    const ExtentRef extent = put(++counter, value);
    for (int round = 0; round < 60; ++round) {
      Parts parts;
      std::string expected;
      while (parts.size() < 5) {
        // Some follow each other, some are empty, some overlap.
        const uint64_t from =
            !parts.empty() && dice.oneIn(2) ? parts.back().offset + parts.back().length : dice.below(length + 1);
        parts.push_back({from, dice.below(length - from + 1)});
        expected += value.substr(from, parts.back().length);
      }
      node.others.clear();
      node.inbox(kClient).clear();
      node.frame(kClient, [&](wire::Bytes& out) {
        std::vector<kv_piece> pieces;
        std::vector<uint64_t> offsets;
        for (const store::Range& part : parts) {
          pieces.push_back({nullptr, part.length});
          offsets.push_back(part.offset);
        }
        out = client::partsRead(9, extent, {5, counter}, length, crc32c(value), pieces, offsets.data());
      });
      ASSERT_EQ(status(), KV_OK);
      bool fits = false;
      ASSERT_TRUE(sent(&fits) == expected);
      ASSERT_TRUE(fits) << length << " bytes";
    }
  }
}

TEST_F(PartsTest, DamageShowsInTheChecksumOfWhatLiesInItsBlockOnly) {
  const std::string value(4 * kSumBlockBytes + 100, 'v');
  const ExtentRef extent = put(1, value);
  byteOf(extent, 2 * kSumBlockBytes + 7) ^= 1;
  askParts(extent, value, {{2 * kSumBlockBytes + 7, 1}});
  EXPECT_FALSE(intact());
  askParts(extent, value, {{kSumBlockBytes, kSumBlockBytes}, {2 * kSumBlockBytes + 1000, 10}});
  EXPECT_FALSE(intact()) << "the rest of the block is looked at";
  askParts(extent, value, {{10, 2 * kSumBlockBytes - 10}, {3 * kSumBlockBytes, kSumBlockBytes + 100}});
  EXPECT_TRUE(intact()) << "other blocks are as they were";
  byteOf(extent, value.size()) ^= 1;  // the sum of the first block
  askParts(extent, value, {{10, 10}});
  EXPECT_FALSE(intact());
  askParts(extent, value, {{3 * kSumBlockBytes + 5, 10}});
  EXPECT_TRUE(intact());
}

TEST_F(PartsTest, AreThoseOfTheObjectThatIsAskedFor) {
  const std::string value(1000, 'v');
  ExtentRef extent = put(1, value);
  askParts(extent, value, {{0, 10}}, crc32c(value) + 1);
  EXPECT_EQ(status(), KV_CHECKSUM) << "the leader knows of other bytes";
  askParts(extent, value + "more", {{0, 10}}, crc32c(value));
  EXPECT_EQ(status(), KV_NOT_FOUND);
  ++extent.generation;
  askParts(extent, value, {{0, 10}});
  EXPECT_EQ(status(), KV_NOT_FOUND);
  EXPECT_TRUE(node.others.empty());
}

TEST_F(PartsTest, OutsideOfTheObjectAreRefused) {
  const std::string value(20'000, 'v');
  const ExtentRef extent = put(1, value);
  ASSERT_LT(node.segment.geometry.dataBytes, 1000 * value.size());
  for (const Parts& parts : {Parts{{0, 20'001}}, Parts{{20'001, 0}}, Parts{{1, 20'000}}, Parts{{UINT64_MAX, 2}},
                             Parts{{2, UINT64_MAX}}, Parts(1000, {0, 20'000})}) {
    askParts(extent, value, parts);
    EXPECT_EQ(status(), KV_INVALID_ARGUMENT);
    EXPECT_TRUE(node.others.empty());
  }
  askParts(extent, value, {{20'000, 0}});
  EXPECT_TRUE(intact()) << "nothing, at the end";
  askParts(extent, value, {});
  EXPECT_TRUE(intact()) << "no parts";
  EXPECT_TRUE(node.closeReasons.empty());
}

TEST_F(PartsTest, MoreThanTheProtocolAllowsEndTheConnection) {
  const std::string value(1000, 'v');
  const ExtentRef extent = put(1, value);
  askParts(extent, value, Parts(KV_PARTS_MAX, {5, 1}));
  EXPECT_TRUE(intact());
  askParts(extent, value, Parts(KV_PARTS_MAX + 1, {5, 1}));
  EXPECT_NE(node.closeReasons[kClient].find("more entries than allowed"), std::string::npos);
}

TEST_F(PartsTest, ThatWaitAreBounded) {
  const std::string value(1000, 'v');
  const ExtentRef extent = put(1, value);
  const wire::Bytes frame = request(9, extent, value, Parts(KV_PARTS_MAX, {5, 1}), crc32c(value));
  const auto body = wire::Body(frame).subspan(wire::kFrameHeaderBytes);
  for (size_t asked = 0; asked < ClientSessions::kPartsQueuedMax; asked += KV_PARTS_MAX)
    node.core->frame(node.nowMs, kClient, body);  // all in one turn
  node.core->frame(node.nowMs, kClient, body);
  node.act();
  EXPECT_NE(node.closeReasons[kClient].find("131072 parts wait"), std::string::npos);
}

/// They take memory, and connections are many.
TEST_F(PartsTest, ThatWaitAreBoundedOverAllConnections) {
  node.config.clientConnectionsMax = 100;
  restart();
  const std::string value(2, 'v');
  const ExtentRef extent = put(1, value);
  const wire::Bytes frame = request(9, extent, value, Parts(KV_PARTS_MAX, {0, 1}), crc32c(value));
  const auto ask = [&](ConnectionId client, size_t requests) {
    for (size_t i = 0; i < requests; ++i)
      node.core->frame(node.nowMs, client, wire::Body(frame).subspan(wire::kFrameHeaderBytes));
  };
  constexpr size_t kMost = ClientSessions::kPartsQueuedMax / KV_PARTS_MAX;
  constexpr ConnectionId kClients = ClientSessions::kPartsOfAllMax / ClientSessions::kPartsQueuedMax;
  for (ConnectionId client = 1; client <= kClients; ++client)
    node.connectClient(kClient + client);
  ask(kClient, kMost);
  for (ConnectionId client = 1; client < kClients; ++client)
    ask(kClient + client, kMost - 1);
  ask(kClient + kClients, kClients);
  ask(kClient + kClients, kClients);  // what the closed one had asked for is gone at once
  node.act();
  ASSERT_EQ(node.closeReasons.size(), 1u);
  EXPECT_NE(node.closeReasons[kClient].find("more parts wait to be read than of any other"), std::string::npos);
  EXPECT_LE(replies(kClient).size(), 1u) << "what waited was dropped";
  ask(kClient + kClients, kMost);
  node.act();
  EXPECT_EQ(node.closeReasons.size(), 1u) << "what was sent waits no more";
}

/// Each of many small parts may cost two blocks.
TEST_F(PartsTest, AreLookedAtInTurns) {
  const std::string value(32 * kSumBlockBytes, 'v');
  const ExtentRef extent = put(1, value);
  Parts parts;
  for (uint64_t block = 0; block < 32; ++block)
    parts.push_back({block * kSumBlockBytes + 100, 10});
  const wire::Bytes frame = request(9, extent, value, parts, crc32c(value));
  const wire::Bytes small = request(10, extent, value, {{0, 5}}, crc32c(value));
  node.others.clear();
  node.inbox(kClient).clear();
  for (const wire::Bytes* asked : {&frame, &small})
    node.core->frame(node.nowMs, kClient, wire::Body(*asked).subspan(wire::kFrameHeaderBytes));
  node.core->endTurn();
  EXPECT_TRUE(node.core->takeActions().empty());
  EXPECT_TRUE(node.core->busy());
  node.act();
  EXPECT_EQ(replies(kClient).size(), 2u);
  EXPECT_EQ(replies(kClient).at(0).requestId, 9u) << "in the order of the requests";
  EXPECT_EQ(node.others.size(), 2u);
}

TEST_F(PartsTest, OfAnObjectThatGoesMeanwhileAreAMiss) {
  const std::string value(32 * kSumBlockBytes, 'v');
  const ExtentRef extent = put(1, value);
  Parts parts;
  for (uint64_t block = 0; block < 32; ++block)
    parts.push_back({block * kSumBlockBytes + 100, 10});
  const wire::Bytes frame = request(9, extent, value, parts, crc32c(value));
  node.inbox(kClient).clear();
  node.core->frame(node.nowMs, kClient, wire::Body(frame).subspan(wire::kFrameHeaderBytes));
  node.core->endTurn();
  node.segment.directory->free(extent, {5, 1});
  node.act();
  EXPECT_EQ(status(), KV_NOT_FOUND);
}

TEST_F(PartsTest, StayPinnedWhileTheyAreSent) {
  const std::string value(1000, 'v');
  const ExtentRef extent = put(1, value);
  askParts(extent, value, {{0, 10}});
  node.segment.directory->free(extent, {5, 1});
  EXPECT_GT(node.segment.directory->quarantinedBytes(), 0u);
  node.core->payloadSent(kClient);
  EXPECT_EQ(node.segment.directory->quarantinedBytes(), 0u);
}

TEST_F(PartsTest, OfARestoredObjectAreSentAfterAllOfItWasCompared) {
  const std::string value(3 * kSumBlockBytes, 'v');
  const ExtentRef extent = put(1, value);
  restart();
  byteOf(extent, 5) ^= 1;
  askParts(extent, value, {{2 * kSumBlockBytes, 10}});
  EXPECT_EQ(status(), KV_CHECKSUM);
  EXPECT_EQ(node.segment.directory->find(extent, {5, 1}), nullptr) << "it was dropped";
}

TEST_F(PartsTest, OfTheSsdAreSentFromThePayloadThatWasRead) {
  const ExtentRef extent = putBoth(1);
  askParts(extent, kValue, {{9'990, 10}, {3, 4}});
  work();
  ASSERT_EQ(status(), KV_OK);
  const auto& send = std::get<SendTierParts>(node.others.back());
  EXPECT_EQ(send.parts, (Parts{{9'990, 10}, {3, 4}}));
  EXPECT_EQ(send.length, 14u);
  EXPECT_EQ(replies(kClient).at(0).payloadLength, 14u);
  node.core->payloadSent(kClient);
  node.act();
}

}  // namespace
}  // namespace kvpool::node
