// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace fake_ascend {

/// Bytes that can be mapped at several places and by several processes of a user on one machine; they cost memory once
/// touched.
class Backing {
 public:
  /// Null if the system has none.
  static std::shared_ptr<Backing> make(size_t size);
  /// What a process said in name(), here or in another process.
  static std::shared_ptr<Backing> open(const std::string& name);

  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] std::string name() const;
  /// Puts the bytes at an address, over what is there.
  bool mapAt(void* address) const;

 private:
  Backing(int file, size_t size) : file_(file), size_(size) {}

  int file_;
  size_t size_;
};

/// Addresses without memory behind them, or null.
void* reserveAddresses(size_t size, size_t alignment);
/// Takes memory away from addresses, which stay reserved.
void clearAddresses(void* address, size_t size);
void releaseAddresses(void* address, size_t size);

}  // namespace fake_ascend
