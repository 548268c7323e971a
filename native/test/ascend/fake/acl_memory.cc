// SPDX-License-Identifier: Apache-2.0
#include "acl_memory.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "acl_call.h"
#include "control.h"
#include "ledger.h"

namespace fake_ascend {

Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

void Registry::add(const void* start, Range range) {
  const std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<uintptr_t>(start)] = std::move(range);
}

std::optional<Range> Registry::remove(const void* start, Origin origin) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<uintptr_t>(start));
  if (found == ranges_.end() || found->second.origin != origin) return std::nullopt;
  Range range = std::move(found->second);
  ranges_.erase(found);
  return range;
}

std::optional<Range> Registry::find(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return std::nullopt;
  const auto& [start, range] = *--after;
  return address - start < range.size ? std::optional<Range>(range) : std::nullopt;
}

Registry::Place Registry::locate(const void* pointer, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return {Kind::kUnknown, false};
  const auto& [start, range] = *--after;
  if (address - start >= range.size) return {Kind::kUnknown, false};
  const bool mapped = range.origin == Origin::kMapped;
  if (size > range.size - (address - start)) return {Kind::kCrossing, mapped};
  return {range.location.type == ACL_MEM_LOCATION_TYPE_DEVICE ? Kind::kDevice : Kind::kHost, mapped};
}

void* Registry::reach(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin()) {
    const auto& [start, range] = *--after;
    if (range.hidden != nullptr && address - start < range.size) return range.hidden + (address - start);
  }
  return const_cast<void*>(pointer);
}

bool Registry::anyIn(const void* start, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(start);
  const auto next = ranges_.lower_bound(address);
  return next != ranges_.end() && next->first - address < size;
}

size_t Registry::used(uint32_t number) {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [start, range] : ranges_)
    if (range.origin == Origin::kDevice && range.location.id == number) bytes += range.size;
  return bytes;
}

size_t Registry::usedOfHost() {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [start, range] : ranges_)
    if (range.origin == Origin::kHost) bytes += range.size;
  return bytes;
}

namespace {

constexpr size_t kDeviceMemory = size_t{64} << 30;

/// The node that the kernel gives this thread pages of, if it prefers one.
int preferredNode() {
  constexpr unsigned long kNodes = 1024;
  constexpr unsigned long kWordBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, kNodes / kWordBits> nodes{};
  int mode = 0;
  if (::syscall(SYS_get_mempolicy, &mode, nodes.data(), kNodes, nullptr, 0UL) != 0 || mode != MPOL_PREFERRED) return -1;
  for (unsigned long node = 0; node < kNodes; ++node)
    if ((nodes.at(node / kWordBits) >> node % kWordBits & 1) != 0) return static_cast<int>(node);
  return -1;
}

/// Takes bytes away from their address, which the processor cannot read from then on.
void hide(void* start, size_t size, Range& range) {
  void* elsewhere = reserveAddresses(size, k64Kilo);
  if (elsewhere == nullptr || !range.backing->mapAt(elsewhere)) return;
  clearAddresses(start, size);
  range.hidden = static_cast<uint8_t*>(elsewhere);
}

/// Allocates bytes at a fresh address, with the given alignment of it.
aclError allocate(void** pointer, size_t size, size_t alignment, Range range) {
  if (pointer == nullptr || size == 0) return refuse(acl::kInvalidParam, "null, or no bytes");
  range.size = size;
  range.backing = Backing::make(size);
  void* start = reserveAddresses(size, alignment);
  if (range.backing == nullptr || start == nullptr || !range.backing->mapAt(start)) {
    if (start != nullptr) releaseAddresses(start, size);
    return refuse(acl::kMemoryAllocation, "the machine has no memory");
  }
  if (range.origin == Origin::kDevice && Control::instance().number("hidden_memory", 0) != 0) hide(start, size, range);
  *pointer = start;
  Registry::instance().add(start, std::move(range));
  return acl::kSuccess;
}

aclError release(void* pointer, Origin origin) {
  const auto range = Registry::instance().remove(pointer, origin);
  if (!range) return refuse(acl::kRtParamInvalid, "not the start of memory that was allocated so");
  releaseAddresses(pointer, range->size);
  if (range->hidden != nullptr) releaseAddresses(range->hidden, range->size);
  return acl::kSuccess;
}

aclError counted(aclError status, const char* kind, int64_t change) {
  if (status == acl::kSuccess) Ledger::instance().count(kind, change);
  return status;
}

}  // namespace
}  // namespace fake_ascend

