// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

namespace kvpool::test {

/// Memory that is zero without being written: tests make many segments and touch little of each. A vector looks at
/// every byte when it comes and goes, which is most of what a fuzzer under sanitizers did.
class ZeroedBytes {
 public:
  explicit ZeroedBytes(size_t size) : memory_(static_cast<uint8_t*>(std::calloc(size, 1))), size_(size) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ZeroedBytes(const ZeroedBytes& other) : ZeroedBytes(other.size_) { *this = other; }
  /// The bytes stay where they are: others look at them there.
  ZeroedBytes& operator=(const ZeroedBytes& other) {
    if (size_ != other.size_) throw std::logic_error("bytes of another size");
    std::memmove(data(), other.data(), size_);
    return *this;
  }
  ~ZeroedBytes() = default;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint8_t* data() { return memory_.get(); }
  [[nodiscard]] const uint8_t* data() const { return memory_.get(); }
  [[nodiscard]] uint8_t* begin() { return data(); }
  [[nodiscard]] const uint8_t* begin() const { return data(); }
  [[nodiscard]] uint8_t* end() { return data() + size_; }
  [[nodiscard]] const uint8_t* end() const { return data() + size_; }
  uint8_t& operator[](size_t at) { return data()[at]; }
  const uint8_t& operator[](size_t at) const { return data()[at]; }
  friend bool operator==(const ZeroedBytes& a, const ZeroedBytes& b) {
    return a.size_ == b.size_ && std::memcmp(a.data(), b.data(), a.size_) == 0;
  }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t, Free> memory_;
  size_t size_;
};

}  // namespace kvpool::test
