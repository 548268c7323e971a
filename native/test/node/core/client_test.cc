// SPDX-License-Identifier: Apache-2.0
// Writes, reads and shared memory as the core decides them.
#include <gtest/gtest.h>

#include <cerrno>
#include <system_error>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
  }
  test::ReadReply read(const ExtentRef& extent, const ObjectId& id, uint64_t length, ConnectionId client = kClient) {
    node.others.clear();
    node.frame(client, [&](wire::Bytes& out) { test::appendRead(out, {8, extent, id, length}); });
    return test::readReadReply(node.last(client, test::sbe::ReadReply::SBE_TEMPLATE_ID));
  }
  CoreInMemory node;
};

TEST_F(ClientTest, AWriteIsReadableByItsExtentOnly) {
  const WriteReply written = node.write(kClient, kLeader, {5, 1}, "key", "value");
  ASSERT_EQ(written.status, KV_OK);
  const test::ReadReply reply = read(written.extent, {5, 1}, 5);
  EXPECT_EQ(reply.status, KV_OK);
  const auto& payload = std::get<SendPayload>(node.others.back());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(node.segment.memory.data() + payload.offset), payload.length),
            "value");
  EXPECT_EQ(payload.crc, crc32c("value"));
  ExtentRef other = written.extent;
  other.generation += 1;
  EXPECT_EQ(read(other, {5, 1}, 5).status, KV_NOT_FOUND);
  EXPECT_EQ(read(written.extent, {5, 2}, 5).status, KV_NOT_FOUND);
  EXPECT_EQ(read(written.extent, {5, 1}, 4).status, KV_NOT_FOUND);
  EXPECT_TRUE(node.others.empty());
  EXPECT_EQ(node.core->snapshot().counters.readMisses, 3u);
}

TEST_F(ClientTest, WrongPayloadChecksumIsRefusedAndItsRoomGivenBack) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 5));
  EXPECT_EQ(node.endWrite(kClient, "value", 1).status, KV_CHECKSUM);
  EXPECT_EQ(node.core->snapshot().usedBytes, 0u);
  EXPECT_EQ(node.core->snapshot().counters.checksumFailures, 1u);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK) << "the grant may be used again";
}

TEST_F(ClientTest, OneObjectIsWrittenOnce) {
  ASSERT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "other").status, KV_EXISTS);
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 2}, "key", 5));
  constexpr ConnectionId kSecond = 11;
  node.connectClient(kSecond);
  const std::vector<Action> pending = node.others;
  EXPECT_FALSE(node.beginWrite(kSecond, kLeader, {5, 2}, "key", 5));
  EXPECT_EQ(test::readWriteReply(node.last(kSecond, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status, KV_BUSY);
  node.others = pending;
  EXPECT_EQ(node.endWrite(kClient, "value").status, KV_OK);
}

TEST_F(ClientTest, WhatIsWrongWithTheNodeItselfIsNotBlamedOnThePeer) {
  node.segment.gate.before = [] { throw std::system_error(EIO, std::generic_category(), "of ours"); };
  EXPECT_THROW(node.write(kClient, kLeader, {5, 1}, "key", "value"), std::system_error);
  EXPECT_TRUE(node.closeReasons.empty());
  EXPECT_EQ(node.core->snapshot().counters.protocolErrors, 0u);
}

TEST_F(ClientTest, BadKeysAndSizesGetTheirStatus) {
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "", "v").status, KV_INVALID_KEY);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, std::string(10240, 'k'), "v").status, KV_INVALID_KEY);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "\xFF\xFE", "v").status, KV_INVALID_KEY);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "empty value", "").status, KV_OK);
  EXPECT_FALSE(node.beginWrite(kClient, kLeader, {5, 2}, "key", node.segment.geometry.dataBytes));
  EXPECT_EQ(test::readWriteReply(node.last(kClient, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status, KV_TOO_LARGE);
  EXPECT_TRUE(node.closeReasons.empty()) << "a payload of this size is still thrown away";
  EXPECT_FALSE(node.beginWrite(kClient, kLeader, {5, 3}, "key", UINT64_MAX));
  EXPECT_EQ(test::readWriteReply(node.last(kClient, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status, KV_TOO_LARGE);
  EXPECT_NE(node.closeReasons[kClient].find("larger than the segment"), std::string::npos);
}

TEST_F(ClientTest, AFullSegmentSaysSo) {
  const std::string half(node.segment.geometry.dataBytes / 2 - 1024, 'h');  // key and sums need room too
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "one", half).status, KV_OK);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 2}, "two", half).status, KV_OK);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 3}, "three", half).status, KV_NO_SPACE);
}

