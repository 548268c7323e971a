// SPDX-License-Identifier: Apache-2.0
// A storage node lets its peers do what the table of schema/rights.txt says, and nothing else.
#include <gtest/gtest.h>

#include <string>

#include "actors.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/Welcome.h"
#include "node/core/core_in_memory.h"
#include "secure/names.h"

namespace kvpool::test {
namespace {

bool allows(const Principal& who, Verb verb) {
  return kRights.at(static_cast<size_t>(verb)).at(static_cast<size_t>(actorOf(who)));
}

class RightsTableTest : public testing::Test {
 protected:
  RightsTableTest() {
    node_.config.shm.clear();
    node_.config.separatesTenants = true;
    node_.restart();
    node_.connectMaster(kMaster);
    node_.fence(kMaster, kLeader);
  }
  /// Whether it is welcome.
  bool connect(node::ConnectionId id, const Principal& who) {
    node_.core->accepted(node_.nowMs, id, false, "peer", who);
    const bool isOfTenant = who.role == Principal::Role::Tenant;
    node_.tenants[id] = isOfTenant ? std::string(1, '\0') + who.tenant + std::string(1, '\0') : "";
    node_.frame(id, [](wire::Bytes& out) { wire::appendHello(out, clientHello(CoreInMemory::kIncarnation)); });
    return node_.types(id).front() == sbe::Welcome::sbeTemplateId();
  }
  int32_t read(node::ConnectionId id, const ExtentRef& extent, const ObjectId& object, uint64_t length) {
    node_.frame(id, [&](wire::Bytes& out) { node::appendReadRequest(out, {1, extent, object, length}); });
    return readReadReply(node_.last(id, sbe::ReadReply::SBE_TEMPLATE_ID)).status;
  }

  CoreInMemory node_;
};

TEST_F(RightsTableTest, OfClientsOfANode) {
  const Principal other{Principal::Role::Tenant, "x", "b", false, 0};
  const node::ConnectionId ofOther = kClient + 20;
  ASSERT_TRUE(connect(ofOther, other));
  const std::string value = "of another tenant";
  const node::WriteReply written = node_.write(ofOther, kLeader, {5, 99}, "k", value);
  ASSERT_EQ(written.status, KV_OK);
  node::ConnectionId id = kClient;
  uint64_t counter = 0;
  for (const Principal& who : certifiedActors()) {
    SCOPED_TRACE(toString(who));
    ++id;
    const bool welcome = connect(id, who);
    EXPECT_EQ(welcome, allows(who, Verb::Read));
    if (!welcome) continue;
    EXPECT_EQ(read(id, written.extent, {5, 99}, value.size()), allows(who, Verb::ReadAny) ? KV_OK : KV_NOT_FOUND);
    EXPECT_EQ(node_.write(id, kLeader, {5, ++counter}, "key-" + std::to_string(counter), "value").status,
              allows(who, Verb::Write) ? KV_OK : KV_NOT_PERMITTED);
  }
}

TEST_F(RightsTableTest, OfThoseThatAreDialled) {
  for (const Principal& who : certifiedActors()) {
    SCOPED_TRACE(toString(who));
    EXPECT_EQ(secure::Expected::master().admits(who), allows(who, Verb::Lead));
    EXPECT_EQ(secure::Expected::storageNode("x", false).admits(who), allows(who, Verb::Serve));
    EXPECT_EQ(secure::Expected::storageNode("x", true).admits(who), allows(who, Verb::Contribute));
  }
}

}  // namespace
}  // namespace kvpool::test
