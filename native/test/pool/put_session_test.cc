// SPDX-License-Identifier: Apache-2.0
// Puts in many calls, by tcp and through shared memory: whole values, and what is left of those that are not ended.
#include <algorithm>

#include "base/block_sums.h"
#include "pool/pool.h"
#include "seed.h"

namespace kvpool::test {
namespace {

struct Stretch {
  uint64_t offset = 0;
  uint64_t length = 0;
};

MasterModel::Settings masterNamed(const std::string& name, uint64_t seed) {
  MasterModel::Settings settings;
  settings.pool = *parsePoolId(kPoolText);
  settings.name = name;
  settings.seed = seed;
  return settings;
}

/// One value that is being put.
class Session {
 public:
  Session(kv_client* client, std::string key) : client_(client), key_(std::move(key)) {}

  int32_t start(uint64_t length, uint32_t replicas = 1) {
    kv_batch_options options = named();
    options.replicas = replicas;
    return one(KV_OP_PUT_START, line(key_, nullptr, length), options);
  }
  int32_t write(const std::string& value, const std::vector<Stretch>& parts) {
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (const Stretch& part : parts) {
      pieces.push_back({const_cast<char*>(value.data()) + part.offset, part.length});
      offsets.push_back(part.offset);
    }
    const uint64_t* ofLine = offsets.data();
    kv_batch_options options = named();
    options.flags = KV_BATCH_PIECES;
    options.offsets = &ofLine;
    return one(KV_OP_PUT_PARTS, line(key_, pieces.data(), pieces.size()), options);
  }
  int32_t end() { return one(KV_OP_PUT_END, line(key_), named()); }
  int32_t revoke() { return one(KV_OP_PUT_REVOKE, line(key_), named()); }

 private:
  kv_batch_options named() {
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.objects = &object_;
    return options;
  }
  int32_t one(int32_t op, kv_op wanted, const kv_batch_options& options) {
    std::vector<kv_op> table{wanted};
    run(client_, op, table, &options);
    return table[0].status;
  }

  kv_client* client_;
  std::string key_;
  kv_object_id object_{};
};

class PutSessions : public testing::TestWithParam<uint32_t> {
 protected:
  PutSessions() : node_(startNode("node-0", master_.address(), directory_.path(), 64 << 20, 0, kNoScrub)) {
    EXPECT_TRUE(master_.awaitNodes(1));
    client_ = connect(master_.address(), GetParam());
  }
  bool isEmpty() {
    return eventually([&] { return statsOf(node_.get()).used_bytes == 0; });
  }

