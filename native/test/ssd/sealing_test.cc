// SPDX-License-Identifier: Apache-2.0
#include "ssd/sealing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "ssd/layout.h"
#include "ssd/small_tier.h"
#include "temporary_directory.h"

namespace kvpool::ssd {
namespace {

using test::kKey;

std::span<const uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TierSecret secret(uint8_t first) {
  TierSecret all{};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint8_t>(first + i);
  return all;
}

TEST(SealKeys, AreBytesOrDigits) {
  SealKey wanted{};
  wanted.fill(0xAB);
  const std::string digits(64, 'x');
  const std::vector<std::pair<std::string, bool>> table = {
      {std::string(32, '\xAB'), true},
      {"abABabABabABabABabABabABabABabABabABabABabABabABabABabABabABabAB", true},
      {"abABabABabABabABabABabABabABabABabABabABabABabABabABabABabABabAB\n", true},
      {"abABabABabABabABabABabABabABabABabABabABabABabABabABabABabABabAB\n\n", false},
      {" abABabABabABabABabABabABabABabABabABabABabABabABabABabABabABabA", false},
      {"", false},
      {"\n", false},
      {std::string(31, '\xAB'), false},
      {std::string(33, '\xAB'), false},
      {std::string(63, 'a'), false},
      {digits, false},
      {std::string(66, 'a'), false},
  };
  for (const auto& [content, fine] : table) {
    const Result<SealKey> key = parseSealKey(bytes(content));
    EXPECT_EQ(key.ok(), fine) << content.size() << " bytes: " << key.status().text();
    EXPECT_TRUE(!fine || key.value() == wanted);
  }
  const Status refused = parseSealKey(bytes(digits)).status();
  EXPECT_EQ(refused.code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(refused.text().find("xxx"), std::string::npos) << "a message tells nothing of a key: " << refused.text();
}

TEST(SealKeys, ComeFromAFileThatIsNamedWhenItIsNone) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/key";
  const Status missing = readSealKey(path).status();
  EXPECT_EQ(missing.code(), KV_IO);
  EXPECT_NE(missing.text().find(path), std::string::npos);
  EXPECT_EQ(readSealKey(directory.path()).status().code(), KV_IO) << "a directory";
  std::ofstream(path) << std::string(1 << 20, 'a');
  const Status huge = readSealKey(path).status();
  EXPECT_EQ(huge.code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(huge.text().find(path), std::string::npos);
  std::ofstream(path) << std::string(64, 'a') << "\n";
  EXPECT_TRUE(readSealKey(path).ok());
}

TEST(WrappedSecrets, OpenWithTheirKeyAndOwnerAndNothingChanged) {
  const Result<TierSecret> made = randomSecret();
  ASSERT_TRUE(made.ok());
  const WrappedSecret wrapped = wrap(made.value(), kKey, "owner").value();
  EXPECT_EQ(unwrap(wrapped, kKey, "owner"), made.value());
  EXPECT_NE(wrapped.secret, made.value());
  EXPECT_NE(wrapped.nonce, wrap(made.value(), kKey, "owner").value().nonce);
  EXPECT_FALSE(unwrap(wrapped, kKey, "other"));
  SealKey other = kKey;
  other.back() ^= 1;
  EXPECT_FALSE(unwrap(wrapped, other, "owner"));
  for (size_t at = 0; at < sizeof wrapped; ++at) {
    WrappedSecret changed = wrapped;
    reinterpret_cast<uint8_t*>(&changed)[at] ^= 1;
    EXPECT_FALSE(unwrap(changed, kKey, "owner")) << "byte " << at;
  }
}

TEST(BlockCiphers, EachBlockAndEachSecretIsAnother) {
  const std::vector<uint8_t> plain(2 * kBlockBytes, 0x55);
  std::vector<uint8_t> sealed(plain.size());
  BlockCipher(secret(1)).seal(7, plain, sealed);
  EXPECT_NE(std::vector(sealed.begin(), sealed.begin() + kBlockBytes),
            std::vector(sealed.begin() + kBlockBytes, sealed.end()));
  std::vector<uint8_t> second(kBlockBytes);
  BlockCipher(secret(1)).seal(8, std::span(plain).first(kBlockBytes), second);
  EXPECT_EQ(second, std::vector(sealed.begin() + kBlockBytes, sealed.end())) << "a block's number alone decides";
  BlockCipher(secret(2)).seal(8, std::span(plain).first(kBlockBytes), second);
  EXPECT_NE(second, std::vector(sealed.begin() + kBlockBytes, sealed.end()));
  std::vector<uint8_t> opened(sealed.size());
  BlockCipher(secret(1)).open(7, sealed, opened);
  EXPECT_EQ(opened, plain);
}

}  // namespace
}  // namespace kvpool::ssd
