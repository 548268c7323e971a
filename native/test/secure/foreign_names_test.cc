// SPDX-License-Identifier: Apache-2.0
#include "secure/foreign_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace kvpool::secure {
namespace {

constexpr const char* kHead = "pool 5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01\ntrust-domain cluster.local\n";

/// The file that all languages read: rules, names, and rules that are refused.
struct Vectors {
  std::string rules;
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::string> refused;
};

Vectors vectors() {
  std::ifstream file(KVPOOL_FOREIGN_NAMES);
  EXPECT_TRUE(file) << KVPOOL_FOREIGN_NAMES;
  Vectors all;
  std::string line;
  while (std::getline(file, line) && line != "names")
    all.rules += line + "\n";
  while (std::getline(file, line) && line != "refused")
    all.names.emplace_back(line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1));
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ';', '\n');
    all.refused.push_back(line);
  }
  return all;
}

TEST(ForeignNames, AreWhatTheVectorsSay) {
  const Vectors all = vectors();
  const auto rules = ForeignNames::parse(all.rules);
  ASSERT_TRUE(rules.ok()) << rules.status().text();
  ASSERT_GT(all.names.size(), 30u);
  for (const auto& [uri, path] : all.names) {
    const auto name = rules.value().name(uri);
    if (path == "-") {
      ASSERT_FALSE(name.ok()) << uri;
      EXPECT_EQ(name.status().code(), KV_INVALID_ARGUMENT);
      EXPECT_NE(name.status().text().find(uri), std::string::npos) << name.status().text();
      EXPECT_NE(name.status().text().find("cluster.local"), std::string::npos) << name.status().text();
    } else {
      ASSERT_TRUE(name.ok()) << uri << ": " << name.status().text();
      EXPECT_EQ(kvpool::toString(name.value().principal), path);
      EXPECT_EQ(toString(name.value().pool), "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    }
  }
}

TEST(ForeignNames, RulesThatAreWrongAreRefused) {
  const Vectors all = vectors();
  ASSERT_GT(all.refused.size(), 20u);
  for (const std::string& text : all.refused) {
    const auto rules = ForeignNames::parse(text);
    ASSERT_FALSE(rules.ok()) << text;
    EXPECT_TRUE(rules.status().text().find("line ") == 0 || rules.status().text().find("it lacks the line") == 0)
        << rules.status().text();
  }
}

TEST(ForeignNames, SayWhatIsMissing) {
  const auto rules = ForeignNames::parse(std::string(kHead) + "a/master master\n");
  ASSERT_TRUE(rules.ok());
  const auto none = rules.value().name("spiffe://cluster.local/ns/team-a/sa/engine");
  EXPECT_NE(none.status().text().find("there is no rule for ServiceAccount team-a/engine"), std::string::npos);
  const auto ours = ForeignNames().name("spiffe://cluster.local/ns/a/sa/master");
  EXPECT_NE(ours.status().text().find("no pool's id"), std::string::npos) << ours.status().text();
}

TEST(ForeignNames, OfAnyProcessMayBeEach) {
  const auto rules = ForeignNames::parse(std::string(kHead) + "a/storage node\n");
  const auto any = rules.value().name("spiffe://cluster.local/ns/a/sa/storage");
  ASSERT_TRUE(any.ok());
  EXPECT_TRUE(Expected::storageNode("n-0", false).admits(any.value().principal));
  EXPECT_FALSE(Expected::storageNode("n-0", true).admits(any.value().principal));
  EXPECT_FALSE(Expected::master().admits(any.value().principal));
  EXPECT_FALSE(parseName("spiffe://5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01/node/*").ok());
}

TEST(ForeignNames, HaveBounds) {
  const std::string account =
      std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(59, 'd');
  ASSERT_EQ(account.size(), 251u);
  EXPECT_FALSE(ForeignNames::parse(kHead + std::string(10'000, '\n')).ok());
  EXPECT_FALSE(ForeignNames::parse(kHead + ("a/" + account + "ddd master")).ok());
  const auto rules = ForeignNames::parse(std::string(kHead) + "a/* tenant default rw");
  EXPECT_EQ(rules.value().name("spiffe://cluster.local/ns/a/sa/" + account).value().principal.name.size(), 253u);
  EXPECT_FALSE(rules.value().name("spiffe://cluster.local/ns/a/sa/" + account + "d").ok());
  EXPECT_LT(rules.value().name("spiffe://cluster.local/" + std::string(100'000, 'a')).status().text().size(), 1000u);
}

}  // namespace
}  // namespace kvpool::secure
