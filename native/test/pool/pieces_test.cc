// SPDX-License-Identifier: Apache-2.0
// Values that lie in many pieces of the caller's memory, and which thread moves them.
#include <thread>

#include "pool/pool.h"
#include "seed.h"

namespace kvpool::test {
namespace {

/// Cuts a memory into random pieces, empty ones among them.
std::vector<kv_piece> cut(std::string& memory, Dice& dice, size_t longest) {
  std::vector<kv_piece> pieces;
  for (size_t at = 0; at < memory.size();) {
    const size_t length = std::min(dice.below(longest), memory.size() - at);
    pieces.push_back({length == 0 ? nullptr : memory.data() + at, length});
    at += length;
  }
  return pieces;
}

kv_op lineOf(std::string_view key, std::vector<kv_piece>& pieces) {
  return line(key, pieces.data(), pieces.size());
}

kv_batch_options inPieces(uint32_t more = 0) {
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_PIECES | more;
  return options;
}

class Pieces : public testing::TestWithParam<uint32_t> {
 protected:
  Pieces() : node_(startNode("node-0", master_.address(), directory_.path(), 64 << 20)) {
    EXPECT_TRUE(master_.awaitNodes(1));
    client_ = connect(master_.address(), GetParam());
  }

  static MasterModel::Settings leasing() {
    MasterModel::Settings settings;
    settings.objectLeaseMs = 10000;
    return settings;
  }

  TemporaryDirectory directory_;
  TestMaster master_{leasing()};
  NodeHandle node_;
  ClientHandle client_;
};

INSTANTIATE_TEST_SUITE_P(Transports, Pieces, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM),
                         [](const auto& transport) { return transport.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm"; });

TEST_P(Pieces, AreOneValueHoweverItIsCut) {
  const uint64_t value = seed(31);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  for (const size_t length : {size_t{0}, size_t{1}, size_t{5000}, size_t{300000}, size_t{3000000}}) {
    const std::string key = "k" + std::to_string(length);
    std::string from = pattern(length, length), to(length + 10, '.');
    auto source = cut(from, dice, 9000), target = cut(to, dice, 9000);
    const auto put = inPieces(KV_BATCH_WAIT), get = inPieces(KV_BATCH_WAIT);
    std::vector<kv_op> puts{lineOf(key, source)}, gets{lineOf(key, target)};
    run(client_.get(), KV_OP_PUT, puts, &put);
    ASSERT_EQ(puts[0].status, KV_OK) << explain(client_.get());
    run(client_.get(), KV_OP_GET, gets, &get);
    ASSERT_EQ(gets[0].status, KV_OK) << explain(client_.get());
    EXPECT_EQ(gets[0].result_length, length);
    EXPECT_TRUE(to == from + std::string(10, '.')) << length << " bytes, cut at random";
    EXPECT_TRUE(kvpool::test::get(client_.get(), key, length).value == from) << "it is a value like any other";
  }
}

TEST_P(Pieces, ThatCannotBeRightEndTheirLineOnly) {
  std::string memory(64, 'm');
  std::vector<kv_piece> good{{memory.data(), 4}}, nowhere{{memory.data(), 4}, {nullptr, 4}};
  std::vector<kv_piece> endless{{memory.data(), UINT64_MAX}, {memory.data(), 4}}, outside{{memory.data() + 60, 8}};
  std::vector<kv_op> table{lineOf("good", good), lineOf("nowhere", nowhere), lineOf("endless", endless),
                           line("none", nullptr, 3), line("many", good.data(), uint64_t{KV_PIECES_MAX} + 1)};
  auto options = inPieces();
  run(client_.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_OK);
  for (size_t i = 1; i < table.size(); ++i)
    EXPECT_EQ(table[i].status, KV_INVALID_ARGUMENT) << i;
  ASSERT_EQ(kv_client_register(client_.get(), memory.data(), memory.size()), KV_OK);
  options = inPieces(KV_BATCH_REGISTERED);
  table = {lineOf("inside", good), lineOf("outside", outside)};
  run(client_.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_OK);
  EXPECT_EQ(table[1].status, KV_NOT_REGISTERED);
}

TEST_P(Pieces, TooLittleRoomIsLeftAsItIs) {
  ASSERT_EQ(put(client_.get(), "k", "0123456789"), KV_OK);
  std::string memory = "........";
  std::vector<kv_piece> pieces{{memory.data(), 4}, {memory.data() + 4, 4}};
  std::vector<kv_op> table{lineOf("k", pieces)};
  const auto options = inPieces();
  run(client_.get(), KV_OP_GET, table, &options);
  EXPECT_EQ(table[0].status, KV_BUFFER_TOO_SMALL);
  EXPECT_EQ(table[0].result_length, 10u);
  EXPECT_EQ(memory, "........");
}

/// Callers that wait move bytes themselves, others leave that to the client's thread; both at once, from many threads.
TEST_P(Pieces, CallersThatWaitAndCallersThatDoNotShareAClient) {
  constexpr int kThreads = 4;
  constexpr int kBatches = 40;
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      kv_batch_options options{};
      options.struct_size = sizeof options;
      for (int batch = 0; batch < kBatches; ++batch) {
        options.flags = (thread + batch) % 2 == 0 ? KV_BATCH_WAIT : 0;
        const std::string key = std::to_string(thread) + "/" + std::to_string(batch);
        const std::string from = pattern(static_cast<uint64_t>(batch), 10000);
        std::string to(from.size(), '.'), source = from;
        std::vector<kv_op> puts{line(key, source.data(), source.size())}, gets{line(key, to.data(), to.size())};
        run(client_.get(), KV_OP_PUT, puts, &options);
        run(client_.get(), KV_OP_GET, gets, &options);
        if (puts[0].status != KV_OK || gets[0].status != KV_OK || to != from) wrong[static_cast<size_t>(thread)] = key;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<std::string>(kThreads));
}

TEST_P(Pieces, AnObjectReadAgainUnderItsLeaseNeedsNoLeader) {
  ASSERT_EQ(put(client_.get(), "k", "value"), KV_OK);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REUSE;
  std::string room(5, '.');
  std::vector<kv_op> table{line("k", room.data(), room.size())};
  run(client_.get(), KV_OP_GET, table, &options);
  ASSERT_EQ(table[0].status, KV_OK);
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  room = ".....";
  options.timeout_ms = 5000;
  run(client_.get(), KV_OP_GET, table, &options);
  EXPECT_EQ(table[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(room, "value");
}

TEST_P(Pieces, ABatchNobodyWaitsForEndsToo) {
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_WAIT;  // and then the caller does not
  std::string value = "value";
  std::vector<kv_op> table{line("k", value.data(), value.size())};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, table.data(), 1, &options, &batch), KV_OK);
  EXPECT_TRUE(eventually([&] { return statsOf(client_.get()).put_bytes == value.size(); }));
  EXPECT_EQ(kv_client_wait(client_.get(), batch, 5000), KV_OK);
  EXPECT_EQ(table[0].status, KV_OK);
}

}  // namespace
}  // namespace kvpool::test
