// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ascend/core/actions.h"
#include "ascend/core/route_counters.h"
#include "ascend/core/routes.h"
#include "base/status.h"

namespace kvpool::ascend {

/// The end of a transfer. It must not wait for another end.
using Ended = std::function<void(const Status&)>;

/// Moves bytes between memory of this process that CANN knows and memory of peers.
class Mover {
 public:
  Mover() = default;
  virtual ~Mover() = default;
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  /// Moves all pieces, or fails within the timeouts of the settings, those of a channel and of a transfer.
  virtual void move(const Place& place, Direction direction, std::vector<Piece> pieces, Ended ended) = 0;
  /// Its channel ends when it is idle: the peer is gone, or nothing is to be moved to or from it any more.
  virtual void forget(const std::string& endpoint) = 0;
  /// Ends all transfers; those under way when CANN has answered.
  virtual void shutDown() = 0;
  [[nodiscard]] virtual RouteCounters counters() const = 0;
};

}  // namespace kvpool::ascend
