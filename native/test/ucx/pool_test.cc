// SPDX-License-Identifier: Apache-2.0
// A real pool whose payloads go by the real UCX over its tcp, and what is used when UCX is missing on one side.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "environment.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr uint32_t kUcx = KV_PROTOCOL_UCX | KV_PROTOCOL_TCP;
constexpr const char* kNoLibrary = "/nowhere/libucp.so.0";

NodeHandle startUcxNode(const std::string& masters, const std::string& directory, uint32_t protocols = kUcx,
                        const std::string& ssd = "") {
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.pool_id = kPoolText;
  params.node_id = "node-0";
  params.masters = masters.c_str();
  params.listen_host = "127.0.0.1";
  params.advertise_host = "127.0.0.1";
  params.data_dir = directory.c_str();
  params.segment_bytes = 160 << 20;
  params.protocols = protocols;
  params.ssd_path = ssd.c_str();
  params.ssd_bytes = ssd.empty() ? 0 : uint64_t{64} << 20;
  params.connect_timeout_ms = 30000;  // a slow machine is no reason to go on by tcp
  char err[512] = "";
  kv_node* node = nullptr;
  EXPECT_EQ(kv_node_start(&params, &node, err, sizeof err), KV_OK) << err;
  return NodeHandle(node);
}

ClientHandle connectUcx(const std::string& masters, uint32_t protocols = kUcx) {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.protocols = protocols;
  params.masters = masters.c_str();
  params.connect_timeout_ms = 30000;
  char err[1024] = "";
  kv_client* client = nullptr;
  EXPECT_EQ(kv_client_create(&params, &client, err, sizeof err), KV_OK) << err;
  return ClientHandle(client);
}

std::string explainNode(kv_node* node) {
  char text[1024] = "";
  EXPECT_EQ(kv_node_explain(node, text, sizeof text), KV_OK);
  return text;
}

class UcxPool : public testing::Test {
 protected:
  void start(uint32_t ofNode = kUcx, uint32_t ofClient = kUcx) {
    node_ = startUcxNode(master_.address(), directory_.path(), ofNode);
    ASSERT_TRUE(master_.awaitNodes(1));
    client_ = connectUcx(master_.address(), ofClient);
    ASSERT_TRUE(client_);
  }

  /// Puts and reads one value, and says how many of its bytes UCX moved.
  uint64_t roundTrip(const std::string& key, size_t length) {
    const uint64_t before = statsOf(client_.get()).ucx_bytes;
    const std::string value = pattern(length, length);
    EXPECT_EQ(put(client_.get(), key, value), KV_OK) << explain(client_.get());
    const Got got = get(client_.get(), key, length + 1);
    EXPECT_EQ(got.status, KV_OK) << explain(client_.get());
    EXPECT_TRUE(got.value == value) << length;
    return statsOf(client_.get()).ucx_bytes - before;
  }

  TemporaryDirectory directory_;
  TestMaster master_;
  NodeHandle node_;
  ClientHandle client_;
};

TEST_F(UcxPool, ValuesOfAllSizesComeBackAsTheyWerePut) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(statsOf(node_.get()).protocols, kUcx);
  EXPECT_EQ(explainNode(node_.get()), "");
  for (const size_t length : {0u, 1u, 4096u})
    EXPECT_EQ(roundTrip("inline-" + std::to_string(length), length), 0u);
  for (const size_t length : {4097u, 65536u, 1048577u, 5000001u})
    EXPECT_EQ(roundTrip("moved-" + std::to_string(length), length), 2 * length);
  EXPECT_EQ(roundTrip("larger than staging takes", (64 << 20) + 1), 0u);

  const kv_client_stats client = statsOf(client_.get());
  EXPECT_EQ(client.ucx_lanes, 1u);
  EXPECT_EQ(client.ucx_refusals, 0u);
  EXPECT_EQ(client.checksum_failures, 0u);
  ASSERT_TRUE(eventually([&] { return statsOf(node_.get()).ucx_read_bytes == client.ucx_bytes / 2; }));
  const kv_node_stats node = statsOf(node_.get());
  EXPECT_EQ(node.ucx_write_bytes, client.ucx_bytes / 2);
  EXPECT_EQ(node.ucx_clients, 1u);
  EXPECT_EQ(node.ucx_refusals, 0u);
}

TEST_F(UcxPool, LargeBatchesShareTheStagingMemory) {
  ASSERT_NO_FATAL_FAILURE(start());
  constexpr size_t kLines = 300;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  std::vector<std::string> memory(kLines, std::string(160000, '\0'));
  for (uint64_t i = 0; i < kLines; ++i) {
    keys.push_back("key/" + std::to_string(i));
    values.push_back(pattern(i, 3000 + (i * 977) % 150000));
  }
  std::vector<kv_op> puts;
  std::vector<kv_op> gets;
  for (size_t i = 0; i < kLines; ++i) {
    puts.push_back(line(keys[i], values[i].data(), values[i].size()));
    gets.push_back(line(keys[i], memory[i].data(), memory[i].size()));
  }
  run(client_.get(), KV_OP_PUT, puts);
  for (const kv_op& op : puts)
    ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
  run(client_.get(), KV_OP_GET, gets);
  for (size_t i = 0; i < kLines; ++i) {
    ASSERT_EQ(gets[i].status, KV_OK) << explain(client_.get());
    ASSERT_TRUE(memory[i].substr(0, gets[i].result_length) == values[i]) << keys[i];
  }
  EXPECT_GT(statsOf(client_.get()).ucx_bytes, 0u);
}