TEST_F(ClientTest, AClientThatGoesAwayInTheMiddleLeavesNothing) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 1000));
  EXPECT_GT(node.core->snapshot().usedBytes, 0u);
  node.core->closed(node.nowMs, kClient);
  EXPECT_EQ(node.core->snapshot().usedBytes, 0u);
  EXPECT_EQ(node.core->snapshot().clientsConnected, 0u);
  EXPECT_EQ(node.core->snapshot().counters.writeFailures, 1u);
}

TEST_F(ClientTest, BytesBeingSentSurviveTheirFree) {
  const std::string value(1000, 'v');
  const WriteReply written = node.write(kClient, kLeader, {5, 1}, "key", value);
  ASSERT_EQ(read(written.extent, {5, 1}, value.size()).status, KV_OK);
  const uint64_t offset = std::get<SendPayload>(node.others.back()).offset;
  ASSERT_TRUE(node.free(kMaster, kLeader, {{written.extent, {5, 1}}}).accepted);
  EXPECT_EQ(read(written.extent, {5, 1}, value.size()).status, KV_NOT_FOUND);
  for (uint64_t i = 2; i < 50; ++i) {
    ASSERT_EQ(node.write(kClient, kLeader, {5, i}, "key", std::string(1000, 'o')).status, KV_OK);
  }
  EXPECT_EQ(std::memcmp(node.segment.memory.data() + offset, value.data(), value.size()), 0);
  node.core->payloadSent(kClient);
  EXPECT_EQ(node.segment.directory->quarantinedBytes(), 0u);
}

TEST_F(ClientTest, AReaderThatGoesAwayUnpins) {
  const WriteReply written = node.write(kClient, kLeader, {5, 1}, "key", "value");
  ASSERT_EQ(read(written.extent, {5, 1}, 5).status, KV_OK);
  ASSERT_EQ(read(written.extent, {5, 1}, 5).status, KV_OK);
  node.free(kMaster, kLeader, {{written.extent, {5, 1}}});
  EXPECT_GT(node.segment.directory->quarantinedBytes(), 0u);
  node.core->closed(node.nowMs, kClient);
  EXPECT_EQ(node.segment.directory->quarantinedBytes(), 0u);
}

TEST_F(ClientTest, ReadsThatWaitAreBounded) {
  const WriteReply written = node.write(kClient, kLeader, {5, 1}, "key", "value");
  for (size_t i = 0; i < ClientSessions::kReadsQueuedMax; ++i) {
    ASSERT_EQ(read(written.extent, {5, 1}, 5).status, KV_OK);
  }
  read(written.extent, {5, 1}, 5);
  EXPECT_NE(node.closeReasons[kClient].find("1024 reads wait"), std::string::npos);
}

