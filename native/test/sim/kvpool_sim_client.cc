// SPDX-License-Identifier: Apache-2.0
#include "sim/kvpool_sim_client.h"

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "client/core/client_core.h"
#include "client/core/limits.h"
#include "client/core/resting_blocks.h"

namespace {

using namespace kvpool;
using namespace kvpool::client;

Config configOf(const kv_sim_client_params& params) {
  Config config;
  const std::string masters = params.masters;
  for (size_t begin = 0; begin <= masters.size();) {
    const size_t end = std::min(masters.find(',', begin), masters.size());
    config.masters.push_back(masters.substr(begin, end - begin));
    begin = end + 1;
  }
  config.me.role = wire::Role::Client;
  config.me.incarnation = params.incarnation;
  config.me.name = params.name;
  config.me.product = KVPOOL_PRODUCT_VERSION;
  config.me.wire = {1, 2};  // so that a pool can be raised
  const bool ascend = (params.protocols & KV_PROTOCOL_ASCEND) != 0;
  if (ascend) config.remote = RemoteProtocol::Ascend;
  config.remoteOnly = ascend && (params.protocols & KV_PROTOCOL_TCP) == 0;
  config.tcp = ascend || (params.protocols & KV_PROTOCOL_TCP) != 0;
  config.shm = (params.protocols & KV_PROTOCOL_SHM) != 0;
  config.bootId = params.boot_id;
  config.seed = params.random_seed;
  if (params.connect_timeout_ms != 0) config.connectTimeoutMs = params.connect_timeout_ms;
  if (params.transfer_timeout_ms != 0) config.transferTimeoutMs = params.transfer_timeout_ms;
  return config;
}

std::optional<OpCode> opCodeOf(int32_t code) {
  switch (code) {
    case KV_OP_PUT:
      return OpCode::Put;
    case KV_OP_GET:
      return OpCode::Get;
    case KV_OP_EXISTS:
      return OpCode::Exists;
    case KV_OP_REMOVE:
      return OpCode::Remove;
    case KV_SIM_OP_REMOVE_ALL:
      return OpCode::RemoveAll;
    default:
      return std::nullopt;
  }
}

}  // namespace

struct kv_sim_client {
  explicit kv_sim_client(const kv_sim_client_params& params)
      : core(configOf(params)), resting(params.cann_patience_ms, params.cann_card_repeats_ms) {}

  ClientCore core;
  RestingBlocks resting;
  std::map<uint64_t, RestingBlocks::Block> offered;  // by connection
  Time now = 0;
  std::map<uint64_t, kv_op*> tables;
  std::deque<Action> actions;
  Action current;  // keeps what the last action handed out points to

  /// Runs an input and takes what follows from it.
  template <typename Input>
  int32_t feed(Time nowMs, Input input) {
    now = nowMs;
    try {
      input(core);
      for (Action& action : core.takeActions())
        actions.push_back(std::move(action));
      return KV_OK;
    } catch (const std::exception&) {
      return KV_INTERNAL;
    }
  }

  /// The connection has ended.
  void takeBack(uint64_t connection) {
    if (const auto block = offered.extract(connection)) resting.rest(block.mapped(), now);
  }

