// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "acl_memory.h"

namespace fake_ascend {

/// Memory without an address, of this process or taken over from another.
struct Physical {
  std::shared_ptr<Backing> backing;
  aclrtMemLocation location{};
  size_t page = k2Mega;
  bool imported = false;
};

/// Physical memory by handle, the limits of its two page sizes, and addresses reserved for it.
class VirtualMemory {
 public:
  static VirtualMemory& instance();

  /// Null when the pages of that size are used up.
  aclrtDrvMemHandle allocate(size_t size, size_t page, aclrtMemLocation location);
  aclrtDrvMemHandle import(std::shared_ptr<Backing> backing);
  /// False when there is none, or it is mapped.
  bool free(aclrtDrvMemHandle handle);
  std::shared_ptr<const Physical> find(aclrtDrvMemHandle handle);

  void* reserve(size_t size);
  aclError release(void* start);
  aclError map(void* start, size_t size, aclrtDrvMemHandle handle);
  aclError unmap(void* start);
  /// The memory that is mapped at an address, as a handle; null if there is none.
  aclrtDrvMemHandle handleAt(void* pointer);

 private:
  std::mutex mutex_;
  std::map<aclrtDrvMemHandle, std::shared_ptr<const Physical>> physical_;
  std::map<uintptr_t, size_t> reservations_;
  std::map<uintptr_t, aclrtDrvMemHandle> mappings_;
};

}  // namespace fake_ascend
