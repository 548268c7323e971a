// SPDX-License-Identifier: Apache-2.0
// The client against real nodes over real sockets: through tcp, through shared memory, and through an agent.
#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr uint32_t kThroughAgent = 1U << 31;

class Pool : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    node_ = startNode("node-0", master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
    if (GetParam() == kThroughAgent) {
      agent_ = startAgent(master_.address(), directory_.path() + "/agent.sock");
      client_ = attach(directory_.path() + "/agent.sock");
    } else {
      client_ = connect(master_.address(), GetParam());
    }
    ASSERT_TRUE(client_);
  }

  [[nodiscard]] bool isShm() const { return GetParam() != KV_PROTOCOL_TCP; }

  TemporaryDirectory directory_;
  TestMaster master_;
  NodeHandle node_;
  AgentHandle agent_;
  ClientHandle client_;
};

INSTANTIATE_TEST_SUITE_P(Transports, Pool, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM, kThroughAgent),
                         [](const auto& way) {
                           if (way.param == kThroughAgent) return "Agent";
                           return way.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm";
                         });

uint64_t total(const kv_durations& d) {
  return d.in_100us + d.in_1ms + d.in_10ms + d.in_100ms + d.in_1s + d.longer;
}

TEST_P(Pool, AValueComesBackAsItWasPut) {
  for (const size_t length : {0u, 1u, 63u, 64u, 4096u, 65536u, 1048576u, 5000001u}) {
    const std::string key = "length-" + std::to_string(length);
    const std::string value = pattern(length, length);
    ASSERT_EQ(put(client_.get(), key, value), KV_OK) << explain(client_.get());
    const Got got = get(client_.get(), key, 6 << 20);
    ASSERT_EQ(got.status, KV_OK) << explain(client_.get());
    EXPECT_EQ(got.length, length);
    EXPECT_TRUE(got.value == value) << "length " << length;
  }
  const kv_client_stats stats = statsOf(client_.get());
  EXPECT_EQ(stats.puts, 8u);
  EXPECT_EQ(stats.hits, 8u);
  EXPECT_EQ(stats.shm_bytes, isShm() ? stats.put_bytes + stats.get_bytes : 0u);
  EXPECT_EQ(stats.checksum_failures, 0u);
  EXPECT_EQ(stats.put_batches_in_100us + stats.put_batches_in_1ms + stats.put_batches_in_10ms +
                stats.put_batches_in_100ms + stats.put_batches_in_1s + stats.put_batches_longer,
            8u);
  EXPECT_EQ(stats.get_batches_in_100us + stats.get_batches_in_1ms + stats.get_batches_in_10ms +
                stats.get_batches_in_100ms + stats.get_batches_in_1s + stats.get_batches_longer,
            8u);
  EXPECT_GT(stats.put_batch_us, 0u);
  EXPECT_GT(stats.get_batch_us, 0u);
  if (GetParam() == kThroughAgent) return;  // it is the agent that asks the leader
  EXPECT_EQ(stats.single_puts.us, stats.put_batch_us) << "each of one key";
  EXPECT_EQ(total(stats.single_gets), 8u);
  EXPECT_EQ(total(stats.requests[KV_REQUEST_GRANT]), 8u);
  EXPECT_EQ(total(stats.requests[KV_REQUEST_PUBLISH]), 8u);
  EXPECT_EQ(total(stats.requests[KV_REQUEST_LOOKUP]), 8u);
  EXPECT_EQ(total(stats.requests[KV_REQUEST_REMOVE]), 0u);
}

TEST_P(Pool, BatchesKeepTheirLinesApart) {
  std::vector<std::string> keys, values;
  for (uint64_t i = 0; i < 500; ++i) {
    keys.push_back("key/" + std::to_string(i));
    values.push_back(pattern(i, (i * 97) % 9000));
  }
  std::vector<kv_op> puts, gets;
  std::vector<std::string> memory(keys.size(), std::string(9000, '\0'));
  for (size_t i = 0; i < keys.size(); ++i) {
    puts.push_back(line(keys[i], values[i].data(), values[i].size()));
    gets.push_back(line(keys[i], memory[i].data(), memory[i].size()));
  }
  run(client_.get(), KV_OP_PUT, puts);
  for (const kv_op& op : puts)
    ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
  run(client_.get(), KV_OP_GET, gets);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(gets[i].status, KV_OK);
    ASSERT_TRUE(memory[i].substr(0, gets[i].result_length) == values[i]) << keys[i];
  }
}

TEST_P(Pool, TheFirstPutWinsAndRemoveEndsIt) {
  EXPECT_EQ(get(client_.get(), "k").status, KV_NOT_FOUND);
  EXPECT_EQ(exists(client_.get(), "k"), KV_NOT_FOUND);
  EXPECT_EQ(remove(client_.get(), "k"), KV_NOT_FOUND);
  EXPECT_EQ(put(client_.get(), "k", "first"), KV_OK);
  EXPECT_EQ(put(client_.get(), "k", "second"), KV_OK);
  EXPECT_EQ(get(client_.get(), "k").value, "first");
  EXPECT_EQ(exists(client_.get(), "k"), KV_OK);
  EXPECT_EQ(remove(client_.get(), "k"), KV_OK);
  EXPECT_EQ(get(client_.get(), "k").status, KV_NOT_FOUND);
  EXPECT_EQ(put(client_.get(), "k", "third"), KV_OK);
  EXPECT_EQ(get(client_.get(), "k").value, "third");
  uint64_t removed = 0;
  EXPECT_EQ(kv_client_remove_all(client_.get(), 0, 5000, &removed), KV_OK);
  EXPECT_EQ(removed, 1u);
  EXPECT_EQ(get(client_.get(), "k").status, KV_NOT_FOUND);
}

