// SPDX-License-Identifier: Apache-2.0
// What the node's core decides about memory that clients offer through UCX.
#include <gtest/gtest.h>

#include "client/core/replies.h"
#include "client/core/requests.h"
#include "dev_kvpool_wire/UcxAttached.h"
#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;

constexpr uint64_t kOffered = 1 << 20;

class UcxCoreTest : public testing::Test {
 protected:
  explicit UcxCoreTest(bool offered = true) {
    if (offered) node.config.remote = RemoteProtocol::Ucx;
    node.config.remoteProblem = "there is none in this test";
    node.restart();
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
  }
  void send(const wire::Bytes& frame, ConnectionId client = kClient) {
    node.others.clear();
    node.frame(client, [&](wire::Bytes& out) { out = frame; });
  }
  void offer(uint64_t bytes = kOffered, uint64_t address = 4096) {
    send(client::stagingAttach(7, {bytes, address, "worker", "key"}));
  }
  void attach() {
    offer();
    ASSERT_EQ(std::get<ConnectRemote>(node.others.back()).offer.worker, "worker");
    node.core->remoteConnected(kClient, {});
    node.act();
  }
  bool beginPull(uint64_t counter, uint64_t offset, uint64_t length, uint32_t crc) {
    const std::string key = "key-" + std::to_string(counter);
    send(client::stagedWrite(counter, test::granted({key, kLeader, {5, counter}, length, {}}), {offset, crc}));
    return !node.others.empty();
  }
  WriteReply written() { return test::readWriteReply(node.last(kClient, test::sbe::WriteReply::SBE_TEMPLATE_ID)); }
  ReadReply readReply() { return test::readReadReply(node.last(kClient, test::sbe::ReadReply::SBE_TEMPLATE_ID)); }
  uint64_t quarantined() { return node.segment.directory->quarantinedBytes(); }
  uint64_t used() { return node.core->snapshot().usedBytes; }

  CoreInMemory node;
};

class WithoutUcx : public UcxCoreTest {
 protected:
  WithoutUcx() : UcxCoreTest(false) {}
};

TEST_F(WithoutUcx, ANodeThatDoesNotOfferItSaysWhyAndGoesOn) {
  offer();
  EXPECT_TRUE(node.others.empty());
  const wire::Bytes body = node.last(kClient, test::sbe::UcxAttached::sbeTemplateId());
  const auto reply = std::get<client::UcxAttached>(client::decodeReply(body));
  EXPECT_EQ(reply.request, 7u);
  EXPECT_EQ(reply.status, KV_CONNECT_FAILED);
  EXPECT_EQ(reply.reason, "node node-0 does not offer ucx: there is none in this test");
  EXPECT_EQ(node.core->snapshot().counters.ucx.refusals, 1u);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK);
}

TEST_F(UcxCoreTest, APulledPayloadIsCommittedWhenItsChecksumIsRight) {
  ASSERT_NO_FATAL_FAILURE(attach());
  ASSERT_TRUE(beginPull(1, 64, 1000, 0xAB));
  const auto pull = std::get<PullPayload>(node.others.back());
  EXPECT_EQ(pull.stagingOffset, 64u);
  EXPECT_EQ(pull.length, 1000u);
  node.core->pulled(pull.transfer, true, 0xAB);
  node.act();
  EXPECT_EQ(written().status, KV_OK);
  EXPECT_EQ(node.core->snapshot().objects, 1u);
  EXPECT_EQ(node.core->snapshot().counters.ucx.writeBytes, 1000u);
}

TEST_F(UcxCoreTest, ManyPayloadsArePulledAtATimeAndEndInAnyOrder) {
  ASSERT_NO_FATAL_FAILURE(attach());
  std::vector<uint64_t> transfers;
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(beginPull(i, 0, 100, 1));
    transfers.push_back(std::get<PullPayload>(node.others.back()).transfer);
  }
  node.core->pulled(transfers[2], true, 2);  // the wrong checksum
  node.act();
  EXPECT_EQ(written().requestId, 3u);
  EXPECT_EQ(written().status, KV_CHECKSUM);
  node.core->pulled(transfers[0], false, 0);
  node.act();
  EXPECT_EQ(written().status, KV_TRANSFER_FAILED);
  node.core->pulled(transfers[1], true, 1);
  node.act();
  EXPECT_EQ(written().requestId, 2u);
  EXPECT_EQ(written().status, KV_OK);
}

TEST_F(UcxCoreTest, AnExtentIsReusedOnlyWhenUcxIsThroughWithIt) {
  ASSERT_NO_FATAL_FAILURE(attach());
  ASSERT_TRUE(beginPull(1, 0, 100000, 1));
  const uint64_t transfer = std::get<PullPayload>(node.others.back()).transfer;
  EXPECT_GE(used(), 100000u);
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_GE(used(), 100000u) << "bytes may still come in";
  node.core->pulled(transfer, true, 1);
  node.act();
  EXPECT_EQ(used(), 0u) << "nobody waits for it any more";
  EXPECT_EQ(node.core->snapshot().objects, 0u);
}

TEST_F(UcxCoreTest, AFenceDuringTheTransferRefusesTheWrite) {
  ASSERT_NO_FATAL_FAILURE(attach());
  ASSERT_TRUE(beginPull(1, 0, 100, 1));
  const uint64_t transfer = std::get<PullPayload>(node.others.back()).transfer;
  node.fence(kMaster, {6, 66});
  node.core->pulled(transfer, true, 1);
  node.act();
  EXPECT_EQ(written().status, KV_STALE_EPOCH);
  EXPECT_EQ(used(), 0u);
}

