// SPDX-License-Identifier: Apache-2.0
// The connection by tcp with memory that CANN reaches, beside what holds for UCX as well.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

constexpr size_t kLarge = client::kRemoteInlineBytes + 1;

class AscendConnection : public testing::Test {
 protected:
  explicit AscendConnection(bool only = false) : h(withAscend(only)) {}
  void SetUp() override { leader = h.lead(); }

  static client::Config withAscend(bool only) {
    client::Config config = configFor({"master-0:1"}, false, false, true);
    config.remote = RemoteProtocol::Ascend;
    config.remoteOnly = only;
    return config;
  }
  /// Until the node is to answer the offer.
  ConnectionId offer() {
    const ConnectionId connection = h.expectDial("node-1:1");
    h.open(connection);
    h.welcome(connection, wire::Role::Node, 1);
    EXPECT_TRUE(h.next<client::OfferStaging>());
    h.core.stagingOffered(h.now, connection,
                          StagingOffer{client::kStagingBytes, 4096, "10.0.0.7:20000", {}, RemoteProtocol::Ascend, 5});
    const wire::Bytes body = h.expectBody(connection);
    const StagingOffer told = node::readAscendAttach(body).offer;
    EXPECT_EQ(told.worker, "10.0.0.7:20000");
    EXPECT_EQ(told.registrations, 5u);
    return connection;
  }
  void answerOffer(ConnectionId connection, const Status& status) {
    wire::Bytes frame;
    node::appendUcxAttached(frame, 1, status);
    h.deliver(connection, frame);
  }
  uint64_t beginPut(const std::string& key = "k") {
    const uint64_t batch = h.put(key, std::string(kLarge, 'v'));
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, ++objects_});
    return batch;
  }

  CoreHarness h;
  ConnectionId leader = 0;

 private:
  uint64_t objects_ = 0;
};

class AscendAlone : public AscendConnection {
 protected:
  AscendAlone() : AscendConnection(true) {}
};

TEST_F(AscendConnection, WhatIsMovedCountsForAscend) {
  const uint64_t batch = beginPut();
  const auto connection = offer();
  answerOffer(connection, {});
  const auto copy = h.next<client::CopyToStaging>();
  ASSERT_TRUE(copy);
  h.core.copiedToStaging(h.now, connection, copy->transfer, 0xABCD);
  const wire::Bytes body = h.expectBody(connection);
  h.replyWrite(connection, node::readWriteRequest(body).requestId, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().ascend.bytes, kLarge);
  EXPECT_EQ(h.core.statistics().ascend.lanes, 1u);
  EXPECT_EQ(h.core.statistics().ucx.bytes, 0u);
}

TEST_F(AscendConnection, ANodeHasTheTimeToMakeAChannel) {
  beginPut();
  const auto connection = offer();
  h.pass(client::kConnectTimeoutMs + 1000);
  EXPECT_FALSE(h.closes(connection));
  h.pass(client::kAscendAttachMs);
  EXPECT_TRUE(h.closes(connection));
  EXPECT_EQ(h.core.statistics().ascend.refusals, 1u);
}

TEST_F(AscendConnection, WithoutItTheValueGoesByTcp) {
  const uint64_t batch = beginPut();
  const auto connection = offer();
  answerOffer(connection, Status(KV_CONNECT_FAILED, "not here"));
  h.replyWrite(connection, h.expectWrite(connection).request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_NE(h.core.explanation().find("is used by tcp, not by ascend: the node says: not here"), std::string::npos);
}

TEST_F(AscendAlone, ANodeWithoutItIsNotUsed) {
  beginPut();
  const auto connection = offer();
  answerOffer(connection, Status(KV_CONNECT_FAILED, "not here"));
  EXPECT_TRUE(h.closes(connection));
  EXPECT_EQ(h.core.statistics().ascend.refusals, 1u);
  EXPECT_NE(h.core.explanation().find("is not reached by ascend, and tcp is not among the protocols"),
            std::string::npos)
      << h.core.explanation();
}

}  // namespace
}  // namespace kvpool::test
