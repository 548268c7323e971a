// SPDX-License-Identifier: Apache-2.0
// A client that uses the memory of a transfer engine of its process, as a store does that was given the engine.
#include <atomic>

#include "kvpool/engine.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr uint32_t kByAgent = 1U << 31;

struct EngineEnd {
  void operator()(kv_engine* engine) const { kv_engine_destroy(engine); }
};
using EngineHandle = std::unique_ptr<kv_engine, EngineEnd>;

EngineHandle startEngine() {
  kv_engine_params params{};
  params.struct_size = sizeof params;
  params.listen_host = kIpv4;
  kv_engine* engine = nullptr;
  char err[512] = "";
  EXPECT_EQ(kv_engine_create(&params, &engine, err, sizeof err), KV_OK) << err;
  return EngineHandle(engine);
}

class EngineMemory : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    node_ = startNode("node-0", master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
    if (GetParam() == kByAgent) {
      agent_ = startAgent(master_.address(), directory_.path() + "/agent.sock");
      client_ = attach(directory_.path() + "/agent.sock");
    } else {
      client_ = connect(master_.address(), GetParam());
    }
    ASSERT_TRUE(client_);
    engine_ = startEngine();
  }

  static kv_region regionOf(std::string& memory) { return {reinterpret_cast<uintptr_t>(memory.data()), memory.size()}; }
  int32_t add(std::string& memory) {
    const kv_region region = regionOf(memory);
    return kv_engine_register(engine_.get(), &region, 1, nullptr);
  }
  static int32_t removeFrom(kv_engine* engine, std::string& memory) {
    const kv_region region = regionOf(memory);
    return kv_engine_unregister(engine, &region, 1);
  }
  int32_t remove(std::string& memory) { return removeFrom(engine_.get(), memory); }
  int32_t use() { return kv_client_use_engine_memory(client_.get(), engine_.get()); }

  static kv_batch_options registered() {
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.flags = KV_BATCH_REGISTERED;
    options.timeout_ms = 20'000;
    return options;
  }
  int32_t runOne(int32_t op, std::string_view key, std::string& memory) {
    std::vector<kv_op> table{line(key, memory.data(), memory.size())};
    const kv_batch_options options = registered();
    run(client_.get(), op, table, &options);
    return table[0].status;
  }

  /// A put of memory_ that goes on until lead().
  void beginPut() {
    master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
    const kv_batch_options options = registered();
    table_ = {line("slow", memory_.data(), memory_.size())};
    ASSERT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, table_.data(), 1, &options, &batch_), KV_OK);
    ASSERT_EQ(kv_client_wait(client_.get(), batch_, 50), KV_TIMEOUT);
  }
  void lead() {
    master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Leader); });
  }

  TemporaryDirectory directory_;
  TestMaster master_;
  std::string memory_ = pattern(1, 300'000);
  std::vector<kv_op> table_;
  uint64_t batch_ = 0;
  NodeHandle node_;
  AgentHandle agent_;
  ClientHandle client_;
  EngineHandle engine_;
};

INSTANTIATE_TEST_SUITE_P(Transports, EngineMemory, testing::Values(KV_PROTOCOL_TCP, kByAgent),
                         [](const auto& way) { return way.param == kByAgent ? "Agent" : "Tcp"; });

TEST_P(EngineMemory, CountsAsRegisteredForAsLongAsItIsThere) {
  std::string later(memory_.size(), '\0');
  ASSERT_EQ(add(memory_), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "k", memory_), KV_NOT_REGISTERED) << "nobody said that the client uses it";
  ASSERT_EQ(use(), KV_OK);
  EXPECT_EQ(use(), KV_OK) << "said twice";
  EXPECT_EQ(runOne(KV_OP_PUT, "k", memory_), KV_OK) << explain(client_.get());
  EXPECT_EQ(runOne(KV_OP_GET, "k", later), KV_NOT_REGISTERED);
  ASSERT_EQ(add(later), KV_OK);
  EXPECT_EQ(runOne(KV_OP_GET, "k", later), KV_OK) << explain(client_.get());
  EXPECT_EQ(later, memory_);
  ASSERT_EQ(remove(memory_), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "l", memory_), KV_NOT_REGISTERED);
  EXPECT_EQ(runOne(KV_OP_GET, "k", later), KV_OK) << "the other region stays";
  ASSERT_EQ(add(memory_), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "l", memory_), KV_OK) << "registered once more";
}