TEST_F(ClientTest, StagingNeedsTheUnixSocketAndOneAttach) {
  node.frame(kClient, [](wire::Bytes& out) { test::appendShmAttach(out, 1, 4096); });
  EXPECT_NE(node.closeReasons[kClient].find("unix socket"), std::string::npos);

  constexpr ConnectionId kLocal = 12;
  node.connectClient(kLocal, true);
  const auto writeStaged = [&](uint64_t counter, uint64_t offset, uint64_t length) {
    node.others.clear();
    node.frame(kLocal, [&](wire::Bytes& out) {
      test::appendWrite(out, {counter, kLeader, {5, counter}, length, true, offset, 99, "key"});
    });
  };
  writeStaged(1, 0, 10);
  EXPECT_EQ(test::readWriteReply(node.last(kLocal, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status,
            KV_INVALID_ARGUMENT);
  node.frame(kLocal, [](wire::Bytes& out) { test::appendShmAttach(out, 1, 4096); });
  ASSERT_EQ(std::get<MapStaging>(node.others.back()).bytes, 4096u);
  node.core->stagingMapped(kLocal, {});
  node.act();
  EXPECT_TRUE(std::holds_alternative<SendSegments>(node.others.back()));
  writeStaged(2, 4090, 6);
  const auto& copy = std::get<CopyStaging>(node.others.back());
  EXPECT_EQ(copy.stagingOffset, 4090u);
  EXPECT_EQ(copy.crc, 99u);
  node.core->payloadReceived(kLocal, 99, 99);
  node.act();
  EXPECT_EQ(test::readWriteReply(node.last(kLocal, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status, KV_OK);
  for (const auto& [offset, length] : {std::pair<uint64_t, uint64_t>{4090, 7}, {5000, 0}, {UINT64_MAX, 1}}) {
    writeStaged(3, offset, length);
    EXPECT_EQ(test::readWriteReply(node.last(kLocal, test::sbe::WriteReply::SBE_TEMPLATE_ID)).status,
              KV_INVALID_ARGUMENT);
  }
  node.frame(kLocal, [](wire::Bytes& out) { test::appendShmAttach(out, 1, 4096); });
  EXPECT_NE(node.closeReasons[kLocal].find("attached already"), std::string::npos);
}

TEST_F(ClientTest, StagingMemoryIsBoundedOverAllClients) {
  node.config.stagingBytes = 8192;
  node.restart();
  const auto attach = [&](ConnectionId id, uint64_t bytes) {
    node.connectClient(id, true);
    node.others.clear();
    node.frame(id, [&](wire::Bytes& out) { test::appendShmAttach(out, 1, bytes); });
    if (node.others.empty())
      return test::readShmAttached(node.last(id, test::sbe::ShmAttached::SBE_TEMPLATE_ID)).status;
    EXPECT_EQ(std::get<MapStaging>(node.others.back()).bytes, bytes);
    return int32_t{KV_OK};
  };
  EXPECT_EQ(attach(11, 8193), KV_TOO_LARGE);
  EXPECT_EQ(attach(12, 5000), KV_OK);
  EXPECT_EQ(attach(13, 3193), KV_NO_SPACE) << "beside what is being mapped";
  node.core->stagingMapped(12, Status(KV_INVALID_ARGUMENT, "not sealed"));
  EXPECT_EQ(attach(14, 8192), KV_OK);
  node.core->stagingMapped(14, {});
  EXPECT_EQ(attach(15, 1), KV_NO_SPACE);
  node.core->closed(node.nowMs, 14);
  EXPECT_EQ(attach(16, 8192), KV_OK);
  node.core->closed(node.nowMs, 16);
  EXPECT_EQ(attach(17, 8192), KV_OK) << "one that left before it was mapped gives it back";
}

TEST_F(ClientTest, HelloComesFirstAndInTime) {
  node.core->accepted(node.nowMs, 20, false, "client");
  node.frame(20, [](wire::Bytes& out) { test::appendRead(out, {}); });
  EXPECT_EQ(wire::readRefused(node.inbox(20).back()).code, wire::Refusal::Protocol);
  EXPECT_TRUE(node.closeReasons.contains(20));
  node.core->accepted(node.nowMs, 21, false, "silent");
  node.tick(wire::kHelloTimeoutMs - 1);
  EXPECT_FALSE(node.closeReasons.contains(21));
  node.tick(1);
  EXPECT_NE(node.closeReasons[21].find("no Hello"), std::string::npos);
  EXPECT_FALSE(node.closeReasons.contains(kClient)) << "a welcomed client may be idle for longer";
}

TEST_F(ClientTest, ConnectionsAreBounded) {
  for (ConnectionId id = 30; id < 37; ++id)
    node.core->accepted(node.nowMs, id, false, "client");
  node.act();
  EXPECT_TRUE(node.closeReasons.empty());
  node.core->accepted(node.nowMs, 40, false, "one too many");
  node.act();
  const wire::Refused refused = wire::readRefused(node.inbox(40).back());
  EXPECT_EQ(refused.code, wire::Refusal::Limit);
  EXPECT_NE(refused.message.find("8 connections"), std::string::npos);
  EXPECT_TRUE(node.closeReasons.contains(40));
}

TEST_F(ClientTest, MessagesOfMastersAreNotForClients) {
  node.frame(kClient, [](wire::Bytes& out) { test::appendFence(out, 1, {9, 9}, 0); });
  EXPECT_TRUE(node.closeReasons.contains(kClient));
  EXPECT_EQ(node.core->snapshot().seen, kLeader);
  EXPECT_EQ(node.core->snapshot().counters.protocolErrors, 1u);
}

}  // namespace
}  // namespace kvpool::node