  void describe(const Dial& dial, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_DIAL;
    out.connection = dial.connection;
    out.unix_socket = dial.transport == Transport::Unix ? 1 : 0;
    out.data = dial.address.data();
    out.data_length = dial.address.size();
  }
  void describe(const SendFrame& send, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_SEND_FRAMES;
    out.connection = send.connection;
    out.data = send.frame.data();
    out.data_length = send.frame.size();
  }
  void describe(const SendPayload& send, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_SEND_PAYLOAD;
    out.connection = send.connection;
    out.transfer = send.transfer;
    out.memory = send.memory.address();  // one field for both directions; the caller only reads this one
    out.length = send.length;
  }
  void describe(const ReceivePayload& receive, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_RECEIVE_PAYLOAD;
    out.connection = receive.connection;
    out.transfer = receive.transfer;
    out.memory = receive.destination ? receive.destination->address() : nullptr;
    out.length = receive.length;
  }
  void describe(const SendStaging& send, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_SEND_STAGING;
    out.connection = send.connection;
    out.data = send.frame.data();
    out.data_length = send.frame.size();
    out.length = send.bytes;
  }
  void describe(const MapSegments& map, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_MAP_SEGMENTS;
    out.connection = map.connection;
  }
  void describe(const CopyToStaging& copy, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_COPY_TO_STAGING;
    out.connection = copy.connection;
    out.transfer = copy.transfer;
    out.memory = copy.source.address();
    out.length = copy.length;
    out.offset = copy.stagingOffset;
  }
  void describe(const CopyFromSegment& copy, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_COPY_FROM_SEGMENT;
    out.connection = copy.connection;
    out.transfer = copy.transfer;
    out.memory = copy.destination.address();
    out.length = copy.length;
    out.offset = copy.offset;
    out.segment = copy.extent.segment;
    out.slot = copy.extent.slot;
    out.generation = copy.extent.generation;
    out.object_epoch = copy.object.epoch;
    out.object_counter = copy.object.counter;
  }
  void describe(const OfferStaging& offer, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_OFFER_STAGING;
    out.connection = offer.connection;
    out.length = offer.bytes;
    if (const auto rested = resting.take(offer.bytes, now)) out.memory = rested->at;
  }
  void describe(const GivePayloadUp&, kv_sim_client_action&) {
    throw std::logic_error("values in parts, for which alone it happens, are not simulated");
  }
  void describe(const CopyFromStaging& copy, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_COPY_FROM_STAGING;
    out.connection = copy.connection;
    out.transfer = copy.transfer;
    out.memory = copy.destination.address();
    out.length = copy.length;
    out.offset = copy.stagingOffset;
  }
  /// Nothing for the caller to do.
  void describe(const Note&, kv_sim_client_action&) {}
  void describe(const CancelCopy& cancel, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_CANCEL_COPY;
    out.connection = cancel.connection;
    out.transfer = cancel.transfer;
  }
  void describe(const Close& close, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_CLOSE;
    out.connection = close.connection;
    takeBack(close.connection);
  }
  void describe(const FinishBatch& finished, kv_sim_client_action& out) {
    out.kind = KV_SIM_CLIENT_FINISH_BATCH;
    out.transfer = finished.batch;
    const auto table = tables.extract(finished.batch);
    for (size_t i = 0; i < finished.lines.size(); ++i) {
      table.mapped()[i].status = finished.lines[i].status;
      table.mapped()[i].result_length = finished.lines[i].length;
    }
  }
};

int32_t kv_sim_client_create(const kv_sim_client_params* params, kv_sim_client** out) {
  if (params->struct_size != sizeof *params) return KV_INVALID_ARGUMENT;
  *out = new kv_sim_client(*params);
  return KV_OK;
}

void kv_sim_client_destroy(kv_sim_client* client) {
  delete client;
}

int32_t kv_sim_client_submit(kv_sim_client* client, int64_t now_ms, const kv_sim_batch* batch) {
  const std::optional<OpCode> op = opCodeOf(batch->op_code);
  if (batch->struct_size != sizeof *batch || !op || client->tables.contains(batch->batch)) return KV_INVALID_ARGUMENT;
  Submission submission;
  submission.id = batch->batch;
  submission.op = *op;
  submission.deadline = now_ms + batch->timeout_ms;
  submission.replicas = batch->replicas;
  submission.force = batch->force != 0;
  submission.upsert = batch->upsert != 0;
  submission.pins = static_cast<uint8_t>(batch->pins);
  submission.softPinMs = batch->soft_pin_ms;
  submission.reuse = batch->reuse != 0;
  for (uint32_t i = 0; i < batch->count; ++i) {
    const kv_op& line = batch->table[i];
    submission.lines.push_back(
        {{static_cast<const char*>(line.key), line.key_length}, Pieces(line.data, line.length), line.length, KV_OK});
  }
  client->tables[batch->batch] = batch->table;
  return client->feed(now_ms, [&](ClientCore& core) { core.submit(now_ms, std::move(submission)); });
}

