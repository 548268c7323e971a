// SPDX-License-Identifier: Apache-2.0
#include "base/boot.h"

#include <cctype>
#include <fstream>

#include "base/entropy.h"

namespace kvpool {

std::string bootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

uint64_t bootNumber() {
  // 64 of its random bits: both halves of 16 digits, one over the other.
  uint64_t number = 0;
  for (const char digit : bootId()) {
    if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) continue;
    const auto value = static_cast<uint64_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    number = ((number << 4U) | (number >> 60U)) ^ value;
  }
  return number != 0 ? number : (randomNumber() | 1U);
}

}  // namespace kvpool
