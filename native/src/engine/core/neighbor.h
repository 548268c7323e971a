// SPDX-License-Identifier: Apache-2.0
// Two engines whose processes are on one machine: what each end of their connection says of itself, and what it shows
// in its memory, so that the other one can copy from there without a mistake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/proof.h"
#include "base/status.h"

namespace kvpool::engine {

/// A process. `pid` 0: one that takes no part.
struct ProcessName {
  uint64_t boot = 0;
  uint64_t pidNamespace = 0;
  uint32_t pid = 0;
};

/// What the shell knows of our end of a connection.
struct Introduction {
  uint32_t descriptor = 0;  // of its socket
  Challenge challenge{};    // for the peer
};

/// What one end says to the other.
struct NeighborClaim {
  ProcessName process;
  uint32_t descriptor = 0;
  uint64_t proof = 0;  // address
  Challenge challenge{};
};

/// Our end of one connection.
class Neighbor {
 public:
  Neighbor(const ProcessName& self, const Introduction& ours)
      : self_(self), ours_(ours), proof_(std::make_unique<Proof>()) {}

  [[nodiscard]] NeighborClaim claim() const { return {self_, ours_.descriptor, proof_->address(), ours_.challenge}; }
  /// The peer's claim, which is heard once. Nothing: it takes no part, or is on another machine. A failure says why
  /// nothing can be copied although it is on this machine.
  std::optional<Status> meet(const NeighborClaim& peer);
  /// It said something.
  [[nodiscard]] bool heard() const { return heard_; }
  /// Its claim was one of a process whose memory may be within reach.
  [[nodiscard]] bool met() const { return met_; }
  [[nodiscard]] const Challenge& challenge() const { return ours_.challenge; }

  void withdraw() { proof_->withdraw(); }
  [[nodiscard]] uint64_t withdrawn() const { return proof_->withdrawn(); }

 private:
  ProcessName self_;
  Introduction ours_;
  std::unique_ptr<Proof> proof_;
  bool heard_ = false;
  bool met_ = false;
};

}  // namespace kvpool::engine
