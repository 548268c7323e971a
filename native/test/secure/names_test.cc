// SPDX-License-Identifier: Apache-2.0
#include "secure/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certificate_authority.h"

namespace kvpool::secure {
namespace {

using Role = Principal::Role;
using test::named;

TEST(Names, AreReadBack) {
  const std::string longest =
      std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(61, 'd');
  ASSERT_EQ(longest.size(), 253u);
  const std::vector<std::pair<std::string, Principal>> table = {
      {"master/pool-master-0", {Role::Master, "pool-master-0", "default", false, 0}},
      {"node/a", {Role::Node, "a", "default", false, 0}},
      {"node/" + longest, {Role::Node, longest, "default", false, 0}},
      {"agent/10.0.0.1", {Role::Agent, "10.0.0.1", "default", false, 0}},
      {"operator", {Role::Operator, "", "default", false, 0}},
      {"monitor", {Role::Monitor, "", "default", false, 0}},
      {"admin/me", {Role::Admin, "me", "default", false, 0}},
      {"tenant/default/rw/vllm", {Role::Tenant, "vllm", "default", false, 0}},
      {"tenant/team-1/ro/a.b", {Role::Tenant, "a.b", "team-1", true, 0}},
  };
  for (const auto& [path, wanted] : table) {
    const Result<PeerName> name = parseName(named(path));
    ASSERT_TRUE(name.ok()) << path << ": " << name.status().text();
    const Principal& found = name.value().principal;
    EXPECT_EQ(toString(name.value().pool), test::kPool);
    EXPECT_EQ(found.role, wanted.role) << path;
    EXPECT_EQ(found.name, wanted.name) << path;
    EXPECT_EQ(found.tenant, wanted.tenant) << path;
    EXPECT_EQ(found.readsOnly, wanted.readsOnly) << path;
    EXPECT_EQ(kvpool::toString(found), path);
  }
}

TEST(Names, ThatAreNoneAreRefusedWithTheForms) {
  const std::string label64(64, 'a');
  std::vector<std::string> table = {
      "",
      "spiffe://",
      "spiffe:///node/a",
      "https://" + std::string(test::kPool) + "/node/a",
      "SPIFFE://" + std::string(test::kPool) + "/node/a",
      std::string("spiffe://") + test::kPool,
      std::string("spiffe://") + test::kPool + ":443/node/a",
      std::string("spiffe://user@") + test::kPool + "/node/a",
      "spiffe://cluster.local/node/a",
      "spiffe://00000000-0000-0000-0000-000000000000/node/a",
      "spiffe://AAAAAAAA-2222-4333-8444-555555555555/node/a",
      std::string("spiffe://") + test::kPool + " /node/a",
  };
  for (const char* const path : {"",
                                 "/",
                                 "node",
                                 "node/",
                                 "node//",
                                 "node//a",
                                 "/node/a",
                                 "node/a/",
                                 "node/a/b",
                                 "node/A",
                                 "node/a_b",
                                 "node/-a",
                                 "node/a-",
                                 "node/.a",
                                 "node/a.",
                                 "node/a..b",
                                 "node/a?x=1",
                                 "node/a#x",
                                 "node/a%62",
                                 "node/\xC3\xA4",
                                 "Node/a",
                                 "nodes/a",
                                 "operator/",
                                 "operator/a",
                                 "monitor/",
                                 "tenant",
                                 "tenant/t",
                                 "tenant/t/rw",
                                 "tenant/t/rw/",
                                 "tenant//rw/a",
                                 "tenant/t/wr/a",
                                 "tenant/t/RW/a",
                                 "tenant/t//a",
                                 "tenant/a.b/rw/c",
                                 "tenant/T/rw/a",
                                 "tenant/t/rw/a/b",
                                 "node/a ",
                                 "node/a\n"}) {
    table.push_back(named(path));
  }
  table.push_back(named("node/" + label64));
  table.push_back(named("tenant/" + label64 + "/rw/a"));
  table.push_back(named("node/a") + std::string(1, '\0'));
  table.push_back(named(std::string("node/a\0b", 8)));
  std::string tooLong;
  for (int i = 0; i < 127; ++i)
    tooLong += "a.";
  table.push_back(named("node/" + tooLong + "a"));
  table.push_back(named("node/" + std::string(1'000'000, 'a')));
  for (const std::string& text : table) {
    const Result<PeerName> name = parseName(text);
    EXPECT_FALSE(name.ok()) << text.substr(0, 100);
    if (name.ok()) continue;
    EXPECT_EQ(name.status().code(), KV_INVALID_ARGUMENT);
    EXPECT_NE(name.status().text().find("tenant/TENANT/ro/NAME"), std::string::npos);
    EXPECT_LT(name.status().text().size(), 1000u);
  }
}

TEST(Names, TellWhomADialerMeans) {
  const Principal node{Role::Node, "a", "default", false, 0};
  const Principal tenant{Role::Tenant, "a", "default", false, 0};
  EXPECT_TRUE(Expected{}.admits(node));
  EXPECT_TRUE(Expected::master().admits({Role::Master, "m", "default", false, 0}));
  EXPECT_FALSE(Expected::master().admits(node));

  const Expected lasting = Expected::storageNode("a", false);
  EXPECT_TRUE(lasting.admits(node));
  EXPECT_FALSE(Expected::storageNode("b", false).admits(node));
  EXPECT_FALSE(Expected::storageNode("", false).admits(node));
  EXPECT_FALSE(lasting.admits(tenant)) << "a tenant's certificate makes no storage node of the pool";
  EXPECT_FALSE(lasting.admits({Role::Agent, "a", "default", false, 0}));
  EXPECT_EQ(toString(lasting), "node/a");

  const Expected lent = Expected::storageNode("transient-1", true);
  EXPECT_TRUE(lent.admits(tenant)) << "it has its engine's name";
  EXPECT_TRUE(lent.admits({Role::Agent, "a", "default", false, 0}));
  EXPECT_FALSE(lent.admits({Role::Tenant, "a", "default", true, 0})) << "who only reads lends no memory";
  EXPECT_FALSE(lent.admits(node));
  EXPECT_FALSE(lent.admits({Role::Admin, "a", "default", false, 0}));
  EXPECT_EQ(toString(lent), "a tenant that writes or an agent");
  EXPECT_EQ(toString(Expected{}), "any member");
}

}  // namespace
}  // namespace kvpool::secure
