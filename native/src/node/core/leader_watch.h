// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "node/core/messages.h"

namespace kvpool::node {

/// Notices that the leader this node obeys is gone, so that a standby need not wait until the Lease runs out. Pure.
///
/// Only what cannot happen to a leader that lives counts: it said that it leaves; or the connection its fence came over
/// was ended from its side, and the dial that follows at once is refused or meets another process there. That nothing
/// comes from it says nothing yet: MasterLinks tells the other masters how long, and they see for themselves.
class LeaderWatch {
 public:
  /// Dials that follow an ended connection at once. More than one because a dying process may still accept for a
  /// moment.
  static constexpr int kDialsMax = 3;

  struct Verdict {
    Authority authority;
    Departure departure = Departure::Crashed;
    size_t master = 0;  // which it was
  };

  explicit LeaderWatch(size_t masters) : masters_(masters) {}

  // Those that return whether there is a new verdict:

  /// A master welcomed this node and said which life of it that is.
  [[nodiscard]] bool welcomed(size_t master, uint64_t incarnation);
  /// The master says that it gave its Lease back.
  [[nodiscard]] bool leaves(size_t master, const Authority& authority, const Authority& seen);
  /// A dial failed. `refused`: nobody listens there; anything else says nothing.
  [[nodiscard]] bool dialFailed(size_t master, bool refused);

  /// A fence of this authority came over the master's present connection and was accepted.
  void fenced(size_t master, const Authority& authority) { masters_.at(master).obeyed = authority; }
  /// The connection has ended. `byPeer`: neither for this node's own reasons nor for silence. Whether to dial again at
  /// once, in order to find out.
  [[nodiscard]] bool lost(size_t master, bool byPeer, const Authority& seen);

  /// The master over whose present connection the holder of `seen` was accepted.
  [[nodiscard]] std::optional<size_t> leader(const Authority& seen) const;
  /// What is known about the leader of `seen`, until this node obeys somebody else.
  [[nodiscard]] std::optional<Verdict> verdict(const Authority& seen) const;

 private:
  struct Suspicion {
    Authority authority;
    uint64_t incarnation = 0;
    int dialsLeft = 0;
  };
  struct Master {
    uint64_t incarnation = 0;
    Authority obeyed;  // by the fence over the present connection; epoch 0: none
    std::optional<Suspicion> suspicion;
  };

  std::vector<Master> masters_;
  std::optional<Verdict> verdict_;
};

}  // namespace kvpool::node
