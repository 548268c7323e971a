// SPDX-License-Identifier: Apache-2.0
// A scripted workload on the production core, cut at every store it makes, at several bytes of the store. After each
// cut a new life starts from the bytes, and everything that was acknowledged must be there, with its own bytes.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "crash/life.h"
#include "seed.h"
#include "store/layout.h"

namespace kvpool {
namespace {

using test::freshSegment;
using test::kNever;
using test::Life;

constexpr Authority kFirst{1, 11};
constexpr Authority kSecond{2, 22};

struct Object {
  std::string key;
  std::string value;
  ExtentRef extent;
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
  EXPECT_TRUE(life.lastAck.accepted);
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
  const std::map<ObjectId, test::Record> present = next.objects();
  EXPECT_TRUE(next.info.seen == ledger.obeyed || next.info.seen == ledger.maybeObeyed);
  for (const auto& [id, object] : ledger.acknowledged) {
    if (ledger.maybeFreed.contains(id)) continue;
    const auto found = present.find(id);
    ASSERT_NE(found, present.end()) << "lost " << object.key;
    EXPECT_EQ(found->second.extent, object.extent);
  }
  for (const auto& [id, record] : present) {
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
      const std::map<ObjectId, test::Record> present = life.objects();
      for (const auto& [id, record] : present) {
        if (ledger.maybe.contains(id)) {
          ledger.acknowledged[id] = ledger.maybe.at(id);
          ledger.acknowledged[id].extent = record.extent;
          ledger.generations.insert(record.extent.generation);
        }
        ASSERT_TRUE(ledger.acknowledged.contains(id));
        expectBytes(memory, record, ledger.acknowledged.at(id));
      }
      for (const ObjectId& id : ledger.maybeFreed) {
        if (!present.contains(id)) ledger.acknowledged.erase(id);
      }
      ASSERT_EQ(present.size(), ledger.acknowledged.size());
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
