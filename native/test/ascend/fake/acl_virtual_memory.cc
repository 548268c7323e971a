// SPDX-License-Identifier: Apache-2.0
#include "acl_virtual_memory.h"

#include <algorithm>

#include "acl_call.h"
#include "control.h"
#include "ledger.h"

namespace fake_ascend {

VirtualMemory& VirtualMemory::instance() {
  static VirtualMemory& memory = *new VirtualMemory;
  return memory;
}

aclrtDrvMemHandle VirtualMemory::allocate(size_t size, size_t page, aclrtMemLocation location) {
  const std::lock_guard lock(mutex_);
  const size_t limit = Control::instance().number(page == k1Giga ? "free_1g" : "free_2m", SIZE_MAX);
  size_t used = 0;
  for (const auto& [handle, physical] : physical_)
    used += physical->page == page && !physical->imported ? physical->backing->size() : 0;
  if (used > limit || size > limit - used) return nullptr;
  auto backing = Backing::make(size);
  if (backing == nullptr) return nullptr;
  const aclrtDrvMemHandle handle = newHandle();
  physical_[handle] = std::make_shared<const Physical>(Physical{std::move(backing), location, page, false});
  Ledger::instance().count("physical", 1);
  return handle;
}

aclrtDrvMemHandle VirtualMemory::import(std::shared_ptr<Backing> backing) {
  const std::lock_guard lock(mutex_);
  const aclrtDrvMemHandle handle = newHandle();
  physical_[handle] = std::make_shared<const Physical>(Physical{std::move(backing), {}, k2Mega, true});
  Ledger::instance().count("import", 1);
  return handle;
}

bool VirtualMemory::free(aclrtDrvMemHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  const bool isMapped = std::any_of(mappings_.begin(), mappings_.end(),
                                    [handle](const auto& mapping) { return mapping.second == handle; });
  if (found == physical_.end() || isMapped) return false;
  Ledger::instance().count(found->second->imported ? "import" : "physical", -1);
  physical_.erase(found);
  return true;
}

std::shared_ptr<const Physical> VirtualMemory::find(aclrtDrvMemHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  return found == physical_.end() ? nullptr : found->second;
}

void* VirtualMemory::reserve(size_t size) {
  const std::lock_guard lock(mutex_);
  void* start = reserveAddresses(size, k1Giga);
  if (start != nullptr) {
    reservations_[reinterpret_cast<uintptr_t>(start)] = size;
    Ledger::instance().count("reservation", 1);
  }
  return start;
}

aclError VirtualMemory::release(void* start) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(reinterpret_cast<uintptr_t>(start));
  if (found == reservations_.end()) return refuse(acl::kRtParamInvalid, "not the start of reserved addresses");
  if (Registry::instance().anyIn(start, found->second))
    return refuse(acl::kRtParamInvalid, "memory is still mapped there");
  releaseAddresses(start, found->second);
  reservations_.erase(found);
  Ledger::instance().count("reservation", -1);
  return acl::kSuccess;
}

aclError VirtualMemory::map(void* start, size_t size, aclrtDrvMemHandle handle) {
  const auto physical = find(handle);
  const std::lock_guard lock(mutex_);
  if (physical == nullptr) return refuse(acl::kRtParamInvalid, "not physical memory");
  const auto address = reinterpret_cast<uintptr_t>(start);
  if (address % physical->page != 0 || size != physical->backing->size())
    return refuse(acl::kRtParamInvalid, "the address is not aligned to the pages, or not the whole memory");
  auto reservation = reservations_.upper_bound(address);
  if (reservation == reservations_.begin() || address - (--reservation)->first >= reservation->second ||
      size > reservation->second - (address - reservation->first))
    return refuse(acl::kRtParamInvalid, "these addresses are not reserved");
  if (Registry::instance().find(start) || Registry::instance().anyIn(start, size))
    return refuse(acl::kRtParamInvalid, "memory is mapped there already");
  if (!physical->backing->mapAt(start)) return refuse(acl::kMemoryAllocation, "the machine does not map it");
  Registry::instance().add(start, Range{size, physical->location, Origin::kMapped,
                                        static_cast<uint32_t>(physical->page), physical->backing});
  mappings_[address] = handle;
  Ledger::instance().count("mapping", 1);
  return acl::kSuccess;
}

aclError VirtualMemory::unmap(void* start) {
  const std::lock_guard lock(mutex_);
  const auto range = Registry::instance().remove(start, Origin::kMapped);
  if (!range) return refuse(acl::kRtParamInvalid, "no memory is mapped there");
  clearAddresses(start, range->size);
  mappings_.erase(reinterpret_cast<uintptr_t>(start));
  Ledger::instance().count("mapping", -1);
  return acl::kSuccess;
}

