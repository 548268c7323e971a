// SPDX-License-Identifier: Apache-2.0
// What the core of the Ascend transport wants done. Each of them is answered once, in any order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ascend/core/abi.h"
#include "base/status.h"

namespace kvpool::ascend {

using Time = int64_t;  // milliseconds of a clock that only goes forward
using TransferId = uint64_t;

/// Makes a channel to the engine at IP:PORT. Answered by connected().
struct Connect {
  std::string endpoint;
  int32_t timeoutMs = 0;
};
/// Ends the channel. Answered by disconnected().
struct Disconnect {
  std::string endpoint;
  /// Nothing waits for it when it is wanted: it had better not keep a thread from transfers. There is one at a time.
  bool yields = false;
  /// Of a peer that is there, for the room of another one: it is soon done, and others had better not be before it.
  bool makesRoom = false;
};
/// Moves all pieces or fails. Answered by transferred(), or by expired() when its time ended before CANN was asked.
struct Transfer {
  TransferId id = 0;
  std::string endpoint;
  Direction direction = Direction::Read;
  std::vector<Piece> pieces;
  int32_t timeoutMs = 0;  ///< that CANN is given, at most
  Time deadline = 0;      ///< CANN is not asked for it after that, as the memory may be another's then
};
/// The end of a transfer: nothing touches its memory any more.
struct Finish {
  TransferId id = 0;
  Status status;
};

using Action = std::variant<Connect, Disconnect, Transfer, Finish>;

}  // namespace kvpool::ascend
