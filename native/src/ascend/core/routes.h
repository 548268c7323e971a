// SPDX-License-Identifier: Apache-2.0
// Channels to engines of peers and the transfers over them, as a state machine without I/O, clock or threads: what CANN
// answered goes in, actions come out. What CANN does is in docs/internals/ascend.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascend/core/actions.h"
#include "ascend/core/route_counters.h"

namespace kvpool::ascend {

struct RouteSettings {
  int32_t connectTimeoutMs = 10000;
  int32_t transferTimeoutMs = 10000;
  bool connectsByItself = false;  ///< CANN's capability: a transfer makes the channel and ends it after a failure
  size_t underWayMax = 100;       ///< transfers at the same time
  /// At the same time, whether made here or by CANN, which has room for 512 in its first way to communicate. Where it
  /// has less room, it says so, and is believed.
  size_t channelsMax = 512;
  bool shortConnections = false;  ///< a channel ends with the last transfer that it is there for
  /// For how long the card may still move bytes of a transfer that broke its channel, where CANN cannot end that.
  Time cardRepeatsMs = 30000;
  std::string failureHint{};  ///< what is said after the status of a transfer that failed or was refused
};

/// Where an engine of a peer is.
struct Place {
  std::string endpoint;  ///< IP:PORT, [IPv6]:PORT
  /// Grows when the peer registers memory. A channel knows the memory that was registered when it was made.
  uint64_t registrations = 0;
};

/// What a caller wants.
struct Wanted {
  TransferId id = 0;
  Place place;
  Direction direction = Direction::Read;
  std::vector<Piece> pieces;
  Time deadline = 0;
};

class Routes {
 public:
  explicit Routes(const RouteSettings& settings) : settings_(settings) {}

  void submit(Time now, Wanted wanted);
  /// Memory was registered here: channels made before do not know it.
  void registered() { ++registrations_; }

  void connected(Time now, const std::string& endpoint, TransportStatus status);
  void disconnected(Time now, const std::string& endpoint, TransportStatus status);
  void transferred(Time now, TransferId id, TransportStatus status);
  /// The deadline of a transfer that was begun passed before CANN was asked for it: its channel is as it was.
  void expired(Time now, TransferId id);
  void tick(Time now);
  /// Nothing is to be moved to or from this peer any more, as far as the caller knows: its channel ends when it is
  /// idle.
  void forget(Time now, const std::string& endpoint);
  /// Ends all channels, when what is under way over them has ended, and makes none until resume(): memory that is to be
  /// taken back must be known to none. Several may hold them at a time, each until its own resume().
  void hold(Time now);
  void resume(Time now);
  /// Whether there is a channel, or one is about to be made or ended.
  [[nodiscard]] bool hasChannels() const;
  /// Whether no channel is to be made, as all end.
  [[nodiscard]] bool isHeld() const { return closed_ || holds_ > 0; }
  /// Whether a transfer that was begun, and that CANN was not asked for yet, had better not be: its channel is about to
  /// end, or all is.
  [[nodiscard]] bool isLost(const std::string& endpoint) const;
  /// Whether something waits for the end of this channel, which yielded to transfers when it was wanted.
  [[nodiscard]] bool isAwaited(const std::string& endpoint) const;
  /// Ends all that waits with KV_CLOSED; what is under way ends so when it is answered. Nothing begins any more.
  void shutDown();

  std::vector<Action> takeActions() { return std::exchange(actions_, {}); }
  [[nodiscard]] RouteCounters counters() const;
  /// Transfers that have not ended.
  [[nodiscard]] size_t pending() const { return transfers_.size(); }

