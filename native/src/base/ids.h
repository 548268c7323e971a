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

/// A higher one is newer.
struct ObjectId {
  uint64_t epoch = 0;
  uint64_t counter = 0;
  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};
std::string toString(const ObjectId& id);

/// Who may command. Equality is what authorises; of two epochs the higher one is newer, nonces have no order.
struct Authority {
  uint64_t epoch = 0;
  uint64_t nonce = 0;
  friend bool operator==(const Authority&, const Authority&) = default;
};
std::string toString(const Authority& authority);

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
