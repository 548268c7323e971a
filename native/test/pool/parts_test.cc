// SPDX-License-Identifier: Apache-2.0
// Parts of values, by tcp and from shared memory.
#include <fcntl.h>

#include <algorithm>
#include <memory>

#include "base/block_sums.h"
#include "pool/pool.h"
#include "seed.h"
#include "store/mapping.h"

namespace kvpool::test {
namespace {

struct Part {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// A line that asks for parts, and the memory that they go to.
struct Asked {
  Asked(std::string name, const std::vector<Part>& parts) : key(std::move(name)) {
    size_t bytes = 0;
    for (const Part& part : parts)
      bytes += part.length;
    memory->assign(bytes, '.');
    for (size_t at = 0; const Part& part : parts) {
      pieces.push_back({memory->data() + at, part.length});
      offsets.push_back(part.offset);
      at += part.length;
    }
  }
  std::string key;
  std::shared_ptr<std::string> memory = std::make_shared<std::string>();  // stays where it is
  std::vector<kv_piece> pieces;
  std::vector<uint64_t> offsets;
};

class PartsOfValues : public testing::TestWithParam<uint32_t> {
 protected:
  PartsOfValues() : node_(startNode("node-0", master_.address(), directory_.path(), 64 << 20, 0, kNoScrub)) {
    EXPECT_TRUE(master_.awaitNodes(1));
    client_ = connect(master_.address(), GetParam());
  }

  static MasterModel::Settings leasing() {
    MasterModel::Settings settings;
    settings.objectLeaseMs = 10000;
    return settings;
  }
  static kv_batch_options options(const std::vector<const uint64_t*>& offsets, uint32_t more = 0) {
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.flags = KV_BATCH_PIECES | more;
    options.offsets = offsets.data();
    return options;
  }
  std::vector<kv_op> read(std::vector<Asked>& lines, uint32_t more = 0) {
    std::vector<kv_op> table;
    std::vector<const uint64_t*> offsets;
    for (Asked& asked : lines) {
      table.push_back(line(asked.key, asked.pieces.data(), asked.pieces.size()));
      offsets.push_back(asked.offsets.data());
    }
    const kv_batch_options given = options(offsets, more);
    run(client_.get(), KV_OP_GET, table, &given);
    return table;
  }
  int32_t readOne(const std::string& key, const std::vector<Part>& parts) {
    std::vector<Asked> lines{Asked(key, parts)};
    return read(lines)[0].status;
  }
  /// Changes a byte of the only place in the segment where `bytes` stand.
  void damage(const std::string& bytes) {
    const Fd file(::open((directory_.path() + "/segment-0.kvs").c_str(), O_RDWR | O_CLOEXEC));
    auto mapped = store::Mapping::map(file.get(), 64 << 20, true);
    ASSERT_TRUE(mapped.ok());
    const std::span<uint8_t> all = mapped.value().bytes();
    const size_t at = std::string_view(reinterpret_cast<const char*>(all.data()), all.size()).find(bytes);
    ASSERT_NE(at, std::string_view::npos);
    all[at] ^= 1;
  }

