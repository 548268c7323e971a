// SPDX-License-Identifier: Apache-2.0
// Objects with a copy on each of two real nodes, of which one dies, is damaged or comes back empty: reads go on.
#include <filesystem>
#include <fstream>

#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr uint64_t kObjects = 40;

/// Flips a byte of every object's payload in a segment file, as failing memory would.
size_t damagePayloads(const std::string& file, const std::vector<std::string>& values) {
  std::fstream segment(file, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes(std::filesystem::file_size(file), '\0');
  segment.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  size_t damaged = 0;
  for (const std::string& value : values) {
    const size_t at = bytes.find(value);
    if (at == std::string::npos) continue;
    segment.seekp(static_cast<std::streamoff>(at + value.size() / 2));
    segment.put(static_cast<char>(~value[value.size() / 2]));
    ++damaged;
  }
  return damaged;
}

class Replicas : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    first_ = start("node-0", firstDirectory_);
    second_ = start("node-1", secondDirectory_);
    ASSERT_TRUE(master_.awaitNodes(2));
    client_ = connect(master_.address(), GetParam());
    ASSERT_TRUE(client_);
    for (uint64_t i = 0; i < kObjects; ++i) {
      keys_.push_back("key-" + std::to_string(i));
      values_.push_back(pattern(i, 3000 + i));
    }
    ASSERT_NO_FATAL_FAILURE(putAll());
  }

  NodeHandle start(const std::string& id, const TemporaryDirectory& directory) {
    return startNode(id, master_.address(), directory.path(), 32 << 20, 0, kNoScrub);
  }

  void putAll() {
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.replicas = 2;
    std::vector<kv_op> table;
    for (size_t i = 0; i < kObjects; ++i)
      table.push_back(line(keys_[i], values_[i].data(), values_[i].size()));
    run(client_.get(), KV_OP_PUT, table, &options);
    for (const kv_op& op : table)
      ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
    ASSERT_TRUE(eventually([&] { return statsOf(first_.get()).objects == kObjects; }));
    ASSERT_TRUE(eventually([&] { return statsOf(second_.get()).objects == kObjects; }));
  }

  void expectAllReadable() {
    for (size_t i = 0; i < kObjects; ++i) {
      const Got got = get(client_.get(), keys_[i]);
      ASSERT_EQ(got.status, KV_OK) << keys_[i] << ": " << explain(client_.get());
      ASSERT_TRUE(got.value == values_[i]) << keys_[i];
    }
  }

  TemporaryDirectory firstDirectory_;
  TemporaryDirectory secondDirectory_;
  TestMaster master_;
  NodeHandle first_;
  NodeHandle second_;
  ClientHandle client_;
  std::vector<std::string> keys_;
  std::vector<std::string> values_;
};

INSTANTIATE_TEST_SUITE_P(Transports, Replicas, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM),
                         [](const auto& transport) { return transport.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm"; });

TEST_P(Replicas, ADeadNodeCostsNoRead) {
  first_.reset();
  expectAllReadable();
  EXPECT_EQ(statsOf(client_.get()).misses, 0u);
}

TEST_P(Replicas, DamagedBytesAreNeverReturnedAndTheOtherCopyIs) {
  ASSERT_EQ(damagePayloads(firstDirectory_.path() + "/segment-0.kvs", values_), kObjects);
  expectAllReadable();
  const kv_client_stats seen = statsOf(client_.get());
  const uint64_t found = seen.checksum_failures + statsOf(first_.get()).checksum_failures;
  EXPECT_GT(found, 0u) << "no read met the damaged copy";
  EXPECT_EQ(seen.misses, 0u);
}

TEST_P(Replicas, ANodeThatCameBackEmptyIsPassedBy) {
  first_.reset();
  std::filesystem::remove(firstDirectory_.path() + "/segment-0.kvs");
  first_ = start("node-0", firstDirectory_);
  ASSERT_TRUE(master_.awaitNodes(2));
  expectAllReadable();
  EXPECT_EQ(statsOf(first_.get()).objects, 0u);
}

TEST_P(Replicas, AnUpsertReplacesEveryCopy) {
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.replicas = 2;
  options.flags = KV_BATCH_UPSERT;
  for (size_t round = 1; round <= 3; ++round) {
    std::vector<kv_op> table;
    for (size_t i = 0; i < kObjects; ++i) {
      values_[i] = pattern(round * 1000 + i, 2000 + i * round);
      table.push_back(line(keys_[i], values_[i].data(), values_[i].size()));
    }
    run(client_.get(), KV_OP_PUT, table, &options);
    for (const kv_op& op : table)
      ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
    expectAllReadable();
  }
}

TEST_P(Replicas, AKeyTwiceInOneUpsertEndsWithTheLast) {
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_UPSERT;
  std::vector<kv_op> table{line("key-0", "one", 3), line("key-0", "three", 5)};
  run(client_.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_OK);
  EXPECT_EQ(table[1].status, KV_OK);
  EXPECT_EQ(get(client_.get(), "key-0").value, "three");
}

}  // namespace
}  // namespace kvpool::test
