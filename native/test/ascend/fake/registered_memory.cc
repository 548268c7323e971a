// SPDX-License-Identifier: Apache-2.0
#include "registered_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "settings.h"

namespace fake_ascend {
namespace {

constexpr uint64_t kGiga = uint64_t{1} << 30;
constexpr uint64_t kDeviceBytes = 50 * kGiga;
constexpr uint64_t kHostBytes = 1024 * kGiga;
constexpr uint64_t kHostBytesOfOldDriver = 20 * kGiga;
constexpr uint64_t kRegions = 256;

// Real peers reach memory without a thread of this process. The kernel copies as unseen by the sanitizer, which does
// not know of the order that messages between processes make.
#ifdef FAKE_ASCEND_COPIES_BY_KERNEL
constexpr bool kByKernel = true;
#else
constexpr bool kByKernel = false;
#endif

void* pointerTo(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

/// Whether memory may be registered as that type, as far as ACL knows of it.
Status checkPlace(uint64_t start, uint64_t size, Home home) {
  if (fake_ascend_number("strict_memory", 1) == 0) return kSuccess;
  const AclPlace place = placeOf(start, size);
  if (place.crossing) return kParamInvalid;
  if (place.mapped) return kSuccess;  // fabric memory of the host is registered as a device's as well
  if (place.device != (home == Home::kDevice)) return kParamInvalid;
  // Memory that ACL did not allocate is pinned by the registration, as aclrtHostRegister does.
  return place.unknown && start % (uint64_t{64} << 10) != 0 ? kFailed : kSuccess;
}

/// By the fabric memory of the host is reached only if it is mapped in whole GiB.
Status checkLink(uint64_t start, uint64_t size, Home home, Link link) {
  if (link == Link::kHccs && home == Home::kDevice && start % (uint64_t{2} << 20) != 0) return kParamInvalid;
  if (link != Link::kFabric) return kSuccess;
  const AclPlace place = placeOf(start, size);
  if (place.device) return kSuccess;
  return place.mapped && start % kGiga == 0 && size % kGiga == 0 ? kSuccess : kParamInvalid;
}

/// A copy that fails where there is no memory, instead of ending the process.
bool guardedCopy(uint64_t start, void* buffer, size_t size, bool toBuffer) {
  const iovec own{buffer, size};
  const iovec there{pointerTo(start), size};
  const ssize_t copied = toBuffer ? ::process_vm_readv(::getpid(), &own, 1, &there, 1, 0)
                                  : ::process_vm_writev(::getpid(), &own, 1, &there, 1, 0);
  return copied == static_cast<ssize_t>(size);
}

}  // namespace

RegisteredMemory::~RegisteredMemory() {
  clear();
}

Status RegisteredMemory::add(uint64_t start, uint64_t size, Home home, Link link, void*& handle) {
  constexpr Status kDriverRefusesFabric = 207000;
  if (start == 0 || size == 0 || start + size < start || home > Home::kHost) return kParamInvalid;
  const std::unique_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.region.start == start && entry.region.size == size) {
      handle = entry.handle;
      return kSuccess;
    }
  }
  if (link == Link::kFabric && !driverIsAtLeast(25, 5)) return kDriverRefusesFabric;
  if (const Status status = checkLink(start, size, home, link)) return status;
  if (const Status status = checkPlace(start, size, home)) return status;
  const uint64_t hostLimit = driverIsAtLeast(25, 5) ? kHostBytes : kHostBytesOfOldDriver;
  const uint64_t limit = home == Home::kHost ? fake_ascend_number("host_bytes", hostLimit)
                                             : fake_ascend_number("device_bytes", kDeviceBytes);
  if (entries_.size() >= fake_ascend_number("regions", kRegions) || size > limit || bytesOf(home) > limit - size)
    return kResourceExhausted;
  handle = pointerTo(++lastHandle_);
  entries_.push_back({{start, size, home, 0}, handle});
  fake_ascend_count("region", 1);
  return kSuccess;
}

void RegisteredMemory::remove(void* handle) {
  const std::unique_lock lock(mutex_);
  const auto gone = std::erase_if(entries_, [handle](const Entry& entry) { return entry.handle == handle; });
  fake_ascend_count("region", -static_cast<int64_t>(gone));
}

void RegisteredMemory::clear() {
  const std::unique_lock lock(mutex_);
  fake_ascend_count("region", -static_cast<int64_t>(entries_.size()));
  entries_.clear();
}

std::vector<Region> RegisteredMemory::regions() const {
  const std::shared_lock lock(mutex_);
  std::vector<Region> all;
  for (const Entry& entry : entries_)
    all.push_back(entry.region);
  return all;
}

std::optional<Home> RegisteredMemory::homeOf(uint64_t start, uint64_t size) const {
  const std::shared_lock lock(mutex_);
  return homeUnderLock(start, size);
}

bool RegisteredMemory::copyOut(uint64_t start, void* buffer, size_t size, bool staged) const {
  const std::shared_lock lock(mutex_);
  const bool known = homeUnderLock(start, size).has_value();
  if (!known || kByKernel) return (known || staged) && guardedCopy(start, buffer, size, true);
  std::memcpy(buffer, pointerTo(start), size);
  return true;
}

bool RegisteredMemory::copyIn(uint64_t start, const void* buffer, size_t size, bool staged) {
  const std::shared_lock lock(mutex_);
  const bool known = homeUnderLock(start, size).has_value();
  if (!known || kByKernel) return (known || staged) && guardedCopy(start, const_cast<void*>(buffer), size, false);
  std::memcpy(pointerTo(start), buffer, size);
  return true;
}

std::optional<Home> RegisteredMemory::homeUnderLock(uint64_t start, uint64_t size) const {
  for (const Entry& entry : entries_)
    if (start >= entry.region.start && size <= entry.region.size &&
        start - entry.region.start <= entry.region.size - size)
      return entry.region.home;
  return std::nullopt;
}

uint64_t RegisteredMemory::bytesOf(Home home) const {
  uint64_t bytes = 0;
  for (const Entry& entry : entries_)
    bytes += entry.region.home == home ? entry.region.size : 0;
  return bytes;
}

}  // namespace fake_ascend
