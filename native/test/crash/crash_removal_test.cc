// SPDX-License-Identifier: Apache-2.0
// Tombstones, purges and copies on the production core, cut at every store they make. What was acknowledged holds in
// the next life; what was asked for when the life ended has happened, or has not, object by object.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "crash/life.h"

namespace kvpool {
namespace {

using test::freshSegment;
using test::kNever;
using test::Life;

constexpr Authority kLeader{1, 11};
constexpr Authority kNext{2, 22};

struct Object {
  std::string key;
  std::string value;
  friend bool operator==(const Object&, const Object&) = default;
};

/// What the directory holds, as far as its peers can know.
struct Content {
  std::map<ObjectId, Object> objects;
  std::map<std::string, ObjectId> tombstones;
  ObjectId purged;
};

/// One command, and what it makes of the content when it is acknowledged.
struct Step {
  std::function<bool(Life&)> run;
  std::function<void(Content&)> change;
};

ObjectId id(uint64_t counter) {
  return {1, counter};
}

Object object(uint64_t counter) {
  return {"key-" + std::to_string(counter), std::string(counter * 777 % 5000, static_cast<char>('a' + counter % 26))};
}

// What a life that was not cut has answered; true so that they follow a step with &&.

bool obeyed(const Life& life) {
  EXPECT_TRUE(life.lastFence.accepted);
  return true;
}

bool written(const Life& life) {
  EXPECT_EQ(life.lastWrite.status, KV_OK);
  return true;
}

bool acknowledged(const Life& life) {
  EXPECT_TRUE(life.lastAck.accepted);
  EXPECT_EQ(life.lastAck.status, KV_OK);
  return true;
}

Step fence(const Authority& authority, const ObjectId& purged = {}) {
  return {[=](Life& life) { return life.fence(authority, purged) && obeyed(life); },
          [=](Content& content) {
            content.purged = std::max(content.purged, purged);
            std::erase_if(content.objects, [&](const auto& one) { return one.first < purged; });
            std::erase_if(content.tombstones, [&](const auto& one) { return one.second < purged; });
          }};
}

Step write(uint64_t counter) {
  return {[=](Life& life) {
            const Object put = object(counter);
            return life.write(kLeader, id(counter), put.key, put.value) && written(life);
          },
          [=](Content& content) { content.objects[id(counter)] = object(counter); }};
}

Step free(uint64_t counter) {
  return {[=](Life& life) {
            const test::Record record = life.objects().at(id(counter));
            return life.free(kLeader, record.objectId, record.extent) && acknowledged(life);
          },
          [=](Content& content) { content.objects.erase(id(counter)); }};
}

Step lift(const std::string& key) {
  return {[=](Life& life) {
            const test::Record record = life.tombstones().at(key);
            return life.free(kLeader, record.objectId, record.extent) && acknowledged(life);
          },
          [=](Content& content) { content.tombstones.erase(key); }};
}

Step keepTombstones(const std::vector<std::pair<std::string, uint64_t>>& tombstones) {
  return {[=](Life& life) {
            node::KeepTombstones request{7, kLeader, {}};
            for (const auto& [key, counter] : tombstones)
              request.tombstones.push_back({id(counter), key});
            return life.keepTombstones(request) && acknowledged(life);
          },
          [=](Content& content) {
            for (const auto& [key, counter] : tombstones)
              content.tombstones[key] = id(counter);
          }};
}

Step purge(uint64_t counter) {
  return {[=](Life& life) {
            return life.purge({8, kLeader, id(counter)}) && acknowledged(life);
          },
          fence({}, id(counter)).change};
}

Step copy(uint64_t counter) {
  return {[=](Life& life) {
            const Object from = object(counter);
            node::Copy request;
            request.requestId = counter;
            request.authority = kLeader;
            request.objectId = id(counter);
            request.payloadLength = from.value.size();
            request.payloadCrc = crc32c(from.value);
            request.sourceIncarnation = 4;
            request.sourceExtent = {0, 1, 2};
            request.key = from.key;
            request.sourceTcp = "10.0.0.2:50061";
            return life.copy(request, from.value) && acknowledged(life);
          },
          [=](Content& content) { content.objects[id(counter)] = object(counter); }};
}

std::vector<Step> script() {
  return {fence(kLeader),
          write(1),
          write(2),
          keepTombstones({{"key-1", 1}, {"gone", 3}}),
          free(1),
          copy(4),
          write(5),
          keepTombstones({{"gone", 6}, {"key-5", 5}}),  // the newer one of "gone" takes the older one's place
          free(5),
          lift("key-1"),
          copy(7),
          write(8),
          purge(7),  // leaves 7 and 8
          write(9),
          keepTombstones({{"late", 10}}),
          fence(kNext, id(9))};  // leaves 9 and the tombstone of "late"
}

/// Runs until the end or until the life is cut. `before` and `after` are the content on both sides of the step that was
/// under way.
bool run(Life& life, Content& before, Content& after) {
  if (!life.alive() || !life.connect()) return false;
  for (const Step& step : script()) {
    after = before;
    step.change(after);
    if (!step.run(life)) return false;
    before = after;
  }
  return true;
}

std::string bytesOf(const std::vector<uint8_t>& memory, const test::Record& record) {
  return {reinterpret_cast<const char*>(memory.data() + record.offset), record.payloadLength};
}

void expectBetween(std::vector<uint8_t>& memory, const Content& before, const Content& after) {
  Life next(memory, 1000, kNever, 0);
  ASSERT_TRUE(next.alive() && next.connect());
  const std::map<ObjectId, test::Record> objects = next.objects();
  for (const auto& [objectId, known] : before.objects) {
    const bool stays = after.objects.contains(objectId);
    EXPECT_TRUE(!stays || objects.contains(objectId)) << "lost " << known.key;
  }
  for (const auto& [objectId, record] : objects) {
    const bool sure = before.objects.contains(objectId);
    ASSERT_TRUE(sure || after.objects.contains(objectId)) << toString(objectId) << " came from nowhere";
    const Object& known = sure ? before.objects.at(objectId) : after.objects.at(objectId);
    EXPECT_EQ((Object{record.key, bytesOf(memory, record)}), known);
    EXPECT_EQ(record.payloadCrc, crc32c(known.value));
  }
  const std::map<std::string, test::Record> tombstones = next.tombstones();
  for (const auto& [key, kept] : before.tombstones) {
    if (after.tombstones.contains(key)) {
      ASSERT_TRUE(tombstones.contains(key)) << "the tombstone of " << key << " is lost";
      EXPECT_GE(tombstones.at(key).objectId, kept) << "an older tombstone has come back";
    }
  }
  for (const auto& [key, record] : tombstones) {
    const auto was = before.tombstones.find(key);
    const auto willBe = after.tombstones.find(key);
    EXPECT_TRUE((was != before.tombstones.end() && record.objectId == was->second) ||
                (willBe != after.tombstones.end() && record.objectId == willBe->second));
  }
  EXPECT_TRUE(next.info.purgeId == before.purged || next.info.purgeId == after.purged);
  for (const auto& [objectId, record] : objects)
    EXPECT_GE(objectId, next.info.purgeId) << "what is purged does not come back";
  EXPECT_EQ(next.info.restored, objects.size());
  EXPECT_LE(next.recovery().torn, 1u);
  EXPECT_EQ(next.recovery().overlapping + next.recovery().invalid, 0u);
}

TEST(CrashOfRemovals, TheScriptWithoutACutEndsAsItShould) {
  std::vector<uint8_t> memory = freshSegment();
  Content before;
  Content after;
  Life life(memory, 1, kNever, 0);
  ASSERT_TRUE(run(life, before, after));
  EXPECT_EQ(life.objects().size(), 1u);
  EXPECT_EQ(life.objects().begin()->first, id(9));
  EXPECT_EQ(life.tombstones().size(), 1u);
  EXPECT_TRUE(life.tombstones().contains("late"));
  EXPECT_EQ(before.objects.size(), 1u);
  EXPECT_EQ(before.tombstones.size(), 1u);
}

TEST(CrashOfRemovals, AtEveryStoreWhatWasAcknowledgedHolds) {
  const std::vector<uint8_t> fresh = freshSegment();
  uint64_t stores = 0;
  {
    std::vector<uint8_t> memory = fresh;
    Content before;
    Content after;
    Life life(memory, 1, kNever, 0);
    ASSERT_TRUE(run(life, before, after));
    stores = life.stores();
  }
  ASSERT_GT(stores, 30u);
  for (uint64_t store = 0; store < stores; ++store) {
    for (const uint32_t bytes : {0u, 5u, 36u, 71u, 90u, 127u}) {
      SCOPED_TRACE("cut at store " + std::to_string(store) + " after " + std::to_string(bytes) + " bytes");
      std::vector<uint8_t> memory = fresh;
      Content before;
      Content after;
      {
        Life life(memory, 1, store, bytes);
        ASSERT_FALSE(run(life, before, after)) << "the cut did not happen";
      }
      expectBetween(memory, before, after);
      if (HasFailure()) return;
    }
  }
}

TEST(CrashOfRemovals, ARecoveryThatIsCutItselfLosesNothingEither) {
  std::vector<uint8_t> crashed = freshSegment();
  Content before;
  Content after;
  uint64_t stores = 0;
  {
    Life life(crashed, 1, kNever, 0);
    ASSERT_TRUE(run(life, before, after));
    stores = life.stores();
  }
  // Cut in the middle of the last purge, so that the recovery has records to free.
  crashed = freshSegment();
  before = {};
  {
    Life life(crashed, 1, stores - 2, 0);
    ASSERT_FALSE(run(life, before, after));
  }
  for (uint64_t store = 0; store < 4; ++store) {
    std::vector<uint8_t> memory = crashed;
    { const Life life(memory, 2, store, 60); }
    expectBetween(memory, before, after);
  }
}

}  // namespace
}  // namespace kvpool
