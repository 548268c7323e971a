// SPDX-License-Identifier: Apache-2.0
// The bytes of a fuzzer, taken from the front. At their end everything is 0 and empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kvpool::test {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(data, size) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::span<const uint8_t> bytes(size_t count) {
    const auto part = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  uint8_t byte() { return static_cast<uint8_t>(number(1)); }
  /// Of so many bytes, little endian.
  uint64_t number(size_t width) {
    uint64_t value = 0;
    const auto part = bytes(width);
    if (!part.empty()) std::memcpy(&value, part.data(), part.size());
    return value;
  }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace kvpool::test
