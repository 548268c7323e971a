// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "acl_api.h"
#include "backing.h"

namespace fake_ascend {

constexpr size_t k64Kilo = size_t{64} << 10;
constexpr size_t k2Mega = size_t{2} << 20;
constexpr size_t k1Giga = size_t{1} << 30;

/// How memory came to be known, which says what takes it away again.
enum class Origin { kDevice, kHost, kRegistered, kMapped, kImported };

struct Range {
  size_t size = 0;
  aclrtMemLocation location{};
  Origin origin = Origin::kHost;
  uint32_t pageSize = 4096;
  std::shared_ptr<Backing> backing;  // none of registered memory
  uint8_t* hidden = nullptr;         // where the fake itself reaches the bytes, if nothing else does
  int numaNode = -1;                 // of the host, that was preferred
};

/// Memory that ACL knows, by address. Knows nothing of what the functions that allocate it promise.
class Registry {
 public:
  enum class Kind { kHost = 0, kDevice = 1, kUnknown = 2, kCrossing = 3 };
  struct Place {
    Kind kind;
    bool mapped;
  };

  static Registry& instance();

  void add(const void* start, Range range);
  /// Removes the range that starts there, if it has that origin.
  std::optional<Range> remove(const void* start, Origin origin);
  std::optional<Range> find(const void* pointer);
  /// Where a range of bytes lies, which must not cross the end of what was allocated.
  Place locate(const void* pointer, size_t size);
  /// Where the bytes of an address are for the fake itself.
  void* reach(const void* pointer);
  bool anyIn(const void* start, size_t size);
  /// Bytes in use of the device with that number of the driver.
  size_t used(uint32_t number);
  /// Bytes of the host that ACL gave.
  size_t usedOfHost();

 private:
  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;
};

}  // namespace fake_ascend
