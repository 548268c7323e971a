// SPDX-License-Identifier: Apache-2.0
// adxl::AdxlEngine, or hixl::Hixl of the same shape, as the fake offers it: own declarations whose mangled names are
// those of the real libraries. Macros choose what a library has:
//   FAKE_ASCEND_HIXL             namespace and class of the newer library
//   FAKE_ASCEND_WITHOUT_OPTIONAL none of the methods that older libraries lack
//   FAKE_ASCEND_OLD_CONSTRUCTOR  the constructor takes the name, and Initialize only options (CANN 8.2)
//   FAKE_ASCEND_WITHOUT_TRANSFER lacks TransferSync, which no real library does
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl_api.h"
#include "ascend_string.h"

#ifdef FAKE_ASCEND_HIXL
#define FAKE_ASCEND_NAMESPACE hixl
#define FAKE_ASCEND_ENGINE Hixl
#else
#define FAKE_ASCEND_NAMESPACE adxl
#define FAKE_ASCEND_ENGINE AdxlEngine
#endif

namespace fake_ascend {
class EngineHandle;
}

namespace FAKE_ASCEND_NAMESPACE {

using AscendString = ge::AscendString;
using Status = uint32_t;
using MemHandle = void*;
using TransferReq = void*;

enum MemType : uint32_t { MEM_DEVICE = 0, MEM_HOST = 1 };
enum TransferOp : uint32_t { READ = 0, WRITE = 1 };
enum class TransferStatus : uint32_t { WAITING = 0, COMPLETED = 1, TIMEOUT = 2, FAILED = 3 };
enum class FeatureType : int32_t { AUTO_CONNECT = 0, CLIENT_SERVER_COMM = 1 };

struct MemDesc {
  uintptr_t addr;
  size_t len;
  uint8_t reserved[128];
};

struct TransferOpDesc {
  uintptr_t local_addr;
  uintptr_t remote_addr;
  size_t len;
};

struct TransferArgs {
  uint8_t reserved[128];
};

static_assert(sizeof(MemDesc) == 144 && sizeof(TransferOpDesc) == 24 && sizeof(TransferArgs) == 128);

class FAKE_ASCEND_EXPORT FAKE_ASCEND_ENGINE {
 public:
#ifdef FAKE_ASCEND_OLD_CONSTRUCTOR
  explicit FAKE_ASCEND_ENGINE(const AscendString& localEngine);
  Status Initialize(const std::map<AscendString, AscendString>& options);
#else
  FAKE_ASCEND_ENGINE();
  Status Initialize(const AscendString& localEngine, const std::map<AscendString, AscendString>& options);
#endif
  ~FAKE_ASCEND_ENGINE();
  void Finalize();

  Status RegisterMem(const MemDesc& memory, MemType type, MemHandle& handle);
  Status DeregisterMem(MemHandle handle);
  Status Connect(const AscendString& remote, int32_t milliseconds = 1000);
  Status Disconnect(const AscendString& remote, int32_t milliseconds = 1000);
#ifndef FAKE_ASCEND_WITHOUT_TRANSFER
  Status TransferSync(const AscendString& remote, TransferOp operation, const std::vector<TransferOpDesc>& pieces,
                      int32_t milliseconds = 1000);
#endif
#ifndef FAKE_ASCEND_WITHOUT_OPTIONAL
  Status TransferAsync(const AscendString& remote, TransferOp operation, const std::vector<TransferOpDesc>& pieces,
                       const TransferArgs& arguments, TransferReq& request);
  Status GetTransferStatus(const TransferReq& request, TransferStatus& status);
  static Status MallocMem(MemType type, size_t size, void** pointer);
  static Status FreeMem(void* pointer);
  static Status ExportToShareableHandle(void* pointer, aclrtMemFabricHandle& handle);
  static Status GetCapability(FeatureType feature, int32_t& value);
#endif

 private:
  std::unique_ptr<fake_ascend::EngineHandle> handle_;
#ifdef FAKE_ASCEND_OLD_CONSTRUCTOR
  std::string name_;
#endif
};

#ifndef FAKE_ASCEND_OLD_CONSTRUCTOR
static_assert(sizeof(FAKE_ASCEND_ENGINE) == 8);
#endif

}  // namespace FAKE_ASCEND_NAMESPACE
