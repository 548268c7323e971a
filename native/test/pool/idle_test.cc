// SPDX-License-Identifier: Apache-2.0
// Connections that nobody uses are closed by the client, or else by the node, and what follows does not notice.
#include "pool/pool.h"

namespace kvpool::test {
namespace {

class IdlePool : public testing::TestWithParam<uint32_t> {
 protected:
  void begin(uint32_t clientIdleMs, uint32_t nodeIdleMs) {
    kv_node_params node{};
    node.struct_size = sizeof node;
    node.pool_id = kPoolText;
    node.node_id = "node-0";
    const std::string masters = master_.address();
    node.masters = masters.c_str();
    node.listen_host = node.advertise_host = kIpv4;
    node.data_dir = directory_.path().c_str();
    node.segment_bytes = 32 << 20;
    node.idle_timeout_ms = nodeIdleMs;
    char err[512] = "";
    kv_node* started = nullptr;
    ASSERT_EQ(kv_node_start(&node, &started, err, sizeof err), KV_OK) << err;
    node_.reset(started);
    ASSERT_TRUE(master_.awaitNodes(1));
    kv_client_params client{};
    client.struct_size = sizeof client;
    client.protocols = GetParam();
    client.masters = masters.c_str();
    client.idle_timeout_ms = clientIdleMs;
    kv_client* created = nullptr;
    ASSERT_EQ(kv_client_create(&client, &created, err, sizeof err), KV_OK) << err;
    client_.reset(created);
  }
  void useItThriceWithPauses() {
    ASSERT_EQ(put(client_.get(), "key", "value"), KV_OK) << explain(client_.get());
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).clients_connected == 0; }));
      EXPECT_EQ(get(client_.get(), "key").value, "value") << explain(client_.get());
    }
    const kv_client_stats stats = statsOf(client_.get());
    EXPECT_EQ(stats.retries, 0u);
    EXPECT_EQ(stats.shm_refusals, 0u);
    EXPECT_EQ(stats.shm_bytes, GetParam() == KV_PROTOCOL_SHM ? 20u : 0u);
    EXPECT_EQ(explain(client_.get()), "");
    EXPECT_EQ(statsOf(node_.get()).protocol_errors, 0u);
  }

  TemporaryDirectory directory_;
  TestMaster master_;
  NodeHandle node_;
  ClientHandle client_;
};

INSTANTIATE_TEST_SUITE_P(Transports, IdlePool, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM),
                         [](const auto& way) { return way.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm"; });

TEST_P(IdlePool, AClientClosesWhatItDoesNotUse) {
  begin(200, 0);
  useItThriceWithPauses();
}

TEST_P(IdlePool, ANodeClosesWhatAClientKeepsOpen) {
  begin(0, 100);
  useItThriceWithPauses();
}

}  // namespace
}  // namespace kvpool::test
