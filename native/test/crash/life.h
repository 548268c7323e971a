// SPDX-License-Identifier: Apache-2.0
// One life of a simulated node and the few peers a script needs: a master, a client, a node to copy from.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "kvpool/kvpool.h"
#include "peer_messages.h"
#include "sim/kvpool_sim.h"
#include "store/layout.h"

namespace kvpool::test {

inline constexpr uint64_t kNever = UINT64_MAX;
inline constexpr uint64_t kMasterConnection = 1;
inline constexpr uint64_t kClientConnection = 2;

inline kv_sim_params params(uint64_t incarnation) {
  kv_sim_params params{};
  params.struct_size = sizeof params;
  params.pool_high = kPool.high;
  params.pool_low = kPool.low;
  params.node_id = "node-0";
  params.tcp = "10.0.0.1:50061";
  params.incarnation = incarnation;
  params.random_seed = 1;
  params.masters = 1;
  return params;
}

/// One life of a node and the few peers the script needs. Calls say whether the node is still alive.
class Life {
 public:
  Life(std::vector<uint8_t>& memory, uint64_t incarnation, uint64_t cutStores, uint32_t cutBytes) : memory_(memory) {
    const kv_sim_params given = params(incarnation);
    alive_ = kv_sim_node_create(&given, memory.data(), memory.size(), cutStores, cutBytes, &node_) == KV_OK;
  }
  ~Life() { kv_sim_node_destroy(node_); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] uint64_t stores() const { return kv_sim_node_stores(node_); }
  [[nodiscard]] kv_sim_recovery recovery() const {
    kv_sim_recovery out{};
    kv_sim_node_recovery(node_, &out);
    return out;
  }

  bool connect() {
    if (!step(kv_sim_node_tick(node_, 0)) || !act()) return false;  // dials the master
    if (!step(kv_sim_node_dialled(node_, 0, kMasterConnection, 0)) || !act()) return false;
    if (!frame(kMasterConnection, [](wire::Bytes& out) { wire::appendWelcome(out, masterWelcome()); })) return false;
    if (!step(kv_sim_node_accepted(node_, 0, kClientConnection, 0, nullptr))) return false;
    return frame(kClientConnection, [](wire::Bytes& out) { wire::appendHello(out, clientHello()); });
  }

