// SPDX-License-Identifier: Apache-2.0
// One object moved between the caller's memory and one storage node.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/retention.h"
#include "client/core/actions.h"
#include "client/core/requests.h"

namespace kvpool::client {

enum class Direction {
  Write,
  Read,
  Open,    ///< makes room for a value that comes in parts; the result names it
  Part,    ///< of a value for which there is room
  Commit,  ///< ends that
  Abort    ///< likewise
};

struct Transfer {
  TransferId id = 0;
  Direction direction = Direction::Read;
  // Who asked.
  BatchId batch = 0;
  uint32_t line = 0;
  uint64_t node = 0;  ///< incarnation
  // What.
  ConnectionId connection = 0;  ///< Part, Commit, Abort: which has the room
  std::string_view key;         ///< Write, Open; the caller's memory
  Pieces memory;                ///< Read: destination, Write and Part: source, never written through
  uint64_t length = 0;          ///< bytes that move
  ObjectId object;
  Authority authority;                ///< Write, Open
  Retention retention;                ///< Write, Open
  GrantMac mac;                       ///< Write, Open
  ExtentRef extent;                   ///< all others
  uint64_t offset = 0;                ///< Read: of the payload in the segment file
  uint32_t crc = 0;                   ///< Read: what the leader says the payload's checksum is
  const uint64_t* offsets = nullptr;  ///< of parts: where in the payload each piece of the memory begins
  uint64_t payloadLength = 0;         ///< Read of parts, Write, Open: of the whole
  int64_t patienceMs =
      0;  ///< what a node may do without progress before this is tried elsewhere; 0 = there is no elsewhere

  [[nodiscard]] WriteLine writeLine() const { return {key, authority, object, payloadLength, retention, mac}; }
  [[nodiscard]] PartsLine partsLine() const { return {extent, object, memory.pieces(), offsets}; }
  /// Can be done on one connection only.
  [[nodiscard]] bool isBound() const { return connection != 0; }
  [[nodiscard]] bool endsRoom() const { return direction == Direction::Commit || direction == Direction::Abort; }
};

struct TransferResult {
  TransferId id = 0;
  BatchId batch = 0;
  uint32_t line = 0;
  uint64_t node = 0;
  int32_t status = 0;
  bool shared = false;          ///< moved through shared memory
  ConnectionId connection = 0;  ///< Open that is KV_OK
  ExtentRef extent = {};        ///< likewise
};

}  // namespace kvpool::client
