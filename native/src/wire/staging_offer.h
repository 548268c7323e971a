// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

/// What moves bytes between the memories of two machines without the help of the one that offers its memory.
enum class RemoteProtocol : uint8_t { Ucx, Ascend };
/// As people write it in lists of protocols: "ucx", "ascend".
inline const char* toString(RemoteProtocol protocol) {
  return protocol == RemoteProtocol::Ucx ? "ucx" : "ascend";
}

/// Memory of a client that a node may read and write.
struct StagingOffer {
  uint64_t bytes = 0;
  uint64_t address = 0;  ///< in the client
  std::string worker;    ///< how to reach it: UCX's bytes, or the IP:PORT of an engine of CANN
  std::string key;       ///< of the memory: UCX's bytes
  RemoteProtocol protocol = RemoteProtocol::Ucx;
  uint64_t registrations = 0;  ///< ascend: grows with each memory that the client registers
};

/// Memory of this process that a peer may read and write.
class OfferedMemory {
 public:
  OfferedMemory() = default;
  virtual ~OfferedMemory() = default;
  OfferedMemory(const OfferedMemory&) = delete;
  OfferedMemory& operator=(const OfferedMemory&) = delete;

  [[nodiscard]] virtual uint8_t* at(uint64_t offset) const = 0;
  /// What the peer has to be told.
  [[nodiscard]] virtual StagingOffer offer() const = 0;
};

}  // namespace kvpool
