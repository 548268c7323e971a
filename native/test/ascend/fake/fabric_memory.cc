// SPDX-License-Identifier: Apache-2.0
#include "fabric_memory.h"

#include <map>
#include <mutex>

#include "settings.h"

namespace fake_ascend {
namespace {

constexpr size_t kFabricPage = size_t{1} << 30;
constexpr int kOldestMajor = 25;
constexpr int kOldestMinor = 5;

std::mutex fabricMutex;

std::map<void*, aclrtDrvMemHandle>& fabricMemory() {
  static auto& memory = *new std::map<void*, aclrtDrvMemHandle>;
  return memory;
}

Status statusOfAcl(aclError error) {
  return error == acl::kSuccess ? kSuccess : error == acl::kMemoryAllocation ? kResourceExhausted : kFailed;
}

Status allocateWhole(Home home, size_t size, void** pointer) {
  int32_t device = 0;
  if (const aclError error = aclrtGetDevice(&device)) return statusOfAcl(error);
  aclrtPhysicalMemProp properties{};
  properties.memAttr = ACL_HBM_MEM_HUGE1G;
  properties.location = home == Home::kDevice
                            ? aclrtMemLocation{static_cast<uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE}
                            : aclrtMemLocation{0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtDrvMemHandle handle = nullptr;
  if (const aclError error = aclrtMallocPhysical(&handle, size, &properties, 0)) return statusOfAcl(error);
  aclError error = aclrtReserveMemAddress(pointer, size, 0, nullptr, 1);
  if (error == acl::kSuccess) {
    error = aclrtMapMem(*pointer, size, 0, handle, 0);
    if (error != acl::kSuccess) aclrtReleaseMemAddress(*pointer);
  }
  if (error != acl::kSuccess) {
    aclrtFreePhysical(handle);
    return statusOfAcl(error);
  }
  const std::lock_guard lock(fabricMutex);
  fabricMemory()[*pointer] = handle;
  return kSuccess;
}

/// The frame of a static method.
template <typename Body>
Status callStatic(const char* method, Body body) {
  fake_ascend_order order{};
  fake_ascend_begin(method, &order);
  const Status status = order.status != 0 ? order.status : body();
  fake_ascend_end(method, status, "");
  return status;
}

}  // namespace

Status allocateFabric(Home home, size_t size, void** pointer) {
  return callStatic("MallocMem", [&]() -> Status {
    if (pointer == nullptr || size == 0 || size % kFabricPage != 0) return kParamInvalid;
    if (!driverIsAtLeast(kOldestMajor, kOldestMinor)) return kUnsupported;
    return allocateWhole(home, size, pointer);
  });
}

Status freeFabric(void* pointer) {
  return callStatic("FreeMem", [&]() -> Status {
    aclrtDrvMemHandle handle = nullptr;
    {
      const std::lock_guard lock(fabricMutex);
      const auto found = fabricMemory().find(pointer);
      if (found == fabricMemory().end()) return kParamInvalid;
      handle = found->second;
      fabricMemory().erase(found);
    }
    const bool freed = aclrtUnmapMem(pointer) == acl::kSuccess && aclrtReleaseMemAddress(pointer) == acl::kSuccess &&
                       aclrtFreePhysical(handle) == acl::kSuccess;
    return freed ? kSuccess : kFailed;
  });
}

Status exportFabric(void* pointer, aclrtMemFabricHandle& handle) {
  return callStatic("ExportToShareableHandle", [&]() -> Status {
    const std::lock_guard lock(fabricMutex);
    const auto found = fabricMemory().find(pointer);
    if (found == fabricMemory().end()) return kParamInvalid;
    return statusOfAcl(aclrtMemExportToShareableHandleV2(found->second, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &handle));
  });
}

}  // namespace fake_ascend
