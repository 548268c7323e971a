// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/fabric_memory.h"

#include <string>
#include <utility>
#include <vector>

#include "ascend/core/size_ladder.h"
#include "ascend/core/statuses.h"

namespace kvpool::ascend {
namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
/// Addresses for huge pages.
constexpr uint64_t kHugePages = 1;

bool isLackOfMemory(uint32_t error) {
  return error == kAclMemoryAllocation || error == kResourceExhausted;
}

/// The first of the functions for virtual memory that CANN lacks; null when it has all.
const char* lacking(const Acl& acl) {
  if (acl.mallocPhysical == nullptr) return "aclrtMallocPhysical";
  if (acl.freePhysical == nullptr) return "aclrtFreePhysical";
  if (acl.reserveAddresses == nullptr) return "aclrtReserveMemAddress";
  if (acl.releaseAddresses == nullptr) return "aclrtReleaseMemAddress";
  if (acl.mapMemory == nullptr) return "aclrtMapMem";
  if (acl.unmapMemory == nullptr) return "aclrtUnmapMem";
  return nullptr;
}

Status refusal(uint32_t error, uint64_t bytes, const std::string& text) {
  if (isLackOfMemory(error)) {
    return {KV_NO_SPACE, text + ". Reserve more huge pages on the host: raise vm.nr_hugepages (sysctl) by " +
                             std::to_string(bytes / kHugePageBytes) + ", where they have 2 MiB"};
  }
  return {KV_IO, text + ". " + kFabricRemedy};
}

}  // namespace

Result<std::unique_ptr<FabricMemory>> FabricMemory::allocate(const Runtime& runtime, const Wish& wish) {
  if (wish.bytes == 0 || wish.bytes % kPieceBytes != 0) {
    return {KV_INVALID_ARGUMENT,
            std::to_string(wish.bytes) + " bytes are not a multiple of 1 GiB, as fabric memory is"};
  }
  Status first;
  for (const uint64_t bytes : sizeLadder(wish.bytes, wish.least, kPieceBytes)) {
    std::unique_ptr<FabricMemory> memory(new FabricMemory(runtime, bytes, wish.node));
    Status taken = memory->take();
    if (taken.ok()) return memory;
    if (first.ok()) first = taken;
    if (taken.code() != KV_NO_SPACE) return taken;
  }
  return first;
}

Status FabricMemory::take() {
  const bool byEngine = runtime_.adxl.mallocMemory != nullptr && runtime_.adxl.freeMemory != nullptr;
  if (Status taken = byEngine ? takeOfEngine() : takeOfAcl(); !taken.ok()) return taken;
  if (reinterpret_cast<uintptr_t>(first_) % kPieceBytes == 0) return {};
  return {KV_IO, "CANN gave fabric memory that does not begin at a multiple of 1 GiB, which it would not register"};
}

FabricMemory::~FabricMemory() {
  if (first_ != nullptr && physical_ == nullptr) {
    (void)runtime_.adxl.freeMemory(first_);
    return;
  }
  const Acl& acl = runtime_.acl;
  if (mapped_) (void)acl.unmapMemory(first_);
  if (first_ != nullptr) (void)acl.releaseAddresses(first_);
  if (physical_ != nullptr) (void)acl.freePhysical(physical_);
}

Status FabricMemory::takeOfEngine() {
  const TransportStatus status = runtime_.adxl.mallocMemory(MemoryType::Host, bytes_, &first_);
  if (status == kTransportOk && first_ != nullptr) return {};
  first_ = nullptr;
  return refusal(status, bytes_,
                 std::to_string(bytes_) + " bytes of fabric memory, MallocMem of " + runtime_.adxl.name + ": " +
                     toString(status) + runtime_.acl.recentWords());
}

Status FabricMemory::takeOfAcl() {
  const Acl& acl = runtime_.acl;
  if (const char* name = lacking(acl); name != nullptr) {
    return {KV_IO, "CANN has neither MallocMem of " + runtime_.adxl.name + " nor " + name + ": it is too old. " +
                       kFabricRemedy};
  }
  int32_t device = 0;
  if (const AclError error = acl.getDevice(&device); error != kAclOk) return refused("aclrtGetDevice", error);
  if (const AclError error = takePhysical(); error != kAclOk) return refused("aclrtMallocPhysical", error);
  if (const AclError error = acl.reserveAddresses(&first_, bytes_, 0, nullptr, kHugePages); error != kAclOk) {
    first_ = nullptr;
    return refused("aclrtReserveMemAddress", error);
  }
  if (const AclError error = acl.mapMemory(first_, bytes_, 0, physical_, 0); error != kAclOk)
    return refused("aclrtMapMem", error);
  mapped_ = true;
  if (acl.setAccess == nullptr) return {};
  MemoryAccess access;
  access.location = {acl.numberInMemory(device).value_or(static_cast<uint32_t>(device)), Location::Device};
  const AclError error = acl.setAccess(first_, bytes_, &access, 1);
  // Drivers that do not know it need none.
  return error == kAclOk || error == kAclFeatureNotSupported ? Status() : refused("aclrtMemSetAccess", error);
}

AclError FabricMemory::takePhysical() {
  constexpr MemoryLocation kAnywhere{0, Location::Host};
  std::vector<std::pair<MemoryLocation, Pages>> ways{{kAnywhere, Pages::SharedHuge1G},
                                                     {kAnywhere, Pages::SharedHuge2M}};
  if (node_) ways.insert(ways.begin(), {MemoryLocation{*node_, Location::HostNuma}, Pages::SharedHuge1G});
  PhysicalMemoryProperties properties;
  AclError told = kAclOk;
  for (const auto& [location, pages] : ways) {
    properties.location = location;
    properties.pages = pages;
    const AclError error = runtime_.acl.mallocPhysical(&physical_, bytes_, &properties, 0);
    if (error == kAclOk) return error;
    // A driver that refuses one of these ways has the others: it is pages that lack.
    if (!isLackOfMemory(static_cast<uint32_t>(told))) told = error;
  }
  physical_ = nullptr;
  return told;
}

Status FabricMemory::refused(const std::string& what, AclError error) const {
  return refusal(static_cast<uint32_t>(error), bytes_,
                 runtime_.acl.problem(std::to_string(bytes_) + " bytes of fabric memory, " + what, error));
}

}  // namespace kvpool::ascend
