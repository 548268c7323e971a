// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/host_port.h"
#include "base/ids.h"
#include "base/staging_budget.h"
#include "base/status.h"
#include "kvpool/kvpool.h"
#include "secure/security.h"
#include "store/numa.h"
#include "wire/staging_offer.h"

namespace kvpool::node {

inline constexpr size_t kMastersMax = 16;

/// kv_node_params, checked and complete.
struct NodeSettings {
  PoolId poolId;
  std::string nodeId;
  std::vector<HostPort> masters;
  std::string listenHost = "::";
  std::string advertiseHost;
  std::string dataDir;    // empty: transient
  std::string socketDir;  // empty: the socket is in dataDir
  uint64_t segmentBytes = 0;
  uint16_t listenPort = 0;
  bool tcp = true;
  bool shm = false;
  std::optional<RemoteProtocol> remote = {};
  bool remoteRequired = false;  // the node does not start without it
  bool trustedFabric = false;   // it is used also where TLS is required, which it has not
  uint64_t connectTimeoutMs = 3000;
  uint64_t transferTimeoutMs = 30000;
  uint64_t idleTimeoutMs = 300000;
  std::string product = KVPOOL_PRODUCT_VERSION;
  std::string zone;
  uint64_t scrubBytesPerSecond = uint64_t{64} << 20;
  std::string memoryPath;  // empty: memory of its own; for a transient node
  uint64_t memoryOffset = 0;
  store::NumaPlacement numa;
  bool prefault = true;
  bool lockMemory = false;
  std::string ssdPath;  // empty: no SSD tier
  uint64_t ssdBytes = 0;
  std::string ssdKeyFile;  // empty: the tier is not encrypted
  uint64_t stagingBytes = kSharedStagingBytes;
  secure::Settings tls;
  [[nodiscard]] bool isTransient() const { return dataDir.empty(); }
};

/// Checks everything; all problems at once in the sentence of a KV_INVALID_ARGUMENT. `randomId` names a transient node
/// that has no name.
Result<NodeSettings> checkSettings(const kv_node_params& params, uint64_t randomId);

}  // namespace kvpool::node