TEST_P(EngineMemory, MayBeRegisteredWithTheClientToo) {
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  ASSERT_EQ(kv_client_register(client_.get(), memory_.data(), memory_.size()), KV_OK);
  ASSERT_EQ(remove(memory_), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "k", memory_), KV_OK) << "the client still has it";
  ASSERT_EQ(kv_client_unregister(client_.get(), memory_.data()), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "l", memory_), KV_NOT_REGISTERED);
}

TEST_P(EngineMemory, PiecesMayLieInSeveralRegions) {
  std::string other = pattern(2, 1000);
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(add(other), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  std::vector<kv_piece> pieces{{memory_.data(), 10}, {other.data(), 20}, {memory_.data() + 30, 40}};
  kv_batch_options options = registered();
  options.flags |= KV_BATCH_PIECES;
  std::vector<kv_op> table{line("k", pieces.data(), pieces.size())};
  run(client_.get(), KV_OP_PUT, table, &options);
  ASSERT_EQ(table[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(get(client_.get(), "k").value, memory_.substr(0, 10) + other.substr(0, 20) + memory_.substr(30, 40));
  ASSERT_EQ(remove(other), KV_OK);
  table = {line("l", pieces.data(), pieces.size())};
  run(client_.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_NOT_REGISTERED);
}

TEST_P(EngineMemory, IsNotLetGoOfWhileAPutIsAtIt) {
  std::string other = pattern(2, 1000);
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(add(other), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  beginPut();
  std::atomic<bool> letGo{false};
  std::thread unregistering([&] {
    EXPECT_EQ(remove(memory_), KV_OK);
    letGo = true;
    memory_.assign(memory_.size(), 'x');  // the caller's again
  });
  const kv_batch_options options = registered();
  EXPECT_TRUE(eventually([&] {
    std::vector<kv_op> late{line("late", memory_.data(), 1)};
    late[0].status = KV_OK;
    uint64_t batch = 0;
    kv_batch_options brief = options;
    brief.timeout_ms = 1;
    EXPECT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, late.data(), 1, &brief, &batch), KV_OK);
    EXPECT_EQ(kv_client_wait(client_.get(), batch, 10'000), KV_OK);
    return late[0].status == KV_NOT_REGISTERED;
  })) << "nothing new begins there";
  EXPECT_EQ(remove(other), KV_OK) << "what no put is at does not wait";
  EXPECT_FALSE(letGo);
  const std::string put = pattern(1, memory_.size());
  lead();
  unregistering.join();
  ASSERT_EQ(kv_client_wait(client_.get(), batch_, 20'000), KV_OK);
  ASSERT_EQ(table_[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(get(client_.get(), "slow").value, put);
}

TEST_P(EngineMemory, AnEngineThatEndsFirstWaitsForThePutAndTheClientGoesOn) {
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  beginPut();
  std::atomic<bool> ended{false};
  std::thread ending([&] {
    engine_.reset();
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(ended);
  lead();
  ending.join();
  ASSERT_EQ(kv_client_wait(client_.get(), batch_, 20'000), KV_OK);
  EXPECT_EQ(table_[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(runOne(KV_OP_PUT, "k", memory_), KV_NOT_REGISTERED);
  engine_ = startEngine();
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  EXPECT_EQ(runOne(KV_OP_PUT, "k", memory_), KV_OK) << explain(client_.get());
}

TEST_P(EngineMemory, AClientThatEndsFirstHasLetGoOfIt) {
  ASSERT_EQ(add(memory_), KV_OK);
  ASSERT_EQ(use(), KV_OK);
  beginPut();
  client_.reset();
  EXPECT_EQ(table_[0].status, KV_CLOSED);
  EXPECT_EQ(remove(memory_), KV_OK);
}

TEST_P(EngineMemory, IsAskedForByNameOfBoth) {
  EXPECT_EQ(kv_client_use_engine_memory(nullptr, engine_.get()), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_use_engine_memory(client_.get(), nullptr), KV_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kvpool::test
