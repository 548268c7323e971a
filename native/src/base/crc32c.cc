// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <array>
#include <cstring>

namespace kvpool {
namespace crc {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t table = 1; table < tables.size(); ++table) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t previous = tables[table - 1][byte];
      tables[table][byte] = (previous >> 8) ^ tables[0][previous & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = makeTables();

uint32_t stepWord(uint32_t state, uint64_t word) {
  const uint64_t mixed = word ^ state;
  uint32_t next = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    next ^= kTables[7 - byte][(mixed >> (8 * byte)) & 0xFF];
  return next;
}

uint32_t stepByte(uint32_t state, uint8_t byte) {
  return (state >> 8) ^ kTables[0][(state ^ byte) & 0xFF];
}

}  // namespace

uint32_t portable(const void* data, size_t length, uint32_t before) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t state = ~before;
  for (; length >= 8; length -= 8, bytes += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    state = stepWord(state, word);
  }
  for (; length > 0; --length, ++bytes)
    state = stepByte(state, *bytes);
  return ~state;
}

uint32_t portableCopy(void* destination, const void* source, size_t length, uint32_t before) {
  if (length == 0) return before;
  // The source may be written by a peer while it is copied: checksum what was stored, not what was read first.
  std::memcpy(destination, source, length);
  return portable(destination, length, before);
}

}  // namespace crc

namespace {

enum class Way { Portable, Hardware, Folding };

/// Folding pays from here on.
constexpr size_t kFoldedBytes = 512;

Way wayFor(size_t length) {
  static const bool hardware = crc::hasHardware();
  static const bool folding = crc::hasFolding();
  if (folding && length >= kFoldedBytes) return Way::Folding;
  return hardware ? Way::Hardware : Way::Portable;
}

}  // namespace

uint32_t crc32c(const void* data, size_t length, uint32_t before) {
  switch (wayFor(length)) {
    case Way::Folding:
      return crc::folding(data, length, before);
    case Way::Hardware:
      return crc::hardware(data, length, before);
    case Way::Portable:
      break;
  }
  return crc::portable(data, length, before);
}

uint32_t crc32cCopy(void* destination, const void* source, size_t length, uint32_t before, bool ofLargeCopy) {
  const bool streams = length >= (ofLargeCopy ? crc::kStreamedPartBytes : crc::kStreamBytes);
  switch (wayFor(length)) {
    case Way::Folding:
      return crc::foldingCopy(destination, source, length, before, streams);
    case Way::Hardware:
      return crc::hardwareCopy(destination, source, length, before, streams);
    case Way::Portable:
      break;
  }
  return crc::portableCopy(destination, source, length, before);
}

}  // namespace kvpool
