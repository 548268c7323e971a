// SPDX-License-Identifier: Apache-2.0
// An agent and its clients over real sockets, with a real node behind them: who comes, goes, restarts.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "no_descriptors.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    node_ = startNode("node-0", master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
    agent_ = startAgent(master_.address(), socket_);
    ASSERT_TRUE(agent_);
  }

  void restartAgent() {
    agent_.reset();
    agent_ = startAgent(master_.address(), socket_);
    ASSERT_TRUE(agent_);
  }

  TemporaryDirectory directory_;
  const std::string socket_ = directory_.path() + "/agent.sock";
  TestMaster master_;
  NodeHandle node_;
  AgentHandle agent_;
};

TEST_F(AgentTest, ManyClientsShareOneAgentAndTheirObjects) {
  std::vector<ClientHandle> agentClients;
  for (uint64_t i = 0; i < 4; ++i) {
    agentClients.push_back(attach(socket_, 4 << 20));
    EXPECT_EQ(put(agentClients[i].get(), "k" + std::to_string(i), pattern(i, 100000 + i)), KV_OK);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    for (const ClientHandle& agentClient : agentClients)
      EXPECT_TRUE(get(agentClient.get(), "k" + std::to_string(i)).value == pattern(i, 100000 + i));
  }
  EXPECT_TRUE(eventually([&] { return statsOf(agent_.get()).clients == 4; }));
  EXPECT_EQ(statsOf(agent_.get()).staging_bytes, 4u * (4 << 20));
  EXPECT_EQ(statsOf(agent_.get()).protocol_errors, 0u);
  agentClients.clear();
  EXPECT_TRUE(eventually([&] { return statsOf(agent_.get()).staging_bytes == 0; }));
  EXPECT_EQ(statsOf(agent_.get()).clients, 0u);
}

TEST_F(AgentTest, MemoryThatCannotBeReadIsRefusedWithThePathsAtWhichAclWasLookedFor) {
  const ClientHandle agentClient = attach(socket_);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const device = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(device, MAP_FAILED);
  EXPECT_EQ(kv_client_register(agentClient.get(), device, page), KV_INVALID_ARGUMENT);
  const std::string why = explain(agentClient.get());
  for (const char* part : {"are no memory that this process can read", "ACL, the runtime of CANN cannot be loaded",
                           "/usr/local/Ascend/driver/lib64/driver/libascendcl.so: cannot open shared object file"})
    EXPECT_NE(why.find(part), std::string::npos) << why;
  ASSERT_EQ(::mprotect(device, page, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(kv_client_register(agentClient.get(), device, page), KV_OK);
  agent_.reset();
  EXPECT_EQ(kv_client_unregister(agentClient.get(), device), KV_OK);
  ::munmap(device, page);
}

TEST_F(AgentTest, ALargeBatchGoesThroughLittleStagingMemory) {
  const ClientHandle agentClient = attach(socket_, 1 << 20);
  std::vector<std::string> keys, values;
  std::vector<kv_op> puts, gets;
  for (uint64_t i = 0; i < 200; ++i) {
    keys.push_back("key/" + std::to_string(i));
    values.push_back(pattern(i, 60000 + i));
  }
  std::vector<std::string> rooms(keys.size(), std::string(61000, '\0'));
  for (size_t i = 0; i < keys.size(); ++i) {
    puts.push_back(line(keys[i], values[i].data(), values[i].size()));
    gets.push_back(line(keys[i], rooms[i].data(), rooms[i].size()));
  }
  run(agentClient.get(), KV_OP_PUT, puts);
  run(agentClient.get(), KV_OP_GET, gets);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(puts[i].status, KV_OK) << explain(agentClient.get());
    ASSERT_EQ(gets[i].status, KV_OK) << explain(agentClient.get());
    ASSERT_TRUE(rooms[i].substr(0, gets[i].result_length) == values[i]) << keys[i];
  }
  EXPECT_EQ(put(agentClient.get(), "large", pattern(1, (1 << 20) + 1)), KV_TOO_LARGE);
  EXPECT_NE(explain(agentClient.get()).find("1048576 bytes of staging memory"), std::string::npos)
      << explain(agentClient.get());
}

TEST_F(AgentTest, ClientsOutliveTheirAgent) {
  const ClientHandle agentClient = attach(socket_);
  ASSERT_EQ(put(agentClient.get(), "k", "value"), KV_OK);
  restartAgent();
  EXPECT_EQ(get(agentClient.get(), "k").value, "value");
  EXPECT_EQ(put(agentClient.get(), "l", "other"), KV_OK);
  restartAgent();
  EXPECT_EQ(remove(agentClient.get(), "k", true), KV_OK);
  EXPECT_EQ(statsOf(agent_.get()).clients, 1u);
}

TEST_F(AgentTest, ABatchInFlightIsAskedOfTheNextAgent) {
  const ClientHandle agentClient = attach(socket_);
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  const std::string value = pattern(5, 50000);
  std::vector<kv_op> table{line("k", value.data(), value.size())};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(agentClient.get(), KV_OP_PUT, table.data(), 1, nullptr, &batch), KV_OK);
  ASSERT_TRUE(eventually([&] { return statsOf(agent_.get()).running == 1; }));
  restartAgent();
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Leader); });
  ASSERT_EQ(kv_client_wait(agentClient.get(), batch, 60000), KV_OK);
  EXPECT_EQ(table[0].status, KV_OK) << explain(agentClient.get());
  EXPECT_TRUE(get(agentClient.get(), "k").value == value);
}

