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
#include "kvpool/kvpool.h"
#include "wire/sbe.h"

namespace kvpool::engine {

using ConnectionId = uint64_t;
using PayloadId = uint64_t;
using BatchId = uint64_t;
using Time = int64_t;  // milliseconds of a clock that only goes forward

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
struct FinishBatch {
  BatchId batch = 0;
  std::vector<int32_t> statuses;  // of its lines
  uint64_t bytes = 0;             // of the lines that are KV_OK
};
struct Note {
  LogLevel level = LogLevel::Info;
  std::string text;
};

using Action =
    std::variant<Dial, SendFrame, SendPayload, ReceivePayload, DropPayload, Welcomed, Close, FinishBatch, Note>;

}  // namespace kvpool::engine
