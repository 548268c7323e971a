// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "net/stream.h"
#include "secure/credentials.h"
#include "secure/proof_schedule.h"
#include "wire/sbe.h"

namespace kvpool::node {

/// Connections to masters stay for as long as both processes run, as each new one has the whole directory come again.
/// So both ends prove over the connection that they hold the certificates that took the place of those by which it was
/// opened, and it lasts as long as these.
class MasterProofs {
 public:
  using Id = net::Stream::Id;
  using Send = std::function<void(Id id, wire::Bytes frame)>;

  explicit MasterProofs(Send send) : send_(std::move(send)) {}

  /// `shown`: what the handshake shows of this process.
  void begin(Id id, std::shared_ptr<const secure::Credentials> shown);
  void end(Id id) { connections_.erase(id); }
  /// Whether a frame of that connection is for frame(), and nothing for the core. Asked for each frame.
  bool takes(Id id, wire::Body body);
  /// Throws wire::Malformed for what a master does not say.
  void frame(net::Stream& stream, wire::Body body, const secure::Credentials& own);
  /// Proves what is due. Now and then, for each stream.
  void tick(net::Stream& stream, const std::shared_ptr<const secure::Credentials>& own);

 private:
  struct Connection {
    secure::ProofSchedule schedule;
    bool greeted = false;  // it takes proofs
    int64_t provenAtMs = INT64_MIN;
    std::string refusal;    // of ours by the master, that was logged
    std::string objection;  // of ours to the master's, likewise
  };

  void proofCame(Connection& connection, net::Stream& stream, wire::Body body, const secure::Credentials& own);
  static void answerCame(Connection& connection, const net::Stream& stream, wire::Body body);

  Send send_;
  std::unordered_map<Id, Connection> connections_;
};

}  // namespace kvpool::node
