// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "store/layout.h"

namespace kvpool::test {

/// A file on a disk: what was stored, and what of it has been written for certain. The kernel writes other pages too,
/// when it likes.
struct DiskPages {
  std::span<uint8_t> stored;
  std::span<uint8_t> written;

  /// As StoreGate::settle().
  void settle(const void* address, size_t length) const {
    const auto from = static_cast<uint64_t>(static_cast<const uint8_t*>(address) - stored.data());
    for (uint64_t page = from / store::kPageBytes; page * store::kPageBytes < from + length; ++page) {
      if (differs(page)) copy(page, stored, written);
    }
  }

  /// Of each page that was stored to since it was written, the disk has the one or the other.
  void cutPower(std::mt19937_64& random) const {
    for (uint64_t page = 0; page * store::kPageBytes < stored.size(); ++page) {
      if (!differs(page)) continue;
      const bool reached = random() % 2 == 0;
      copy(page, reached ? stored : written, reached ? written : stored);
    }
  }

 private:
  /// A page that is written to takes memory, and most never are.
  [[nodiscard]] bool differs(uint64_t page) const {
    const uint64_t at = page * store::kPageBytes;
    return std::memcmp(stored.data() + at, written.data() + at, store::kPageBytes) != 0;
  }
  static void copy(uint64_t page, std::span<uint8_t> from, std::span<uint8_t> to) {
    const uint64_t at = page * store::kPageBytes;
    std::memcpy(to.data() + at, from.data() + at, store::kPageBytes);
  }
};

}  // namespace kvpool::test
