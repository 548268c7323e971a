// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace kvpool {
namespace {

std::optional<uint64_t> hexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint64_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint64_t>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<uint64_t>(c - 'A') + 10;
  return std::nullopt;
}

}  // namespace

std::optional<PoolId> parsePoolId(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  PoolId id;
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const std::optional<uint64_t> digit = hexDigit(text[i]);
    if (!digit) return std::nullopt;
    uint64_t& half = digits < 16 ? id.high : id.low;
    half = (half << 4) | *digit;
    ++digits;
  }
  return id;
}

std::string toString(const PoolId& id) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                id.high >> 32, (id.high >> 16) & 0xFFFF, id.high & 0xFFFF, id.low >> 48, id.low & 0xFFFFFFFFFFFF);
  return text.data();
}

std::string toString(const ObjectId& id) {
  return std::to_string(id.epoch) + "." + std::to_string(id.counter);
}

std::string toString(const Authority& authority) {
  return "epoch " + std::to_string(authority.epoch) + " of " + hex16(authority.nonce);
}

std::string hex16(uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, value);
  return text.data();
}

}  // namespace kvpool
