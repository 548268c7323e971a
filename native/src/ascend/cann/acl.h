// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ascend/core/abi.h"
#include "base/symbols.h"

namespace kvpool::ascend {

/// Functions of ACL, by the names they have there. Those from driverDevice on may be null.
struct Acl {
  AclError (*init)(const char* configuration) = nullptr;
  AclError (*setDevice)(int32_t device) = nullptr;
  AclError (*resetDevice)(int32_t device) = nullptr;  ///< takes back one setDevice
  AclError (*getDevice)(int32_t* device) = nullptr;
  AclError (*getDeviceCount)(uint32_t* count) = nullptr;
  AclError (*createContext)(AclContext* context, int32_t device) = nullptr;
  AclError (*destroyContext)(AclContext context) = nullptr;
  AclError (*setCurrentContext)(AclContext context) = nullptr;
  AclError (*getCurrentContext)(AclContext* context) = nullptr;
  AclError (*physicalDevice)(int32_t device, int32_t* physical) = nullptr;
  AclError (*mallocHost)(void** memory, size_t bytes) = nullptr;
  AclError (*freeHost)(void* memory) = nullptr;
  AclError (*pointerAttributes)(const void* memory, PointerAttributes* attributes) = nullptr;
  AclError (*memcpy)(void* to, size_t room, const void* from, size_t bytes, CopyKind kind) = nullptr;
  AclError (*memcpyAsync)(void* to, size_t room, const void* from, size_t bytes, CopyKind kind,
                          AclStream stream) = nullptr;
  AclError (*createStream)(AclStream* stream, uint32_t priority, uint32_t flags) = nullptr;
  AclError (*destroyStream)(AclStream stream) = nullptr;  ///< waits for what the stream has to do
  AclError (*synchronizeStream)(AclStream stream, int32_t timeoutMs) = nullptr;
  AclError (*abortStream)(AclStream stream) = nullptr;
  const char* (*recentError)() = nullptr;
  const char* (*socName)() = nullptr;

  AclError (*driverDevice)(int32_t device, int32_t* ofDriver) = nullptr;
  AclError (*memcpyBatch)(void** to, size_t* room, void** from, size_t* bytes, size_t count,
                          CopyBatchAttributes* attributes, size_t* firsts, size_t attributeCount,
                          size_t* failed) = nullptr;
  AclError (*memcpyBatchAsync)(void** to, size_t* room, void** from, size_t* bytes, size_t count,
                               CopyBatchAttributes* attributes, size_t* firsts, size_t attributeCount, size_t* failed,
                               AclStream stream) = nullptr;
  AclError (*destroyStreamForce)(AclStream stream) = nullptr;  ///< waits for nothing
  AclError (*hostRegister)(void* memory, uint64_t bytes, int32_t type, void** device) = nullptr;
  AclError (*hostUnregister)(void* memory) = nullptr;
  AclError (*mallocPhysical)(AclPhysicalMemory* memory, size_t bytes, const PhysicalMemoryProperties* properties,
                             uint64_t flags) = nullptr;
  AclError (*freePhysical)(AclPhysicalMemory memory) = nullptr;
  AclError (*reserveAddresses)(void** first, size_t bytes, size_t alignment, void* wanted, uint64_t flags) = nullptr;
  AclError (*releaseAddresses)(void* first) = nullptr;
  AclError (*mapMemory)(void* first, size_t bytes, size_t offset, AclPhysicalMemory memory, uint64_t flags) = nullptr;
  AclError (*unmapMemory)(void* first) = nullptr;
  AclError (*setAccess)(void* first, size_t bytes, MemoryAccess* access, size_t count) = nullptr;

  static Acl of(Symbols& library);
  /// Of this thread; null when it has none.
  [[nodiscard]] AclContext currentContext() const;
  /// The number by which descriptions of memory name a device: the driver's, which does not follow
  /// ASCEND_RT_VISIBLE_DEVICES. Nothing where CANN does not tell it.
  [[nodiscard]] std::optional<uint32_t> numberInMemory(int32_t device) const;
  /// The device of that number; nothing where none of this process's is known to have it.
  [[nodiscard]] std::optional<int32_t> deviceOf(uint32_t numberInMemory) const;
  /// The number of the machine; the same where CANN does not tell it.
  [[nodiscard]] int32_t physicalOf(int32_t device) const;
  /// "WHAT: ACL's number and words".
  [[nodiscard]] std::string problem(const std::string& what, AclError error) const;
  /// What CANN says of the latest failure in this thread, behind ", "; empty when it says nothing.
  [[nodiscard]] std::string recentWords() const;
};

/// The context of a device, current in this thread while this lives; afterwards the one that was before.
class ContextScope {
 public:
  ContextScope(const Acl& acl, AclContext context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Acl& acl_;
  const AclContext before_;
};

}  // namespace kvpool::ascend