TEST_F(UcxCoreTest, AReadIsPushedAndItsExtentPinnedMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(attach());
  const WriteReply object = node.write(kClient, kLeader, {5, 1}, "key", "value");
  send(client::stagedRead(9, object.extent, {5, 1}, 5, 128));
  const auto push = std::get<PushPayload>(node.others.back());
  EXPECT_EQ(push.stagingOffset, 128u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(node.segment.memory.data() + push.offset), push.length), "value");
  node.free(kMaster, kLeader, {{object.extent, {5, 1}}});
  EXPECT_GT(quarantined(), 0u) << "while it is on its way";
  node.core->pushed(push.transfer, true);
  node.act();
  EXPECT_EQ(readReply().status, KV_OK);
  EXPECT_EQ(readReply().payloadLength, 5u);
  EXPECT_EQ(quarantined(), 0u);
  send(client::stagedRead(10, object.extent, {5, 1}, 5, 128));
  EXPECT_EQ(readReply().status, KV_NOT_FOUND);
  EXPECT_TRUE(node.others.empty());
}

TEST_F(UcxCoreTest, APushThatFailsOrOutlivesItsClientLetsTheExtentGo) {
  ASSERT_NO_FATAL_FAILURE(attach());
  const WriteReply object = node.write(kClient, kLeader, {5, 1}, "key", "value");
  send(client::stagedRead(9, object.extent, {5, 1}, 5, 0));
  node.core->pushed(std::get<PushPayload>(node.others.back()).transfer, false);
  node.act();
  EXPECT_EQ(readReply().status, KV_TRANSFER_FAILED);
  send(client::stagedRead(10, object.extent, {5, 1}, 5, 0));
  const uint64_t transfer = std::get<PushPayload>(node.others.back()).transfer;
  node.core->closed(node.nowMs, kClient);
  node.free(kMaster, kLeader, {{object.extent, {5, 1}}});
  EXPECT_GT(quarantined(), 0u);
  node.core->pushed(transfer, true);
  node.act();
  EXPECT_EQ(quarantined(), 0u);
}

TEST_F(UcxCoreTest, NothingOutsideTheOfferedMemoryIsTouched) {
  ASSERT_NO_FATAL_FAILURE(attach());
  for (const auto& [offset, length] : {std::pair{kOffered, uint64_t{1}},
                                       {kOffered - 1, uint64_t{2}},
                                       {UINT64_MAX, uint64_t{2}},
                                       {uint64_t{0}, kOffered + 1}}) {
    EXPECT_FALSE(beginPull(offset % 97 + 1, offset, length, 0)) << offset << "+" << length;
    EXPECT_EQ(written().status, KV_INVALID_ARGUMENT);
    send(client::stagedRead(9, {0, 1, 1}, {5, 1}, length, offset));
    EXPECT_EQ(readReply().status, KV_INVALID_ARGUMENT);
  }
  EXPECT_EQ(used(), 0u);
}

TEST_F(UcxCoreTest, WithoutAnOfferThereIsNowhereToPut) {
  send(client::stagedRead(9, {0, 1, 1}, {5, 1}, 0, 0));
  EXPECT_EQ(readReply().status, KV_INVALID_ARGUMENT);
  EXPECT_FALSE(beginPull(1, 0, 10, 0));
  EXPECT_EQ(written().status, KV_INVALID_ARGUMENT);
}

TEST_F(UcxCoreTest, OffersThatMakeNoSenseEndTheConnection) {
  const std::string tooLong(wire::kUcxBytesMax + 1, 'x');
  const std::vector<StagingOffer> offers{{0, 4096, "worker", "key"},
                                         {uint64_t{1} << 40, 4096, "worker", "key"},
                                         {4096, UINT64_MAX - 4094, "worker", "key"},
                                         {4096, 4096, tooLong, "key"},
                                         {4096, 4096, "worker", tooLong}};
  ConnectionId client = 20;
  for (const StagingOffer& wrong : offers) {
    node.connectClient(++client);
    send(client::stagingAttach(7, wrong), client);
    EXPECT_TRUE(node.closeReasons.contains(client)) << client;
    EXPECT_TRUE(node.others.empty());
  }
  node.connectClient(++client, true);
  send(client::stagingAttach(7, {4096, 4096, "worker", "key"}), client);
  EXPECT_NE(node.closeReasons[client].find("by tcp only"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(attach());
  offer();
  EXPECT_NE(node.closeReasons[kClient].find("attached already"), std::string::npos);
  EXPECT_EQ(node.core->snapshot().counters.protocolErrors, 7u);
}

TEST_F(UcxCoreTest, TransfersOfOneConnectionAreBounded) {
  ASSERT_NO_FATAL_FAILURE(attach());
  const WriteReply object = node.write(kClient, kLeader, {5, 1}, "key", "value");
  for (uint32_t i = 0; i < ClientSessions::kRemoteTransfersMax; ++i)
    send(client::stagedRead(100 + i, object.extent, {5, 1}, 5, 0));
  EXPECT_TRUE(node.closeReasons.empty());
  send(client::stagedRead(99, object.extent, {5, 1}, 5, 0));
  EXPECT_NE(node.closeReasons[kClient].find("256 transfers to and from the memory that it offered"), std::string::npos);
}

TEST_F(UcxCoreTest, AClientThatLeavesWhileItIsReachedForIsForgotten) {
  offer();
  node.core->closed(node.nowMs, kClient);
  node.core->remoteConnected(kClient, {});
  node.act();
  EXPECT_EQ(node.core->snapshot().counters.ucx.clients, 0u);
  node.connectClient(12);
  EXPECT_EQ(node.core->snapshot().clientsConnected, 1u);
}

}  // namespace
}  // namespace kvpool::node
