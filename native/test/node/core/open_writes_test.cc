// SPDX-License-Identifier: Apache-2.0
// Writes in parts: where the bytes go, what makes an object of them, and how their room comes back.
#include <gtest/gtest.h>

#include "base/block_sums.h"
#include "client/core/requests.h"
#include "node/core/core_in_memory.h"
#include "seed.h"

namespace kvpool::node {
namespace {

using test::kClient;
using test::kLeader;
using test::kMaster;
using test::kOther;

using Parts = std::vector<store::Range>;

constexpr ConnectionId kSecondClient = kClient + 1;

class OpenWritesTest : public ::testing::Test {
 protected:
  OpenWritesTest() {
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
    node.connectClient(kSecondClient);
    node.inbox(kMaster).clear();
  }
  WriteReply answer(ConnectionId client = kClient) {
    return test::readWriteReply(node.last(client, test::sbe::WriteReply::SBE_TEMPLATE_ID));
  }
  WriteReply open(uint64_t counter, uint64_t length, ConnectionId client = kClient) {
    const std::string key = "key-" + std::to_string(counter);
    node.frame(client, [&](wire::Bytes& out) {
      test::appendWrite(out, {counter, kLeader, {5, counter}, length, false, 0, 0, key, {}, true});
    });
    return answer(client);
  }
  static client::PartsLine lineOf(const ExtentRef& extent, uint64_t counter, const std::vector<kv_piece>& pieces,
                                  const std::vector<uint64_t>& offsets) {
    return {extent, {5, counter}, pieces, offsets.data()};
  }
  /// Sends the frame; true when the node wants the bytes.
  bool beginParts(const ExtentRef& extent, uint64_t counter, const Parts& parts, ConnectionId client = kClient) {
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (const store::Range& part : parts) {
      pieces.push_back({nullptr, part.length});
      offsets.push_back(part.offset);
    }
    node.others.clear();
    node.frame(client,
               [&](wire::Bytes& out) { out = client::inlineParts(9, lineOf(extent, counter, pieces, offsets)); });
    return !node.others.empty() && std::holds_alternative<ReceiveParts>(node.others.back());
  }
  int32_t endParts(const std::string& bytes, uint32_t crcOff = 0, ConnectionId client = kClient) {
    const ReceiveParts receive = std::get<ReceiveParts>(node.others.back());
    EXPECT_EQ(receive.length, bytes.size());
    size_t at = 0;
    for (const store::Range& part : receive.parts) {
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), part.length,
                  node.segment.memory.begin() + static_cast<std::ptrdiff_t>(part.offset));
      at += part.length;
    }
    node.core->payloadReceived(client, crc32c(bytes), crc32c(bytes) ^ crcOff);
    node.act();
    return answer(client).status;
  }
  int32_t write(const ExtentRef& extent, uint64_t counter, const std::string& value, const Parts& parts,
                ConnectionId client = kClient) {
    if (!beginParts(extent, counter, parts, client)) return answer(client).status;
    std::string bytes;
    for (const store::Range& part : parts)
      bytes += value.substr(part.offset, part.length);
    return endParts(bytes, 0, client);
  }
  int32_t end(const ExtentRef& extent, uint64_t counter, client::PartsEnd how = client::PartsEnd::Commit,
              ConnectionId client = kClient) {
    node.frame(client, [&](wire::Bytes& out) { out = client::endParts(10, extent, {5, counter}, how); });
    return answer(client).status;
  }
  const store::Slot* there(const ExtentRef& extent, uint64_t counter) {
    return node.segment.directory->find(extent, {5, counter});
  }
  uint64_t used() { return node.segment.directory->usedBytes(); }

  test::CoreInMemory node{2};
};

