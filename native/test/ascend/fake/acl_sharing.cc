// SPDX-License-Identifier: Apache-2.0
// Memory of one process in another: handles of physical memory, and keys of device memory. Both reach processes of the
// same machine.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "acl_call.h"
#include "acl_virtual_memory.h"
#include "ledger.h"

namespace fake_ascend {
namespace {

constexpr size_t kKeyBytes = 65;

/// Device memory of other processes that is mapped here, and which processes may map what is here. The latter is known
/// to this process only: the fake does not enforce it in others.
class Imports {
 public:
  static Imports& instance() {
    static Imports& imports = *new Imports;
    return imports;
  }

  void add(const std::string& key, void* pointer) {
    const std::lock_guard lock(mutex_);
    pointers_.emplace(key, pointer);
  }

  void* take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = pointers_.find(key);
    if (found == pointers_.end()) return nullptr;
    void* pointer = found->second;
    pointers_.erase(found);
    return pointer;
  }

  void exported(const std::string& key) {
    const std::lock_guard lock(mutex_);
    exported_.insert(key);
  }

  bool isExported(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return exported_.count(key) != 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::string, void*> pointers_;
  std::set<std::string> exported_;
};

}  // namespace
}  // namespace fake_ascend

using fake_ascend::Backing;
using fake_ascend::callInContext;
using fake_ascend::Imports;
using fake_ascend::kKeyBytes;
using fake_ascend::Ledger;
using fake_ascend::Origin;
using fake_ascend::Range;
using fake_ascend::refuse;
using fake_ascend::Registry;
using fake_ascend::VirtualMemory;
namespace acl = fake_ascend::acl;

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t, aclrtMemSharedHandleType type,
                                           void* shareable) {
  return callInContext("aclrtMemExportToShareableHandleV2", std::to_string(type), [&]() -> aclError {
    if (shareable == nullptr) return refuse(acl::kInvalidParam, "null");
    if (type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
      return refuse(acl::kFeatureNotSupported, "the fake shares by fabric handles only");
    const auto physical = VirtualMemory::instance().find(handle);
    if (physical == nullptr) return refuse(acl::kRtParamInvalid, "not physical memory");
    auto* out = static_cast<aclrtMemFabricHandle*>(shareable);
    *out = {};
    const std::string name = physical->backing->name();
    std::memcpy(out->data, name.data(), std::min(name.size(), sizeof out->data - 1));
    return acl::kSuccess;
  });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareable, aclrtMemSharedHandleType type, uint64_t,
                                             aclrtDrvMemHandle* handle) {
  return callInContext("aclrtMemImportFromShareableHandleV2", std::to_string(type), [&]() -> aclError {
    if (shareable == nullptr || handle == nullptr) return refuse(acl::kInvalidParam, "null");
    if (type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
      return refuse(acl::kFeatureNotSupported, "the fake shares by fabric handles only");
    const auto* in = static_cast<const aclrtMemFabricHandle*>(shareable);
    const auto* text = reinterpret_cast<const char*>(in->data);
    auto backing = Backing::open(std::string(text, ::strnlen(text, sizeof in->data)));
    if (backing == nullptr)
      return refuse(acl::kRtParamInvalid, "the memory behind this handle is gone, or on another machine");
    *handle = VirtualMemory::instance().import(std::move(backing));
    return acl::kSuccess;
  });
}

aclError aclrtIpcMemGetExportKey(void* pointer, size_t size, char* key, size_t length, uint64_t) {
  return callInContext("aclrtIpcMemGetExportKey", std::to_string(size), [&]() -> aclError {
    if (pointer == nullptr || key == nullptr || length < kKeyBytes)
      return refuse(acl::kInvalidParam, "null, or a key needs 65 bytes");
    const auto range = Registry::instance().find(pointer);
    if (!range || range->origin != Origin::kDevice || size > range->size)
      return refuse(acl::kRtParamInvalid, "not device memory");
    const std::string name = range->backing->name();
    std::memcpy(key, name.c_str(), name.size() + 1);
    Imports::instance().exported(name);
    return acl::kSuccess;
  });
}

aclError aclrtIpcMemImportByKey(void** pointer, const char* key, uint64_t) {
  return callInContext("aclrtIpcMemImportByKey", key == nullptr ? "" : key, [&]() -> aclError {
    if (pointer == nullptr || key == nullptr) return refuse(acl::kInvalidParam, "null");
    const auto backing = Backing::open(key);
    if (backing == nullptr)
      return refuse(acl::kRtParamInvalid, "the memory behind this key is gone, or on another machine");
    void* start = fake_ascend::reserveAddresses(backing->size(), fake_ascend::k2Mega);
    if (start == nullptr || !backing->mapAt(start))
      return refuse(acl::kMemoryAllocation, "the machine does not map it");
    const auto device = static_cast<uint32_t>(*fake_ascend::currentDevice());
    Registry::instance().add(
        start,
        Range{
            backing->size(), {device, ACL_MEM_LOCATION_TYPE_DEVICE}, Origin::kImported, fake_ascend::k2Mega, backing});
    Imports::instance().add(key, start);
    Ledger::instance().count("import", 1);
    *pointer = start;
    return acl::kSuccess;
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return callInContext("aclrtIpcMemClose", key == nullptr ? "" : key, [&]() -> aclError {
    if (key == nullptr) return refuse(acl::kInvalidParam, "null");
    void* start = Imports::instance().take(key);
    if (start == nullptr)
      return Imports::instance().isExported(key) ? acl::kSuccess : refuse(acl::kRtParamInvalid, "not imported");
    const auto range = Registry::instance().remove(start, Origin::kImported);
    fake_ascend::releaseAddresses(start, range->size);
    Ledger::instance().count("import", -1);
    return acl::kSuccess;
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pids, size_t count) {
  return callInContext("aclrtIpcMemSetImportPid", key == nullptr ? "" : key, [&]() -> aclError {
    if (key == nullptr || pids == nullptr || count == 0) return refuse(acl::kInvalidParam, "null, or no process");
    return Imports::instance().isExported(key) ? acl::kSuccess : refuse(acl::kRtParamInvalid, "not exported");
  });
}
