// SPDX-License-Identifier: Apache-2.0
// The functions of engine.h: arguments checked, structs read, no exception out.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "abi/border.h"
#include "abi/client_handle.h"
#include "abi/parameters.h"
#include "base/entropy.h"
#include "base/utf8.h"
#include "engine/shell/engine.h"
#include "kvpool/engine.h"
#include "secure/security.h"

using kvpool::Result;
using kvpool::Status;
using kvpool::abi::orDefault;
using kvpool::abi::textOr;
using kvpool::engine::Engine;
using kvpool::engine::EngineSettings;
using kvpool::engine::Notification;
using kvpool::engine::TransferOp;

struct kv_engine : kvpool::abi::Owned<Engine> {};

namespace {

constexpr std::string_view kPeerToPeer = "P2PHANDSHAKE";

Status judgePorts(uint32_t min, uint32_t max) {
  if (min >= 1 && min <= max && max <= UINT16_MAX) return {};
  return {KV_INVALID_ARGUMENT,
          "ports " + std::to_string(min) + " to " + std::to_string(max) + " are no range; give both, from 1 to 65535"};
}

Status judgeMetadata(std::string_view metadata) {
  if (metadata == kPeerToPeer) return {};
  return {KV_INVALID_ARGUMENT, "metadata server '" + std::string(metadata.substr(0, 200)) +
                                   "' cannot be used: engines find each other without one, by HOST:PORT; give " +
                                   std::string(kPeerToPeer)};
}

Result<EngineSettings> settingsOfEngine(const kv_engine_params& params) {
  EngineSettings settings;
  const bool standardPorts = params.port_min == 0 && params.port_max == 0;
  const uint32_t min = standardPorts ? KV_ENGINE_PORT_MIN : params.port_min;
  const uint32_t max = standardPorts ? KV_ENGINE_PORT_MAX : params.port_max;
  for (Status judged : {judgePorts(min, max), judgeMetadata(textOr(params.metadata, kPeerToPeer))}) {
    if (!judged.ok()) return judged;
  }
  auto self = kvpool::abi::identityOf(kvpool::wire::Role::Engine, params.name, "engine", params.product);
  if (!self.ok()) return self.status();
  auto transports = kvpool::engine::install(textOr(params.protocols, "tcp"));
  if (!transports.ok()) return transports.status();
  const Result<kvpool::secure::Settings> tls =
      kvpool::secure::settingsOf(params.tls_dir, KV_TLS_DEFAULT, params.payloads, kvpool::secure::Payloads::Encrypted);
  if (!tls.ok()) return tls.status();
  auto security = kvpool::secure::Security::open(tls.value());
  if (!security.ok()) return security.status();
  settings.security = std::move(security.value());
  settings.trustedFabric = params.trusted_fabric != 0;
  settings.transports = std::move(transports.value());
  settings.portMin = static_cast<uint16_t>(min);
  settings.portMax = static_cast<uint16_t>(max);
  settings.listenHost = textOr(params.listen_host, "::");
  settings.ascendHost = textOr(params.ascend_host, "");
  settings.queueLinesMax = orDefault(params.queue_lines_max, KV_BATCH_MAX);
  settings.busyWait = kvpool::abi::busyWaitFrom(params.busy_wait_us);
  settings.seed = kvpool::randomNumber();
  settings.config.me = std::move(self.value());
  if (params.sockets_only == 0) settings.config.process = kvpool::engine::ownProcess();
  settings.config.connectTimeoutMs = orDefault(params.connect_timeout_ms, kvpool::engine::kConnectTimeoutMs);
  settings.config.transferTimeoutMs = orDefault(params.transfer_timeout_ms, kvpool::engine::kTransferTimeoutMs);
  settings.config.idleTimeoutMs = orDefault(params.idle_timeout_ms, kvpool::engine::kIdleTimeoutMs);
  return settings;
}

Status judgeLocation(const Engine& engine, const char* location) {
  const std::string_view text = textOr(location, "*");
  if (text == "*" || text == "cpu" || text.substr(0, 4) == "cpu:") return {};
  if (engine.usesAscend() && (text == "npu" || text.substr(0, 4) == "npu:")) return {};
  return {KV_INVALID_ARGUMENT, "location '" + std::string(text.substr(0, 64)) +
                                   "' is not memory of the processor; this library moves only that: give \"cpu:0\" or "
                                   "\"*\""};
}

Status judgeRegions(const kv_region* regions, uint32_t count) {
  if (regions != nullptr && count > 0) return {};
  return {KV_INVALID_ARGUMENT, "no regions are named"};
}

Result<std::shared_ptr<const Notification>> notificationFrom(const kv_transfer_options& options) {
  if (options.notify_name == nullptr) return std::shared_ptr<const Notification>();
  const std::string_view name = options.notify_name;
  if (name.size() > KV_NOTIFY_NAME_BYTES_MAX || !kvpool::isUtf8(name)) {
    return {KV_INVALID_ARGUMENT,
            "notify_name must be at most " + std::to_string(KV_NOTIFY_NAME_BYTES_MAX) + " bytes of UTF-8"};
  }
  const bool hasBytes = options.notify_message != nullptr || options.notify_length == 0;
  if (!hasBytes || options.notify_length > KV_NOTIFY_BYTES_MAX) {
    return {KV_INVALID_ARGUMENT,
            "notify_message has " + std::to_string(options.notify_length) +
                " bytes and must have at most KV_NOTIFY_BYTES_MAX = " + std::to_string(KV_NOTIFY_BYTES_MAX)};
  }
  auto notification = std::make_shared<Notification>();
  notification->name = name;
  if (options.notify_length > 0) {
    notification->message.assign(static_cast<const char*>(options.notify_message), options.notify_length);
  }
  return std::shared_ptr<const Notification>(std::move(notification));
}

Result<Engine::Options> optionsFrom(const kv_transfer_options* given) {
  Engine::Options options;
  if (given == nullptr) return options;
  const auto read = kvpool::abi::readParams(given);
  if (!read) return {KV_INVALID_ARGUMENT, "struct_size of kv_transfer_options does not fit this library"};
  options.timeoutMs = orDefault(read->timeout_ms, kvpool::engine::kBatchTimeoutMs);
  auto notification = notificationFrom(*read);
  if (!notification.ok()) return notification.status();
  options.notify = std::move(notification.value());
  return options;
}

Status judgeSubmit(int32_t op, const kv_transfer* table, uint32_t count, const uint64_t* batchOut) {
  if (op < KV_TRANSFER_WRITE || op > KV_TRANSFER_CONNECT) {
    return {KV_INVALID_ARGUMENT, "op " + std::to_string(op) + " is none of enum kv_transfer_op"};
  }
  if (batchOut == nullptr || (table == nullptr && count > 0) || count > KV_BATCH_MAX) {
    return {KV_INVALID_ARGUMENT,
            "batch_out or table is NULL, or count is above KV_BATCH_MAX = " + std::to_string(KV_BATCH_MAX)};
  }
  return {};
}

}  // namespace

