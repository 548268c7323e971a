// SPDX-License-Identifier: Apache-2.0
// ACL as the fake offers it: own declarations of names, sizes and numbers, with no header of CANN. The transport under
// test has its own; where the two differ, a test of one against the other fails.
#pragma once

#include <cstddef>
#include <cstdint>

#define FAKE_ASCEND_EXPORT __attribute__((visibility("default")))

extern "C" {

using aclError = int;
using aclrtContext = void*;
using aclrtStream = void*;
using aclrtDrvMemHandle = void*;

enum aclrtMemcpyKind : uint32_t {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
};

enum aclrtMemLocationType : uint32_t {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
};

enum aclrtMemAttr : uint32_t {
  ACL_HBM_MEM_NORMAL = 12,
  ACL_HBM_MEM_HUGE = 13,
  ACL_HBM_MEM_HUGE1G = 14,
  ACL_HBM_MEM_P2P_NORMAL = 15,
  ACL_HBM_MEM_P2P_HUGE = 16,
  ACL_HBM_MEM_P2P_HUGE1G = 17,
};

enum aclrtMemSharedHandleType : uint32_t {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2
};

struct aclrtMemLocation {
  uint32_t id;
  aclrtMemLocationType type;
};

struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize;
  uint32_t rsv[4];
};

struct aclrtMemcpyBatchAttr {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
};

struct aclrtMemFabricHandle {
  uint8_t data[128];
};

struct aclrtPhysicalMemProp {
  uint32_t handleType;
  uint32_t allocationType;
  aclrtMemAttr memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
};

struct aclrtMemAccessDesc {
  uint32_t flags;
  aclrtMemLocation location;
  uint8_t rsv[12];
};

FAKE_ASCEND_EXPORT aclError aclInit(const char* configPath);
FAKE_ASCEND_EXPORT aclError aclFinalize();
FAKE_ASCEND_EXPORT const char* aclGetRecentErrMsg();
FAKE_ASCEND_EXPORT const char* aclrtGetSocName();
FAKE_ASCEND_EXPORT aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch);

FAKE_ASCEND_EXPORT aclError aclrtSetDevice(int32_t device);
FAKE_ASCEND_EXPORT aclError aclrtResetDevice(int32_t device);
FAKE_ASCEND_EXPORT aclError aclrtGetDevice(int32_t* device);
FAKE_ASCEND_EXPORT aclError aclrtGetDeviceCount(uint32_t* count);
FAKE_ASCEND_EXPORT aclError aclrtGetLogicDevIdByUserDevId(const int32_t user, int32_t* const logic);
FAKE_ASCEND_EXPORT aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logic, int32_t* const physical);
FAKE_ASCEND_EXPORT aclError aclrtCreateContext(aclrtContext* context, int32_t device);
FAKE_ASCEND_EXPORT aclError aclrtDestroyContext(aclrtContext context);
FAKE_ASCEND_EXPORT aclError aclrtSetCurrentContext(aclrtContext context);
FAKE_ASCEND_EXPORT aclError aclrtGetCurrentContext(aclrtContext* context);

FAKE_ASCEND_EXPORT aclError aclrtGetMemInfo(uint32_t attr, size_t* free, size_t* total);
FAKE_ASCEND_EXPORT aclError aclrtMalloc(void** pointer, size_t size, uint32_t policy);
FAKE_ASCEND_EXPORT aclError aclrtFree(void* pointer);
FAKE_ASCEND_EXPORT aclError aclrtMallocHost(void** pointer, size_t size);
FAKE_ASCEND_EXPORT aclError aclrtFreeHost(void* pointer);
FAKE_ASCEND_EXPORT aclError aclrtHostRegister(void* pointer, uint64_t size, uint32_t type, void** devicePointer);
FAKE_ASCEND_EXPORT aclError aclrtHostUnregister(void* pointer);
FAKE_ASCEND_EXPORT aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes);

