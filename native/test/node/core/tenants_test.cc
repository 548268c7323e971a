// SPDX-License-Identifier: Apache-2.0
// Objects of several tenants in one segment: each sees its own, and misses the others' like what is not there.
#include <gtest/gtest.h>

#include <string>

#include "base/own_keys.h"
#include "client/core/requests.h"
#include "node/core/core_in_memory.h"
#include "node/core/tier_fixture.h"

namespace kvpool::test {
namespace {

using Role = Principal::Role;
constexpr node::ConnectionId kB = kClient + 1;
constexpr node::ConnectionId kNode = kClient + 2;
constexpr node::ConnectionId kPlain = kClient + 3;

Principal tenant(const std::string& name) {
  return {Role::Tenant, "engine", name, false, 0};
}

std::string qualified(const std::string& tenant, const std::string& key) {
  return std::string(1, '\0') + tenant + std::string(1, '\0') + key;
}

TEST(OwnKeysTest, AreQualifiedByTheTenant) {
  struct Row {
    const char* what;
    std::optional<Principal> who;
    bool separated;
    std::string key;
    std::string qualified;  // empty: refused
  };
  const std::vector<Row> table = {
      {"plain, off", {}, false, "k", "k"},
      {"plain, on", {}, true, "k", "k"},
      {"default", tenant("default"), true, "k", "k"},
      {"a tenant", tenant("a"), true, "k", qualified("a", "k")},
      {"an agent", Principal{Role::Agent, "n", "default", false, 0}, true, "k", "k"},
      {"an admin", Principal{Role::Admin, "n", "default", false, 0}, true, "k", "k"},
      {"plain with another's", {}, false, qualified("a", "k"), ""},
      {"default with another's", tenant("default"), true, qualified("a", "k"), ""},
      {"a tenant with another's", tenant("b"), true, qualified("a", "k"), ""},
      {"a tenant with its own", tenant("a"), true, qualified("a", "k"), ""},
      {"a zero byte alone", {}, false, std::string(1, '\0'), ""},
      {"a zero byte inside", tenant("a"), true, std::string("k\0k", 3), qualified("a", std::string("k\0k", 3))},
      {"none", tenant("a"), true, "", ""},
  };
  for (const Row& row : table) {
    std::string room;
    EXPECT_EQ(OwnKeys(row.who, row.separated).qualify(row.key, room), row.qualified) << row.what;
  }
}

TEST(OwnKeysTest, AreSeenByTheTenantAndByNodes) {
  const std::vector<std::string> all = {"k", qualified("a", "k"), qualified("ab", "k"), qualified("b", "k")};
  struct Row {
    const char* what;
    std::optional<Principal> who;
    bool separated;
    std::string seen;  // for each of `all`
  };
  const std::vector<Row> table = {
      {"plain, off", {}, false, "1111"},
      {"plain, on", {}, true, "1000"},
      {"default", tenant("default"), true, "1000"},
      {"a", tenant("a"), true, "0100"},
      {"ab", tenant("ab"), true, "0010"},
      {"b, off", tenant("b"), false, "0001"},
      {"a node", Principal{Role::Node, "n", "default", false, 0}, true, "1111"},
      {"an agent", Principal{Role::Agent, "n", "default", false, 0}, true, "1000"},
      {"an admin", Principal{Role::Admin, "n", "default", false, 0}, true, "1000"},
  };
  for (const Row& row : table) {
    std::string seen;
    for (const std::string& key : all)
      seen += OwnKeys(row.who, row.separated).see(key) ? '1' : '0';
    EXPECT_EQ(seen, row.seen) << row.what;
  }
}

/// On the SSD too.
class TierOfTenantsTest : public node::TierTest {};

TEST_F(TierOfTenantsTest, AnothersObjectIsMissedThere) {
  node.config.shm.clear();
  node.config.separatesTenants = true;
  restart();
  const ExtentRef ofDefault = putBoth(1);
  node.core->accepted(node.nowMs, kB, false, "peer", tenant("b"));
  node.frame(kB, [](wire::Bytes& out) { wire::appendHello(out, clientHello(CoreInMemory::kIncarnation)); });
  node.inbox(kB).clear();
  askOf(kB, 7, 1, ofDefault, node::kValue.size());
  work();
  ASSERT_EQ(replies(kB).size(), 1U);
  EXPECT_EQ(replies(kB).front().status, KV_NOT_FOUND);
  EXPECT_TRUE(node.tierPayloads.empty()) << "nothing was read for it";
  EXPECT_EQ(read(1, ofDefault), node::kValue);
}

class TenantsTest : public testing::Test {
 protected:
  TenantsTest() {
    node_.config.shm.clear();
    node_.config.separatesTenants = true;
    node_.restart();
    connect();
  }
  void connect() {
    node_.connectMaster(kMaster);
    node_.fence(kMaster, kLeader);
    connect(kClient, tenant("a"));
    connect(kB, tenant("b"));
    connect(kNode, Principal{Role::Node, "node-1", "default", false, 0});
    connect(kPlain, std::nullopt);
  }
  void connect(node::ConnectionId id, const std::optional<Principal>& who) {
    node_.core->accepted(node_.nowMs, id, false, "peer", who);
    node_.tenants[id] = who && who->tenant != "default" ? qualified(who->tenant, "") : "";
    node_.frame(id, [](wire::Bytes& out) { wire::appendHello(out, clientHello(CoreInMemory::kIncarnation)); });
    node_.inbox(id).clear();
  }
  int32_t read(node::ConnectionId id, const ExtentRef& extent, const ObjectId& object, uint64_t length) {
    node_.inbox(id).clear();
    node_.frame(id, [&](wire::Bytes& out) { node::appendReadRequest(out, {1, extent, object, length}); });
    return readReadReply(node_.last(id, sbe::ReadReply::SBE_TEMPLATE_ID)).status;
  }
  int32_t readParts(node::ConnectionId id, const ExtentRef& extent, const ObjectId& object, const std::string& value) {
    node_.inbox(id).clear();
    node_.frame(id, [&](wire::Bytes& out) {
      const kv_piece piece{nullptr, 1};
      const uint64_t offset = 0;
      out = client::partsRead(1, extent, object, value.size(), crc32c(value), std::span(&piece, 1), &offset);
    });
    return readReadReply(node_.last(id, sbe::ReadReply::SBE_TEMPLATE_ID)).status;
  }

