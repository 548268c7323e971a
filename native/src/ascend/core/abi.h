// SPDX-License-Identifier: Apache-2.0
// What CANN's libraries exchange with their callers: layouts and numbers of ACL (the runtime) and of ADXL and HIXL (the
// transport). Declared here so that the library is built without CANN. They hold for CANN 8.3 and later as built with
// GCC's libstdc++; what AscendString holds depends on CANN's build, so only CANN's own functions look into it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kvpool::ascend {

using AclError = int;
inline constexpr AclError kAclOk = 0;
inline constexpr AclError kAclRepeatInitialize = 100002;
inline constexpr AclError kAclContextNull = 107002;
inline constexpr AclError kAclFeatureNotSupported = 207000;
inline constexpr AclError kAclMemoryAllocation = 207001;
inline constexpr AclError kAclNoDevice = 207004;
inline constexpr AclError kAclDeviceOpenFailed = 507033;
inline constexpr AclError kAclStreamSyncTimeout = 507046;

using AclContext = void*;
using AclStream = void*;
using AclPhysicalMemory = void*;

enum class CopyKind : int32_t { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };
enum class Location : int32_t { Host = 0, Device = 1, Unregistered = 2, Managed = 3, HostNuma = 4 };

struct MemoryLocation {
  uint32_t id = 0;
  Location type = Location::Host;
};
struct PointerAttributes {
  MemoryLocation location;
  uint32_t pageSize = 0;
  std::array<uint32_t, 4> reserved{};
};
struct CopyBatchAttributes {
  MemoryLocation destination;
  MemoryLocation source;
  std::array<uint8_t, 16> reserved{};
};
/// Pages that NPUs of other machines may map.
enum class Pages : uint32_t { SharedHuge2M = 16, SharedHuge1G = 17 };
struct PhysicalMemoryProperties {
  uint32_t handleType = 0;      // none
  uint32_t allocationType = 0;  // pinned
  Pages pages = Pages::SharedHuge1G;
  MemoryLocation location;
  uint64_t reserved = 0;
};
struct MemoryAccess {
  uint32_t flags = 3;  // reading and writing
  MemoryLocation location;
  std::array<uint8_t, 12> reserved{};
};
static_assert(sizeof(PhysicalMemoryProperties) == 32 && sizeof(MemoryAccess) == 24);
static_assert(sizeof(MemoryLocation) == 8 && sizeof(PointerAttributes) == 28 && sizeof(CopyBatchAttributes) == 32);

/// What ADXL and HIXL answer.
using TransportStatus = uint32_t;
inline constexpr TransportStatus kTransportOk = 0;
inline constexpr TransportStatus kParamInvalid = 103900;
inline constexpr TransportStatus kTransportTimeout = 103901;
inline constexpr TransportStatus kNotConnected = 103902;
inline constexpr TransportStatus kAlreadyConnected = 103903;
inline constexpr TransportStatus kNotifyFailed = 103904;
inline constexpr TransportStatus kUnsupported = 103905;
inline constexpr TransportStatus kResourceExhausted = 203900;
inline constexpr TransportStatus kTransportFailed = 503900;

enum class MemoryType : int32_t { Device = 0, Host = 1 };
enum class Direction : int32_t { Read = 0, Write = 1 };
enum class Progress : int32_t { Waiting = 0, Completed = 1, Timeout = 2, Failed = 3 };
enum class Feature : int32_t { AutoConnect = 0, ClientServerComm = 1 };

struct MemoryDescription {
  uintptr_t address = 0;
  size_t length = 0;
  std::array<uint8_t, 128> reserved{};
};
struct Piece {
  uintptr_t local = 0;
  uintptr_t remote = 0;
  size_t length = 0;
};
struct TransferArguments {
  std::array<uint8_t, 128> reserved{};
};
static_assert(sizeof(MemoryDescription) == 144 && sizeof(Piece) == 24);

using MemoryHandle = void*;
using TransferRequest = void*;

/// The room of an AdxlEngine or a Hixl, which are one pointer; what later versions add has room as well.
struct alignas(16) EngineRoom {
  std::array<std::byte, 64> bytes{};
};
/// The room of a ge::AscendString: a std::shared_ptr to a string whose layout is CANN's affair.
using TextRoom = std::shared_ptr<void>;
static_assert(sizeof(TextRoom) == 16);

}  // namespace kvpool::ascend
