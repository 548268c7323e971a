// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace kvpool::store {

/// Memory mapped from a descriptor.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// Maps `length` bytes from `offset` on, for reading only or for reading and writing.
  static Result<Mapping> map(int fd, uint64_t length, bool writable, uint64_t offset = 0);

  [[nodiscard]] std::span<uint8_t> bytes() const { return {data_, length_}; }

 private:
  Mapping(uint8_t* data, size_t length) : data_(data), length_(length) {}
  uint8_t* data_ = nullptr;
  size_t length_ = 0;
};

}  // namespace kvpool::store
