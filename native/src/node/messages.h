// SPDX-License-Identifier: Apache-2.0
// The messages of a node as plain values. Readers throw as everything in wire/sbe.h does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "wire/sbe.h"

namespace kvpool::node {

struct NodeInfo {
  Authority seen;
  ObjectId purgeId;
  uint64_t objectLeaseMaxMs = 0;
  ObjectId highestObject;
  bool isTransient = false;
  uint64_t capacityBytes = 0;
  uint32_t slots = 0;
  std::string tcp;
  std::string shm;
  std::string zone;
};
void appendNodeInfo(wire::Bytes& out, const NodeInfo& info);

void appendSnapshotBegin(wire::Bytes& out, uint64_t sequence);
void appendSnapshotEnd(wire::Bytes& out, uint64_t count, uint64_t sequence);

struct NodeStatsMessage {
  uint64_t sequence = 0;
  uint64_t usedBytes = 0;
  uint64_t largestFreeBytes = 0;
  uint32_t slotsUsed = 0;
  uint64_t objects = 0;
  uint64_t drainingBytes = 0;
};
void appendNodeStats(wire::Bytes& out, const NodeStatsMessage& stats);

struct Fence {
  uint64_t requestId = 0;
  Authority authority;
  uint64_t objectLeaseMs = 0;
};
Fence readFence(wire::Body body);

struct FenceAck {
  uint64_t requestId = 0;
  bool accepted = false;
  Authority seen;
  uint64_t incarnation = 0;
  uint64_t sequence = 0;
};
void appendFenceAck(wire::Bytes& out, const FenceAck& ack);

struct FreeRequest {
  struct Entry {
    ExtentRef extent;
    ObjectId objectId;
  };
  uint64_t requestId = 0;
  Authority authority;
  std::vector<Entry> entries;
};
FreeRequest readFree(wire::Body body);
void appendCommandAck(wire::Bytes& out, uint64_t requestId, bool accepted, const Authority& seen, int32_t status);

/// Why a leader is gone; numbers of the schema.
enum class Departure : uint8_t { Crashed = 1, Left = 2 };
struct LeaderGone {
  Authority authority;
  Departure departure = Departure::Crashed;
  std::string_view address;  // HOST:PORT where this node knew it
};
void appendLeaderGone(wire::Bytes& out, const LeaderGone& gone);
/// The authority that was given back.
Authority readLeaderLeaves(wire::Body body);

struct WriteRequest {
  uint64_t requestId = 0;
  Authority authority;
  ObjectId objectId;
  uint64_t payloadLength = 0;
  bool staging = false;
  uint64_t stagingOffset = 0;
  uint32_t payloadCrc = 0;
  std::string_view key;  // into the body
};
WriteRequest readWriteRequest(wire::Body body);

struct WriteReply {
  uint64_t requestId = 0;
  int32_t status = 0;
  ExtentRef extent;
  Authority seen;
};
void appendWriteReply(wire::Bytes& out, const WriteReply& reply);

struct ReadRequest {
  uint64_t requestId = 0;
  ExtentRef extent;
  ObjectId objectId;
  uint64_t payloadLength = 0;
};
ReadRequest readReadRequest(wire::Body body);
void appendReadReply(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t payloadLength);

struct ShmAttach {
  uint64_t requestId = 0;
  uint64_t stagingBytes = 0;
};
ShmAttach readShmAttach(wire::Body body);
/// `fileBytes` of the one segment; none is listed unless `status` is KV_OK.
void appendShmAttached(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t fileBytes);

}  // namespace kvpool::node