TEST_F(AgentTest, WithoutAnAgentBatchesEndAndNameItsSocket) {
  const ClientHandle agentClient = attach(socket_);
  agent_.reset();
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.timeout_ms = 200;
  std::vector<kv_op> table{line("k", "value", 5)};
  run(agentClient.get(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_CONNECT_FAILED);
  EXPECT_NE(explain(agentClient.get()).find(socket_), std::string::npos) << explain(agentClient.get());
  EXPECT_EQ(statsOf(agentClient.get()).leader_known, 0u);
}

TEST_F(AgentTest, ADeadClientsRequestsAreEndedAndItsMemoryComesBack) {
  ClientHandle agentClient = attach(socket_);
  ASSERT_EQ(put(agentClient.get(), "k", "value"), KV_OK);
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  std::string room(1 << 20, '.');
  std::vector<kv_op> table{line("k", room.data(), room.size())};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(agentClient.get(), KV_OP_GET, table.data(), 1, nullptr, &batch), KV_OK);
  ASSERT_TRUE(eventually([&] { return statsOf(agent_.get()).running == 1; }));
  agentClient.reset();  // long before the 30 s that its batch has
  EXPECT_EQ(table[0].status, KV_CLOSED);
  EXPECT_TRUE(eventually([&] {
    const kv_agent_stats stats = statsOf(agent_.get());
    return stats.running == 0 && stats.staging_bytes == 0;
  }));
}

TEST_F(AgentTest, AnAgentWithoutALeaderSaysSo) {
  int32_t status = KV_OK;
  std::string why;
  const std::string lonely = directory_.path() + "/lonely.sock";
  const AgentHandle agent = startAgent("127.0.0.1:1", lonely);
  EXPECT_FALSE(attach(lonely, 0, 300, &status, &why));
  EXPECT_EQ(status, KV_CONNECT_FAILED);
  EXPECT_NE(why.find(lonely), std::string::npos) << why;
  EXPECT_NE(why.find("no leader"), std::string::npos) << why;
  char text[512] = "";
  EXPECT_EQ(kv_agent_explain(agent.get(), text, sizeof text), KV_OK);
  EXPECT_NE(std::string(text).find("127.0.0.1:1"), std::string::npos) << text;
}

TEST_F(AgentTest, AttachingFailsWithASentence) {
  int32_t status = KV_OK;
  std::string why;
  EXPECT_FALSE(attach(directory_.path() + "/nobody.sock", 0, 100, &status, &why));
  EXPECT_EQ(status, KV_CONNECT_FAILED);
  EXPECT_NE(why.find("/nobody.sock"), std::string::npos) << why;

  EXPECT_FALSE(attach(socket_, uint64_t{1} << 36, 60000, &status, &why)) << "at once, as it never fits";
  EXPECT_EQ(status, KV_TOO_LARGE);
  EXPECT_NE(why.find("--staging-size"), std::string::npos) << why;

  EXPECT_FALSE(attach(socket_, uint64_t{1} << 50, 60000, &status, &why)) << "at once, as no process has the room";
  EXPECT_EQ(status, KV_TOO_LARGE);
  EXPECT_NE(why.find("this process has no room for 1125899906842624 bytes"), std::string::npos) << why;

  EXPECT_FALSE(attach("/tmp/" + std::string(200, 'x'), 0, 100, &status, &why));
  EXPECT_NE(why.find("107"), std::string::npos) << why;

  EXPECT_FALSE(attach("", 0, 100, &status, &why));
  EXPECT_EQ(status, KV_INVALID_ARGUMENT);
}

