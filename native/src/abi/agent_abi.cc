// SPDX-License-Identifier: Apache-2.0
// The functions of agent.h: arguments checked, structs read, no exception out.
#include <algorithm>
#include <memory>
#include <utility>

#include "abi/border.h"
#include "abi/client_handle.h"
#include "abi/parameters.h"
#include "agent/shell/agent.h"
#include "agent/shell/agent_client.h"
#include "kvpool/agent.h"

using kvpool::Result;
using kvpool::Status;
using kvpool::abi::orDefault;
using kvpool::agent::Agent;
using kvpool::agent::AgentClient;
using kvpool::agent::AgentClientSettings;
using kvpool::agent::AgentSettings;

struct kv_agent {
  std::unique_ptr<Agent> agent;
};

namespace {

namespace limits = kvpool::agent;

static_assert(KV_AGENT_STAGING_BYTES == kvpool::kSharedStagingBytes && KV_AGENT_CLIENTS_MAX == limits::kClientsMax);
static_assert(KV_ATTACH_STAGING_BYTES == limits::kClientStagingBytes);
static_assert(KV_ATTACH_STAGING_BYTES_MIN == limits::kClientStagingBytesMin);

const Status kNoPath(KV_INVALID_ARGUMENT, "socket_path is missing: the path of the agent's unix socket");

bool isEmpty(const char* text) {
  return text == nullptr || *text == '\0';
}

Result<AgentSettings> agentSettings(const kv_agent_params& params) {
  if (isEmpty(params.socket_path)) return kNoPath;
  auto pool = kvpool::abi::clientSettings({params.masters, params.name, params.product, params.protocols,
                                           params.connect_timeout_ms, params.transfer_timeout_ms, 0, params.tls_dir,
                                           params.tls_mode, KV_PAYLOADS_DEFAULT});
  if (!pool.ok()) return pool.status();
  AgentSettings settings;
  settings.client = std::move(pool.value());
  settings.client.queueOpsMax = limits::kOperationsInFlight;
  settings.socketPath = params.socket_path;
  if (!isEmpty(params.abstract_socket)) settings.abstractSocket = std::string("@") + params.abstract_socket;
  settings.agentClients.me = settings.client.config.me;
  settings.agentClients.me.role = kvpool::wire::Role::Agent;
  if (params.staging_bytes != 0) settings.agentClients.stagingBytes = params.staging_bytes;
  return settings;
}

Result<AgentClientSettings> attachSettings(const kv_attach_params& params) {
  if (isEmpty(params.socket_path)) return kNoPath;
  auto self = kvpool::abi::identityOf(kvpool::wire::Role::Client, params.name, "client", params.product);
  if (!self.ok()) return self.status();
  AgentClientSettings settings;
  settings.core.me = std::move(self.value());
  settings.core.agent = params.socket_path;
  if (params.staging_bytes != 0) {
    settings.core.stagingBytes = std::max(params.staging_bytes, limits::kClientStagingBytesMin);
  }
  settings.readyTimeoutMs = orDefault(params.ready_timeout_ms, kvpool::client::kReadyTimeoutMs);
  settings.queueOpsMax = orDefault(params.queue_ops_max, KV_BATCH_MAX);
  return settings;
}

}  // namespace

int32_t kv_agent_start(const kv_agent_params* params, kv_agent** out, char* err, uint32_t err_size) {
  return kvpool::abi::create(params, out, err, err_size, agentSettings, Agent::start);
}

int32_t kv_agent_get_stats(kv_agent* agent, kv_agent_stats* out) {
  return kvpool::abi::guarded(nullptr, 0, [&]() -> int32_t {
    if (agent == nullptr) return KV_INVALID_ARGUMENT;
    if (!agent->agent->running()) return KV_INTERNAL;
    const kvpool::agent::AgentStats seen = agent->agent->stats();
    kv_agent_stats stats{};
    stats.leader_known = seen.pool.leaderKnown ? 1 : 0;
    stats.epoch = seen.pool.epoch;
    stats.clients = seen.agentClients.agentClients;
    stats.staging_bytes = seen.agentClients.stagingBytes;
    stats.staging_bytes_max = seen.stagingBytesMax;
    stats.running = seen.agentClients.running;
    stats.requests = seen.agentClients.requests;
    stats.lines = seen.agentClients.lines;
    stats.refused_clients = seen.agentClients.refusedClients;
    stats.protocol_errors = seen.agentClients.protocolErrors;
    stats.put_bytes = seen.pool.putBytes;
    stats.get_bytes = seen.pool.getBytes;
    stats.hits = seen.pool.hits;
    stats.misses = seen.pool.misses;
    stats.retries = seen.pool.retries;
    stats.checksum_failures = seen.pool.checksumFailures;
    stats.leader_changes = seen.pool.leaderChanges;
    stats.shm_bytes = seen.pool.shmBytes;
    stats.shm_refusals = seen.pool.shmRefusals;
    return kvpool::abi::writeOut(out, stats);
  });
}

int32_t kv_agent_explain(kv_agent* agent, char* out, uint32_t out_size) {
  return kvpool::abi::guarded(nullptr, 0, [&]() -> int32_t {
    if (agent == nullptr || out == nullptr || out_size == 0) return KV_INVALID_ARGUMENT;
    kvpool::abi::writeText(agent->agent->whyNotReady(), out, out_size);
    return KV_OK;
  });
}

void kv_agent_destroy(kv_agent* agent) {
  delete agent;
}

int32_t kv_client_attach(const kv_attach_params* params, kv_client** out, char* err, uint32_t err_size) {
  return kvpool::abi::create(params, out, err, err_size, attachSettings, AgentClient::attach);
}
