// SPDX-License-Identifier: Apache-2.0
// What the engine's core wants done. The shell does it in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/pieces.h"
#include "engine/core/neighbor.h"
#include "kvpool/kvpool.h"
#include "wire/sbe.h"

namespace kvpool::engine {

using ConnectionId = uint64_t;
using PayloadId = uint64_t;
using BatchId = uint64_t;
using Time = int64_t;  // milliseconds of a clock that only goes forward

/// A range here and the one of the peer.
struct MovedPiece {
  uint8_t* local = nullptr;
  uint64_t remote = 0;
  uint64_t length = 0;
};

struct Dial {
  ConnectionId connection = 0;
  std::string address;
};
struct SendFrame {
  ConnectionId connection = 0;
  wire::Bytes frame;
};
/// Behind the frame sent last. The pieces are read until payloadSent() or the end of the connection.
struct SendPayload {
  ConnectionId connection = 0;
  PayloadId payload = 0;
  Pieces pieces;
  uint64_t length = 0;
};
/// What follows the frame being handled right now goes to these pieces, or nowhere.
struct ReceivePayload {
  ConnectionId connection = 0;
  std::optional<Pieces> pieces;
  uint64_t length = 0;
};
/// The rest of what is being received goes nowhere.
struct DropPayload {
  ConnectionId connection = 0;
};
/// Larger frames are expected from now on.
struct Welcomed {
  ConnectionId connection = 0;
};
/// The core hears nothing more of it. `afterOutput`: what is queued goes out first.
struct Close {
  ConnectionId connection = 0;
  std::string reason;
  bool afterOutput = false;
};
/// Moves the pieces between our regions and the peer's by its engine of CANN: all or none of them counts. Answered by
/// moved(), which no end of a connection or a batch replaces: until then the pieces are in use.
struct Move {
  uint64_t move = 0;
  std::string endpoint;
  uint64_t registrations = 0;  // the peer's latest registration
  bool read = false;
  std::vector<MovedPiece> pieces;
  Time deadline = 0;
  bool isOwn = false;  // the peer is this engine: both ends of each piece are our regions
};
/// The peer that has this engine of CANN is not connected any more: its channel is not needed until a later Move to it.
struct ForgetChannel {
  std::string endpoint;
};
/// The peer at the other end of a connection is a process of this machine, it says: where it shows our challenge.
struct Meet {
  ConnectionId connection = 0;
  NeighborClaim peer;
  Challenge challenge{};
};
/// Copies from the memory of that process. Answered by pulled(), unless it is dropped or the connection ends: until
/// then the pieces are in use.
struct Pull {
  ConnectionId connection = 0;
  PayloadId pull = 0;
  std::vector<kv_piece> to;    // in this process
  std::vector<uint64_t> from;  // in the other one, as many bytes each
  uint64_t withdrawn = 0;      // at the other end, when it allowed this
};
/// It is not answered any more.
struct DropPull {
  ConnectionId connection = 0;
  PayloadId pull = 0;
};
/// What became of a Pull.
struct Pulled {
  enum class How {
    Done,
    Withdrawn,  // something was withdrawn meanwhile, maybe this
    Refused,    // memory of the peer cannot be had this way
    Gone,       // the peer is; its connection will end too
  };
  How how = How::Done;
  std::string why;  // Refused
};
struct FinishBatch {
  BatchId batch = 0;
  std::vector<int32_t> statuses;  // of its lines
  uint64_t bytes = 0;             // of the lines that are KV_OK
};
/// A peer that dialled us is not served; its people should find out why.
struct PeerRefused {
  std::string peer;
  std::string why;
};
struct Note {
  LogLevel level = LogLevel::Info;
  std::string text;
};

using Action = std::variant<Dial, SendFrame, SendPayload, ReceivePayload, DropPayload, Welcomed, Close, Move,
                            ForgetChannel, Meet, Pull, DropPull, FinishBatch, PeerRefused, Note>;

}  // namespace kvpool::engine