FAKE_ASCEND_EXPORT aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                const aclrtPhysicalMemProp* properties, uint64_t flags);
FAKE_ASCEND_EXPORT aclError aclrtFreePhysical(aclrtDrvMemHandle handle);
FAKE_ASCEND_EXPORT aclError aclrtReserveMemAddress(void** pointer, size_t size, size_t alignment, void* hint,
                                                   uint64_t flags);
FAKE_ASCEND_EXPORT aclError aclrtReleaseMemAddress(void* pointer);
FAKE_ASCEND_EXPORT aclError aclrtMapMem(void* pointer, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                        uint64_t flags);
FAKE_ASCEND_EXPORT aclError aclrtUnmapMem(void* pointer);
FAKE_ASCEND_EXPORT aclError aclrtMemSetAccess(void* pointer, size_t size, aclrtMemAccessDesc* access, size_t count);
FAKE_ASCEND_EXPORT aclError aclrtMemRetainAllocationHandle(void* pointer, aclrtDrvMemHandle* handle);
FAKE_ASCEND_EXPORT aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                              aclrtMemSharedHandleType type, void* shareable);
FAKE_ASCEND_EXPORT aclError aclrtMemImportFromShareableHandleV2(void* shareable, aclrtMemSharedHandleType type,
                                                                uint64_t flags, aclrtDrvMemHandle* handle);
FAKE_ASCEND_EXPORT aclError aclrtIpcMemGetExportKey(void* pointer, size_t size, char* key, size_t length,
                                                    uint64_t flags);
FAKE_ASCEND_EXPORT aclError aclrtIpcMemImportByKey(void** pointer, const char* key, uint64_t flags);
FAKE_ASCEND_EXPORT aclError aclrtIpcMemClose(const char* key);
FAKE_ASCEND_EXPORT aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pids, size_t count);

FAKE_ASCEND_EXPORT aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind);
FAKE_ASCEND_EXPORT aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                             aclrtMemcpyKind kind, aclrtStream stream);
FAKE_ASCEND_EXPORT aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxes, void** srcs, size_t* sizes, size_t count,
                                             aclrtMemcpyBatchAttr* attributes, size_t* attributeIndexes,
                                             size_t attributeCount, size_t* failIndex);
FAKE_ASCEND_EXPORT aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxes, void** srcs, size_t* sizes,
                                                  size_t count, aclrtMemcpyBatchAttr* attributes,
                                                  size_t* attributeIndexes, size_t attributeCount, size_t* failIndex,
                                                  aclrtStream stream);

FAKE_ASCEND_EXPORT aclError aclrtCreateStream(aclrtStream* stream);
FAKE_ASCEND_EXPORT aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);
FAKE_ASCEND_EXPORT aclError aclrtDestroyStream(aclrtStream stream);
FAKE_ASCEND_EXPORT aclError aclrtDestroyStreamForce(aclrtStream stream);
FAKE_ASCEND_EXPORT aclError aclrtSynchronizeStream(aclrtStream stream);
FAKE_ASCEND_EXPORT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds);
FAKE_ASCEND_EXPORT aclError aclrtStreamAbort(aclrtStream stream);

}  // extern "C"

namespace fake_ascend::acl {

constexpr aclError kSuccess = 0;
constexpr aclError kInvalidParam = 100000;
constexpr aclError kRepeatInitialize = 100002;
constexpr aclError kRtParamInvalid = 107000;
constexpr aclError kContextNull = 107002;
constexpr aclError kFeatureNotSupported = 207000;
constexpr aclError kMemoryAllocation = 207001;
constexpr aclError kNoDevice = 207004;
constexpr aclError kFailure = 500001;
constexpr aclError kDeviceOpenFailed = 507033;
constexpr aclError kStreamSyncTimeout = 507046;

static_assert(sizeof(aclrtMemLocation) == 8 && sizeof(aclrtPtrAttributes) == 28);
static_assert(sizeof(aclrtMemcpyBatchAttr) == 32 && sizeof(aclrtMemFabricHandle) == 128);
static_assert(sizeof(aclrtPhysicalMemProp) == 32 && sizeof(aclrtMemAccessDesc) == 24);

}  // namespace fake_ascend::acl
