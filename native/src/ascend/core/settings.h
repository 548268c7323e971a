// SPDX-License-Identifier: Apache-2.0
// What the Ascend transport is told by its environment, with the names and the defaults that the reference's users
// know, and two of our own. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"

namespace kvpool::ascend {

/// The value of a variable of the environment; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// On which NUMA node memory of the host is to lie that is made for a device.
struct HostNuma {
  enum class Kind : uint8_t { OfDevice, Node, Any };
  Kind kind = Kind::OfDevice;
  uint32_t node = 0;

  /// For the device with that physical number. Nothing: wherever this process has its memory.
  [[nodiscard]] std::optional<uint32_t> nodeFor(int32_t physicalDevice) const;
};

struct Settings {
  int32_t connectTimeoutMs = 10000;   ///< ASCEND_CONNECT_TIMEOUT
  int32_t transferTimeoutMs = 10000;  ///< ASCEND_TRANSFER_TIMEOUT
  bool async = false;                 ///< ASCEND_USE_ASYNC_TRANSFER, whatever its value
  bool shortConnections = false;      ///< ASCEND_USE_SHORT_CONNECTION: each channel ends with its transfers
  std::optional<bool> autoConnect;    ///< ASCEND_AUTO_CONNECT; not set: where CANN can
  std::string bufferPool = "0:0";     ///< ASCEND_BUFFER_POOL, COUNT:MIB of buffers for small pieces
  uint32_t threads = 8;               ///< ASCEND_THREAD_POOL_SIZE, 1 to 16
  uint16_t basePort =
      20000;          ///< ASCEND_BASE_PORT: each device has the hundred ports at this + 100 times its physical number
  bool roce = false;  ///< HCCL_INTRA_ROCE_ENABLE=1
  /// HCCL_RDMA_TIMEOUT, HCCL_RDMA_RETRY_CNT: for how long the card repeats what is not answered, 4.096 us * 2^TIMEOUT
  /// for each try.
  int32_t cardRepeatsMs = 30064;
  uint32_t trafficClass = 132;  ///< ASCEND_RDMA_TC, else HCCL_RDMA_TC: 0 to 252 by four
  uint32_t serviceLevel = 4;    ///< ASCEND_RDMA_SL, else HCCL_RDMA_SL: 0 to 7
  std::string localCommRes;     ///< ASCEND_LOCAL_COMM_RES, JSON; empty: CANN's own, or version 1.3 where CANN can
  std::string globalResources;  ///< ASCEND_GLOBAL_RESOURCE_CONFIG, JSON
  bool fabric = false;          ///< ASCEND_ENABLE_USE_FABRIC_MEM=1
  HostNuma hostNuma;            ///< ASCEND_HOST_NUMA, of ours: device, any, or the number of a NUMA node
  uint32_t stagingMib = 256;    ///< ASCEND_STAGING_MIB, of ours: of a storage node's staging memory, 128 to 65536

  /// KV_INVALID_ARGUMENT names the variable, what it says and what it may say; so does a combination that CANN refuses.
  static Result<Settings> of(const Environment& environment);
  /// Whether no variable chooses a link: chips before A5 then have HCCS.
  [[nodiscard]] bool reachesDevicesOnly() const {
    return !roce && !fabric && localCommRes.empty() && globalResources.empty();
  }
  [[nodiscard]] bool hasBufferPool() const { return bufferPool != "0:0"; }
};

/// What CANN is capable of, by its own word.
struct Capabilities {
  bool autoConnect = false;
  bool clientServerComm = false;
};

/// For how many channels CANN has room, by its way to communicate: 512 with one of HCCL for each pair of engines, 128
/// where LocalCommRes or protocol_desc chooses the newer one. max_active_channels of ASCEND_GLOBAL_RESOURCE_CONFIG is
/// as many as the newer one has, whatever the number, and bounds those of HCCL.
size_t channelsMax(const Settings& settings, const Capabilities& capabilities);

/// Whether CANN makes and ends channels by itself. KV_INVALID_ARGUMENT when that is wanted and CANN cannot.
Result<bool> connectsByItself(const Settings& settings, const Capabilities& capabilities);

/// The options an engine is initialized with. `prefix` stands before those that belong to the transport: "adxl." or
/// nothing.
std::map<std::string, std::string> optionsOf(const Settings& settings, const Capabilities& capabilities,
                                             const std::string& prefix);

/// Ports of a device.
struct PortSlot {
  uint16_t first = 0;
  uint16_t last = 0;
};
/// The hundred ports of a device by its physical number. KV_INVALID_ARGUMENT when they are beyond 65535.
Result<PortSlot> portSlot(uint16_t basePort, int32_t physicalDevice);
/// The port an engine asks for first: always the same for the same `owner`, such as the name of its storage node, so
/// that peers which knew it find it again after a restart. Others of the slot follow in order, and from its beginning.
uint16_t preferredPort(const PortSlot& slot, const std::string& owner);

}  // namespace kvpool::ascend
