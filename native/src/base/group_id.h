// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kvpool {

/// The number of a group's name: FNV-1a 64, so that every client finds the same. 0 only for the empty name, which is no
/// group.
constexpr uint64_t groupId(std::string_view name) {
  if (name.empty()) return 0;
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash == 0 ? 1 : hash;
}

}  // namespace kvpool