TEST_F(AgentTest, ASocketIsTakenOverOnlyFromTheDead) {
  kv_agent_params params{};
  params.struct_size = sizeof params;
  params.masters = "127.0.0.1:1";
  params.socket_path = socket_.c_str();
  char err[512] = "";
  kv_agent* second = nullptr;
  EXPECT_EQ(kv_agent_start(&params, &second, err, sizeof err), KV_IO);
  EXPECT_NE(std::string(err).find("another process listens"), std::string::npos) << err;

  // What a killed agent leaves behind: a socket file nobody listens on.
  const std::string left = directory_.path() + "/left.sock";
  {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(left.begin(), left.end(), address.sun_path);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
  }
  const AgentHandle agent = startAgent(master_.address(), left);
  ASSERT_TRUE(agent);
  EXPECT_TRUE(attach(left));
}

TEST_F(AgentTest, ProcessesOfThisUserFindItByANameToo) {
  const std::string name = "kvpool-test-" + std::to_string(::getpid());
  const std::string path = directory_.path() + "/named.sock";
  kv_agent_params params{};
  params.struct_size = sizeof params;
  const std::string masters = master_.address();
  params.masters = masters.c_str();
  params.socket_path = path.c_str();
  params.abstract_socket = name.c_str();
  char err[512] = "";
  kv_agent* started = nullptr;
  ASSERT_EQ(kv_agent_start(&params, &started, err, sizeof err), KV_OK) << err;
  AgentHandle agent(started);
  const ClientHandle byName = attach("@" + name);
  ASSERT_TRUE(byName);
  EXPECT_EQ(put(byName.get(), "named", pattern(1, 100000)), KV_OK);
  EXPECT_TRUE(get(attach(path).get(), "named").value == pattern(1, 100000));

  const std::string elsewhere = directory_.path() + "/second.sock";
  params.socket_path = elsewhere.c_str();
  const CapturedLog log;
  ASSERT_EQ(kv_agent_start(&params, &started, err, sizeof err), KV_OK) << err;
  const AgentHandle second(started);
  EXPECT_EQ(log.count("clients find this agent by " + elsewhere + " alone, and not by @" + name +
                      ": another process of this network namespace listens on @" + name),
            1U)
      << log.text();
  EXPECT_TRUE(get(attach(elsewhere).get(), "named").value == pattern(1, 100000));
  EXPECT_EQ(statsOf(agent.get()).clients, 1U) << "the first has the name";

  agent.reset();
  params.socket_path = path.c_str();
  ASSERT_EQ(kv_agent_start(&params, &started, err, sizeof err), KV_OK) << err;
  agent.reset(started);
  EXPECT_TRUE(eventually([&] { return get(byName.get(), "named").status == KV_OK; })) << "it has found the next one";
}

TEST_F(AgentTest, ANameIsNotWhereAFileIsMeant) {
  const std::string name = "@kvpool-test-" + std::to_string(::getpid());
  kv_agent_params params{};
  params.struct_size = sizeof params;
  params.masters = "127.0.0.1:1";
  params.socket_path = name.c_str();
  char err[512] = "";
  kv_agent* started = nullptr;
  EXPECT_EQ(kv_agent_start(&params, &started, err, sizeof err), KV_INVALID_ARGUMENT);
  EXPECT_NE(std::string(err).find("begins with '@'"), std::string::npos) << err;
}

TEST_F(AgentTest, AnAgentThatEndsLeavesTheSocketOfItsSuccessor) {
  const std::string path = directory_.path() + "/shared.sock";
  AgentHandle first = startAgent(master_.address(), path);
  ASSERT_TRUE(first);
  // As when a container is gone for those who see the directory, and its process is not.
  ASSERT_EQ(::unlink(path.c_str()), 0);
  const AgentHandle second = startAgent(master_.address(), path);
  ASSERT_TRUE(second);
  first.reset();
  EXPECT_TRUE(attach(path));
}

}  // namespace
}  // namespace kvpool::test
