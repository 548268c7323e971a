// SPDX-License-Identifier: Apache-2.0
// The client's functions of kvpool.h: arguments checked, structs read, no exception out.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "abi/border.h"
#include "abi/client_handle.h"
#include "abi/parameters.h"
#include "base/durations.h"
#include "base/group_id.h"
#include "base/retention.h"
#include "base/utf8.h"
#include "client/shell/client.h"
#include "kvpool/kvpool.h"
#include "wire/protocol.h"

using kvpool::Result;
using kvpool::Status;
using kvpool::abi::nameOr;
using kvpool::abi::orDefault;
using kvpool::client::BatchOptions;
using kvpool::client::Client;
using kvpool::client::ClientSettings;
using kvpool::client::Frontend;
using kvpool::client::OpCode;

namespace {

constexpr uint32_t kBatchFlags = KV_BATCH_REGISTERED | KV_BATCH_FORCE | KV_BATCH_UPSERT | KV_BATCH_WAIT |
                                 KV_BATCH_PIECES | KV_BATCH_REUSE | KV_BATCH_GROUPS;

static_assert(KV_PIN_SOFT == kvpool::kPinSoft && KV_PIN_HARD == kvpool::kPinHard &&
              KV_PIN_KEEP_SOFT == kvpool::kPinKeepSoft);

Result<ClientSettings> settingsOfClient(const kv_client_params& params) {
  auto settings = kvpool::abi::clientSettings(
      {params.masters, params.name, params.product, params.protocols, params.connect_timeout_ms,
       params.transfer_timeout_ms, params.idle_timeout_ms, params.tls_dir, params.tls_mode, params.payloads});
  if (!settings.ok()) return settings;
  settings.value().readyTimeoutMs = orDefault(params.ready_timeout_ms, kvpool::client::kReadyTimeoutMs);
  settings.value().queueOpsMax = orDefault(params.queue_ops_max, KV_BATCH_MAX);
  settings.value().busyWait = kvpool::abi::busyWaitFrom(params.busy_wait_us);
  return settings;
}

Result<OpCode> opCodeFrom(int32_t code) {
  switch (code) {
    case KV_OP_PUT:
      return OpCode::Put;
    case KV_OP_GET:
      return OpCode::Get;
    case KV_OP_EXISTS:
      return OpCode::Exists;
    case KV_OP_REMOVE:
      return OpCode::Remove;
    case KV_OP_RETAIN:
      return OpCode::Retain;
    case KV_OP_RELEASE:
      return OpCode::Release;
    case KV_OP_PREFETCH:
      return OpCode::Prefetch;
    case KV_OP_PUT_START:
      return OpCode::PutStart;
    case KV_OP_PUT_PARTS:
      return OpCode::PutParts;
    case KV_OP_PUT_END:
      return OpCode::PutEnd;
    case KV_OP_PUT_REVOKE:
      return OpCode::PutRevoke;
    case KV_OP_LOCATE:
      return OpCode::Locate;
    default:
      return {KV_INVALID_ARGUMENT, "op_code " + std::to_string(code) + " is none of enum kv_op_code"};
  }
}

Status judgeRetention(const kv_batch_options& options) {
  if ((options.pins & ~uint32_t{kvpool::kPinsAsked}) != 0) {
    return {KV_INVALID_ARGUMENT,
            "kv_batch_options.pins has unknown bits; known are KV_PIN_SOFT, KV_PIN_HARD and KV_PIN_KEEP_SOFT"};
  }
  if (options.soft_pin_ms > KV_SOFT_PIN_MS_MAX) {
    return {KV_INVALID_ARGUMENT, "soft_pin_ms is " + std::to_string(options.soft_pin_ms) +
                                     ", at most KV_SOFT_PIN_MS_MAX = " + std::to_string(KV_SOFT_PIN_MS_MAX) +
                                     " (24 h) is allowed"};
  }
  if (options.soft_pin_ms != 0 && (options.pins & KV_PIN_SOFT) == 0) {
    return {KV_INVALID_ARGUMENT, "soft_pin_ms without KV_PIN_SOFT in pins has no effect; set the pin, or leave it 0"};
  }
  return {};
}

Result<std::string> namesFrom(const char* given) {
  std::string names = given == nullptr ? "" : given;
  const auto commas = std::count(names.begin(), names.end(), ',');
  if (names.size() > kvpool::wire::kTextBytesMax || !kvpool::isUtf8(names) || commas >= KV_PREFERRED_MAX) {
    return {KV_INVALID_ARGUMENT,
            "kv_batch_options.nodes must be at most KV_PREFERRED_MAX = " + std::to_string(KV_PREFERRED_MAX) +
                " names with commas between them, " + std::to_string(kvpool::wire::kTextBytesMax) + " bytes of UTF-8"};
  }
  return names;
}

Result<BatchOptions> optionsFrom(const kv_batch_options* given) {
  BatchOptions options;
  if (given == nullptr) return options;
  const auto read = kvpool::abi::readParams(given);
  if (!read) return {KV_INVALID_ARGUMENT, "struct_size of kv_batch_options does not fit this library"};
  if ((read->flags & ~kBatchFlags) != 0) return {KV_INVALID_ARGUMENT, "kv_batch_options.flags has unknown bits"};
  if (read->replicas > UINT8_MAX) return {KV_INVALID_ARGUMENT, "replicas is above 255"};
  Status retention = judgeRetention(*read);
  if (!retention.ok()) return retention;
  auto nodes = namesFrom(read->nodes);
  if (!nodes.ok()) return nodes.status();
  options.registered = (read->flags & KV_BATCH_REGISTERED) != 0;
  options.force = (read->flags & KV_BATCH_FORCE) != 0;
  options.reuse = (read->flags & KV_BATCH_REUSE) != 0;
  options.inPieces = (read->flags & KV_BATCH_PIECES) != 0;
  options.waits = (read->flags & KV_BATCH_WAIT) != 0;
  options.timeoutMs = orDefault(read->timeout_ms, kvpool::client::kBatchTimeoutMs);
  options.replicas = read->replicas;
  options.nodes = std::move(nodes.value());
  options.upsert = (read->flags & KV_BATCH_UPSERT) != 0;
  options.pins = static_cast<uint8_t>(read->pins);
  options.softPinMs = read->soft_pin_ms;
  options.groups = read->groups;
  if (read->offsets != nullptr && !options.inPieces) {
    return {KV_INVALID_ARGUMENT, "kv_batch_options.offsets are of pieces; set KV_BATCH_PIECES"};
  }
  options.offsets = read->offsets;
  options.objects = read->objects;
  options.ofGroups = (read->flags & KV_BATCH_GROUPS) != 0;
  options.retainMs = read->retain_ms;
  return options;
}

/// Whether the options are for this operation.
Status judge(OpCode op, const BatchOptions& options) {
  if (options.offsets != nullptr && op != OpCode::Get && op != OpCode::PutParts) {
    return {KV_INVALID_ARGUMENT, "kv_batch_options.offsets are for KV_OP_GET and KV_OP_PUT_PARTS"};
  }
  if (options.offsets == nullptr && op == OpCode::PutParts) {
    return {KV_INVALID_ARGUMENT, "KV_OP_PUT_PARTS needs kv_batch_options.offsets"};
  }
  if (options.objects == nullptr && kvpool::client::isOfPutSession(op)) {
    return {KV_INVALID_ARGUMENT, "KV_OP_PUT_START and what follows it need kv_batch_options.objects"};
  }
  if (options.objects != nullptr && options.offsets == nullptr && !kvpool::client::isOfPutSession(op)) {
    return {KV_INVALID_ARGUMENT, "kv_batch_options.objects are of parts; give their offsets"};
  }
  if (options.ofGroups && op != OpCode::Remove && !kvpool::client::isHint(op)) {
    return {KV_INVALID_ARGUMENT, "KV_BATCH_GROUPS is for KV_OP_REMOVE, KV_OP_RETAIN, KV_OP_RELEASE and KV_OP_PREFETCH"};
  }
  const bool namesOne = !options.ofGroups && options.nodes.find(',') == std::string::npos;
  if (op == OpCode::Remove && !options.nodes.empty() && !namesOne) {
    return {KV_INVALID_ARGUMENT, "with KV_OP_REMOVE kv_batch_options.nodes is one node, and not with KV_BATCH_GROUPS"};
  }
  const bool mayRetain = op == OpCode::Retain && options.retainMs >= 1 && options.retainMs <= KV_RETAIN_MS_MAX;
  if (!mayRetain && (op == OpCode::Retain || options.retainMs != 0)) {
    return {KV_INVALID_ARGUMENT, "retain_ms is " + std::to_string(options.retainMs) +
                                     "; with KV_OP_RETAIN it must be 1 to KV_RETAIN_MS_MAX = " +
                                     std::to_string(KV_RETAIN_MS_MAX) + " (1 h), and else 0"};
  }
  return {};
}

Status judgeSubmit(const kv_op* table, uint32_t count, const uint64_t* batchOut) {
  if (batchOut != nullptr && (table != nullptr || count == 0) && count <= KV_BATCH_MAX) return {};
  return {KV_INVALID_ARGUMENT,
          "batch_out or table is NULL, or count is above KV_BATCH_MAX = " + std::to_string(KV_BATCH_MAX)};
}

/// Of arguments that no sentence is needed for.
const Status kInvalid(KV_INVALID_ARGUMENT, "");

/// Of what the client has explained already.
Status explained(const Status& status) {
  return {status.code(), ""};
}

/// Step by step as the header names them.
kv_durations durationsOf(const kvpool::Durations& seen) {
  static_assert(kvpool::Durations::kStepsUs == std::array<uint64_t, 5>{100, 1000, 10'000, 100'000, 1'000'000});
  const auto& counts = seen.counts;
  return {seen.us, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
}

}  // namespace

int32_t kv_client_create(const kv_client_params* params, kv_client** out, char* err, uint32_t err_size) {
  return kvpool::abi::create(params, out, err, err_size, settingsOfClient, Client::connect);
}

int32_t kv_client_register(kv_client* client, void* address, uint64_t length) {
  return kvpool::abi::with(client, [&](Frontend& self) { return self.memory().add(address, length); });
}

int32_t kv_client_unregister(kv_client* client, void* address) {
  return kvpool::abi::with(client, [&](Frontend& self) { return self.memory().remove(address); });
}

int32_t kv_client_copy_memory(kv_client* client, const kv_memory_copy* copies, uint32_t count) {
  return kvpool::abi::with(client, [&](Frontend& self) {
    return copies == nullptr && count > 0 ? kInvalid : self.copyMemory({copies, count});
  });
}

uint64_t kv_group_id(const char* name, uint32_t length) {
  return name == nullptr ? 0 : kvpool::groupId({name, length});
}

int32_t kv_client_submit(kv_client* client, int32_t op_code, kv_op* table, uint32_t count,
                         const kv_batch_options* options, uint64_t* batch_out) {
  return kvpool::abi::with(client, [&](Frontend& self) -> Status {
    if (Status judged = judgeSubmit(table, count, batch_out); !judged.ok()) return judged;
    const auto op = opCodeFrom(op_code);
    if (!op.ok()) return op.status();
    const auto read = optionsFrom(options);
    if (!read.ok()) return read.status();
    if (Status judged = judge(op.value(), read.value()); !judged.ok()) return judged;
    const auto batch = self.submit(op.value(), table, count, read.value());
    if (batch.ok()) *batch_out = batch.value();
    return batch.status();
  });
}

int32_t kv_client_wait(kv_client* client, uint64_t batch, uint32_t timeout_ms) {
  return kvpool::abi::with(client, [&](Frontend& self) { return Status(self.wait(batch, timeout_ms), ""); });
}

int32_t kv_client_remove_all(kv_client* client, uint32_t force, uint32_t timeout_ms, uint64_t* removed_out) {
  return kv_client_remove_matching(client, nullptr, 0, force, timeout_ms, removed_out);
}

int32_t kv_client_remove_matching(kv_client* client, const char* pattern, uint32_t pattern_length, uint32_t force,
                                  uint32_t timeout_ms, uint64_t* removed_out) {
  return kvpool::abi::with(client, [&](Frontend& self) {
    if (force > 1 || (pattern == nullptr && pattern_length > 0)) return kInvalid;
    const auto removed =
        self.removeAll({pattern, pattern_length}, force == 1, orDefault(timeout_ms, kvpool::client::kBatchTimeoutMs));
    if (removed.ok() && removed_out != nullptr) *removed_out = removed.value();
    return explained(removed.status());
  });
}

int32_t kv_client_copy(kv_client* client, const char* key, uint32_t key_length, const char* source,
                       const char* const* targets, uint32_t target_count, uint32_t timeout_ms, uint64_t* task_out) {
  return kvpool::abi::with(client, [&](Frontend& self) -> Status {
    const bool hasTargets = targets != nullptr && target_count >= 1 && target_count <= KV_COPY_TARGETS_MAX;
    if (key == nullptr || !hasTargets || task_out == nullptr) return kInvalid;
    kvpool::client::CopyWish wish;
    auto from = nameOr(source, "", "source");
    if (!from.ok()) return from.status();
    wish.source = std::move(from.value());
    for (uint32_t i = 0; i < target_count; ++i) {
      auto target = nameOr(targets[i], "", "target");
      if (!target.ok()) return target.status();
      wish.targets.push_back(std::move(target.value()));
    }
    const auto task =
        self.copy({key, key_length}, std::move(wish), orDefault(timeout_ms, kvpool::client::kBatchTimeoutMs));
    if (task.ok()) *task_out = task.value();
    return explained(task.status());
  });
}

int32_t kv_client_task(kv_client* client, uint64_t task, uint32_t timeout_ms, kv_task* out) {
  return kvpool::abi::with(client, [&](Frontend& self) {
    if (out == nullptr) return kInvalid;
    const auto told = self.task(task, orDefault(timeout_ms, kvpool::client::kBatchTimeoutMs));
    if (!told.ok()) return explained(told.status());
    const kvpool::client::TaskReply& reply = told.value();
    kv_task result{};
    result.state = reply.state;
    result.why = reply.why;
    result.moves = reply.moves ? 1 : 0;
    result.age_ms = reply.ageMs;
    result.rest_ms = reply.restMs;
    return Status(kvpool::abi::writeOut(out, result), "");
  });
}

int32_t kv_client_explain(kv_client* client, char* out, uint32_t out_size) {
  return kvpool::abi::with(client, [&](Frontend& self) {
    if (out == nullptr || out_size == 0) return kInvalid;
    kvpool::abi::writeText(self.explanation(), out, out_size);
    return Status();
  });
}

int32_t kv_client_get_stats(kv_client* client, kv_client_stats* out) {
  return kvpool::abi::with(client, [&](Frontend& self) {
    const kvpool::client::Statistics seen = self.statistics();
    kv_client_stats stats{};
    stats.leader_known = seen.leaderKnown ? 1 : 0;
    stats.epoch = seen.epoch;
    stats.puts = seen.puts;
    stats.gets = seen.gets;
    stats.hits = seen.hits;
    stats.misses = seen.misses;
    stats.put_bytes = seen.putBytes;
    stats.get_bytes = seen.getBytes;
    stats.shm_bytes = seen.shmBytes;
    stats.retries = seen.retries;
    stats.checksum_failures = seen.checksumFailures;
    stats.leader_changes = seen.leaderChanges;
    stats.ucx_bytes = seen.ucx.bytes;
    stats.ucx_lanes = seen.ucx.lanes;
    stats.ucx_refusals = seen.ucx.refusals;
    stats.shm_refusals = seen.shmRefusals;
    stats.ascend_bytes = seen.ascend.bytes;
    stats.ascend_lanes = seen.ascend.lanes;
    stats.ascend_refusals = seen.ascend.refusals;
    stats.put_batch_us = seen.putBatches.us;
    KVPOOL_TELL_DURATIONS(seen.putBatches, stats, put_batches);
    stats.get_batch_us = seen.getBatches.us;
    KVPOOL_TELL_DURATIONS(seen.getBatches, stats, get_batches);
    stats.single_puts = durationsOf(seen.singlePuts);
    stats.single_gets = durationsOf(seen.singleGets);
    std::ranges::transform(seen.requests, stats.requests, durationsOf);
    return Status(kvpool::abi::writeOut(out, stats), "");
  });
}

void kv_client_destroy(kv_client* client) {
  kvpool::abi::destroy(client);
}
