// SPDX-License-Identifier: Apache-2.0
// What masters command a node and what it answers, as plain values. Readers throw as everything in wire/sbe.h does.
// Texts and keys are views into the body.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/grant.h"
#include "base/ids.h"
#include "store/directory.h"
#include "wire/sbe.h"

namespace kvpool::node {

struct Fence {
  uint64_t requestId = 0;
  Authority authority;
  uint64_t objectLeaseMs = 0;
  ObjectId purgeId;
  GrantSecret grantSecret = {};
};
Fence readFence(wire::Body body);

struct FenceAck {
  uint64_t requestId = 0;
  bool accepted = false;
  Authority seen;
  uint64_t incarnation = 0;
  uint64_t sequence = 0;
  uint64_t objectLeaseMaxMs = 0;
  ObjectId purgeId;
};
void appendFenceAck(wire::Bytes& out, const FenceAck& ack);

struct FreeRequest {
  using Entry = store::Occupant;
  uint64_t requestId = 0;
  Authority authority;
  std::vector<Entry> entries;
};
FreeRequest readFree(wire::Body body);

struct Purge {
  uint64_t requestId = 0;
  Authority authority;
  ObjectId purgeId;
};
Purge readPurge(wire::Body body);

/// Tombstones of one message.
inline constexpr size_t kTombstonesMax = 256;

struct KeepTombstones {
  uint64_t requestId = 0;
  Authority authority;
  std::vector<store::Tombstone> tombstones;
};
KeepTombstones readKeepTombstones(wire::Body body);

struct Copy {
  uint64_t requestId = 0;
  Authority authority;
  ObjectId objectId;
  uint64_t payloadLength = 0;
  uint32_t payloadCrc = 0;
  Retention retention;
  uint64_t sourceIncarnation = 0;
  ExtentRef sourceExtent;
  bool toTier = false;  // of this node, from its own memory
  std::string_view key;
  std::string_view sourceTcp;  // HOST:PORT
  std::string_view sourceNode;
  bool sourceIsTransient = false;
};
Copy readCopy(wire::Body body);

struct Activate {
  uint64_t requestId = 0;
  Authority authority;
  wire::ActiveVersions versions;
};
Activate readActivate(wire::Body body);

struct CommandAck {
  uint64_t requestId = 0;
  bool accepted = false;  // false: stale authority, nothing was done
  Authority seen;
  int32_t status = 0;  // KV_OK, or why it was not done
};
void appendCommandAck(wire::Bytes& out, const CommandAck& ack);

}  // namespace kvpool::node