int32_t kv_engine_create(const kv_engine_params* params, kv_engine** out, char* err, uint32_t err_size) {
  return kvpool::abi::create(params, out, err, err_size, settingsOfEngine, Engine::start);
}

int32_t kv_engine_transports(kv_engine* engine, char* out, uint32_t out_size) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    if (out == nullptr || out_size == 0) return {KV_INVALID_ARGUMENT, "out is NULL or out_size 0"};
    kvpool::abi::writeText(self.transports(), out, out_size);
    return {};
  });
}

int32_t kv_engine_register(kv_engine* engine, const kv_region* regions, uint32_t count, const char* location) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    for (Status judged : {judgeRegions(regions, count), judgeLocation(self, location)}) {
      if (!judged.ok()) return judged;
    }
    return self.registerRegions({regions, count});
  });
}

int32_t kv_engine_unregister(kv_engine* engine, const kv_region* regions, uint32_t count) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    Status judged = judgeRegions(regions, count);
    return judged.ok() ? self.unregisterRegions({regions, count}) : judged;
  });
}

int32_t kv_client_use_engine_memory(kv_client* client, kv_engine* engine) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    if (client == nullptr) return {KV_INVALID_ARGUMENT, "client is NULL"};
    if (!client->isOurs()) return {KV_CLOSED, ""};
    client->self->borrowFrom(self.lentMemory(), self.npu());
    return {};
  });
}

