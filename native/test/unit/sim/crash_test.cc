// SPDX-License-Identifier: Apache-2.0
// A scripted workload on the production core, cut at every store it makes, at several bytes of the store. After each
// cut a new life starts from the bytes, and everything that was acknowledged must be there, with its own bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "kvpool/kvpool.h"
#include "peer_messages.h"
#include "seed.h"
#include "sim/kvpool_sim.h"
#include "store/layout.h"

namespace kvpool {
namespace {

constexpr uint64_t kNever = UINT64_MAX;
constexpr uint64_t kMasterConnection = 1;
constexpr uint64_t kClientConnection = 2;
constexpr uint64_t kBytes = store::kSegmentBytesMin;
constexpr Authority kFirst{1, 11};
constexpr Authority kSecond{2, 22};

struct Object {
  std::string key;
  std::string value;
  ExtentRef extent;
};

kv_sim_params params(uint64_t incarnation) {
  kv_sim_params params{};
  params.struct_size = sizeof params;
  params.pool_high = test::kPool.high;
  params.pool_low = test::kPool.low;
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
    if (!frame(kMasterConnection, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); }))
      return false;
    if (!step(kv_sim_node_accepted(node_, 0, kClientConnection, 0))) return false;
    return frame(kClientConnection, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
  }

  bool fence(const Authority& authority) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { test::appendFence(out, 1, authority, 5000); });
  }
  bool write(const Authority& authority, const ObjectId& id, std::string_view key, std::string_view value) {
    value_ = value;
    return frame(kClientConnection, [&](wire::Bytes& out) {
      test::appendWrite(out, {id.counter, authority, id, value.size(), false, 0, 0, key});
    });
  }
  bool free(const Authority& authority, const ObjectId& id, const ExtentRef& extent) {
    return frame(kMasterConnection, [&](wire::Bytes& out) { test::appendFree(out, 1, authority, {{extent, id}}); });
  }

  // What the peers have heard.
  node::WriteReply lastWrite;
  node::FenceAck lastFence;
  bool freeAcknowledged = false;
  node::NodeInfo info;
  std::map<ObjectId, test::Record> records;  // as the master sees them
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
      if (action.kind == KV_SIM_NONE) return true;
      if (action.kind == KV_SIM_SEND_FRAMES) {
        hear({static_cast<const uint8_t*>(action.data), action.data_length});
        if (!step(kv_sim_node_sent(node_, action.connection, action.data_length))) return false;
      } else if (action.kind == KV_SIM_RECEIVE_PAYLOAD) {
        std::memcpy(memory_.data() + action.offset, value_.data(), action.length);
        const uint32_t crc = crc32c(value_);
        if (!step(kv_sim_node_payload_received(node_, action.connection, crc, crc))) return false;
      }
    }
  }

  void hear(std::span<const uint8_t> frames) {
    wire::FrameDecoder decoder;
    while (!frames.empty()) {
      const std::span<uint8_t> room = decoder.writable();
      const size_t count = std::min(room.size(), frames.size());
      std::copy_n(frames.begin(), count, room.begin());
      decoder.received(count);
      frames = frames.subspan(count);
      while (const std::optional<wire::Body> body = decoder.next())
        hear(wire::templateOf(*body), *body);
    }
  }

  void hear(uint16_t type, wire::Body body) {
    if (type == test::sbe::WriteReply::SBE_TEMPLATE_ID) lastWrite = test::readWriteReply(body);
    if (type == test::sbe::FenceAck::SBE_TEMPLATE_ID) lastFence = test::readFenceAck(body);
    if (type == test::sbe::CommandAck::SBE_TEMPLATE_ID) freeAcknowledged = test::readCommandAck(body).accepted;
    if (type == test::sbe::NodeInfo::SBE_TEMPLATE_ID) info = test::readNodeInfo(body);
    if (type != test::sbe::DirectoryRecords::SBE_TEMPLATE_ID) return;
    const test::Records heard = test::readRecords(body);
    if (!heard.snapshot) {
      EXPECT_EQ(heard.sequence, sequence + 1) << "a gap in the stream";
      sequence += heard.records.size();
    }
    for (const test::Record& record : heard.records) {
      if (record.committed) {
        records[record.objectId] = record;
      } else {
        records.erase(record.objectId);
      }
    }
  }

  std::vector<uint8_t>& memory_;
  kv_sim_node* node_ = nullptr;
  bool alive_ = false;
  std::string value_;
};

