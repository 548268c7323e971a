// SPDX-License-Identifier: Apache-2.0
// Encryption of an SSD tier at rest. Each tier has a random secret of its own, which lies in its header encrypted with
// the key that a node is given: with that key, or with the header, goes all that is in the tier.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace kvpool::ssd {

/// What a node is given: a key of AES-256.
using SealKey = std::array<uint8_t, 32>;
/// What a tier is encrypted with: the two keys of AES-256 that XTS takes.
using TierSecret = std::array<uint8_t, 64>;

/// A tier's secret, encrypted and signed by AES-256-GCM. As it lies in the header.
struct WrappedSecret {
  std::array<uint8_t, 12> nonce;
  std::array<uint8_t, 64> secret;
  std::array<uint8_t, 16> tag;
};
static_assert(sizeof(WrappedSecret) == 92);

/// A key as people keep it: 32 bytes, or 64 hexadecimal digits with at most one line break behind them.
/// KV_INVALID_ARGUMENT with a sentence that does not tell the content.
Result<SealKey> parseSealKey(std::span<const uint8_t> content);
/// The same from a file. KV_IO when it cannot be read.
Result<SealKey> readSealKey(const std::string& path);

/// A new secret, from the kernel's random numbers. KV_IO when there are none.
Result<TierSecret> randomSecret();
/// `boundTo`: what only this tier says of itself, so that a secret is of no use in the header of another.
Result<WrappedSecret> wrap(const TierSecret& secret, const SealKey& key, std::string_view boundTo);
/// Nothing when the key is another one, or anything was changed.
std::optional<TierSecret> unwrap(const WrappedSecret& wrapped, const SealKey& key, std::string_view boundTo);

/// AES-256-XTS by blocks of kBlockBytes, each with its number as the tweak. From any thread.
class BlockCipher {
 public:
  explicit BlockCipher(const TierSecret& secret);

  /// Whole blocks, the first of which has number `first`. `from` and `to` may be the same.
  void seal(uint64_t first, std::span<const uint8_t> from, std::span<uint8_t> to) const;
  void open(uint64_t first, std::span<const uint8_t> from, std::span<uint8_t> to) const;

 private:
  TierSecret secret_;
};

}  // namespace kvpool::ssd
