// SPDX-License-Identifier: Apache-2.0
#include "pool/pool.h"

#include <chrono>
#include <future>

namespace kvpool::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool eventually(const std::function<bool()>& reached) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(10);
  while (steady_clock::now() < deadline) {
    if (reached()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return reached();
}

TestMaster::TestMaster(MasterModel::Settings settings, uint16_t port, const std::string& host,
                       std::shared_ptr<const secure::Credentials> credentials)
    : host_(host) {
  if (settings.pool.isAny()) settings.pool = *parsePoolId(kPoolText);
  server_ = std::make_unique<MasterServer>(settings);
  server_->secure(std::move(credentials));
  const Status listening = server_->listen(host, port);
  EXPECT_TRUE(listening.ok()) << listening.text();
  thread_ = std::thread([this] { server_->run(); });
}

TestMaster::~TestMaster() {
  server_->stop();
  thread_.join();
}

void TestMaster::in(const std::function<void(MasterServer&)>& task) {
  std::promise<void> done;
  server_->loop().post([&] {
    task(*server_);
    done.set_value();
  });
  done.get_future().wait();
}

bool TestMaster::demote(const std::string& key) {
  in([&](MasterServer& server) { server.model().demote(key); });
  return eventually([&] {
    bool isThere = false;
    in([&](MasterServer& server) { isThere = server.model().isOnSsd(key); });
    return isThere;
  });
}

bool TestMaster::awaitNodes(size_t count) {
  return eventually([&] {
    size_t ready = 0;
    in([&](MasterServer& server) { ready = server.model().readyNodes(); });
    return ready == count;
  });
}

NodeHandle startNode(const std::string& id, const std::string& masters, const std::string& directory,
                     uint64_t segmentBytes, uint32_t port, uint64_t scrubBytesPerSecond, const char* host,
                     const std::string& socketDirectory) {
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.flags = directory.empty() ? KV_NODE_TRANSIENT : 0;
  params.pool_id = kPoolText;
  params.node_id = id.c_str();
  params.masters = masters.c_str();
  params.listen_host = host;
  params.advertise_host = host;
  params.data_dir = directory.empty() ? nullptr : directory.c_str();
  params.segment_bytes = segmentBytes;
  params.listen_port = port;
  params.scrub_bytes_per_second = scrubBytesPerSecond;
  params.socket_dir = socketDirectory.c_str();
  char err[512] = "";
  kv_node* node = nullptr;
  EXPECT_EQ(kv_node_start(&params, &node, err, sizeof err), KV_OK) << err;
  return NodeHandle(node);
}

ClientHandle connect(const std::string& masters, uint32_t protocols, uint32_t readyTimeoutMs, int32_t* status,
                     std::string* why) {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.protocols = protocols;
  params.masters = masters.c_str();
  params.ready_timeout_ms = readyTimeoutMs;
  char err[1024] = "";
  kv_client* client = nullptr;
  const int32_t code = kv_client_create(&params, &client, err, sizeof err);
  if (status != nullptr) *status = code;
  if (why != nullptr) *why = err;
  EXPECT_TRUE(status != nullptr || code == KV_OK) << err;
  return ClientHandle(client);
}

AgentHandle startAgent(const std::string& masters, const std::string& socket, uint64_t stagingBytes) {
  kv_agent_params params{};
  params.struct_size = sizeof params;
  params.masters = masters.c_str();
  params.socket_path = socket.c_str();
  params.name = "agent-under-test";
  params.staging_bytes = stagingBytes;
  char err[512] = "";
  kv_agent* agent = nullptr;
  EXPECT_EQ(kv_agent_start(&params, &agent, err, sizeof err), KV_OK) << err;
  return AgentHandle(agent);
}

ClientHandle attach(const std::string& socket, uint64_t stagingBytes, uint32_t readyTimeoutMs, int32_t* status,
                    std::string* why) {
  kv_attach_params params{};
  params.struct_size = sizeof params;
  params.socket_path = socket.c_str();
  params.staging_bytes = stagingBytes;
  params.ready_timeout_ms = readyTimeoutMs;
  char err[1024] = "";
  kv_client* client = nullptr;
  const int32_t code = kv_client_attach(&params, &client, err, sizeof err);
  if (status != nullptr) *status = code;
  if (why != nullptr) *why = err;
  EXPECT_TRUE(status != nullptr || code == KV_OK) << err;
  return ClientHandle(client);
}

kv_agent_stats statsOf(kv_agent* agent) {
  kv_agent_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(kv_agent_get_stats(agent, &stats), KV_OK);
  return stats;
}

kv_node_stats statsOf(kv_node* node) {
  kv_node_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(kv_node_get_stats(node, &stats), KV_OK);
  return stats;
}

kv_client_stats statsOf(kv_client* client) {
  kv_client_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(kv_client_get_stats(client, &stats), KV_OK);
  return stats;
}

std::string explain(kv_client* client) {
  char text[2048] = "";
  EXPECT_EQ(kv_client_explain(client, text, sizeof text), KV_OK);
  return text;
}

kv_op line(std::string_view key, const void* data, uint64_t length) {
  kv_op op{};
  op.key = key.data();
  op.key_length = static_cast<uint32_t>(key.size());
  op.data = const_cast<void*>(data);
  op.length = length;
  return op;
}

void run(kv_client* client, int32_t op, std::vector<kv_op>& table, const kv_batch_options* options) {
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client, op, table.data(), static_cast<uint32_t>(table.size()), options, &batch), KV_OK)
      << explain(client);
  ASSERT_EQ(kv_client_wait(client, batch, 60000), KV_OK);
}

int32_t put(kv_client* client, const std::string& key, const std::string& value) {
  std::vector<kv_op> table{line(key, value.data(), value.size())};
  run(client, KV_OP_PUT, table);
  return table[0].status;
}

Got get(kv_client* client, const std::string& key, uint64_t room) {
  std::string memory(room, '\xEE');
  std::vector<kv_op> table{line(key, memory.data(), room)};
  run(client, KV_OP_GET, table);
  Got got{table[0].status, {}, table[0].result_length};
  if (got.status == KV_OK) got.value = memory.substr(0, got.length);
  return got;
}

int32_t exists(kv_client* client, const std::string& key) {
  std::vector<kv_op> table{line(key)};
  run(client, KV_OP_EXISTS, table);
  return table[0].status;
}

int32_t remove(kv_client* client, const std::string& key, bool force) {
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = force ? KV_BATCH_FORCE : 0;
  std::vector<kv_op> table{line(key)};
  run(client, KV_OP_REMOVE, table, &options);
  return table[0].status;
}

std::string pattern(uint64_t number, size_t length) {
  std::string bytes(length, '\0');
  uint64_t state = number * 0x9E3779B97F4A7C15ull + 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

}  // namespace kvpool::test
