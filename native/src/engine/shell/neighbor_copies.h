// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/fd.h"
#include "base/pieces.h"
#include "engine/core/actions.h"
#include "engine/shell/other_process.h"

namespace kvpool::engine {

/// Copies from the memory of other processes of this machine: a bounded part in a turn, each copy getting its share, so
/// that sockets are served in between. Each call of the kernel ends with the proof that the other process shows; what
/// was copied counts only with the right one, and is wiped else.
class NeighborCopies {
 public:
  static constexpr uint64_t kTurnBytes = uint64_t{1} << 20;
  static constexpr size_t kPiecesPerCall = 512;  // the kernel takes 1024

  using Ended = std::function<void(ConnectionId connection, PayloadId pull, const Pulled& end)>;

  explicit NeighborCopies(OtherProcess& processes) : processes_(processes) {}

  /// `socket`: of the connection. Looked at when the first copy is wanted.
  void meet(const Meet& met, int socket) { neighbors_[met.connection] = {met, socket, {}, {}, false}; }
  /// Of a connection that met.
  void add(Pull pull);
  void drop(ConnectionId connection, PayloadId pull);
  /// The connection is gone, and its copies with it.
  void forget(ConnectionId connection);

  void turn(const Ended& ended);
  [[nodiscard]] bool idle() const { return copies_.empty(); }

 private:
  struct OneNeighbor {
    Meet met;
    int socket = -1;
    Fd process;           // valid: it is the one at the other end
    std::string refusal;  // why it is not
    bool proven = false;  // its memory has shown our challenge
  };
  struct Copy {
    Pull pull;
    size_t piece = 0;   // the next
    uint64_t done = 0;  // of it
  };

  std::optional<Pulled> advance(Copy& copy, uint64_t& budget);
  bool identify(OneNeighbor& neighbor);
  Pulled judge(OneNeighbor& neighbor, const Copy& copy, const ShownProof& shown);

  OtherProcess& processes_;
  std::unordered_map<ConnectionId, OneNeighbor> neighbors_;
  std::deque<Copy> copies_;
};

}  // namespace kvpool::engine