TEST_F(OpenWritesTest, AreAnObjectWhenAllOfItCameInWhateverOrder) {
  const uint64_t seed = test::seed(7);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  uint64_t counter = 0;
  for (const uint64_t length : {uint64_t{1}, uint64_t{1000}, kSumBlockBytes, 5 * kSumBlockBytes + 4321}) {
    std::string value(length, ' ');
    for (char& byte : value)
      byte = static_cast<char>(dice.next());
    const ExtentRef extent = open(++counter, length).extent;
    Parts parts;
    for (uint64_t from = 0; from < length; from += parts.back().length)
      parts.push_back({from, 1 + dice.below(std::min<uint64_t>(length - from, 100'000))});
    for (size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[dice.below(i)]);
    for (size_t at = 0; at < parts.size();) {
      const size_t count = std::min<size_t>(1 + dice.below(3), parts.size() - at);
      const auto first = parts.begin() + static_cast<std::ptrdiff_t>(at);
      ASSERT_EQ(write(extent, counter, value, Parts(first, first + static_cast<std::ptrdiff_t>(count))), KV_OK);
      EXPECT_EQ(there(extent, counter), nullptr) << "no reader sees it before its end";
      at += count;
    }
    EXPECT_TRUE(node.records(kMaster).empty()) << "nor hears of it";
    ASSERT_EQ(end(extent, counter), KV_OK);
    EXPECT_EQ(answer().extent, extent);
    const store::Slot* slot = there(extent, counter);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->payloadCrc, crc32c(value));
    const std::span<const uint8_t> bytes = node.segment.directory->payload(*slot);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), value.begin(),
                           [](uint8_t byte, char wanted) { return byte == static_cast<uint8_t>(wanted); }));
    for (uint64_t block = 0; block < sumCount(length); ++block)
      EXPECT_EQ(sumAt(node.segment.directory->sums(*slot), block), crc32c(value.data(), (block + 1) * kSumBlockBytes));
    EXPECT_EQ(node.records(kMaster).size(), 1u);
    node.inbox(kMaster).clear();
  }
  const ExtentRef empty = open(++counter, 0).extent;
  EXPECT_EQ(end(empty, counter), KV_OK) << "a value of no bytes";
}

/// What is there from before may be another tenant's.
TEST_F(OpenWritesTest, WithBytesThatWereNeverWrittenAreNoObject) {
  const std::string value(1000, 'v');
  for (const Parts& parts : {Parts{}, Parts{{0, 999}}, Parts{{1, 999}}, Parts{{0, 500}, {501, 499}}}) {
    const uint64_t before = used();
    const ExtentRef extent = open(1, value.size()).extent;
    if (!parts.empty()) {
      ASSERT_EQ(write(extent, 1, value, parts), KV_OK);
    }
    EXPECT_EQ(end(extent, 1), KV_INVALID_ARGUMENT);
    EXPECT_EQ(there(extent, 1), nullptr);
    EXPECT_EQ(used(), before);
  }
}

TEST_F(OpenWritesTest, GiveTheirRoomBackWithTheirConnection) {
  const uint64_t before = used();
  const ExtentRef extent = open(1, 1000).extent;
  ASSERT_EQ(write(extent, 1, std::string(1000, 'v'), {{0, 1000}}), KV_OK);
  const ExtentRef second = open(2, 1000).extent;
  ASSERT_TRUE(beginParts(second, 2, {{0, 10}})) << "dies in the middle of a part";
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_EQ(used(), before);
  EXPECT_EQ(there(extent, 1), nullptr);
  EXPECT_TRUE(node.records(kMaster).empty());
}

