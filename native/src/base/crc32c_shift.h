// SPDX-License-Identifier: Apache-2.0
// Arithmetic on checksums of bytes that are not at hand.
#pragma once

#include <cstdint>

namespace kvpool {

/// What the checksum of some bytes counts in that of the same bytes with `bytes` more behind them: for a followed by b
/// crc32c(ab) == crc32cShift(crc32c(a), length of b) ^ crc32c(b).
uint32_t crc32cShift(uint32_t crc, uint64_t bytes);
/// The other way: crc32cShiftBack(crc32cShift(crc, bytes), bytes) == crc.
uint32_t crc32cShiftBack(uint32_t crc, uint64_t bytes);

}  // namespace kvpool