TEST_P(Pool, ASmallBufferIsToldTheLengthAndStaysAsItWas) {
  ASSERT_EQ(put(client_.get(), "k", "value"), KV_OK);
  std::string memory = "....";
  std::vector<kv_op> table{line("k", memory.data(), 4)};
  run(client_.get(), KV_OP_GET, table);
  EXPECT_EQ(table[0].status, KV_BUFFER_TOO_SMALL);
  EXPECT_EQ(table[0].result_length, 5u);
  EXPECT_EQ(memory, "....");
}

TEST_P(Pool, AFullPoolSaysSoAndServesOn) {
  const std::string value = pattern(1, 8 << 20);
  ASSERT_EQ(put(client_.get(), "a", value), KV_OK);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.timeout_ms = 1000;  // this master never finds out that there is no room
  int32_t status = KV_OK;
  for (int i = 0; i < 4 && status == KV_OK; ++i) {
    const std::string key = "b" + std::to_string(i);
    std::vector<kv_op> table{line(key, value.data(), value.size())};
    run(client_.get(), KV_OP_PUT, table, &options);
    status = table[0].status;
  }
  EXPECT_EQ(status, KV_NO_SPACE);
  EXPECT_EQ(put(client_.get(), "c", std::string(64 << 20, 'x')), KV_TOO_LARGE);
  EXPECT_TRUE(get(client_.get(), "a", 8 << 20).value == value);
}

TEST_P(Pool, ARestartedNodeStillHasItsObjects) {
  const std::string value = pattern(3, 100000);
  ASSERT_EQ(put(client_.get(), "k", value), KV_OK);
  node_.reset();
  ASSERT_TRUE(master_.awaitNodes(0));
  EXPECT_EQ(get(client_.get(), "k").status, KV_UNAVAILABLE);
  node_ = startNode("node-0", master_.address(), directory_.path());
  ASSERT_TRUE(master_.awaitNodes(1));
  EXPECT_TRUE(get(client_.get(), "k").value == value) << explain(client_.get());
}

TEST_P(Pool, DestroyEndsBatchesInFlight) {
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  std::vector<kv_op> table{line("k", "value", 5)};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, table.data(), 1, nullptr, &batch), KV_OK);
  EXPECT_EQ(kv_client_wait(client_.get(), batch, 50), KV_TIMEOUT);
  client_.reset();
  EXPECT_EQ(table[0].status, KV_CLOSED);
}

TEST_P(Pool, ABatchEndsByItsTimeoutWithWhatStoodInTheWay) {
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.timeout_ms = 300;
  std::vector<kv_op> table{line("k", "value", 5)};
  run(client_.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_RECOVERING);
  EXPECT_NE(explain(client_.get()).find(master_.address()), std::string::npos) << explain(client_.get());
}

TEST_P(Pool, ManyThreadsShareAClient) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (uint64_t i = 0; i < 50; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        const std::string value = pattern(t * 1000 + i, 3000);
        ASSERT_EQ(put(client_.get(), key, value), KV_OK);
        ASSERT_TRUE(get(client_.get(), key, 4000).value == value);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(PoolOverIpv6, ServesReplicasAndTheirReaders) {
  const TemporaryDirectory directories[2];
  TestMaster master({}, 0, kIpv6);
  ASSERT_EQ(master.address(), "[::1]:" + std::to_string(master.port()));
  std::vector<NodeHandle> nodes;
  for (size_t i = 0; i < 2; ++i) {
    nodes.push_back(
        startNode("node-" + std::to_string(i), master.address(), directories[i].path(), 32 << 20, 0, 0, kIpv6));
  }
  ASSERT_TRUE(master.awaitNodes(2));
  const ClientHandle client = connect(master.address(), KV_PROTOCOL_TCP);
  ASSERT_TRUE(client);
  const std::string value = pattern(6, 3'000'000);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.replicas = 2;
  std::vector<kv_op> table{line("k", value.data(), value.size())};
  run(client.get(), KV_OP_PUT, table, &options);
  ASSERT_EQ(table[0].status, KV_OK) << explain(client.get());
  EXPECT_TRUE(get(client.get(), "k", 4 << 20).value == value) << explain(client.get());
  for (const NodeHandle& node : nodes)
    EXPECT_EQ(statsOf(node.get()).writes, 1u);
  nodes.front().reset();
  EXPECT_TRUE(eventually([&] { return get(client.get(), "k", 4 << 20).value == value; })) << explain(client.get());
}

}  // namespace
}  // namespace kvpool::test