TEST_F(OpenWritesTest, AreTheirConnectionsOwn) {
  const std::string value(1000, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  EXPECT_EQ(write(extent, 1, value, {{0, 10}}, kSecondClient), KV_LEASE_EXPIRED);
  EXPECT_EQ(end(extent, 1, client::PartsEnd::Abort, kSecondClient), KV_LEASE_EXPIRED);
  ExtentRef other = extent;
  ++other.generation;
  EXPECT_EQ(write(other, 1, value, {{0, 10}}), KV_LEASE_EXPIRED);
  EXPECT_EQ(write(extent, 2, value, {{0, 10}}), KV_LEASE_EXPIRED);
  ASSERT_EQ(write(extent, 1, value, {{0, 1000}}), KV_OK);
  EXPECT_EQ(end(extent, 1), KV_OK);
  EXPECT_EQ(end(extent, 1), KV_LEASE_EXPIRED) << "it is over";
  EXPECT_EQ(write(extent, 1, value, {{0, 10}}), KV_LEASE_EXPIRED);
}

TEST_F(OpenWritesTest, PartsOutsideOfTheObjectAreReadAndDropped) {
  const std::string value(1000, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  for (const Parts& parts : {Parts{{0, 1001}}, Parts{{1000, 1}}, Parts{{UINT64_MAX, 2}}, Parts{{0, 10}, {999, 2}}}) {
    EXPECT_FALSE(beginParts(extent, 1, parts));
    EXPECT_EQ(answer().status, KV_INVALID_ARGUMENT);
    EXPECT_TRUE(std::holds_alternative<DiscardPayload>(node.others.back()));
  }
  EXPECT_EQ(write(extent, 1, value, {{0, 1000}}), KV_OK) << "it goes on";
  EXPECT_EQ(end(extent, 1), KV_OK);
  EXPECT_FALSE(beginParts(extent, 1, {{0, UINT64_MAX}, {0, 2}}));
  EXPECT_NE(node.closeReasons[kClient].find("more bytes than the segment"), std::string::npos);
}

TEST_F(OpenWritesTest, NothingComesFromStagingMemoryThatIsNotAttached) {
  const ExtentRef extent = open(1, 10).extent;
  node.others.clear();
  for (const Parts& parts : {Parts{}, Parts{{0, 0}}, Parts{{0, 10}}}) {
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (const store::Range& part : parts) {
      pieces.push_back({nullptr, part.length});
      offsets.push_back(part.offset);
    }
    node.frame(kClient,
               [&](wire::Bytes& out) { out = client::stagedParts(9, lineOf(extent, 1, pieces, offsets), {}); });
    EXPECT_EQ(answer().status, KV_INVALID_ARGUMENT);
    EXPECT_TRUE(node.others.empty());
  }
  EXPECT_EQ(write(extent, 1, "0123456789", {{0, 10}}), KV_OK) << "it goes on";
}

TEST_F(OpenWritesTest, APartThatArrivesChangedEndsIt) {
  const uint64_t before = used();
  const ExtentRef extent = open(1, 1000).extent;
  ASSERT_TRUE(beginParts(extent, 1, {{0, 10}}));
  EXPECT_EQ(endParts("0123456789", 1), KV_CHECKSUM);
  EXPECT_EQ(used(), before);
  EXPECT_EQ(end(extent, 1), KV_LEASE_EXPIRED);
  EXPECT_EQ(node.core->snapshot().counters.checksumFailures, 1u);
}

TEST_F(OpenWritesTest, APartThatItsWriterGaveUpEndsItAndIsNoDamage) {
  const uint64_t before = used();
  const ExtentRef extent = open(1, 1000).extent;
  const ExtentRef other = open(2, 10).extent;
  ASSERT_TRUE(beginParts(extent, 1, {{0, 10}}));
  EXPECT_EQ(endParts("012       ", UINT32_MAX), KV_CHECKSUM);
  EXPECT_EQ(end(extent, 1), KV_LEASE_EXPIRED);
  EXPECT_EQ(node.core->snapshot().counters.checksumFailures, 0u);
  EXPECT_EQ(write(other, 2, "0123456789", {{0, 10}}), KV_OK) << "the writer's other one goes on";
  EXPECT_EQ(end(other, 2, client::PartsEnd::Abort), KV_OK);
  EXPECT_EQ(used(), before);
}

TEST_F(OpenWritesTest, OfALeaderThatIsFollowedAreOver) {
  const uint64_t before = used();
  const std::string value(1000, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  ASSERT_EQ(write(extent, 1, value, {{0, 1000}}), KV_OK);
  node.connectMaster(kOther, 1, 8);
  node.fence(kOther, {6, 66});
  EXPECT_EQ(end(extent, 1), KV_STALE_EPOCH);
  EXPECT_EQ(there(extent, 1), nullptr);
  EXPECT_EQ(used(), before);
}

TEST_F(OpenWritesTest, OfALeaderThatIsFollowedTakeNoMoreParts) {
  const std::string value(1000, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  ASSERT_EQ(write(extent, 1, value, {{0, 500}}), KV_OK);
  node.connectMaster(kOther, 1, 8);
  node.fence(kOther, {6, 66});
  EXPECT_EQ(write(extent, 1, value, {{500, 500}}), KV_LEASE_EXPIRED);
}

TEST_F(OpenWritesTest, OfALeaderThatIsFollowedGiveTheirRoomBackWithoutBeingAsked) {
  const uint64_t before = used();
  (void)open(1, 1000);
  node.connectMaster(kOther, 1, 8);
  node.fence(kOther, {6, 66});
  node.tick(100);
  EXPECT_EQ(used(), before);
}

TEST_F(OpenWritesTest, ThatAreLeftAloneGiveTheirRoomBack) {
  const uint64_t before = used();
  const ExtentRef extent = open(1, 1000).extent;
  node.tick(OpenWrites::kOpenMs - 1);
  EXPECT_GT(used(), before);
  node.tick(1);
  EXPECT_EQ(used(), before);
  EXPECT_EQ(end(extent, 1), KV_LEASE_EXPIRED);
}

TEST_F(OpenWritesTest, APartThatIsOnItsWayKeepsItsRoom) {
  const ExtentRef extent = open(1, 10).extent;
  ASSERT_TRUE(beginParts(extent, 1, {{0, 10}}));
  const uint64_t held = used();
  node.tick(2 * OpenWrites::kOpenMs);
  EXPECT_EQ(used(), held) << "bytes may still come";
  EXPECT_EQ(endParts("0123456789"), KV_OK);
  node.tick(1);
  EXPECT_LT(used(), held);
}

TEST_F(OpenWritesTest, HoldAPartOfTheSegmentTogether) {
  const uint64_t share = node.segment.geometry.dataBytes / OpenWrites::kShare;
  const ExtentRef first = open(1, share / 2).extent;
  EXPECT_EQ(open(2, share / 2 + 2).status, KV_NO_SPACE);
  EXPECT_EQ(open(3, UINT64_MAX).status, KV_NO_SPACE);
  EXPECT_EQ(end(first, 1, client::PartsEnd::Abort), KV_OK);
  EXPECT_EQ(open(4, 2 * share).status, KV_OK) << "one alone may be larger";
}

TEST_F(OpenWritesTest, OfAnObjectThatWasRemovedMeanwhileAreNone) {
  const std::string value(1000, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  ASSERT_EQ(write(extent, 1, value, {{0, 1000}}), KV_OK);
  node.frame(kMaster, [](wire::Bytes& out) { test::appendPurge(out, {9, kLeader, {5, 2}}); });
  EXPECT_EQ(end(extent, 1), KV_STALE_EPOCH);
  EXPECT_EQ(there(extent, 1), nullptr);
}

/// Nothing else of the node waits for the sums of a large object.
TEST_F(OpenWritesTest, AreSummedInTurns) {
  const std::string value(ClientSessions::kCheckBytes * 2 + 5, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  ASSERT_EQ(write(extent, 1, value, {{0, value.size()}}), KV_OK);
  const wire::Bytes frame = client::endParts(10, extent, {5, 1}, client::PartsEnd::Commit);
  node.core->frame(node.nowMs, kClient, wire::Body(frame).subspan(wire::kFrameHeaderBytes));
  EXPECT_TRUE(node.core->busy());
  node.core->endTurn();
  EXPECT_TRUE(node.core->busy());
  EXPECT_EQ(there(extent, 1), nullptr);
  node.frame(kClient, [&](wire::Bytes& out) { out = client::endParts(11, extent, {5, 1}, client::PartsEnd::Abort); });
  EXPECT_FALSE(node.core->busy());
  EXPECT_NE(there(extent, 1), nullptr);
}

TEST_F(OpenWritesTest, OfAConnectionThatEndsBeforeTheSumsAreNoObject) {
  const uint64_t before = used();
  const std::string value(ClientSessions::kCheckBytes * 2, 'v');
  const ExtentRef extent = open(1, value.size()).extent;
  ASSERT_EQ(write(extent, 1, value, {{0, value.size()}}), KV_OK);
  const wire::Bytes frame = client::endParts(10, extent, {5, 1}, client::PartsEnd::Commit);
  node.core->frame(node.nowMs, kClient, wire::Body(frame).subspan(wire::kFrameHeaderBytes));
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_FALSE(node.core->busy());
  EXPECT_EQ(used(), before);
}

TEST_F(OpenWritesTest, ARestartUndoesThem) {
  const uint64_t before = used();
  const ExtentRef extent = open(1, 1000).extent;
  ASSERT_EQ(write(extent, 1, std::string(1000, 'v'), {{0, 1000}}), KV_OK);
  const store::Recovery recovery = node.restart();
  EXPECT_EQ(recovery.unfinished, 1u);
  EXPECT_EQ(recovery.restored, 0u);
  EXPECT_EQ(used(), before);
}

TEST(WrittenRunsTest, AreOneWhenAllIsWritten) {
  const uint64_t seed = test::seed(3);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 200; ++round) {
    const uint64_t length = 1 + dice.below(40);
    std::string bytes(length, '.');
    WrittenRuns runs;
    for (int part = 0; part < 60; ++part) {
      EXPECT_EQ(runs.cover(length), bytes.find('.') == std::string::npos);
      const uint64_t from = dice.below(length + 1);
      const uint64_t count = dice.below(std::min<uint64_t>(length - from, 5) + 1);
      bytes.replace(from, count, count, 'x');
      runs.add({from, count});
      size_t expected = 0;
      for (size_t i = 0; i < length; ++i)
        expected += bytes[i] == 'x' && (i == 0 || bytes[i - 1] == '.') ? 1U : 0U;
      ASSERT_EQ(runs.count(), expected);
    }
  }
}

}  // namespace
}  // namespace kvpool::node
