// SPDX-License-Identifier: Apache-2.0
// The numbers the design gives names to. Plain values, ordered where order has a meaning.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvpool {

/// UUID of a pool. All zero means "any" in a Hello and nothing elsewhere.
struct PoolId {
  uint64_t high = 0;
  uint64_t low = 0;

  [[nodiscard]] bool isAny() const { return high == 0 && low == 0; }
  friend bool operator==(const PoolId&, const PoolId&) = default;
};

/// Parses the 36 characters of a UUID; nothing for anything else.
std::optional<PoolId> parsePoolId(std::string_view text);
std::string toString(const PoolId& id);

/// A leadership Lease counts epochs in 31 bits; one that is not below this is nobody's, and masters refuse it too.
inline constexpr uint64_t kEpochMax = 0x7FFFFFFE;

/// A higher one is newer.
struct ObjectId {
  uint64_t epoch = 0;
  uint64_t counter = 0;
  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};
std::string toString(const ObjectId& id);
/// One object's part of the order-free hash of a set of ids, which is the sum of its parts modulo 2^64: the finalizer
/// of splitmix64, the same in every implementation.
constexpr uint64_t idHash(const ObjectId& id) {
  uint64_t z = id.epoch * 0x9E3779B97F4A7C15ULL + id.counter;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Who may command. Equality is what authorises; of two epochs the higher one is newer, nonces have no order.
struct Authority {
  uint64_t epoch = 0;
  uint64_t nonce = 0;
  friend bool operator==(const Authority&, const Authority&) = default;
};
std::string toString(const Authority& authority);

/// Segments of a node: its memory, which clients on the machine may map, and the SSD tier, which is read through the
/// node.
inline constexpr uint16_t kMemorySegment = 0;
inline constexpr uint16_t kTierSegment = 1;

/// Names an extent on a node. The generation makes it unique for the life of the segment file.
struct ExtentRef {
  uint16_t segment = 0;
  uint32_t slot = 0;
  uint64_t generation = 0;
  friend bool operator==(const ExtentRef&, const ExtentRef&) = default;
};

/// Incarnations, nonces: 16 hexadecimal digits.
std::string hex16(uint64_t value);

}  // namespace kvpool
