// SPDX-License-Identifier: Apache-2.0
// A node takes what its leader granted to that client, for this node, and nothing else.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/core/core_in_memory.h"

namespace kvpool::test {
namespace {

constexpr node::ConnectionId kB = kClient + 1;
constexpr Authority kNext{6, 66};

Principal tenant(const std::string& name) {
  return {Principal::Role::Tenant, "engine", name, false, 0};
}

GrantMac by(const GrantSecret& secret, const node::WriteRequest& request, const std::string& prefix) {
  return secure::GrantSeal(secret).of({request.authority, request.objectId, request.payloadLength, request.retention,
                                       prefix + std::string(request.key)});
}

class GrantTest : public testing::Test {
 protected:
  GrantTest() : node_(2) {
    node_.config.shm.clear();
    node_.config.separatesTenants = true;
    node_.restart();
    node_.connectMaster(kMaster, 0);
    node_.connectMaster(kOther, 1);
    node_.fence(kMaster, kLeader);
    connect(kClient, "a");
    connect(kB, "b");
  }
  void connect(node::ConnectionId id, const std::string& name) {
    node_.core->accepted(node_.nowMs, id, false, "peer", tenant(name));
    node_.frame(id, [](wire::Bytes& out) { wire::appendHello(out, clientHello(CoreInMemory::kIncarnation)); });
    node_.inbox(id).clear();
  }
  static node::WriteRequest wish() {
    node::WriteRequest request{1, kLeader, {5, 1}, 5, false, 0, 0, "key", {kPinSoft, 1000, 7}};
    request.mac = by(kGrantSecret, request, kA);
    return request;
  }
  /// KV_OK where the node wants the payload, which then comes.
  int32_t write(node::ConnectionId id, const node::WriteRequest& request) {
    node_.others.clear();
    node_.inbox(id).clear();
    node_.frame(id, [&](wire::Bytes& out) { appendWrite(out, request, request.mac); });
    if (!node_.others.empty() && std::holds_alternative<node::ReceivePayload>(node_.others.back()))
      return node_.endWrite(id, "value").status;
    return readWriteReply(node_.last(id, sbe::WriteReply::SBE_TEMPLATE_ID)).status;
  }
  [[nodiscard]] uint64_t refusals() const { return node_.core->snapshot().counters.grantRefusals; }