using fake_ascend::allocate;
using fake_ascend::callInContext;
using fake_ascend::Control;
using fake_ascend::counted;
using fake_ascend::currentDevice;
using fake_ascend::driverNumber;
using fake_ascend::Ledger;
using fake_ascend::Origin;
using fake_ascend::Range;
using fake_ascend::refuse;
using fake_ascend::Registry;
namespace acl = fake_ascend::acl;

aclError aclrtGetMemInfo(uint32_t, size_t* free, size_t* total) {
  return callInContext("aclrtGetMemInfo", "", [&]() -> aclError {
    if (free == nullptr || total == nullptr) return refuse(acl::kInvalidParam, "null");
    *total = Control::instance().number("device_memory", fake_ascend::kDeviceMemory);
    const size_t used = Registry::instance().used(driverNumber(*currentDevice()));
    *free = *total > used ? *total - used : 0;
    return acl::kSuccess;
  });
}

aclError aclrtMalloc(void** pointer, size_t size, uint32_t) {
  return callInContext("aclrtMalloc", std::to_string(size), [&]() -> aclError {
    const uint32_t number = driverNumber(*currentDevice());
    const size_t total = Control::instance().number("device_memory", fake_ascend::kDeviceMemory);
    const size_t used = Registry::instance().used(number);
    if (used > total || size > total - used) return refuse(acl::kMemoryAllocation, "the device has no memory");
    Range range;
    range.location = {number, ACL_MEM_LOCATION_TYPE_DEVICE};
    range.origin = Origin::kDevice;
    range.pageSize = fake_ascend::k2Mega;
    return counted(allocate(pointer, size, fake_ascend::k2Mega, range), "device_memory", 1);
  });
}

aclError aclrtFree(void* pointer) {
  return callInContext("aclrtFree", "",
                       [&] { return counted(fake_ascend::release(pointer, Origin::kDevice), "device_memory", -1); });
}

aclError aclrtMallocHost(void** pointer, size_t size) {
  return callInContext("aclrtMallocHost", std::to_string(size), [&] {
    const size_t limit = Control::instance().number("free_host", SIZE_MAX);
    const size_t used = Registry::instance().usedOfHost();
    if (used > limit || size > limit - used) return refuse(acl::kMemoryAllocation, "the host has no memory");
    Range range;
    range.numaNode = fake_ascend::preferredNode();
    return counted(allocate(pointer, size, fake_ascend::k64Kilo, range), "host_memory", 1);
  });
}

aclError aclrtFreeHost(void* pointer) {
  return callInContext("aclrtFreeHost", "",
                       [&] { return counted(fake_ascend::release(pointer, Origin::kHost), "host_memory", -1); });
}

aclError aclrtHostRegister(void* pointer, uint64_t size, uint32_t, void** devicePointer) {
  return callInContext("aclrtHostRegister", std::to_string(size), [&]() -> aclError {
    if (pointer == nullptr || size == 0 || devicePointer == nullptr)
      return refuse(acl::kInvalidParam, "null, or no bytes");
    if (reinterpret_cast<uintptr_t>(pointer) % fake_ascend::k64Kilo != 0)
      return refuse(acl::kRtParamInvalid, "the address is not aligned to 64 KiB");
    if (Registry::instance().find(pointer) || Registry::instance().anyIn(pointer, size))
      return refuse(acl::kRtParamInvalid, "the memory is known already");
    Range range;
    range.size = size;
    range.origin = Origin::kRegistered;
    Registry::instance().add(pointer, range);
    *devicePointer = pointer;
    return counted(acl::kSuccess, "host_registration", 1);
  });
}

aclError aclrtHostUnregister(void* pointer) {
  return callInContext("aclrtHostUnregister", "", [&]() -> aclError {
    if (!Registry::instance().remove(pointer, Origin::kRegistered))
      return refuse(acl::kRtParamInvalid, "not the start of registered memory");
    return counted(acl::kSuccess, "host_registration", -1);
  });
}

aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
  return callInContext("aclrtPointerGetAttributes", "", [&]() -> aclError {
    if (pointer == nullptr || attributes == nullptr) return refuse(acl::kInvalidParam, "null");
    const auto range = Registry::instance().find(pointer);
    if (!range && Control::instance().setting("unknown_pointer").value_or("") == "error")
      return refuse(acl::kRtParamInvalid, "no such memory");
    *attributes = {};
    attributes->location = range ? range->location : aclrtMemLocation{0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
    attributes->pageSize = range ? range->pageSize : 0;
    return acl::kSuccess;
  });
}

int fake_ascend_numa(const void* pointer) {
  const auto range = Registry::instance().find(pointer);
  return range ? range->numaNode : -1;
}
