// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "ssd/device.h"
#include "ssd/layout.h"
#include "zeroed_bytes.h"

namespace kvpool::test {

/// A disk in memory that loses power in the middle of a write, or fails, when the test says so. Sectors of 512 bytes
/// are whole: before or after.
class DeviceInMemory final : public ssd::Device {
 public:
  explicit DeviceInMemory(uint64_t length) : bytes(length) {}

  Status read(std::span<const ssd::Piece> pieces) override {
    if (noMemory) throw std::bad_alloc();
    if (!failing.ok()) return failing;
    for (const ssd::Piece& piece : pieces) {
      if (piece.offset + piece.bytes.size() > bytes.size()) return {KV_IO, "beyond the end"};
      std::memcpy(piece.bytes.data(), bytes.data() + piece.offset, piece.bytes.size());
    }
    return {};
  }
  Status write(std::span<const ssd::Piece> pieces) override {
    if (noMemory) throw std::bad_alloc();
    if (!failing.ok()) return failing;
    for (const ssd::Piece& piece : pieces) {
      if (piece.offset + piece.bytes.size() > bytes.size()) return {KV_IO, "beyond the end"};
      for (size_t at = 0; at < piece.bytes.size(); at += kSectorBytes) {
        if (sectorsLeft && *sectorsLeft == 0) return {KV_IO, "the power is out"};
        if (sectorsLeft) --*sectorsLeft;
        std::memcpy(bytes.data() + piece.offset + at, piece.bytes.data() + at, kSectorBytes);
      }
    }
    return {};
  }
  Status sync() override { return failing; }

  static constexpr size_t kSectorBytes = 512;
  ZeroedBytes bytes;
  std::optional<uint64_t> sectorsLeft;  // that are written before the power is out
  Status failing;
  bool noMemory = false;  // for buffers: jobs end as when those cannot be had
};

}  // namespace kvpool::test
