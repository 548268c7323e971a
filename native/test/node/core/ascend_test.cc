// SPDX-License-Identifier: Apache-2.0
// What the node's core decides about memory that clients offer through CANN, beside what holds for UCX as well.
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

class AscendCoreTest : public testing::Test {
 protected:
  AscendCoreTest() {
    node.config.remote = RemoteProtocol::Ascend;
    node.config.remoteProblem = "it was not asked to";
    node.restart();
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
  }
  void offer(const std::string& endpoint, ConnectionId client = kClient) {
    offer(StagingOffer{1 << 20, 4096, endpoint, {}, RemoteProtocol::Ascend, 77}, client);
  }
  void offer(const StagingOffer& offer, ConnectionId client = kClient) {
    node.others.clear();
    node.frame(client, [&](wire::Bytes& out) { out = client::stagingAttach(7, offer); });
  }

  CoreInMemory node;
};

TEST_F(AscendCoreTest, TheOfferReachesTheShellAsItWasMade) {
  offer("[fe80::1]:20000");
  const StagingOffer seen = std::get<ConnectRemote>(node.others.back()).offer;
  EXPECT_EQ(seen.worker, "[fe80::1]:20000");
  EXPECT_EQ(seen.protocol, RemoteProtocol::Ascend);
  EXPECT_EQ(seen.registrations, 77u);
  EXPECT_EQ(seen.address, 4096u);
  EXPECT_EQ(seen.bytes, uint64_t{1} << 20);
}

TEST_F(AscendCoreTest, WhatIsMovedCountsForAscend) {
  offer("127.0.0.1:20000");
  node.core->remoteConnected(kClient, {});
  node.act();
  EXPECT_EQ(node.core->snapshot().counters.ascend.clients, 1u);
  node.others.clear();
  node.frame(kClient, [](wire::Bytes& out) {
    out = client::stagedWrite(1, test::granted({"key", kLeader, {5, 1}, 1000, {}}), {64, 0xAB});
  });
  node.core->pulled(std::get<PullPayload>(node.others.back()).transfer, true, 0xAB);
  node.act();
  EXPECT_EQ(node.core->snapshot().objects, 1u);
  EXPECT_EQ(node.core->snapshot().counters.ascend.writeBytes, 1000u);
  EXPECT_EQ(node.core->snapshot().counters.ucx.writeBytes, 0u);
  node.core->closed(node.nowMs, kClient);
  EXPECT_EQ(node.core->snapshot().counters.ascend.clients, 0u);
}

TEST_F(AscendCoreTest, EndpointsThatAreNoneEndTheConnection) {
  ConnectionId client = 20;
  const std::string tooLong = "127.0.0.1:" + std::string(wire::kEndpointBytesMax, '0') + "1";
  for (const std::string& wrong :
       {std::string(), std::string("127.0.0.1"), std::string("node-0:20000"), std::string("127.0.0.1:0"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:1\xff"), std::string("127.0.0.1\0:1", 12), tooLong}) {
    node.connectClient(++client);
    offer(wrong, client);
    EXPECT_TRUE(node.closeReasons.contains(client)) << wrong;
    EXPECT_TRUE(node.others.empty()) << wrong;
  }
  for (const auto& [bytes, address] :
       {std::pair<uint64_t, uint64_t>{0, 4096}, {uint64_t{1} << 40, 4096}, {4096, UINT64_MAX - 4094}}) {
    node.connectClient(++client);
    offer(StagingOffer{bytes, address, "127.0.0.1:1", {}, RemoteProtocol::Ascend, 1}, client);
    EXPECT_TRUE(node.closeReasons.contains(client)) << bytes;
    EXPECT_TRUE(node.others.empty()) << bytes;
  }
}

TEST_F(AscendCoreTest, AnOfferOfTheOtherProtocolIsRefused) {
  offer(StagingOffer{1 << 20, 4096, "worker", "key"});
  EXPECT_TRUE(node.others.empty());
  const wire::Bytes body = node.last(kClient, test::sbe::UcxAttached::sbeTemplateId());
  const auto reply = std::get<client::UcxAttached>(client::decodeReply(body));
  EXPECT_EQ(reply.status, KV_CONNECT_FAILED);
  EXPECT_EQ(reply.reason, "node node-0 does not offer ucx: it was not asked to");
  EXPECT_EQ(node.core->snapshot().counters.ucx.refusals, 1u);
  EXPECT_EQ(node.core->snapshot().counters.ascend.refusals, 0u);
  EXPECT_FALSE(node.closeReasons.contains(kClient));
}

}  // namespace
}  // namespace kvpool::node