TEST_F(UcxPool, WhatLiesOnTheSsdIsMovedToo) {
  const TemporaryDirectory ssd("/tmp");
  node_ = startUcxNode(master_.address(), directory_.path(), kUcx, ssd.path());
  ASSERT_TRUE(master_.awaitNodes(1));
  client_ = connectUcx(master_.address());
  for (const size_t length : {4096u, 4097u, 5000001u}) {
    const std::string key = std::to_string(length);
    const std::string value = pattern(length, length);
    ASSERT_EQ(put(client_.get(), key, value), KV_OK) << explain(client_.get());
    ASSERT_TRUE(master_.demote(key));
    const uint64_t before = statsOf(client_.get()).ucx_bytes;
    const uint64_t reads = statsOf(node_.get()).ssd_reads;
    const Got got = get(client_.get(), key, length);
    EXPECT_EQ(got.status, KV_OK) << explain(client_.get());
    EXPECT_TRUE(got.value == value) << length;
    EXPECT_EQ(statsOf(client_.get()).ucx_bytes - before, length > 4096 ? length : 0U);
    EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ssd_reads == reads + 1; }));
  }
}

TEST_F(UcxPool, ARestartedNodeIsAttachedAnew) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_GT(roundTrip("before", 100000), 0u);
  node_.reset();
  ASSERT_TRUE(master_.awaitNodes(0));
  node_ = startUcxNode(master_.address(), directory_.path());
  ASSERT_TRUE(master_.awaitNodes(1));
  EXPECT_TRUE(get(client_.get(), "before").value == pattern(100000, 100000)) << explain(client_.get());
  EXPECT_GT(roundTrip("after", 100000), 0u);
  EXPECT_EQ(statsOf(client_.get()).ucx_lanes, 2u);
}

TEST_F(UcxPool, ManyClientsComeAndGo) {
  ASSERT_NO_FATAL_FAILURE(start());
  for (int round = 0; round < 5; ++round) {
    const std::string key = "of client " + std::to_string(round);
    const ClientHandle other = connectUcx(master_.address());
    ASSERT_EQ(put(other.get(), key, pattern(7, 70000)), KV_OK) << explain(other.get());
    ASSERT_TRUE(get(client_.get(), key).value == pattern(7, 70000)) << explain(client_.get());
  }
  EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ucx_clients == 1; }));
}

TEST_F(UcxPool, ANodeWithoutUcxIsUsedByTcpAndBothSaySo) {
  const Environment none("KVPOOL_UCX_LIBRARY", kNoLibrary);
  node_ = startUcxNode(master_.address(), directory_.path());
  EXPECT_EQ(statsOf(node_.get()).protocols, uint32_t{KV_PROTOCOL_TCP});
  const std::string why = explainNode(node_.get());
  EXPECT_NE(why.find(kNoLibrary), std::string::npos) << why;
  EXPECT_NE(why.find("install UCX"), std::string::npos) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  {
    const Environment there("KVPOOL_UCX_LIBRARY", "");
    client_ = connectUcx(master_.address());
    EXPECT_EQ(roundTrip("k", 100000), 0u);
  }
  EXPECT_EQ(statsOf(client_.get()).ucx_refusals, 1u);
  EXPECT_NE(explain(client_.get()).find("node node-0 does not offer ucx"), std::string::npos) << explain(client_.get());
  EXPECT_NE(explain(client_.get()).find(kNoLibrary), std::string::npos) << explain(client_.get());
  EXPECT_EQ(statsOf(node_.get()).ucx_refusals, 1u);
}

TEST_F(UcxPool, AClientWithoutUcxUsesTcpAndSaysSo) {
  node_ = startUcxNode(master_.address(), directory_.path());
  ASSERT_TRUE(master_.awaitNodes(1));
  const Environment none("KVPOOL_UCX_LIBRARY", kNoLibrary);
  client_ = connectUcx(master_.address());
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  EXPECT_EQ(statsOf(client_.get()).ucx_refusals, 1u);
  EXPECT_EQ(statsOf(client_.get()).ucx_lanes, 0u);
  const std::string why = explain(client_.get());
  EXPECT_NE(why.find("node node-0 is used by tcp, not by ucx"), std::string::npos) << why;
  EXPECT_NE(why.find(kNoLibrary), std::string::npos) << why;
  EXPECT_EQ(statsOf(node_.get()).ucx_clients, 0u);
}

TEST_F(UcxPool, ANodeThatWasNotAskedForUcxSaysSo) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_TCP, kUcx));
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  EXPECT_NE(explain(client_.get()).find("it was not asked to"), std::string::npos) << explain(client_.get());
}

// UCX 1.13's shared memory does not notice that a peer died, so it is not used; kvpool has its own.
TEST_F(UcxPool, TransportsThatDoNotNoticeAPeersEndAreNotUsed) {
  const Environment shared("UCX_TLS", "sm");
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  EXPECT_NE(explain(client_.get()).find("no transport to the peer"), std::string::npos) << explain(client_.get());
}

TEST(UcxSettings, UcxNeedsTcpBesideIt) {
  kv_client_params client{};
  client.struct_size = sizeof client;
  client.masters = "127.0.0.1:1";
  client.protocols = KV_PROTOCOL_UCX;
  char err[512] = "";
  kv_client* none = nullptr;
  EXPECT_EQ(kv_client_create(&client, &none, err, sizeof err), KV_INVALID_ARGUMENT);
  EXPECT_NE(std::string(err).find("ucx without tcp"), std::string::npos) << err;
}

}  // namespace
}  // namespace kvpool::test
