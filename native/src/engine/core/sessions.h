// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/context.h"

namespace kvpool::engine {

/// Peers that dialled us, and what they do in our memory. Whatever they name is looked up in the table of regions at
/// the moment it is used; nothing they sent is an address before that.
class Sessions {
 public:
  explicit Sessions(Context& context) : context_(context) {}

  /// `who` the peer is by its certificate. `ours`: our end, if bytes may go from memory to memory.
  void accepted(Time now, ConnectionId id, const std::string& peer, std::optional<Principal> who,
                const std::optional<Introduction>& ours);
  /// We are another one by our certificate than before.
  void identified();
  [[nodiscard]] bool has(ConnectionId id) const { return sessions_.contains(id); }
  [[nodiscard]] size_t count() const { return sessions_.size(); }
  void frame(Time now, ConnectionId id, wire::Body body);
  void malformed(ConnectionId id, const std::string& what);
  void payloadReceived(Time now, ConnectionId id, uint32_t computedCrc, uint32_t sentCrc);
  /// The end of a Pull.
  void pulled(Time now, ConnectionId id, PayloadId pull, const Pulled& end);
  void payloadSent(ConnectionId id, PayloadId payload);
  void received(Time now, ConnectionId id);
  /// Frames that take so much memory still wait for it.
  void sent(Time now, ConnectionId id, uint64_t unsentFrames);
  void closed(ConnectionId id);
  /// These registrations are gone: nothing goes on in them when the actions of this call are done.
  void regionsGone(const std::vector<uint64_t>& regions);
  void tick(Time now);

 private:
  /// Memory that a payload is read from or written to.
  struct Use {
    std::vector<kv_piece> memory;
    std::vector<uint64_t> regions;
    [[nodiscard]] bool touches(const std::vector<uint64_t>& gone) const;
  };
  struct Write {
    uint64_t request = 0;
    uint64_t bytes = 0;
    Use use;
    Status refusal;
  };
  struct Session {
    std::string peer;
    std::optional<Principal> who;
    Time since = 0;       // it came, or moved bytes
    Time tookAt = 0;      // it took output, or asked for some while none waited
    uint64_t unsent = 0;  // memory of frames that wait for it
    bool welcomed = false;
    std::optional<Write> write;      // whose payload is coming in
    std::map<PayloadId, Use> reads;  // whose payloads are going out
    std::optional<Neighbor> neighbor;
    std::map<PayloadId, Write> pulls;  // whose bytes we copy from its memory
    [[nodiscard]] bool mustTake() const { return unsent > 0 || !reads.empty(); }
  };

  [[nodiscard]] Status judge(const Session& session) const;
  Status mayWrite(const Session& session);
  void greet(ConnectionId id, Session& session, wire::Body body);
  void serve(ConnectionId id, Session& session, wire::Body body);
  void send(ConnectionId id, Session& session, wire::Bytes frame);
  void setUnsent(Session& session, uint64_t bytes);
  void keepToUnsentMax();
  void write(ConnectionId id, Session& session, const PiecesRequest& request);
  void read(ConnectionId id, Session& session, const PiecesRequest& request);
  void introduce(ConnectionId id, Session& session, const NeighborClaim& claim);
  void pull(ConnectionId id, Session& session, PullRequest request);
  void mayRead(ConnectionId id, Session& session, const PiecesRequest& request);
  void notify(ConnectionId id, Session& session, NotifyRequest request);
  void reply(ConnectionId id, Session& session, uint64_t request, const Status& status, uint64_t payloadLength);
  Status resolve(const Session& session, const PiecesRequest& request, Use& use);
  void refuse(ConnectionId id, const wire::Refused& refused);
  void end(ConnectionId id, const std::string& reason, bool afterOutput);

  Context& context_;
  std::unordered_map<ConnectionId, Session> sessions_;
  uint64_t unsent_ = 0;  // of all sessions
};

}  // namespace kvpool::engine
