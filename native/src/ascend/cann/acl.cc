// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/acl.h"

#include <cstdlib>
#include <utility>

namespace kvpool::ascend {

Acl Acl::of(Symbols& library) {
  Acl acl;
  library.take(acl.init, "aclInit");
  library.take(acl.setDevice, "aclrtSetDevice");
  library.take(acl.resetDevice, "aclrtResetDevice");
  library.take(acl.getDevice, "aclrtGetDevice");
  library.take(acl.getDeviceCount, "aclrtGetDeviceCount");
  library.take(acl.createContext, "aclrtCreateContext");
  library.take(acl.destroyContext, "aclrtDestroyContext");
  library.take(acl.setCurrentContext, "aclrtSetCurrentContext");
  library.take(acl.getCurrentContext, "aclrtGetCurrentContext");
  library.take(acl.physicalDevice, "aclrtGetPhyDevIdByLogicDevId");
  library.take(acl.mallocHost, "aclrtMallocHost");
  library.take(acl.freeHost, "aclrtFreeHost");
  library.take(acl.pointerAttributes, "aclrtPointerGetAttributes");
  library.take(acl.memcpy, "aclrtMemcpy");
  library.take(acl.memcpyAsync, "aclrtMemcpyAsync");
  library.take(acl.createStream, "aclrtCreateStreamWithConfig");
  library.take(acl.destroyStream, "aclrtDestroyStream");
  library.take(acl.synchronizeStream, "aclrtSynchronizeStreamWithTimeout");
  library.take(acl.abortStream, "aclrtStreamAbort");
  library.take(acl.recentError, "aclGetRecentErrMsg");
  library.take(acl.socName, "aclrtGetSocName");
  library.takeIfThere(acl.driverDevice, "aclrtGetLogicDevIdByUserDevId");
  library.takeIfThere(acl.memcpyBatch, "aclrtMemcpyBatch");
  library.takeIfThere(acl.memcpyBatchAsync, "aclrtMemcpyBatchAsync");
  library.takeIfThere(acl.destroyStreamForce, "aclrtDestroyStreamForce");
  library.takeIfThere(acl.hostRegister, "aclrtHostRegister");
  library.takeIfThere(acl.hostUnregister, "aclrtHostUnregister");
  library.takeIfThere(acl.mallocPhysical, "aclrtMallocPhysical");
  library.takeIfThere(acl.freePhysical, "aclrtFreePhysical");
  library.takeIfThere(acl.reserveAddresses, "aclrtReserveMemAddress");
  library.takeIfThere(acl.releaseAddresses, "aclrtReleaseMemAddress");
  library.takeIfThere(acl.mapMemory, "aclrtMapMem");
  library.takeIfThere(acl.unmapMemory, "aclrtUnmapMem");
  library.takeIfThere(acl.setAccess, "aclrtMemSetAccess");
  return acl;
}

AclContext Acl::currentContext() const {
  AclContext current = nullptr;
  if (getCurrentContext(&current) == kAclOk) return current;
  (void)recentError();  // it is none, and would be told with a later one
  return nullptr;
}

std::optional<uint32_t> Acl::numberInMemory(int32_t device) const {
  if (driverDevice == nullptr) {
    const bool areSame = std::getenv("ASCEND_RT_VISIBLE_DEVICES") == nullptr;
    return areSame ? std::optional(static_cast<uint32_t>(device)) : std::nullopt;
  }
  int32_t number = 0;
  if (driverDevice(device, &number) == kAclOk) return static_cast<uint32_t>(number);
  (void)recentError();
  return std::nullopt;
}

std::optional<int32_t> Acl::deviceOf(uint32_t number) const {
  uint32_t count = 0;
  if (getDeviceCount(&count) != kAclOk) (void)recentError();
  for (int32_t device = 0; std::cmp_less(device, count); ++device) {
    if (numberInMemory(device) == number) return device;
  }
  return std::nullopt;
}

int32_t Acl::physicalOf(int32_t device) const {
  int32_t physical = device;
  if (physicalDevice(device, &physical) == kAclOk) return physical;
  (void)recentError();
  return device;
}

std::string Acl::problem(const std::string& what, AclError error) const {
  return what + ": ACL error " + std::to_string(error) + recentWords();
}

std::string Acl::recentWords() const {
  const char* words = recentError();
  return words == nullptr || *words == '\0' ? "" : ", " + std::string(words);
}

ContextScope::ContextScope(const Acl& acl, AclContext context) : acl_(acl), before_(acl.currentContext()) {
  if (before_ != context) (void)acl_.setCurrentContext(context);
}

ContextScope::~ContextScope() {
  if (before_ != nullptr) (void)acl_.setCurrentContext(before_);
}

}  // namespace kvpool::ascend