  CoreInMemory node_;
};

TEST_F(TenantsTest, AnObjectHasTheQualifiedKeyOfWhoWroteIt) {
  ASSERT_EQ(node_.write(kClient, kLeader, {5, 1}, "k", "of a").status, KV_OK);
  ASSERT_EQ(node_.write(kB, kLeader, {5, 2}, "k", "of b").status, KV_OK);
  ASSERT_EQ(node_.write(kPlain, kLeader, {5, 3}, "k", "of all").status, KV_OK);
  std::vector<std::string> keys;
  for (const Records& records : node_.records(kMaster)) {
    for (const auto& record : records.records)
      keys.push_back(record.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{qualified("a", "k"), qualified("b", "k"), "k"}));
}

TEST_F(TenantsTest, AnothersKeyCannotBeWritten) {
  for (const node::ConnectionId id : {kClient, kB, kPlain})
    EXPECT_EQ(node_.write(id, kLeader, {5, 1}, qualified("a", "k"), "value").status, KV_INVALID_KEY) << id;
}

TEST_F(TenantsTest, AKeyIsAsLongAsTheQualifiedOneMayBe) {
  const size_t most = KV_KEY_BYTES_MAX - qualified("a", "").size();
  EXPECT_EQ(node_.write(kClient, kLeader, {5, 1}, std::string(most, 'k'), "value").status, KV_OK);
  EXPECT_EQ(node_.write(kClient, kLeader, {5, 2}, std::string(most + 1, 'k'), "value").status, KV_INVALID_KEY);
  EXPECT_EQ(node_.write(kPlain, kLeader, {5, 3}, std::string(most + 1, 'k'), "value").status, KV_OK);
}

TEST_F(TenantsTest, AGuessedExtentOfAnotherIsMissedLikeOneThatIsGone) {
  const std::string value = "the value of a";
  const node::WriteReply written = node_.write(kClient, kLeader, {5, 1}, "k", value);
  ASSERT_EQ(written.status, KV_OK);
  EXPECT_EQ(read(kB, written.extent, {5, 1}, value.size()), KV_NOT_FOUND);
  EXPECT_EQ(readParts(kB, written.extent, {5, 1}, value), KV_NOT_FOUND);
  EXPECT_EQ(read(kPlain, written.extent, {5, 1}, value.size()), KV_NOT_FOUND);
  EXPECT_EQ(read(kClient, written.extent, {5, 1}, value.size()), KV_OK);
  EXPECT_EQ(readParts(kClient, written.extent, {5, 1}, value), KV_OK);
  EXPECT_EQ(read(kNode, written.extent, {5, 1}, value.size()), KV_OK) << "a copy";
}

TEST_F(TenantsTest, WhoIsAnothersIsMissedAlsoBeforeItsPayloadIsLookedAt) {
  const std::string value = "the value of a";
  const node::WriteReply written = node_.write(kClient, kLeader, {5, 1}, "k", value);
  node_.restart();
  connect();
  EXPECT_EQ(read(kB, written.extent, {5, 1}, value.size()), KV_NOT_FOUND);
  EXPECT_EQ(read(kClient, written.extent, {5, 1}, value.size()), KV_OK);
}

/// With a socket by which clients on its machine may have its segment in shared memory.
class SharedTenantsTest : public TenantsTest {
 protected:
  static constexpr node::ConnectionId kLocal = kClient + 9;

