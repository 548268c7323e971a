// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace kvpool {
namespace {

/// Length of the sequence that `lead` starts (0: none) and the range its second byte must be in, which is what keeps
/// out overlong forms, surrogates and code points above U+10FFFF.
struct Sequence {
  size_t length;
  uint8_t secondMin;
  uint8_t secondMax;
};

Sequence sequenceOf(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

bool isUtf8(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    const Sequence sequence = sequenceOf(static_cast<uint8_t>(bytes[at]));
    if (sequence.length == 0 || bytes.size() - at < sequence.length) return false;
    for (size_t i = 1; i < sequence.length; ++i) {
      const auto byte = static_cast<uint8_t>(bytes[at + i]);
      const uint8_t min = i == 1 ? sequence.secondMin : 0x80;
      const uint8_t max = i == 1 ? sequence.secondMax : 0xBF;
      if (byte < min || byte > max) return false;
    }
    at += sequence.length;
  }
  return true;
}

}  // namespace kvpool