aclrtDrvMemHandle VirtualMemory::handleAt(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto range = Registry::instance().find(pointer);
  auto mapping = mappings_.upper_bound(reinterpret_cast<uintptr_t>(pointer));
  if (!range || range->origin != Origin::kMapped || mapping == mappings_.begin()) return nullptr;
  return (--mapping)->second;
}

namespace {

bool isGiga(aclrtMemAttr attribute) {
  return attribute == ACL_HBM_MEM_HUGE1G || attribute == ACL_HBM_MEM_P2P_HUGE1G;
}

}  // namespace
}  // namespace fake_ascend

using fake_ascend::callInContext;
using fake_ascend::refuse;
using fake_ascend::VirtualMemory;
namespace acl = fake_ascend::acl;

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* properties, uint64_t) {
  const std::string text = properties == nullptr ? ""
                                                 : std::to_string(size) + " " + std::to_string(properties->memAttr) +
                                                       " " + std::to_string(properties->location.type) + " " +
                                                       std::to_string(properties->location.id);
  return callInContext("aclrtMallocPhysical", text, [&]() -> aclError {
    if (handle == nullptr || properties == nullptr || size == 0) return refuse(acl::kInvalidParam, "null, or no bytes");
    if (properties->handleType != 0 || properties->allocationType != 0)
      return refuse(acl::kInvalidParam, "other memory than pinned one without a handle");
    const size_t page = fake_ascend::isGiga(properties->memAttr) ? fake_ascend::k1Giga : fake_ascend::k2Mega;
    if (size % page != 0) return refuse(acl::kRtParamInvalid, "the size is not a multiple of the pages");
    *handle = VirtualMemory::instance().allocate(size, page, properties->location);
    return *handle == nullptr ? refuse(acl::kMemoryAllocation, "no pages of this size are left") : acl::kSuccess;
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return callInContext("aclrtFreePhysical", "", [&] {
    return VirtualMemory::instance().free(handle)
               ? acl::kSuccess
               : refuse(acl::kRtParamInvalid, "not physical memory, or mapped still");
  });
}

aclError aclrtReserveMemAddress(void** pointer, size_t size, size_t, void*, uint64_t flags) {
  return callInContext("aclrtReserveMemAddress", std::to_string(size) + " " + std::to_string(flags), [&]() -> aclError {
    if (pointer == nullptr || size == 0) return refuse(acl::kInvalidParam, "null, or no bytes");
    if (size % fake_ascend::k2Mega != 0) return refuse(acl::kRtParamInvalid, "the size is not a multiple of 2 MiB");
    *pointer = VirtualMemory::instance().reserve(size);
    return *pointer == nullptr ? refuse(acl::kMemoryAllocation, "no addresses") : acl::kSuccess;
  });
}

aclError aclrtReleaseMemAddress(void* pointer) {
  return callInContext("aclrtReleaseMemAddress", "", [&] { return VirtualMemory::instance().release(pointer); });
}

aclError aclrtMapMem(void* pointer, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t) {
  return callInContext("aclrtMapMem", std::to_string(size), [&]() -> aclError {
    if (offset != 0) return refuse(acl::kRtParamInvalid, "the offset must be 0");
    return VirtualMemory::instance().map(pointer, size, handle);
  });
}

aclError aclrtUnmapMem(void* pointer) {
  return callInContext("aclrtUnmapMem", "", [&] { return VirtualMemory::instance().unmap(pointer); });
}

aclError aclrtMemSetAccess(void* pointer, size_t size, aclrtMemAccessDesc* access, size_t count) {
  return callInContext("aclrtMemSetAccess", std::to_string(size), [&]() -> aclError {
    constexpr uint32_t kReadAndWrite = 3;
    if (access == nullptr || count == 0) return refuse(acl::kInvalidParam, "no access described");
    for (size_t i = 0; i < count; ++i) {
      if (access[i].flags > kReadAndWrite || access[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return refuse(acl::kInvalidParam, "access of something else than a device");
      if (access[i].location.id != fake_ascend::driverNumber(*fake_ascend::currentDevice()))
        return refuse(acl::kRtParamInvalid, "access of another device than that of the context");
    }
    if (!fake_ascend::Registry::instance().locate(pointer, size).mapped)
      return refuse(acl::kRtParamInvalid, "no memory is mapped there");
    return acl::kSuccess;
  });
}

aclError aclrtMemRetainAllocationHandle(void* pointer, aclrtDrvMemHandle* handle) {
  return callInContext("aclrtMemRetainAllocationHandle", "", [&]() -> aclError {
    if (handle == nullptr) return refuse(acl::kInvalidParam, "null");
    *handle = VirtualMemory::instance().handleAt(pointer);
    return *handle == nullptr ? refuse(acl::kRtParamInvalid, "no memory is mapped there") : acl::kSuccess;
  });
}
