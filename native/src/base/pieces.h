// SPDX-License-Identifier: Apache-2.0
// Where a value lies in the caller's memory: in one run of bytes, or in many pieces one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "kvpool/kvpool.h"

namespace kvpool {

/// Names memory; owns none.
class Pieces {
 public:
  Pieces() = default;
  Pieces(void* address, uint64_t length) : one_{address, length} {}
  /// The table stays the caller's. What does not add up to a length, or has bytes nowhere, must not come here.
  Pieces(std::span<const kv_piece> pieces) : pieces_(pieces) {}

  /// The bytes of all pieces; nothing when one has bytes but no address, or when the sum is no length.
  static std::optional<uint64_t> lengthOf(std::span<const kv_piece> pieces) {
    uint64_t sum = 0;
    for (const kv_piece& piece : pieces) {
      if ((piece.data == nullptr && piece.length > 0) || piece.length > UINT64_MAX - sum) return std::nullopt;
      sum += piece.length;
    }
    return sum;
  }

  [[nodiscard]] std::span<const kv_piece> pieces() const {
    return pieces_.empty() ? std::span<const kv_piece>(&one_, 1) : pieces_;
  }
  /// The address of the first byte; null when there is no memory.
  [[nodiscard]] void* address() const { return pieces().front().data; }

 private:
  friend class PieceCursor;
  kv_piece one_{nullptr, 0};
  std::span<const kv_piece> pieces_;
};

/// A place in a memory that moves forward.
class PieceCursor {
 public:
  PieceCursor() = default;
  explicit PieceCursor(const Pieces& memory)
      : piece_(memory.pieces().front()), rest_(memory.pieces_.empty() ? memory.pieces_ : memory.pieces_.subspan(1)) {
    skipEmpty();
  }

  /// The bytes here that lie together, at most `most`; none at the end.
  [[nodiscard]] std::span<uint8_t> run(uint64_t most) const {
    return {static_cast<uint8_t*>(piece_.data) + at_, std::min(piece_.length - at_, most)};
  }
  /// Over bytes that are there.
  void advance(uint64_t count) {
    while (count > 0 && at_ < piece_.length) {
      const uint64_t part = std::min(count, piece_.length - at_);
      at_ += part;
      count -= part;
      skipEmpty();
    }
  }

 private:
  void skipEmpty() {
    while (at_ == piece_.length && !rest_.empty()) {
      piece_ = rest_.front();
      rest_ = rest_.subspan(1);
      at_ = 0;
    }
  }

  kv_piece piece_{nullptr, 0};      // by value: a cursor may be copied and moved
  std::span<const kv_piece> rest_;  // behind it
  uint64_t at_ = 0;                 // in piece_
};

}  // namespace kvpool
