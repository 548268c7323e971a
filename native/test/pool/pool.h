// SPDX-License-Identifier: Apache-2.0
// A whole pool in one process for tests: test masters on their own threads, real storage nodes and real clients through
// the C functions, over loopback sockets and unix sockets.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kvpool/agent.h"
#include "kvpool/kvpool.h"
#include "master/master_server.h"
#include "net/address.h"
#include "temporary_directory.h"

namespace kvpool::test {

inline constexpr const char* kIpv4 = "127.0.0.1";
inline constexpr const char* kIpv6 = "::1";
inline constexpr const char* kPoolText = "11111111-2222-3333-4444-555555555555";

/// Polls until `reached` or 10 s are over.
bool eventually(const std::function<bool()>& reached);

class TestMaster {
 public:
  explicit TestMaster(MasterModel::Settings settings = {}, uint16_t port = 0, const std::string& host = kIpv4,
                      std::shared_ptr<const secure::Credentials> credentials = {});
  ~TestMaster();

  [[nodiscard]] uint16_t port() const { return server_->port(); }
  [[nodiscard]] std::string address() const { return toString(HostPort{host_, port()}); }
  /// Runs in the master's thread and waits for it.
  void in(const std::function<void(MasterServer&)>& task);
  bool awaitNodes(size_t count);
  /// From memory to the SSDs of its storage nodes, and waits for it.
  bool demote(const std::string& key);

 private:
  const std::string host_;
  std::unique_ptr<MasterServer> server_;
  std::thread thread_;
};

struct NodeEnd {
  void operator()(kv_node* node) const { kv_node_destroy(node); }
};
using NodeHandle = std::unique_ptr<kv_node, NodeEnd>;

struct ClientEnd {
  void operator()(kv_client* client) const { kv_client_destroy(client); }
};
using ClientHandle = std::unique_ptr<kv_client, ClientEnd>;

struct AgentEnd {
  void operator()(kv_agent* agent) const { kv_agent_destroy(agent); }
};
using AgentHandle = std::unique_ptr<kv_agent, AgentEnd>;

/// A scrub of one byte a second: damage is met by reads alone, however long a test takes.
inline constexpr uint64_t kNoScrub = 1;

/// `scrubBytesPerSecond` 0 is the library's default; without a `socketDirectory` the socket is beside the segment.
NodeHandle startNode(const std::string& id, const std::string& masters, const std::string& directory,
                     uint64_t segmentBytes = 32 << 20, uint32_t port = 0, uint64_t scrubBytesPerSecond = 0,
                     const char* host = kIpv4, const std::string& socketDirectory = {});
/// With a NULL handle `why` has the sentence.
ClientHandle connect(const std::string& masters, uint32_t protocols = 0, uint32_t readyTimeoutMs = 5000,
                     int32_t* status = nullptr, std::string* why = nullptr);

AgentHandle startAgent(const std::string& masters, const std::string& socket, uint64_t stagingBytes = 0);
/// A client that goes through the agent at that socket. With a NULL handle `why` has the sentence.
ClientHandle attach(const std::string& socket, uint64_t stagingBytes = 0, uint32_t readyTimeoutMs = 10000,
                    int32_t* status = nullptr, std::string* why = nullptr);

kv_node_stats statsOf(kv_node* node);
kv_agent_stats statsOf(kv_agent* agent);
kv_client_stats statsOf(kv_client* client);
std::string explain(kv_client* client);

struct Got {
  int32_t status = 0;
  std::string value;
  uint64_t length = 0;
};

/// Submits one batch and waits for it.
void run(kv_client* client, int32_t op, std::vector<kv_op>& table, const kv_batch_options* options = nullptr);
/// The key must outlive the line.
kv_op line(std::string_view key, const void* data = nullptr, uint64_t length = 0);
int32_t put(kv_client* client, const std::string& key, const std::string& value);
Got get(kv_client* client, const std::string& key, uint64_t room = 1 << 20);
int32_t exists(kv_client* client, const std::string& key);
int32_t remove(kv_client* client, const std::string& key, bool force = false);
/// Bytes that differ for each number.
std::string pattern(uint64_t number, size_t length);

}  // namespace kvpool::test
