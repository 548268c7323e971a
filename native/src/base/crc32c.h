// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of every frame, record, key and payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kvpool {

/// Checksum of `length` bytes that follow bytes whose checksum is `before` (0: none).
/// crc32c(b, nb, crc32c(a, na)) is the checksum of a followed by b.
uint32_t crc32c(const void* data, size_t length, uint32_t before = 0);

inline uint32_t crc32c(std::string_view bytes, uint32_t before = 0) {
  return crc32c(bytes.data(), bytes.size(), before);
}

/// Copies and checksums in one pass over memory; the checksum is that of the bytes that were stored. `ofLargeCopy`: a
/// part of a copy of kStreamBytes or more, which comes in several calls.
uint32_t crc32cCopy(void* destination, const void* source, size_t length, uint32_t before = 0,
                    bool ofLargeCopy = false);

/// The ways to compute it. Tests compare them; everyone else calls the functions above, which pick the fastest.
namespace crc {
/// From here on a copy is too large to be found in the cache by whoever reads it next: it may go past it.
inline constexpr size_t kStreamBytes = size_t{256} << 10;
/// The smallest part of such a copy that goes past the cache for itself.
inline constexpr size_t kStreamedPartBytes = 4096;

uint32_t portable(const void* data, size_t length, uint32_t before);
uint32_t portableCopy(void* destination, const void* source, size_t length, uint32_t before);
/// Whether this processor has CRC-32C instructions; the functions below need them. `streams`: past the cache, where
/// that is known here; at least kStreamedPartBytes.
bool hasHardware();
uint32_t hardware(const void* data, size_t length, uint32_t before);
uint32_t hardwareCopy(void* destination, const void* source, size_t length, uint32_t before, bool streams);
/// Whether it multiplies vectors as well, which is faster for long inputs; the functions below need that.
bool hasFolding();
uint32_t folding(const void* data, size_t length, uint32_t before);
uint32_t foldingCopy(void* destination, const void* source, size_t length, uint32_t before, bool streams);
}  // namespace crc

}  // namespace kvpool