 private:
  /// Of a channel. Ending: what is under way ends first, then the channel is ended, and made again if something waits.
  enum class State { None, Connecting, Ready, Ending };
  /// A transfer whose channel did not survive it: the card may still touch its memory until the channel has ended or,
  /// where it cannot be, until the card has given up.
  struct Broken {
    TransferId id = 0;
    TransportStatus status = kTransportFailed;
    Time until = 0;  // then the card has; of those that are held
  };
  struct Route {
    State state = State::None;
    uint64_t peerRegistrations = 0;  // that the channel knows
    uint64_t ourRegistrations = 0;
    bool renewed = false;  // a channel that CANN had kept was ended, to make this one
    bool kept = false;     // CANN may still have a channel from before
    Time rest = 0;         // before CANN is asked again to end that
    bool asked = false;    // Disconnect is not answered yet
    bool yields = false;   // that Disconnect
    bool reached = false;  // by a transfer, since the channel was made
    bool forgotten = false;
    size_t underWay = 0;  // transfers
    uint64_t use = 0;     // when it was used last: of all routes the greater the later
    std::deque<TransferId> waiting;
    std::vector<Broken> broken;  // their channel is to end
    std::vector<Broken> held;    // it could not be ended
  };
  /// A channel that CANN kept when it was to be ended, as its peer could not be told: it takes room for as long as CANN
  /// has it, and there may be no other transfer to that peer ever.
  struct Kept {
    Time next = 0;  // CANN is asked again then
    Time rest = 0;  // and after that time once more
  };
  struct Pending {
    Wanted wanted;
    bool underWay = false;
    bool refused = false;  // there was no room for its channel
  };
  using Routed = std::map<std::string, Route>::iterator;

  void queue(Time now, TransferId id);
  Routed routeTo(const std::string& endpoint);
  /// Nothing is left of it but what CANN keeps.
  void drop(Time now, Routed route);
  /// Asks CANN again to end the channel that has waited longest for that, if its time has come.
  void askForKept(Time now);
  /// Does what the route can do now. Forgets it when nothing is left of it.
  void advance(Time now, Routed route);
  void advanceAll(Time now);
  /// Those whose time ended while they waited.
  void forgetEnded(Route& route) const;
  [[nodiscard]] bool wantsChannel(const Route& route) const;
  /// Makes the channel, or room for it.
  void connectOrWait(Time now, Routed route);
  void connect(Routed route);
  [[nodiscard]] bool knowsMemory(const Route& route) const;
  void beginWaiting(Time now, Routed route);
  void begin(Time now, Routed route, Pending& pending);
  /// Those that CANN may have kept are among them.
  [[nodiscard]] size_t channels() const;
  [[nodiscard]] size_t keptChannels() const;
  /// For a transfer that was refused before, only what was seen to fit; for another one more as time goes by, as the
  /// refusal may have been the peer's, or be out of date.
  [[nodiscard]] size_t fitting(Time now, bool refused) const;
  /// A channel was made: so many do fit.
  void fits();
  /// CANN refused a channel to that peer: no more fit than there are, while one is wanted. A transfer waits for room
  /// once. False when no other channel ends or can be ended.
  bool awaitRoom(Time now, const Route& refused);
  [[nodiscard]] static bool givesRoom(const Route& route);
  /// For people: how many channels there are, and how to have room for more. The end of a sentence.
  [[nodiscard]] std::string lackOfRoom() const;
  /// The channel that was used longest ago and is idle. False when there is none.
  bool endLeastUsed();
  void end(Routed route, bool makesRoom = false);
  /// As end(), when none that yields is under way: a rack of clients that goes must not keep all threads for its ends.
  bool endInTurn(Routed route);
  /// One of what was under way is over.
  Route& ended(TransferId id);
  void endIfShort(Route& route);
  /// Ends those of `broken`, or holds them where CANN keeps their channel.
  void settleBroken(Time now, Route& route);
  /// Of what is held, what the card has given up by now. Whether there was any.
  bool release(Time now, Route& route);
  void conclude(TransferId id, TransportStatus status);
  void finish(TransferId id, Status status);

  const RouteSettings settings_;
  uint64_t registrations_ = 0;
  bool closed_ = false;
  size_t holds_ = 0;
  size_t underWay_ = 0;
  size_t yielding_ = 0;    // Disconnects
  bool anyWaits_ = false;  // for a channel; may be true for longer, never for less
  uint64_t uses_ = 0;
  size_t fitting_ = SIZE_MAX;            // channels that CANN had when it refused another one
  Time refusedAt_ = 0;                   // then
  std::map<std::string, Route> routes_;  // by endpoint
  std::map<std::string, Kept> kept_;     // by endpoints that have no route
  std::unordered_map<TransferId, Pending> transfers_;
  RouteCounters counters_;
  std::vector<Action> actions_;
};

}  // namespace kvpool::ascend
