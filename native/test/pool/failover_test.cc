// SPDX-License-Identifier: Apache-2.0
// Masters that die, change, or do not fit.
#include <sys/wait.h>
#include <unistd.h>

#include "pool/pool.h"

namespace kvpool::test {
namespace {

MasterModel::Settings named(const std::string& name, uint64_t seed) {
  MasterModel::Settings settings;
  settings.pool = *parsePoolId(kPoolText);
  settings.name = name;
  settings.seed = seed;
  return settings;
}

TEST(Failover, ANewLeaderHasEveryObjectAndTakesPuts) {
  TemporaryDirectory directory;
  TestMaster first(named("master-0", 1));
  TestMaster second(named("master-1", 2));
  second.in([](MasterServer& server) { server.model().setRole(MasterRole::Standby); });
  const std::string masters = second.address() + "," + first.address();
  const NodeHandle node = startNode("node-0", masters, directory.path());
  ASSERT_TRUE(first.awaitNodes(1));
  const ClientHandle client = connect(masters);
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(put(client.get(), "key-" + std::to_string(i), pattern(i, 1000 + i)), KV_OK) << explain(client.get());
  }

  first.in([](MasterServer& server) {
    server.model().setRole(MasterRole::Standby);
    server.dropConnections();
  });
  second.in([](MasterServer& server) { server.model().setRole(MasterRole::Leader); });
  ASSERT_TRUE(second.awaitNodes(1));
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(get(client.get(), "key-" + std::to_string(i)).value == pattern(i, 1000 + i)) << explain(client.get());
  }
  EXPECT_EQ(put(client.get(), "after", "value"), KV_OK) << explain(client.get());
  EXPECT_EQ(get(client.get(), "after").value, "value");
  const kv_client_stats stats = statsOf(client.get());
  EXPECT_GE(stats.leader_changes, 1u);
  EXPECT_GE(stats.epoch, 2u);
}

TEST(Failover, PutsGoOnWhenTheConnectionBreaksAgainAndAgain) {
  TemporaryDirectory directory;
  TestMaster master;
  const NodeHandle node = startNode("node-0", master.address(), directory.path());
  ASSERT_TRUE(master.awaitNodes(1));
  const ClientHandle client = connect(master.address());
  for (uint64_t round = 0; round < 5; ++round) {
    const std::string key = "key-" + std::to_string(round);
    const std::string value = pattern(round, 200000);
    std::vector<kv_op> table{line(key, value.data(), value.size())};
    uint64_t batch = 0;
    ASSERT_EQ(kv_client_submit(client.get(), KV_OP_PUT, table.data(), 1, nullptr, &batch), KV_OK);
    master.in([](MasterServer& server) { server.dropConnections(); });
    ASSERT_EQ(kv_client_wait(client.get(), batch, 40000), KV_OK);
    ASSERT_EQ(table[0].status, KV_OK) << explain(client.get());
    ASSERT_TRUE(eventually([&] { return get(client.get(), key).value == value; })) << explain(client.get());
  }
}

TEST(Failover, WithoutAMasterCreateFailsAndNamesEachAndWhy) {
  int32_t status = KV_OK;
  std::string why;
  const ClientHandle client = connect("127.0.0.1:1,[::1]:2", 0, 300, &status, &why);
  EXPECT_FALSE(client);
  EXPECT_EQ(status, KV_CONNECT_FAILED);
  EXPECT_NE(why.find("not ready after 300 ms"), std::string::npos) << why;
  EXPECT_NE(why.find("127.0.0.1:1: "), std::string::npos) << why;
  EXPECT_NE(why.find("[::1]:2: "), std::string::npos) << why;
}

TEST(Failover, AMasterThatComesLaterIsFound) {
  uint16_t port = 0;
  {
    TestMaster once;
    port = once.port();
  }
  std::unique_ptr<TestMaster> late;
  std::thread starter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    late = std::make_unique<TestMaster>(MasterModel::Settings(), port);
  });
  int32_t status = KV_OK;
  std::string why;
  const ClientHandle client = connect("127.0.0.1:" + std::to_string(port), 0, 10000, &status, &why);
  starter.join();
  EXPECT_TRUE(client) << why;
}

TEST(Failover, VersionsThatDoNotFitFailAtOnceAndNameBoth) {
  MasterModel::Settings newer = named("newer-master", 1);
  newer.wire = {2, 3};
  TestMaster master(newer);
  int32_t status = KV_OK;
  std::string why;
  const ClientHandle client = connect(master.address(), 0, 60000, &status, &why);
  EXPECT_FALSE(client);
  EXPECT_EQ(status, KV_VERSION_MISMATCH);
  EXPECT_NE(why.find("newer-master"), std::string::npos) << why;
  EXPECT_NE(why.find("[2, 3]"), std::string::npos) << why;
  EXPECT_NE(why.find("[1, 1]"), std::string::npos) << why;
}

TEST(Failover, AForkedChildIsToldClosedAndTheParentGoesOn) {
  TemporaryDirectory directory;
  TestMaster master;
  const NodeHandle node = startNode("node-0", master.address(), directory.path());
  ASSERT_TRUE(master.awaitNodes(1));
  ClientHandle client = connect(master.address());
  const pid_t child = ::fork();
  if (child == 0) {
    uint64_t batch = 0;
    kv_op op = line("k", "v", 1);
    const bool refused = kv_client_submit(client.get(), KV_OP_PUT, &op, 1, nullptr, &batch) == KV_CLOSED;
    kv_client_destroy(client.release());
    ::_exit(refused ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(::waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(put(client.get(), "k", "value"), KV_OK);
}

}  // namespace
}  // namespace kvpool::test