  SharedTenantsTest() {
    node_.config.shm = "boot:/shm.sock";
    node_.restart();
    connect();
  }
  int32_t attach() {
    node_.connectClient(kLocal, true);
    node_.frame(kLocal, [](wire::Bytes& out) { appendShmAttach(out, 1, 0); });
    for (const node::Action& action : node_.others) {
      if (std::holds_alternative<node::SendSegments>(action)) return KV_OK;
    }
    return readShmAttached(node_.last(kLocal, sbe::ShmAttached::SBE_TEMPLATE_ID)).status;
  }
};

TEST_F(SharedTenantsTest, ASegmentThatWasShownTakesNoneButDefault) {
  ASSERT_EQ(node_.write(kPlain, kLeader, {5, 1}, "k", "value").status, KV_OK);
  node_.others.clear();
  ASSERT_EQ(attach(), KV_OK);
  EXPECT_EQ(node_.write(kClient, kLeader, {5, 2}, "k", "value").status, KV_NOT_PERMITTED);
  EXPECT_EQ(node_.write(kPlain, kLeader, {5, 3}, "l", "value").status, KV_OK);

  node_.restart();
  connect();
  EXPECT_EQ(node_.write(kClient, kLeader, {5, 4}, "k", "value").status, KV_NOT_PERMITTED)
      << "clients have it still when its node is another process";
}

TEST_F(SharedTenantsTest, ASegmentWithObjectsOfTenantsIsShownToNobody) {
  ASSERT_EQ(node_.write(kClient, kLeader, {5, 1}, "k", "value").status, KV_OK);
  node_.others.clear();
  EXPECT_EQ(attach(), KV_NOT_PERMITTED);
  EXPECT_EQ(node_.write(kClient, kLeader, {5, 2}, "l", "value").status, KV_OK);
}

TEST_F(SharedTenantsTest, NorIsOneThatHasOnlyTheirBytes) {
  const node::WriteReply written = node_.write(kClient, kLeader, {5, 1}, "k", "value");
  ASSERT_TRUE(node_.free(kMaster, kLeader, {{written.extent, {5, 1}}}).accepted);
  node_.restart();
  connect();
  node_.others.clear();
  EXPECT_EQ(attach(), KV_NOT_PERMITTED);
}

}  // namespace
}  // namespace kvpool::test
