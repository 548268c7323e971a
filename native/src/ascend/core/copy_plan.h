// SPDX-License-Identifier: Apache-2.0
// Copies within a machine, by where memory is: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ascend/core/abi.h"

namespace kvpool::ascend {

/// Both places of a copy. Managed and unregistered memory counts as the host's.
struct Copy {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  size_t length = 0;
  Location toAt = Location::Host;
  Location fromAt = Location::Host;
};

/// The most that CANN copies by one call, all in one direction.
inline constexpr size_t kCopiesPerCall = 4096;

/// Copies of one direction: one call of CANN where it can, one for each otherwise.
struct CopyCall {
  CopyKind kind = CopyKind::HostToHost;
  std::vector<uint32_t> copies;  ///< by their place in the list
};

/// The calls for a list of copies; those of no bytes need none. Between host and device at most kCopiesPerCall in a
/// call.
std::vector<CopyCall> planCopies(std::span<const Copy> copies);

/// Copies between memories of a process whose host's part is not ACL's, by `room` that is: one round after the other.
struct CopyRound {
  std::vector<Copy> before;  ///< within the host: into the room, and those that need no device
  std::vector<Copy> device;  ///< of the device, with none of the host's but the room
  std::vector<Copy> after;   ///< within the host: out of the room
};

/// The bytes of those between host and device; no more than UINT64_MAX.
uint64_t bytesByHost(std::span<const Copy> copies);
/// As few rounds as `roomBytes` allow, which are above 0 where bytesByHost() are. Those of no bytes are left out.
std::vector<CopyRound> planRounds(std::span<const Copy> copies, uint8_t* room, uint64_t roomBytes);

}  // namespace kvpool::ascend