int32_t kv_sim_client_opened(kv_sim_client* client, int64_t now_ms, uint64_t connection) {
  return client->feed(now_ms, [&](ClientCore& core) { core.opened(now_ms, connection); });
}

int32_t kv_sim_client_closed(kv_sim_client* client, int64_t now_ms, uint64_t connection, const char* reason) {
  return client->feed(now_ms, [&](ClientCore& core) {
    client->takeBack(connection);
    core.closed(now_ms, connection, reason);
  });
}

int32_t kv_sim_client_frame(kv_sim_client* client, int64_t now_ms, uint64_t connection, const void* body,
                            uint32_t length) {
  return client->feed(now_ms, [&](ClientCore& core) {
    core.frame(now_ms, connection, wire::Body(static_cast<const uint8_t*>(body), length));
  });
}

int32_t kv_sim_client_payload_sent(kv_sim_client* client, int64_t now_ms, uint64_t connection, uint64_t transfer) {
  return client->feed(now_ms, [&](ClientCore& core) { core.payloadSent(now_ms, connection, transfer); });
}

int32_t kv_sim_client_payload_received(kv_sim_client* client, int64_t now_ms, uint64_t connection, uint64_t transfer,
                                       uint32_t computed_crc, uint32_t sent_crc) {
  return client->feed(
      now_ms, [&](ClientCore& core) { core.payloadReceived(now_ms, connection, transfer, computed_crc, sent_crc); });
}

int32_t kv_sim_client_segments_mapped(kv_sim_client* client, int64_t now_ms, uint64_t connection, int32_t status) {
  return client->feed(now_ms, [&](ClientCore& core) {
    core.segmentsMapped(now_ms, connection, status == KV_OK ? Status() : Status(status, statusText(status)));
  });
}

int32_t kv_sim_client_copied_to_staging(kv_sim_client* client, int64_t now_ms, uint64_t connection, uint64_t transfer,
                                        uint32_t crc) {
  return client->feed(now_ms, [&](ClientCore& core) { core.copiedToStaging(now_ms, connection, transfer, crc); });
}

int32_t kv_sim_client_copied_from_segment(kv_sim_client* client, int64_t now_ms, uint64_t connection, uint64_t transfer,
                                          int32_t status, uint32_t crc) {
  return client->feed(now_ms,
                      [&](ClientCore& core) { core.copiedFromSegment(now_ms, connection, transfer, status, crc); });
}

int32_t kv_sim_client_staging_offered(kv_sim_client* client, int64_t now_ms, uint64_t connection, void* address,
                                      const char* worker, uint64_t registrations) {
  return client->feed(now_ms, [&](ClientCore& core) {
    client->offered[connection] = {static_cast<uint8_t*>(address), kStagingBytes};
    core.stagingOffered(
        now_ms, connection,
        StagingOffer{
            kStagingBytes, reinterpret_cast<uintptr_t>(address), worker, {}, RemoteProtocol::Ascend, registrations});
  });
}

int32_t kv_sim_client_tick(kv_sim_client* client, int64_t now_ms) {
  return client->feed(now_ms, [&](ClientCore& core) { core.tick(now_ms); });
}

int32_t kv_sim_client_shut_down(kv_sim_client* client, int64_t now_ms) {
  return client->feed(now_ms, [&](ClientCore& core) { core.shutDown(now_ms); });
}

int32_t kv_sim_client_next(kv_sim_client* client, kv_sim_client_action* out) {
  *out = {};
  while (out->kind == KV_SIM_CLIENT_NONE && !client->actions.empty()) {
    client->current = std::move(client->actions.front());
    client->actions.pop_front();
    std::visit([&](const auto& action) { client->describe(action, *out); }, client->current);
  }
  return KV_OK;
}

const char* kv_sim_client_explain(kv_sim_client* client) {
  return client->core.explanation().c_str();
}