int32_t kv_engine_submit(kv_engine* engine, int32_t op, kv_transfer* table, uint32_t count,
                         const kv_transfer_options* options, uint64_t* batch_out) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    Status judged = judgeSubmit(op, table, count, batch_out);
    if (!judged.ok()) return judged;
    const auto read = optionsFrom(options);
    if (!read.ok()) return read.status();
    const auto batch = self.submit(static_cast<TransferOp>(op), table, count, read.value());
    if (!batch.ok()) return batch.status();
    *batch_out = batch.value();
    return {};
  });
}

int32_t kv_engine_wait(kv_engine* engine, uint64_t batch, uint32_t timeout_ms) {
  return kvpool::abi::with(engine, [&](Engine& self) { return Status(self.wait(batch, timeout_ms), ""); });
}

int32_t kv_engine_describe(kv_engine* engine, const char* peer, kv_region* table, uint32_t capacity,
                           uint32_t* count_out, uint32_t timeout_ms) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    if (peer == nullptr || count_out == nullptr || (table == nullptr && capacity > 0)) {
      return {KV_INVALID_ARGUMENT, "peer, count_out or table is NULL"};
    }
    const auto regions = self.describe(peer, orDefault(timeout_ms, kvpool::engine::kBatchTimeoutMs));
    if (!regions.ok()) return regions.status();
    *count_out = static_cast<uint32_t>(regions.value().size());
    if (*count_out > capacity) {
      return {KV_BUFFER_TOO_SMALL, "the peer has " + std::to_string(*count_out) + " regions, table has room for " +
                                       std::to_string(capacity)};
    }
    for (uint32_t i = 0; i < *count_out; ++i)
      table[i] = {regions.value()[i].base, regions.value()[i].length};
    return {};
  });
}

int32_t kv_engine_next_notify(kv_engine* engine, char* name, uint32_t name_size, void* message, uint32_t message_size,
                              uint32_t* message_length) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    if (name == nullptr || message_length == nullptr || (message == nullptr && message_size > 0)) {
      return {KV_INVALID_ARGUMENT, "name, message or message_length is NULL"};
    }
    const auto fits = [&](const Notification& next) {
      return next.name.size() < name_size && next.message.size() <= message_size;
    };
    const auto next = self.nextNotification(fits);
    if (!next) return {KV_NOT_FOUND, ""};
    *message_length = static_cast<uint32_t>(next->message.size());
    if (!fits(*next)) return {KV_BUFFER_TOO_SMALL, "the notification does not fit into name and message"};
    kvpool::abi::writeText(next->name, name, name_size);
    if (message != nullptr && !next->message.empty()) std::memcpy(message, next->message.data(), next->message.size());
    return {};
  });
}

int32_t kv_engine_explain(kv_engine* engine, char* out, uint32_t out_size) {
  return kvpool::abi::with(engine, [&](Engine& self) -> Status {
    if (out == nullptr || out_size == 0) return {KV_INVALID_ARGUMENT, "out is NULL or out_size 0"};
    kvpool::abi::writeText(self.explanation(), out, out_size);
    return {};
  });
}

int32_t kv_engine_get_stats(kv_engine* engine, kv_engine_stats* out) {
  return kvpool::abi::with(engine, [&](Engine& self) { return Status(kvpool::abi::writeOut(out, self.stats()), ""); });
}

void kv_engine_destroy(kv_engine* engine) {
  kvpool::abi::destroy(engine);
}