  TemporaryDirectory directory_;
  TestMaster master_;
  NodeHandle node_;
  ClientHandle client_;
};

INSTANTIATE_TEST_SUITE_P(Transports, PutSessions, testing::Values(KV_PROTOCOL_TCP, KV_PROTOCOL_SHM),
                         [](const auto& transport) { return transport.param == KV_PROTOCOL_TCP ? "Tcp" : "Shm"; });

TEST_P(PutSessions, AreTheBytesOfTheirPartsInWhateverOrder) {
  const uint64_t value = seed(41);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  for (const size_t length : {size_t{1}, size_t{5000}, size_t{kSumBlockBytes}, size_t{300'000}, size_t{5'000'000}}) {
    const std::string whole = pattern(length, length);
    const std::string key = "k" + std::to_string(length);
    std::vector<Stretch> parts;
    for (uint64_t from = 0; from < length; from += parts.back().length)
      parts.push_back({from, 1 + dice.below(std::min<uint64_t>(length - from, 400'000))});
    for (size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[dice.below(i)]);
    Session session(client_.get(), key);
    ASSERT_EQ(session.start(length), KV_OK) << explain(client_.get());
    for (size_t at = 0; at < parts.size();) {
      const size_t count = std::min<size_t>(1 + dice.below(4), parts.size() - at);
      const auto first = parts.begin() + static_cast<std::ptrdiff_t>(at);
      ASSERT_EQ(session.write(whole, {first, first + static_cast<std::ptrdiff_t>(count)}), KV_OK)
          << explain(client_.get());
      at += count;
    }
    EXPECT_EQ(exists(client_.get(), key), KV_NOT_FOUND);
    ASSERT_EQ(session.end(), KV_OK) << explain(client_.get());
    EXPECT_TRUE(get(client_.get(), key, length).value == whole);
    EXPECT_EQ(session.end(), KV_LEASE_EXPIRED);
  }
  const kv_client_stats stats = statsOf(client_.get());
  EXPECT_EQ(stats.checksum_failures, 0u);
  EXPECT_EQ(stats.shm_bytes > 0, GetParam() == KV_PROTOCOL_SHM);
}

TEST_P(PutSessions, OfAValueLargerThanTheStagingMemoryWork) {
  const TemporaryDirectory directory;
  const NodeHandle large = startNode("node-1", master_.address(), directory.path(), 512 << 20, 0, kNoScrub);
  ASSERT_TRUE(master_.awaitNodes(2));
  const std::string whole = pattern(1, (64 << 20) + 1000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK) << explain(client_.get());
  ASSERT_EQ(session.write(whole, {{0, whole.size()}}), KV_OK) << explain(client_.get());
  ASSERT_EQ(session.end(), KV_OK) << explain(client_.get());
  EXPECT_TRUE(get(client_.get(), "k", whole.size()).value == whole);
}

TEST_P(PutSessions, WhoseWriterDiesInTheMiddleLeaveNothing) {
  const std::string whole = pattern(1, 300'000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, whole.size()}}), KV_OK);
  EXPECT_GE(statsOf(node_.get()).used_bytes, whole.size());
  client_.reset();
  EXPECT_TRUE(isEmpty());
  const ClientHandle other = connect(master_.address(), GetParam());
  EXPECT_EQ(exists(other.get(), "k"), KV_NOT_FOUND);
}

TEST_P(PutSessions, ThatAreRevokedLeaveNothingAndTheirKeyFree) {
  const std::string whole = pattern(1, 300'000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, 1000}}), KV_OK);
  EXPECT_EQ(session.revoke(), KV_OK);
  EXPECT_TRUE(isEmpty());
  EXPECT_EQ(put(client_.get(), "k", "value"), KV_OK);
  EXPECT_EQ(get(client_.get(), "k").value, "value");
}

TEST_P(PutSessions, WithBytesThatWereNeverWrittenAreNoValue) {
  const std::string whole = pattern(1, 300'000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, 100'000}, {100'001, 199'999}}), KV_OK);
  EXPECT_EQ(session.end(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(exists(client_.get(), "k"), KV_NOT_FOUND);
  EXPECT_TRUE(isEmpty());
}

TEST_P(PutSessions, OfOneKeyAreOneAtATime) {
  const ClientHandle other = connect(master_.address(), GetParam());
  const std::string whole = pattern(1, 10'000);
  Session first(client_.get(), "k");
  Session second(other.get(), "k");
  ASSERT_EQ(first.start(whole.size()), KV_OK);
  EXPECT_EQ(second.start(whole.size()), KV_BUSY);
  ASSERT_EQ(first.write(whole, {{0, whole.size()}}), KV_OK);
  EXPECT_EQ(second.write(whole, {{0, whole.size()}}), KV_LEASE_EXPIRED);
  ASSERT_EQ(first.end(), KV_OK);
  EXPECT_EQ(second.start(whole.size()), KV_EXISTS);
  EXPECT_TRUE(get(other.get(), "k").value == whole);
}

TEST_P(PutSessions, AreOverWithTheirNode) {
  const std::string whole = pattern(1, 300'000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, 200'000}}), KV_OK);
  node_.reset();
  node_ = startNode("node-0", master_.address(), directory_.path(), 64 << 20, 0, kNoScrub);
  ASSERT_TRUE(master_.awaitNodes(1));
  EXPECT_EQ(statsOf(node_.get()).restored_objects, 0u);
  EXPECT_NE(session.write(whole, {{200'000, 100'000}}), KV_OK);
  EXPECT_EQ(session.end(), KV_LEASE_EXPIRED);
  EXPECT_EQ(exists(client_.get(), "k"), KV_NOT_FOUND);
  EXPECT_TRUE(isEmpty());
  ASSERT_EQ(session.start(whole.size()), KV_OK) << explain(client_.get());
  ASSERT_EQ(session.write(whole, {{0, whole.size()}}), KV_OK);
  EXPECT_EQ(session.end(), KV_OK);
}

TEST_P(PutSessions, OfTwoCopiesGoOnWithOneNode) {
  const TemporaryDirectory directory;
  NodeHandle second = startNode("node-1", master_.address(), directory.path(), 64 << 20, 0, kNoScrub);
  ASSERT_TRUE(master_.awaitNodes(2));
  const std::string whole = pattern(1, 300'000);
  Session session(client_.get(), "k");
  ASSERT_EQ(session.start(whole.size(), 2), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, 200'000}}), KV_OK);
  second.reset();
  ASSERT_EQ(session.write(whole, {{200'000, 100'000}}), KV_OK) << explain(client_.get());
  ASSERT_EQ(session.end(), KV_OK) << explain(client_.get());
  EXPECT_TRUE(get(client_.get(), "k").value == whole);
}

TEST_P(PutSessions, OutliveTheTimeAfterWhichConnectionsAreIdle) {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.protocols = GetParam();
  const std::string masters = master_.address();
  params.masters = masters.c_str();
  params.idle_timeout_ms = 100;
  char err[512] = "";
  kv_client* created = nullptr;
  ASSERT_EQ(kv_client_create(&params, &created, err, sizeof err), KV_OK) << err;
  const ClientHandle client(created);
  const std::string whole = pattern(1, 1000);
  Session session(client.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(session.write(whole, {{0, 1000}}), KV_OK);
  EXPECT_EQ(session.end(), KV_OK);
  EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).clients_connected == 0; }));
}

TEST_P(PutSessions, AskedForWronglyAreRefused) {
  kv_op table = line("k", nullptr, 10);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  uint64_t batch = 0;
  for (const int32_t op : {KV_OP_PUT_START, KV_OP_PUT_PARTS, KV_OP_PUT_END, KV_OP_PUT_REVOKE})
    EXPECT_EQ(kv_client_submit(client_.get(), op, &table, 1, &options, &batch), KV_INVALID_ARGUMENT) << op;
  kv_object_id object{1, 1};
  options.objects = &object;
  EXPECT_EQ(kv_client_submit(client_.get(), KV_OP_PUT_PARTS, &table, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_submit(client_.get(), KV_OP_GET, &table, 1, &options, &batch), KV_INVALID_ARGUMENT);
}

TEST(PutSessionsAtATakeover, AreOverAndLeaveNothing) {
  const TemporaryDirectory directory;
  TestMaster first(masterNamed("master-0", 1));
  TestMaster second(masterNamed("master-1", 2));
  second.in([](MasterServer& server) { server.model().setRole(MasterRole::Standby); });
  const std::string masters = second.address() + "," + first.address();
  const NodeHandle node = startNode("node-0", masters, directory.path());
  ASSERT_TRUE(first.awaitNodes(1));
  const ClientHandle client = connect(masters);
  const std::string whole = pattern(1, 300'000);
  Session session(client.get(), "k");
  ASSERT_EQ(session.start(whole.size()), KV_OK);
  ASSERT_EQ(session.write(whole, {{0, whole.size()}}), KV_OK);

  first.in([](MasterServer& server) {
    server.model().setRole(MasterRole::Standby);
    server.dropConnections();
  });
  second.in([](MasterServer& server) { server.model().setRole(MasterRole::Leader); });
  ASSERT_TRUE(second.awaitNodes(1));
  EXPECT_EQ(session.end(), KV_LEASE_EXPIRED) << explain(client.get());
  EXPECT_EQ(exists(client.get(), "k"), KV_NOT_FOUND);
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).used_bytes == 0; }));
  ASSERT_EQ(session.start(whole.size()), KV_OK) << explain(client.get());
  ASSERT_EQ(session.write(whole, {{0, whole.size()}}), KV_OK);
  ASSERT_EQ(session.end(), KV_OK);
  EXPECT_TRUE(get(client.get(), "k").value == whole);
}

TEST(PutSessionsByAgent, AreRefused) {
  const TemporaryDirectory directory;
  TestMaster master;
  const NodeHandle node = startNode("node-0", master.address(), directory.path());
  ASSERT_TRUE(master.awaitNodes(1));
  const AgentHandle agent = startAgent(master.address(), directory.path() + "/agent.sock");
  const ClientHandle client = attach(directory.path() + "/agent.sock");
  ASSERT_TRUE(client);
  kv_op table = line("k", nullptr, 10);
  kv_object_id object{};
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.objects = &object;
  uint64_t batch = 0;
  EXPECT_EQ(kv_client_submit(client.get(), KV_OP_PUT_START, &table, 1, &options, &batch), KV_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kvpool::test
