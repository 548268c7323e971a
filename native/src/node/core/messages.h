// SPDX-License-Identifier: Apache-2.0
// What a node tells masters about itself and what clients ask of it, as plain values. Readers throw as everything in
// wire/sbe.h does. What masters command is in commands.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/grant.h"
#include "base/ids.h"
#include "base/status.h"
#include "store/allocator.h"
#include "wire/sbe.h"
#include "wire/staging_offer.h"

namespace kvpool::node {

struct NodeInfo {
  Authority seen;
  ObjectId purgeId;
  uint64_t objectLeaseMaxMs = 0;
  ObjectId highestObject;
  bool isTransient = false;
  uint64_t capacityBytes = 0;
  uint32_t slots = 0;
  uint64_t tierBytes = 0;  // 0: no SSD tier
  uint32_t tierSlots = 0;
  uint32_t tier = 0;          // its number, also while it does not work
  uint64_t restored = 0;      // objects found when this life began
  uint64_t restoredHash = 0;  // of their ids
  uint64_t dropped = 0;       // damaged records found then
  uint64_t memory = 0;        // number of the segment that the directory is in
  wire::ActiveVersions active;
  std::string tcp;
  std::string shm;
  std::string zone;  // empty: unknown
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
  uint64_t idsHash = 0;
  uint64_t damaged = 0;
  uint64_t scrubRounds = 0;
  wire::ActiveVersions active;
  uint64_t tierUsedBytes = 0;
  uint64_t tierObjects = 0;
  std::string tierProblem;  // empty: it works, or there is none
};
void appendNodeStats(wire::Bytes& out, const NodeStatsMessage& stats);

/// Why a leader is gone; numbers of the schema.
enum class Departure : uint8_t { Crashed = 1, Left = 2, Silent = 3 };
struct LeaderGone {
  Authority authority;
  Departure departure = Departure::Crashed;
  std::string_view address;  // HOST:PORT where this node knew it
  uint32_t silentMs = 0;     // Silent: for how long
  uint64_t beat = 0;         // Silent: of the heartbeat that this answers
};
void appendLeaderGone(wire::Bytes& out, const LeaderGone& gone);
/// The last message of a node whose memory ends with it.
void appendNodeLeaves(wire::Bytes& out);
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
  std::string_view key;      // into the body
  Retention retention = {};  // may be left out
  bool inParts = false;      // room only; they come by PartsWrite
  GrantMac mac = {};         // of the grant
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
void appendReadRequest(wire::Bytes& out, const ReadRequest& request);

/// A ReadRequest whose payload goes to staging memory of the client that the node reaches.
struct StagedRead {
  ReadRequest read;
  uint64_t stagingOffset = 0;
};
StagedRead readStagedRead(wire::Body body);

/// A ReadRequest of parts only.
struct PartsRead {
  ReadRequest read;
  uint32_t payloadCrc = 0;
  std::vector<store::Range> parts;
};
PartsRead readPartsRead(wire::Body body);

/// Of an object for which a WriteRequest made room, or the end of that.
struct PartsWrite {
  enum class Step { Write, Commit, Abort };
  uint64_t requestId = 0;
  ExtentRef extent;
  ObjectId objectId;
  Step step = Step::Write;
  bool staging = false;
  uint64_t stagingOffset = 0;
  uint32_t partsCrc = 0;
  std::vector<store::Range> parts;
};
PartsWrite readPartsWrite(wire::Body body);

struct ReadReply {
  uint64_t requestId = 0;
  int32_t status = 0;
  uint64_t payloadLength = 0;
};
ReadReply readReadReply(wire::Body body);
void appendReadReply(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t payloadLength);

struct ShmAttach {
  uint64_t requestId = 0;
  uint64_t stagingBytes = 0;
};
ShmAttach readShmAttach(wire::Body body);
/// `fileBytes` of the one segment; none is listed unless `status` is KV_OK.
void appendShmAttached(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t fileBytes);

/// An offer by either protocol.
struct StagingAttach {
  uint64_t requestId = 0;
  StagingOffer offer;
};
StagingAttach readUcxAttach(wire::Body body);
StagingAttach readAscendAttach(wire::Body body);
/// `status` OK or why not.
void appendUcxAttached(wire::Bytes& out, uint64_t requestId, const Status& status);

}  // namespace kvpool::node
