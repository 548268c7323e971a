// SPDX-License-Identifier: Apache-2.0
// Checksums inside of a payload, so that a part of it is verified without the whole. Sum number k of a payload is the
// CRC-32C of its first k + 1 blocks: a checksum that runs over the payload, noted at the end of each block. To verify
// bytes of one block, the sum before the block is taken on over the block and compared with the sum behind it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/crc32c.h"

namespace kvpool {

/// Larger blocks cost readers of small parts more, which look at whole ones; smaller ones cost writers.
inline constexpr uint64_t kSumBlockBytes = uint64_t{64} << 10;
inline constexpr uint64_t kSumBytes = sizeof(uint32_t);

/// Sums of a payload: one for each whole block. That of the rest is the payload's own checksum.
constexpr uint64_t sumCount(uint64_t payloadLength) {
  return payloadLength / kSumBlockBytes;
}

/// Bytes of a payload with its sums behind it; nothing when they do not fit into 64 bits.
inline std::optional<uint64_t> summedBytes(uint64_t payloadLength) {
  const std::optional<uint64_t> payload = checkedAlignUp(payloadLength, kSumBytes);
  return payload ? checkedAdd(*payload, sumCount(payloadLength) * kSumBytes) : std::nullopt;
}

/// Where the sums of a payload begin; the caller has checked that they have room.
template <typename Byte>
Byte* sumsBehind(Byte* payload, uint64_t payloadLength) {
  return payload + (payloadLength + kSumBytes - 1) / kSumBytes * kSumBytes;
}

/// Sum number `index` of those at `sums`.
inline uint32_t sumAt(const uint8_t* sums, uint64_t index) {
  uint32_t sum = 0;
  std::memcpy(&sum, sums + index * kSumBytes, sizeof sum);
  return sum;
}

/// The whole blocks that some bytes of a payload touch, of which the last may be shorter, and the sums around them.
struct SummedBlocks {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t before = 0;  // sum of what lies before
  uint32_t behind = 0;  // sum up to the end

  /// Around bytes [from, to) of a payload, at least one; the caller has checked that they lie in it, and where its sums
  /// are.
  static SummedBlocks around(uint64_t from, uint64_t to, uint64_t payloadLength, uint32_t payloadCrc,
                             const uint8_t* sums) {
    const uint64_t first = from / kSumBlockBytes;
    const uint64_t last = (to + kSumBlockBytes - 1) / kSumBlockBytes;  // the number behind it
    const bool reachesRest = last > sumCount(payloadLength);
    return {first * kSumBlockBytes, reachesRest ? payloadLength : last * kSumBlockBytes,
            first == 0 ? 0 : sumAt(sums, first - 1), reachesRest ? payloadCrc : sumAt(sums, last - 1)};
  }
};

/// The checksum of a payload that comes in parts.
class RunningSum {
 public:
  /// Notes no sums.
  RunningSum() = default;
  /// Notes them in memory that has room for those of the whole payload; `isLarge`: it goes past the cache when it is
  /// copied.
  explicit RunningSum(uint8_t* sums, bool isLarge = false) : sums_(sums), isLarge_(isLarge) {}
  /// For a payload that is being stored, with its sums behind it.
  static RunningSum behind(uint8_t* payload, uint64_t length, bool isLarge = false) {
    return RunningSum(sumsBehind(payload, length), isLarge);
  }

  [[nodiscard]] uint32_t crc() const { return crc_; }

  /// Bytes that are where they belong.
  void add(const uint8_t* bytes, uint64_t length) {
    advance(length, [bytes](uint64_t at, uint64_t part, uint32_t crc) { return crc32c(bytes + at, part, crc); });
  }
  void copy(uint8_t* to, const uint8_t* from, uint64_t length) {
    advance(length, [this, to, from](uint64_t at, uint64_t part, uint32_t crc) {
      return crc32cCopy(to + at, from + at, part, crc, isLarge_);
    });
  }

 private:
  template <typename Step>
  void advance(uint64_t length, Step step) {
    for (uint64_t done = 0; done < length;) {
      const uint64_t left = length - done;
      const uint64_t part = sums_ == nullptr ? left : std::min(left, kSumBlockBytes - inBlock_);
      crc_ = step(done, part, crc_);
      done += part;
      if (sums_ == nullptr) continue;
      inBlock_ = (inBlock_ + part) % kSumBlockBytes;
      if (inBlock_ > 0) continue;
      std::memcpy(sums_, &crc_, sizeof crc_);
      sums_ += kSumBytes;
    }
  }

  uint8_t* sums_ = nullptr;  // of the block that is being filled
  bool isLarge_ = false;
  uint64_t inBlock_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace kvpool
