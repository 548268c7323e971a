// SPDX-License-Identifier: Apache-2.0
// The messages between two transfer engines. Writing bounds nothing: callers keep to limits.h. Reading throws as
// everything in wire/sbe.h does, also when a bound of limits.h is passed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/core/neighbor.h"
#include "engine/core/region_table.h"
#include "wire/sbe.h"

namespace kvpool::engine {

/// A range of memory of the peer that answers.
struct RemotePiece {
  uint64_t region = 0;
  uint64_t address = 0;
  uint32_t length = 0;
  friend bool operator==(const RemotePiece&, const RemotePiece&) = default;
};

struct PiecesRequest {
  uint64_t id = 0;
  std::vector<RemotePiece> pieces;  // 1 to kPiecesPerRequest, none empty
  uint64_t bytes = 0;               // of all of them, at most kRequestBytes
};

/// What to copy from the memory of the side that asks, and where to.
struct PullRequest {
  PiecesRequest to;
  std::vector<uint64_t> sources;  // addresses there, one for each piece
};

struct Notification {
  std::string name;     // UTF-8
  std::string message;  // any bytes
  friend bool operator==(const Notification&, const Notification&) = default;
};

struct NotifyRequest {
  uint64_t id = 0;
  Notification notification;
};

struct Regions {
  uint64_t id = 0;
  std::vector<Region> regions;
  std::string ascend;  // HOST:PORT of the peer's engine of CANN; empty: none
};

struct Reply {
  uint64_t id = 0;
  int32_t status = KV_OK;
  uint32_t payloadLength = 0;
  std::string message;
  uint64_t withdrawn = 0;
};

wire::Bytes describeFrame(uint64_t id);
wire::Bytes regionsFrame(uint64_t id, std::span<const Region> regions, const std::string& ascend = "");
wire::Bytes writeFrame(uint64_t id, std::span<const RemotePiece> pieces);
wire::Bytes readFrame(uint64_t id, std::span<const RemotePiece> pieces);
wire::Bytes mayReadFrame(uint64_t id, std::span<const RemotePiece> pieces);
/// `sources`: as many as pieces.
wire::Bytes pullFrame(uint64_t id, std::span<const RemotePiece> pieces, std::span<const kv_piece> sources);
wire::Bytes neighborFrame(const NeighborClaim& claim);
wire::Bytes notifyFrame(uint64_t id, const Notification& notification);
wire::Bytes replyFrame(const Reply& reply);

/// The id of an EngineDescribe.
uint64_t readDescribe(wire::Body body);
Regions readRegions(wire::Body body);
PiecesRequest readWrite(wire::Body body);
PiecesRequest readRead(wire::Body body);
PiecesRequest readMayRead(wire::Body body);
PullRequest readPull(wire::Body body);
NeighborClaim readNeighbor(wire::Body body);
NotifyRequest readNotify(wire::Body body);
Reply readReply(wire::Body body);

}  // namespace kvpool::engine
