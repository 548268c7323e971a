// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "frames.h"

namespace fake_ascend {

/// How the devices of two engines reach each other.
enum class Link { kHccs, kRoce, kFabric };

/// The regions of one engine. A peer's bytes are copied under its lock, so that deregistered memory is not touched any
/// more.
class RegisteredMemory {
 public:
  ~RegisteredMemory();

  Status add(uint64_t start, uint64_t size, Home home, Link link, void*& handle);
  void remove(void* handle);
  void clear();

  [[nodiscard]] std::vector<Region> regions() const;
  /// The home of bytes that lie in one region.
  [[nodiscard]] std::optional<Home> homeOf(uint64_t start, uint64_t size) const;
  /// Copies between memory of this engine and a buffer; false if the memory is not registered. `staged`: a buffer pool
  /// also reaches memory that is not registered, if it exists.
  bool copyOut(uint64_t start, void* buffer, size_t size, bool staged) const;
  bool copyIn(uint64_t start, const void* buffer, size_t size, bool staged);

 private:
  struct Entry {
    Region region;
    void* handle;
  };

  [[nodiscard]] std::optional<Home> homeUnderLock(uint64_t start, uint64_t size) const;
  [[nodiscard]] uint64_t bytesOf(Home home) const;

  mutable std::shared_mutex mutex_;
  std::vector<Entry> entries_;
  uint64_t lastHandle_ = 0;
};

}  // namespace fake_ascend
