// SPDX-License-Identifier: Apache-2.0
#include "secure/grant_seal.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace kvpool::secure {
namespace {

std::string bytesOf(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string hexOf(const GrantMac& mac) {
  std::string hex;
  for (const uint8_t byte : std::bit_cast<std::array<uint8_t, 16>>(std::array<uint64_t, 2>{mac.first, mac.second})) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    hex += digits.data();
  }
  return hex;
}

GrantSecret secretOf(const std::string& bytes) {
  GrantSecret secret{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), secret.size()), secret.begin());
  return secret;
}

TEST(GrantSealTest, AgreesWithWhatOthersCompute) {
  std::ifstream file(KVPOOL_GRANT_MACS);
  ASSERT_TRUE(file) << KVPOOL_GRANT_MACS;
  size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string secret;
    std::string key;
    std::string mac;
    unsigned pins = 0;
    GrantClaims claims;
    words >> secret >> claims.authority.epoch >> claims.authority.nonce >> claims.object.epoch >>
        claims.object.counter >> claims.payloadLength >> pins >> claims.retention.softPinMs >> claims.retention.group >>
        key >> mac;
    ASSERT_TRUE(words) << line;
    claims.retention.pins = static_cast<uint8_t>(pins);
    key = key.size() > 1 && key[1] == '*' ? std::string(std::stoul(key.substr(2)), key[0]) : bytesOf(key);
    claims.key = key;
    GrantSeal seal(secretOf(bytesOf(secret)));
    EXPECT_EQ(hexOf(seal.of(claims)), mac) << line;
    EXPECT_EQ(hexOf(seal.of(claims)), mac) << "once more: " << line;
    ++rows;
  }
  EXPECT_EQ(rows, 6u);
}

TEST(GrantSealTest, SaysAnotherWordForAnythingElse) {
  GrantSeal seal(secretOf("a"));
  const GrantClaims claims{{5, 55}, {5, 1}, 4096, {1, 2, 3}, "key"};
  const GrantMac mac = seal.of(claims);
  const std::vector<std::function<void(GrantClaims&)>> changes = {
      [](GrantClaims& it) { ++it.authority.epoch; },     [](GrantClaims& it) { ++it.authority.nonce; },
      [](GrantClaims& it) { ++it.object.epoch; },        [](GrantClaims& it) { ++it.object.counter; },
      [](GrantClaims& it) { ++it.payloadLength; },       [](GrantClaims& it) { ++it.retention.pins; },
      [](GrantClaims& it) { ++it.retention.softPinMs; }, [](GrantClaims& it) { ++it.retention.group; },
      [](GrantClaims& it) { it.key = "kez"; },           [](GrantClaims& it) { it.key = "ke"; },
      [](GrantClaims& it) { it.key = "key\xff"; },       [](GrantClaims& it) { it.key = ""; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    GrantClaims other = claims;
    changes[i](other);
    EXPECT_NE(seal.of(other), mac) << "change " << i;
  }
  EXPECT_NE(GrantSeal(secretOf("b")).of(claims), mac);
  EXPECT_EQ(seal.of(claims), mac);
}

TEST(GrantSealTest, HalfOfAWordIsNone) {
  const GrantMac mac{1, 2};
  EXPECT_NE((GrantMac{1, 3}), mac);
  EXPECT_NE((GrantMac{0, 2}), mac);
  EXPECT_EQ((GrantMac{1, 2}), mac);
}

}  // namespace
}  // namespace kvpool::secure
