// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c_shift.h"

#include <array>

namespace kvpool {
namespace {

// Polynomials modulo the generator, reflected: bit 31 is the power 0.
constexpr uint32_t kGenerator = 0x82F63B78;
constexpr uint32_t kOne = uint32_t{1} << 31;

/// The generator is (x + 1) times a primitive polynomial of degree 31, so the powers of x repeat after so many.
constexpr uint64_t kOrder = (uint64_t{1} << 31) - 1;

constexpr uint32_t timesX(uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? kGenerator : 0);
}

constexpr uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) sum ^= b;
    b = timesX(b);
  }
  return sum;
}

constexpr unsigned kDigitBits = 8;
constexpr unsigned kDigits = 4;  // of an exponent below kOrder
constexpr unsigned kDigitValues = 1U << kDigitBits;
using Powers = std::array<std::array<uint32_t, kDigitValues>, kDigits>;

/// x to each digit times its weight.
Powers makePowers() {
  Powers powers{};
  uint32_t base = timesX(kOne);
  for (auto& ofDigit : powers) {
    ofDigit[0] = kOne;
    for (unsigned value = 1; value < kDigitValues; ++value)
      ofDigit[value] = product(ofDigit[value - 1], base);
    base = product(ofDigit[kDigitValues - 1], base);
  }
  return powers;
}

uint32_t timesPower(uint32_t value, uint64_t exponent) {
  static const Powers powers = makePowers();
  for (const auto& ofDigit : powers) {
    const uint64_t digit = exponent % kDigitValues;
    if (digit != 0) value = product(ofDigit[digit], value);
    exponent /= kDigitValues;
  }
  return value;
}

/// Bits of so many bytes, as an exponent of x.
uint64_t exponentOf(uint64_t bytes) {
  return bytes % kOrder * 8 % kOrder;
}

}  // namespace

uint32_t crc32cShift(uint32_t crc, uint64_t bytes) {
  return timesPower(crc, exponentOf(bytes));
}

uint32_t crc32cShiftBack(uint32_t crc, uint64_t bytes) {
  return timesPower(crc, kOrder - exponentOf(bytes));
}

}  // namespace kvpool