  bool fence(const Authority& authority, const ObjectId& purged = {}) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { appendFence(out, 1, authority, 5000, purged); });
  }
  bool write(const Authority& authority, const ObjectId& id, std::string_view key, std::string_view value) {
    value_ = value;
    return frame(kClientConnection, [&](wire::Bytes& out) {
      appendWrite(out, {id.counter, authority, id, value.size(), false, 0, 0, key});
    });
  }
  bool free(const Authority& authority, const ObjectId& id, const ExtentRef& extent) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { appendFree(out, 1, authority, {{extent, id}}); });
  }

  bool keepTombstones(const node::KeepTombstones& keep) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { appendKeepTombstones(out, keep); });
  }
  bool purge(const node::Purge& purge) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { appendPurge(out, purge); });
  }
  /// The source has the value and sends it.
  bool copy(const node::Copy& copy, std::string_view value) {
    value_ = value;
    return frame(kMasterConnection, [&](wire::Bytes& out) { appendCopy(out, copy); });
  }

  /// As the master sees them: of a slot the latest generation counts.
  [[nodiscard]] std::map<ObjectId, Record> objects() const {
    std::map<ObjectId, Record> out;
    for (const auto& [slot, record] : slots_) {
      if (!record.committed) continue;
      EXPECT_TRUE(out.emplace(record.objectId, record).second) << "one object twice";
    }
    return out;
  }
  [[nodiscard]] std::map<std::string, Record> tombstones() const {
    std::map<std::string, Record> out;
    for (const auto& [slot, record] : slots_) {
      if (!record.tombstone) continue;
      EXPECT_TRUE(out.emplace(record.key, record).second) << "two tombstones of one key";
    }
    return out;
  }

  // What the peers have heard.
  node::WriteReply lastWrite;
  node::FenceAck lastFence;
  node::CommandAck lastAck;
  node::NodeInfo info;
  uint64_t sequence = 0;

 private:
  bool step(int32_t status) {
    EXPECT_NE(status, KV_INTERNAL) << kv_sim_node_problem(node_);
    alive_ = alive_ && status == KV_OK;
    return alive_;
  }

  template <typename Append>
  bool frame(uint64_t connection, Append append) {
    wire::Bytes out;
    append(out);
    const wire::Bytes body(out.begin() + wire::kFrameHeaderBytes, out.end());
    return step(kv_sim_node_frame(node_, 0, connection, body.data(), static_cast<uint32_t>(body.size()))) && act();
  }

  bool act() {
    for (;;) {
      kv_sim_action action{};
      if (!step(kv_sim_node_next(node_, &action))) return false;
      if (action.kind == KV_SIM_NONE) {
        if (fromSource_.empty()) return true;
        if (!answerAsSource()) return false;
        continue;
      }
      if (action.kind == KV_SIM_DIAL_SOURCE) {
        source_ = ++lastSource_;
        if (!step(kv_sim_node_source_dialled(node_, 0, source_, action.connection))) return false;
      } else if (action.kind == KV_SIM_SEND_FRAMES) {
        hear(action.connection, {static_cast<const uint8_t*>(action.data), action.data_length});
        if (!step(kv_sim_node_sent(node_, action.connection, action.data_length))) return false;
      } else if (action.kind == KV_SIM_RECEIVE_PAYLOAD) {
        std::memcpy(memory_.data() + action.offset, value_.data(), action.length);
        const uint32_t crc = crc32c(value_);
        if (!step(kv_sim_node_payload_received(node_, action.connection, crc, crc))) return false;
      }
    }
  }

  /// What the source has to say to what it was asked, if there is something.
  bool answerAsSource() {
    for (const wire::Bytes& frames : std::exchange(fromSource_, {})) {
      const wire::Bytes body(frames.begin() + wire::kFrameHeaderBytes, frames.end());
      if (!step(kv_sim_node_frame(node_, 0, source_, body.data(), static_cast<uint32_t>(body.size())))) return false;
    }
    return true;
  }

  void hear(uint64_t connection, std::span<const uint8_t> frames) {
    wire::FrameDecoder decoder;
    while (!frames.empty()) {
      const std::span<uint8_t> room = decoder.writable();
      const size_t count = std::min(room.size(), frames.size());
      std::copy_n(frames.begin(), count, room.begin());
      decoder.received(count);
      frames = frames.subspan(count);
      while (const std::optional<wire::Body> body = decoder.next())
        connection == source_ ? ask(*body) : hear(wire::templateOf(*body), *body);
    }
  }

  void ask(wire::Body body) {
    wire::Bytes& out = fromSource_.emplace_back();
    if (wire::templateOf(body) == sbe::ReadRequest::SBE_TEMPLATE_ID) {
      const node::ReadRequest request = node::readReadRequest(body);
      return node::appendReadReply(out, request.requestId, KV_OK, request.payloadLength);
    }
    wire::Welcome welcome = masterWelcome();
    welcome.self.role = wire::Role::Node;
    welcome.self.incarnation = wire::readHello(body).expectedPeer;
    wire::appendWelcome(out, welcome);
  }

  void hear(uint16_t type, wire::Body body) {
    if (type == sbe::WriteReply::SBE_TEMPLATE_ID) lastWrite = readWriteReply(body);
    if (type == sbe::FenceAck::SBE_TEMPLATE_ID) lastFence = readFenceAck(body);
    if (type == sbe::CommandAck::SBE_TEMPLATE_ID) lastAck = readCommandAck(body);
    if (type == sbe::NodeInfo::SBE_TEMPLATE_ID) info = readNodeInfo(body);
    if (type != sbe::DirectoryRecords::SBE_TEMPLATE_ID) return;
    const Records heard = readRecords(body);
    if (!heard.snapshot) {
      EXPECT_EQ(heard.sequence, sequence + 1) << "a gap in the stream";
      sequence += heard.records.size();
    }
    for (const Record& record : heard.records)
      slots_[record.extent.slot] = record;
  }

  std::vector<uint8_t>& memory_;
  kv_sim_node* node_ = nullptr;
  bool alive_ = false;
  std::string value_;
  std::map<uint32_t, Record> slots_;
  std::vector<wire::Bytes> fromSource_;
  uint64_t source_ = 0;
  uint64_t lastSource_ = 100;
};

inline std::vector<uint8_t> freshSegment() {
  std::vector<uint8_t> memory(store::kSegmentBytesMin);
  const kv_sim_params given = params(1);
  EXPECT_EQ(kv_sim_format(&given, memory.data(), memory.size()), KV_OK);
  return memory;
}

}  // namespace kvpool::test