  TemporaryDirectory directory_;
  TestMaster master_{leasing()};
  NodeHandle node_;
  ClientHandle client_;
};

INSTANTIATE_TEST_SUITE_P(Transports, PartsOfValues, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM),
                         [](const auto& transport) { return transport.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm"; });

TEST_P(PartsOfValues, AreTheBytesFromWhereTheyBegin) {
  const uint64_t value = seed(31);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  std::vector<std::string> values;
  for (const size_t length : {size_t{1}, size_t{5000}, size_t{kSumBlockBytes}, size_t{300'000}, size_t{3'000'000}}) {
    values.push_back(pattern(length, length));
    ASSERT_EQ(put(client_.get(), "k" + std::to_string(length), values.back()), KV_OK);
  }
  for (int round = 0; round < 40; ++round) {
    std::vector<Asked> lines;
    std::vector<std::string> expected;
    for (const std::string& whole : values) {
      std::vector<Part> parts;
      std::string bytes;
      for (uint64_t count = dice.below(9); count > 0; --count) {
        const uint64_t from =
            !parts.empty() && dice.oneIn(2) ? parts.back().offset + parts.back().length : dice.below(whole.size() + 1);
        const uint64_t longest = std::min<uint64_t>(whole.size() - from, dice.oneIn(3) ? 500'000 : 5000);
        parts.push_back({from, dice.below(longest + 1)});
        bytes += whole.substr(from, parts.back().length);
      }
      lines.emplace_back("k" + std::to_string(whole.size()), parts);
      expected.push_back(bytes);
    }
    const std::vector<kv_op> table = read(lines, dice.oneIn(2) ? KV_BATCH_REUSE : KV_BATCH_WAIT);
    for (size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(table[i].status, KV_OK) << explain(client_.get());
      EXPECT_EQ(table[i].result_length, values[i].size()) << "of the whole";
      EXPECT_TRUE(*lines[i].memory == expected[i]);
    }
  }
  EXPECT_EQ(statsOf(client_.get()).checksum_failures, 0u);
}

TEST_P(PartsOfValues, DamageCostsThePartsOfItsBlockOnly) {
  const std::string value = pattern(1, 5 * kSumBlockBytes);
  ASSERT_EQ(put(client_.get(), "k", value), KV_OK);
  damage(value.substr(2 * kSumBlockBytes + 500, 64));
  EXPECT_EQ(readOne("k", {{2 * kSumBlockBytes + 400, 200}}), KV_CHECKSUM);
  EXPECT_EQ(readOne("k", {{0, 10}, {2 * kSumBlockBytes + 9000, 5}}), KV_CHECKSUM) << "the rest of the block";
  EXPECT_EQ(readOne("k", {{0, 2 * kSumBlockBytes}, {3 * kSumBlockBytes, 2 * kSumBlockBytes}}), KV_OK);
  EXPECT_EQ(get(client_.get(), "k").status, KV_CHECKSUM);
}

TEST_P(PartsOfValues, ThatAreNotInsideEndTheirLineOnly) {
  ASSERT_EQ(put(client_.get(), "k", std::string(1000, 'v')), KV_OK);
  std::vector<Asked> lines{Asked("k", {{990, 10}, {1000, 0}}),
                           Asked("k", {{991, 10}}),
                           Asked("k", {{1001, 0}}),
                           Asked("k", {{UINT64_MAX, 5}}),
                           Asked("none", {{0, 1}}),
                           Asked("k", {}),
                           Asked("k", {{0, 2000}})};
  const std::vector<kv_op> table = read(lines);
  EXPECT_EQ(table[0].status, KV_OK);
  for (const size_t outside : {size_t{1}, size_t{2}, size_t{3}, size_t{6}}) {
    EXPECT_EQ(table[outside].status, KV_INVALID_ARGUMENT) << outside;
    EXPECT_EQ(table[outside].result_length, 1000u) << outside;
    EXPECT_EQ(lines[outside].memory->find_first_not_of('.'), std::string::npos) << outside;
  }
  EXPECT_EQ(table[4].status, KV_NOT_FOUND);
  EXPECT_EQ(table[5].status, KV_OK) << "no parts";
}

TEST_P(PartsOfValues, AreBoundedInNumber) {
  ASSERT_EQ(put(client_.get(), "k", std::string(1000, 'v')), KV_OK);
  EXPECT_EQ(readOne("k", std::vector<Part>(KV_PARTS_MAX, {7, 1})), KV_OK);
  EXPECT_EQ(readOne("k", std::vector<Part>(KV_PARTS_MAX + 1, {7, 1})), KV_INVALID_ARGUMENT);
}

TEST_P(PartsOfValues, AskedForWronglyAreRefused) {
  ASSERT_EQ(put(client_.get(), "k", std::string(1000, 'v')), KV_OK);
  Asked asked("k", {{0, 1}});
  std::vector<kv_op> table{line(asked.key, asked.pieces.data(), 1)};
  std::vector<const uint64_t*> offsets{asked.offsets.data()};
  kv_batch_options given = options(offsets);
  uint64_t batch = 0;
  EXPECT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, table.data(), 1, &given, &batch), KV_INVALID_ARGUMENT);
  given.flags = 0;
  EXPECT_EQ(kv_client_submit(client_.get(), KV_OP_GET, table.data(), 1, &given, &batch), KV_INVALID_ARGUMENT);
  given.flags = KV_BATCH_PIECES;
  offsets[0] = nullptr;
  run(client_.get(), KV_OP_GET, table, &given);
  EXPECT_EQ(table[0].status, KV_INVALID_ARGUMENT) << "a line without offsets";
}

TEST_P(PartsOfValues, OfARemovedObjectAreAMiss) {
  const std::string value = pattern(1, 300'000);
  ASSERT_EQ(put(client_.get(), "k", value), KV_OK);
  std::vector<Asked> lines{Asked("k", {{100'000, 10}})};
  ASSERT_EQ(read(lines, KV_BATCH_REUSE)[0].status, KV_OK);
  const ClientHandle other = connect(master_.address(), KV_PROTOCOL_TCP);
  ASSERT_EQ(remove(other.get(), "k", true), KV_OK);
  EXPECT_EQ(read(lines, KV_BATCH_REUSE)[0].status, KV_NOT_FOUND);
}

TEST_P(PartsOfValues, AreOfOneValueWhenItIsNamed) {
  const std::string value = pattern(1, 300'000);
  ASSERT_EQ(put(client_.get(), "k", value), KV_OK);
  kv_object_id object{};
  const auto readNamed = [&](const std::vector<Part>& parts) {
    Asked asked("k", parts);
    std::vector<kv_op> table{line(asked.key, asked.pieces.data(), asked.pieces.size())};
    const uint64_t* offsets = asked.offsets.data();
    const uint64_t nowhere = 0;
    if (offsets == nullptr) offsets = &nowhere;
    kv_batch_options given{};
    given.struct_size = sizeof given;
    given.flags = KV_BATCH_PIECES | KV_BATCH_REUSE;
    given.offsets = &offsets;
    given.objects = &object;
    run(client_.get(), KV_OP_GET, table, &given);
    if (table[0].status == KV_OK) {
      EXPECT_TRUE(parts.empty() || *asked.memory == value.substr(parts[0].offset, parts[0].length));
    }
    return table[0].status;
  };
  ASSERT_EQ(readNamed({}), KV_OK);
  EXPECT_GT(object.counter, 0u);
  EXPECT_EQ(readNamed({{200'000, 5'000}}), KV_OK);
  const kv_object_id before = object;
  ASSERT_EQ(remove(client_.get(), "k", true), KV_OK);
  ASSERT_EQ(put(client_.get(), "k", pattern(2, 300'000)), KV_OK);
  EXPECT_EQ(readNamed({{200'000, 5'000}}), KV_LEASE_EXPIRED);
  EXPECT_EQ(object.counter, before.counter) << "it stays what it was";
  object = {};
  EXPECT_EQ(readNamed({}), KV_OK);
  EXPECT_GT(object.counter, before.counter);
}

TEST(PartsByAgent, AreRefused) {
  const TemporaryDirectory directory;
  TestMaster master;
  const NodeHandle node = startNode("node-0", master.address(), directory.path());
  ASSERT_TRUE(master.awaitNodes(1));
  const AgentHandle agent = startAgent(master.address(), directory.path() + "/agent.sock");
  const ClientHandle client = attach(directory.path() + "/agent.sock");
  ASSERT_TRUE(client);
  char byte = 0;
  kv_piece piece{&byte, 1};
  const uint64_t offset = 0;
  const uint64_t* offsets = &offset;
  kv_op table = line("k", &piece, 1);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_PIECES;
  options.offsets = &offsets;
  uint64_t batch = 0;
  EXPECT_EQ(kv_client_submit(client.get(), KV_OP_GET, &table, 1, &options, &batch), KV_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kvpool::test