  static inline const std::string kA{"\0a\0", 3};
  static inline const std::string kPrefixB{"\0b\0", 3};
  CoreInMemory node_;
};

TEST_F(GrantTest, OfTheLeaderIsGood) {
  EXPECT_EQ(write(kClient, wish()), KV_OK);
  EXPECT_EQ(refusals(), 0u);
  EXPECT_EQ(write(kClient, wish()), KV_EXISTS) << "once";
}

TEST_F(GrantTest, ForgedStolenOrChangedIsRefused) {
  struct Row {
    const char* what;
    node::ConnectionId who;
    node::WriteRequest request;
  };
  std::vector<Row> table;
  const auto add = [&](const char* what, const auto& change) {
    Row row{what, kClient, wish()};
    change(row);
    table.push_back(row);
  };
  GrantSecret anotherNodes = kGrantSecret;
  anotherNodes[31] = 1;
  add("no mac", [](Row& row) { row.request.mac = {}; });
  add("half of one", [](Row& row) { row.request.mac.second = 0; });
  add("a mac that was guessed", [](Row& row) { row.request.mac = {0x1234, 0x5678}; });
  add("an id that was invented", [](Row& row) { row.request.objectId.counter = UINT64_MAX; });
  add("another id", [](Row& row) { ++row.request.objectId.counter; });
  add("another key", [](Row& row) { row.request.key = "kez"; });
  add("another length", [](Row& row) { ++row.request.payloadLength; });
  add("pinned", [](Row& row) { row.request.retention.pins = kPinHard; });
  add("pinned for longer", [](Row& row) { ++row.request.retention.softPinMs; });
  add("in another group", [](Row& row) { ++row.request.retention.group; });
  add("stolen by another tenant", [](Row& row) { row.who = kB; });
  add("of the tenant default", [](Row& row) { row.request.mac = by(kGrantSecret, row.request, ""); });
  add("for another node", [&](Row& row) { row.request.mac = by(anotherNodes, row.request, kA); });
  add("in parts", [](Row& row) {
    row.request.inParts = true;
    row.request.key = "other";
  });
  add("from staging memory", [](Row& row) {
    row.request.staging = true;
    row.request.key = "other";
  });
  const uint64_t usedBytes = node_.core->snapshot().usedBytes;
  for (const Row& row : table) {
    const uint64_t before = refusals();
    EXPECT_EQ(write(row.who, row.request), KV_NOT_PERMITTED) << row.what;
    EXPECT_EQ(refusals(), before + 1) << row.what;
    EXPECT_FALSE(node_.closeReasons.contains(row.who)) << row.what;
  }
  EXPECT_EQ(node_.core->snapshot().usedBytes, usedBytes) << "nothing was reserved";
  EXPECT_EQ(node_.core->snapshot().objects, 0u);
  EXPECT_EQ(node_.core->snapshot().counters.authRefusals, 0u);
  EXPECT_TRUE(node_.records(kMaster).empty()) << "no master heard of them";
  EXPECT_EQ(write(kClient, wish()), KV_OK);
}

TEST_F(GrantTest, OfAnEpochBeforeIsStaleAndNotForged) {
  const node::WriteRequest old = wish();
  GrantSecret next = kGrantSecret;
  next[0] = 'b';
  node_.frame(kOther, [&](wire::Bytes& out) { appendFence(out, 1, kNext, 1000, {}, next); });
  EXPECT_EQ(write(kClient, old), KV_STALE_EPOCH);
  node::WriteRequest renamed = old;
  renamed.authority = kNext;
  renamed.objectId = {6, 1};
  EXPECT_EQ(write(kClient, renamed), KV_NOT_PERMITTED);
  renamed.mac = by(kGrantSecret, renamed, kA);
  EXPECT_EQ(write(kClient, renamed), KV_NOT_PERMITTED) << "by what the leader before shared";
  renamed.mac = by(next, renamed, kA);
  EXPECT_EQ(write(kClient, renamed), KV_OK);
  EXPECT_EQ(refusals(), 2u);
}

TEST_F(GrantTest, IsToldByTheLeaderThatIsObeyed) {
  GrantSecret others = kGrantSecret;
  others[0] = 'b';
  node_.frame(kOther, [&](wire::Bytes& out) { appendFence(out, 1, {4, 44}, 1000, {}, others); });
  EXPECT_EQ(write(kClient, wish()), KV_OK) << "a fence that is refused changes nothing";
}

TEST_F(GrantTest, ShownAgainWhenItIsOverIsStale) {
  const auto leaderSays = [&](node::ConnectionId master, const ObjectId& oldest) {
    node_.frame(master, [&](wire::Bytes& out) { wire::appendHeartbeat(out, {0, oldest}); });
  };
  node::WriteRequest late = wish();
  late.requestId = 2;
  late.objectId = {5, 9};
  late.key = "late";
  late.mac = by(kGrantSecret, late, kA);
  const auto remove = [&] {
    const node::WriteReply stored = readWriteReply(node_.last(kClient, sbe::WriteReply::SBE_TEMPLATE_ID));
    node_.free(kMaster, kLeader, {{stored.extent, wish().objectId}});
    ASSERT_EQ(node_.core->snapshot().objects, 0u);
  };
  ASSERT_EQ(write(kClient, wish()), KV_OK);
  remove();
  EXPECT_EQ(write(kClient, wish()), KV_OK) << "while the leader may still publish it";
  remove();

  leaderSays(kOther, {4, 100});
  leaderSays(kMaster, {});
  leaderSays(kMaster, {5, 1});
  EXPECT_EQ(write(kClient, wish()), KV_OK) << "nothing said that this one is over";
  remove();

  leaderSays(kMaster, {5, 9});
  leaderSays(kMaster, {5, 2});
  EXPECT_EQ(write(kClient, wish()), KV_STALE_EPOCH);
  EXPECT_EQ(node_.core->snapshot().objects, 0u);
  EXPECT_EQ(refusals(), 0u) << "it was the leader's";
  node::WriteRequest forged = wish();
  forged.key = "kez";
  EXPECT_EQ(write(kClient, forged), KV_NOT_PERMITTED);
  node_.fence(kMaster, kLeader);  // the connection was lost and is there again
  EXPECT_EQ(write(kClient, wish()), KV_STALE_EPOCH);
  EXPECT_EQ(write(kClient, late), KV_OK) << "open for long, and not over";
}

}  // namespace
}  // namespace kvpool::test
