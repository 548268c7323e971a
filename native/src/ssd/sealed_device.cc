// SPDX-License-Identifier: Apache-2.0
#include "ssd/sealed_device.h"

#include <algorithm>
#include <array>

#include "ssd/layout.h"

namespace kvpool::ssd {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;

/// Headers say how to read the rest. No piece has both.
bool isHeader(const Piece& piece) {
  return piece.offset < kTableOffset;
}

/// Sectors that were never written are zeros, which nothing becomes when it is encrypted. A write that was cut leaves
/// some of a block's sectors so.
void openBlock(const BlockCipher& cipher, uint64_t number, std::span<uint8_t> block) {
  std::array<bool, kRecordsPerBlock> unwritten{};
  for (size_t i = 0; i < unwritten.size(); ++i) {
    const std::span<const uint8_t> sector = block.subspan(i * sizeof(TierRecord), sizeof(TierRecord));
    unwritten[i] = std::all_of(sector.begin(), sector.end(), [](uint8_t byte) { return byte == 0; });
  }
  cipher.open(number, block, block);
  for (size_t i = 0; i < unwritten.size(); ++i) {
    const std::span<uint8_t> sector = block.subspan(i * sizeof(TierRecord), sizeof(TierRecord));
    if (unwritten[i]) std::fill(sector.begin(), sector.end(), uint8_t{0});
  }
}

}  // namespace

Status SealedDevice::read(std::span<const Piece> pieces) {
  if (Status read = device_->read(pieces); !read.ok()) return read;
  for (const Piece& piece : pieces) {
    if (isHeader(piece)) continue;
    for (uint64_t at = 0; at < piece.bytes.size(); at += kBlockBytes) {
      openBlock(cipher_, (piece.offset + at) / kBlockBytes, piece.bytes.subspan(at, kBlockBytes));
    }
  }
  return {};
}

Status SealedDevice::write(std::span<const Piece> pieces) {
  uint64_t longest = 0;
  for (const Piece& piece : pieces)
    longest = std::max<uint64_t>(longest, piece.bytes.size());
  const BlockBuffer buffer(std::min(longest, kChunkBytes));
  for (const Piece& piece : pieces) {
    for (uint64_t at = 0; at < piece.bytes.size(); at += kChunkBytes) {
      const std::span<uint8_t> plain = piece.bytes.subspan(at, std::min(kChunkBytes, piece.bytes.size() - at));
      const Piece sealed{piece.offset + at, buffer.bytes().first(plain.size())};
      if (isHeader(piece)) {
        std::copy(plain.begin(), plain.end(), sealed.bytes.begin());
      } else {
        cipher_.seal(sealed.offset / kBlockBytes, plain, sealed.bytes);
      }
      if (Status written = device_->write({&sealed, 1}); !written.ok()) return written;
    }
  }
  return {};
}

}  // namespace kvpool::ssd