/// What clients and masters were told. `maybe` is what was asked for when the life ended.
struct Ledger {
  std::map<ObjectId, Object> acknowledged;
  std::map<ObjectId, Object> maybe;
  std::set<ObjectId> maybeFreed;
  Authority obeyed;
  Authority maybeObeyed;
  std::set<uint64_t> generations;
};

std::string valueOf(uint64_t counter) {
  return std::string(100 + counter * 977 % 9000, static_cast<char>('a' + counter % 26)) + std::to_string(counter);
}

bool fenceStep(Life& life, Ledger& ledger, const Authority& authority) {
  ledger.maybeObeyed = authority;
  if (!life.fence(authority)) return false;
  EXPECT_TRUE(life.lastFence.accepted);
  ledger.obeyed = authority;
  return true;
}

bool writeStep(Life& life, Ledger& ledger, const Authority& authority, uint64_t counter) {
  const ObjectId id{authority.epoch, counter};
  Object object{"key-" + std::to_string(counter), valueOf(counter), {}};
  ledger.maybe = {{id, object}};
  if (!life.write(authority, id, object.key, object.value)) return false;
  EXPECT_EQ(life.lastWrite.status, KV_OK);
  object.extent = life.lastWrite.extent;
  EXPECT_TRUE(ledger.generations.insert(object.extent.generation).second) << "a generation was used twice";
  ledger.maybe.clear();
  ledger.acknowledged[id] = object;
  return true;
}

bool freeStep(Life& life, Ledger& ledger, const Authority& authority, const ObjectId& id) {
  ledger.maybeFreed = {id};
  if (!life.free(authority, id, ledger.acknowledged.at(id).extent)) return false;
  ledger.maybeFreed.clear();
  EXPECT_TRUE(life.freeAcknowledged);
  ledger.acknowledged.erase(id);
  return true;
}

/// Fences, writes, frees, reuse of freed slots, a new epoch. False when the life was cut on the way.
bool runScript(Life& life, Ledger& ledger) {
  if (!life.alive() || !life.connect() || !fenceStep(life, ledger, kFirst)) return false;
  for (uint64_t i = 1; i <= 6; ++i) {
    if (!writeStep(life, ledger, kFirst, i)) return false;
  }
  for (const uint64_t i : {uint64_t{2}, uint64_t{5}}) {
    if (!freeStep(life, ledger, kFirst, {1, i})) return false;
  }
  for (uint64_t i = 7; i <= 9; ++i) {
    if (!writeStep(life, ledger, kFirst, i)) return false;
  }
  if (!fenceStep(life, ledger, kSecond)) return false;
  return writeStep(life, ledger, kSecond, 10) && freeStep(life, ledger, kSecond, {1, 7}) &&
         writeStep(life, ledger, kSecond, 11);
}

/// The bytes behind a record are those that were put under its key.
void expectBytes(const std::vector<uint8_t>& memory, const test::Record& record, const Object& object) {
  EXPECT_EQ(record.key, object.key);
  ASSERT_EQ(record.payloadLength, object.value.size());
  const std::string stored(reinterpret_cast<const char*>(memory.data() + record.offset), record.payloadLength);
  EXPECT_EQ(stored, object.value);
  EXPECT_EQ(record.payloadCrc, crc32c(object.value));
}

void expectNothingLost(std::vector<uint8_t>& memory, Ledger& ledger) {
  Life next(memory, 1000, kNever, 0);
  ASSERT_TRUE(next.alive());
  ASSERT_TRUE(next.connect());
  EXPECT_TRUE(next.info.seen == ledger.obeyed || next.info.seen == ledger.maybeObeyed);
  for (const auto& [id, object] : ledger.acknowledged) {
    if (ledger.maybeFreed.contains(id)) continue;
    const auto found = next.records.find(id);
    ASSERT_NE(found, next.records.end()) << "lost " << object.key;
    EXPECT_EQ(found->second.extent, object.extent);
  }
  for (const auto& [id, record] : next.records) {
    const bool sure = ledger.acknowledged.contains(id);
    ASSERT_TRUE(sure || ledger.maybe.contains(id)) << "object " << toString(id) << " came from nowhere";
    expectBytes(memory, record, sure ? ledger.acknowledged.at(id) : ledger.maybe.at(id));
  }
  EXPECT_LE(next.recovery().torn, 1u);
  EXPECT_EQ(next.recovery().overlapping + next.recovery().invalid, 0u);
  // And the node works: another leader, another object, in a generation never used before.
  ASSERT_TRUE(fenceStep(next, ledger, {9, 99}));
  ASSERT_TRUE(writeStep(next, ledger, {9, 99}, 500));
}

std::vector<uint8_t> freshSegment() {
  std::vector<uint8_t> memory(kBytes);
  const kv_sim_params given = params(1);
  EXPECT_EQ(kv_sim_format(&given, memory.data(), memory.size()), KV_OK);
  return memory;
}

TEST(Crash, AtEveryStoreOfTheScriptNothingAcknowledgedIsLostOrChanged) {
  const std::vector<uint8_t> fresh = freshSegment();
  uint64_t stores = 0;
  {
    std::vector<uint8_t> memory = fresh;
    Ledger ledger;
    Life life(memory, 1, kNever, 0);
    ASSERT_TRUE(runScript(life, ledger));
    stores = life.stores();
    EXPECT_EQ(ledger.acknowledged.size(), 8u);
  }
  ASSERT_GT(stores, 20u);
  for (uint64_t store = 0; store < stores; ++store) {
    for (const uint32_t bytes : {0u, 1u, 7u, 24u, 68u, 100u, 127u}) {
      SCOPED_TRACE("cut at store " + std::to_string(store) + " after " + std::to_string(bytes) + " bytes");
      std::vector<uint8_t> memory = fresh;
      Ledger ledger;
      {
        Life life(memory, 1, store, bytes);
        ASSERT_FALSE(runScript(life, ledger)) << "the cut did not happen";
      }
      expectNothingLost(memory, ledger);
      if (HasFailure()) return;
    }
  }
}

TEST(Crash, ARecoveryThatIsCutItselfLosesNothingEither) {
  const std::vector<uint8_t> fresh = freshSegment();
  std::vector<uint8_t> crashed = fresh;
  Ledger ledger;
  {
    Life life(crashed, 1, kNever, 0);
    ASSERT_TRUE(runScript(life, ledger));
  }
  // Records of two slots that recovery must clean up: one torn, one reserved and never committed.
  for (const auto& [id, object] : ledger.acknowledged) {
    if (id.counter == 3) crashed[store::recordOffset(object.extent.slot) + 5] ^= 0xFF;
  }
  ledger.acknowledged.erase({1, 3});
  for (uint64_t store = 0; store < 4; ++store) {
    std::vector<uint8_t> memory = crashed;
    { const Life life(memory, 2, store, 60); }
    Ledger copy = ledger;
    expectNothingLost(memory, copy);
  }
}

TEST(Crash, ManyLivesInARow) {
  const uint64_t seed = test::seed(20);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  std::vector<uint8_t> memory = freshSegment();
  Ledger ledger;
  uint64_t counter = 0;
  for (uint64_t incarnation = 1; incarnation <= 60; ++incarnation) {
    Life life(memory, incarnation, dice.below(25), static_cast<uint32_t>(dice.below(128)));
    bool alive = life.alive() && life.connect();
    if (alive) {
      for (const auto& [id, record] : life.records) {
        if (ledger.maybe.contains(id)) {
          ledger.acknowledged[id] = ledger.maybe.at(id);
          ledger.acknowledged[id].extent = record.extent;
          ledger.generations.insert(record.extent.generation);
        }
        ASSERT_TRUE(ledger.acknowledged.contains(id));
        expectBytes(memory, record, ledger.acknowledged.at(id));
      }
      for (const ObjectId& id : ledger.maybeFreed) {
        if (!life.records.contains(id)) ledger.acknowledged.erase(id);
      }
      ASSERT_EQ(life.records.size(), ledger.acknowledged.size());
      ledger.maybe.clear();
      ledger.maybeFreed.clear();
    }
    const Authority authority{incarnation, 1};
    alive = alive && fenceStep(life, ledger, authority);
    while (alive) {
      const bool frees = !ledger.acknowledged.empty() && dice.oneIn(3);
      alive = frees ? freeStep(life, ledger, authority, ledger.acknowledged.begin()->first)
                    : writeStep(life, ledger, authority, ++counter);
    }
  }
  EXPECT_GT(counter, 50u);
}

}  // namespace
}  // namespace kvpool
