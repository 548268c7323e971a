// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/own_keys.h"
#include "base/principal.h"
#include "base/rights.h"
#include "node/core/core_context.h"
#include "node/core/messages.h"
#include "node/core/open_writes.h"
#include "node/core/parts_sum.h"
#include "node/core/payload_check.h"
#include "node/core/tier.h"

namespace kvpool::node {

/// Counts in a sum, which outlives it, for as long as it is there.
class Counted {
 public:
  Counted() = default;
  Counted(uint64_t& sum, uint64_t count) : sum_(&sum), count_(count) { sum += count; }
  Counted(Counted&& other) noexcept : sum_(std::exchange(other.sum_, nullptr)), count_(other.count_) {}
  Counted& operator=(Counted&& other) noexcept {
    std::swap(sum_, other.sum_);
    std::swap(count_, other.count_);
    return *this;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    if (sum_ != nullptr) *sum_ -= count_;
  }

 private:
  uint64_t* sum_ = nullptr;
  uint64_t count_ = 0;
};

/// The connections of clients: admission, writes, reads, shared memory.
class ClientSessions {
 public:
  /// Transfers of one connection between its memory and the segment that may be under way; a client of ours asks for
  /// fewer.
  static constexpr uint32_t kRemoteTransfersMax = 256;
  /// Reads a client may have waiting for the wire; the shell stops listening to it long before.
  static constexpr size_t kReadsQueuedMax = 1024;

  /// At the bound of connections one that has been idle for this long makes way for a new one. Less would let clients
  /// that are many and busy push each other out between two requests.
  static constexpr uint64_t kMakesWayMs = 15'000;

  /// Parts that they may name together, and those of all connections.
  static constexpr size_t kPartsQueuedMax = size_t{64} * KV_PARTS_MAX;
  static constexpr size_t kPartsOfAllMax = 16 * kPartsQueuedMax;

  /// Of those, what the SSD reads at a time: it is faster when it is asked for several.
  static constexpr size_t kTierReadsMax = 8;

  /// Memory one client may offer; it stays the client's.
  static constexpr uint64_t kRemoteOfferBytesMax = uint64_t{1} << 36;

  ClientSessions(CoreContext& context, Tier& tier)
      : context_(context),
        tier_(tier),
        openWrites_(context),
        staging_(context.config.stagingBytes, "node " + context.config.self.name) {}

  /// `local`: came through the unix socket, so it shares memory with us. `who`: whom its certificate names, if it came
  /// by TLS; without one it may do everything.
  void accepted(uint64_t nowMs, ConnectionId id, bool local, const std::string& peer,
                const std::optional<Principal>& who);
  [[nodiscard]] bool owns(ConnectionId id) const { return sessions_.contains(id); }
  [[nodiscard]] size_t count() const { return sessions_.size(); }

  /// Throws wire::Malformed for what is not the protocol.
  void frame(uint64_t nowMs, ConnectionId id, wire::Body body);
  /// Bytes of the peer were not the protocol.
  void malformed(ConnectionId id, const std::string& what);
  void payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent);
  void payloadSent(ConnectionId id);
  void stagingMapped(ConnectionId id, const Status& outcome);
  void remoteConnected(ConnectionId id, const Status& outcome);
  void pulled(uint64_t transfer, bool good, uint32_t computed);
  void pushed(uint64_t transfer, bool good);
  void stagingTaken(uint64_t transfer, bool good);
  /// The tier has read a payload, or could not.
  void tierRead(uint64_t op, int32_t status);
  /// It will not read anything any more, nor what it had begun.
  void tierEnded(const std::vector<uint64_t>& begun);
  void closed(ConnectionId id);
  void tick(uint64_t nowMs);

  /// A payload that was restored is compared with its checksum before it is first sent, the checksum of parts is
  /// computed, and that of a payload that came in parts, in pieces of kCheckBytes.
  static constexpr uint64_t kCheckBytes = uint64_t{1} << 20;
  [[nodiscard]] bool checking() const { return !checking_.empty() || openWrites_.committing(); }
  void continueChecks();

 private:
  struct Write {
    uint32_t slot = 0;
    uint64_t requestId = 0;
    Authority authority;
    std::optional<std::vector<store::Range>> parts = {};  // of an open write; nothing: the whole
  };
  /// Of a payload that UCX or CANN moves. Outlives its connection: the bytes are touched until the shell says that they
  /// are not.
  struct RemoteTransfer {
    ConnectionId connection = 0;
    uint64_t requestId = 0;
    RemoteProtocol protocol = RemoteProtocol::Ucx;
    uint64_t length = 0;
    std::optional<Write> write;  // with the checksum it must have; else a read
    uint32_t crc = 0;
    uint64_t generation = 0;  // of a read: pinned; 0: it is from the SSD
  };
  struct Attach {
    uint64_t requestId = 0;
    uint64_t bytes = 0;
  };
  struct RemoteAttach {
    uint64_t requestId = 0;
    uint64_t bytes = 0;
    RemoteProtocol protocol = RemoteProtocol::Ucx;
  };
  struct Parts {
    uint32_t payloadCrc = 0;
    std::vector<store::Range> ranges;  // inside of the payload
    uint64_t length = 0;               // of all
    Counted counted = {};              // in partsWaiting_
  };
  struct Read {
    ReadRequest request;
    std::optional<uint64_t> stagingOffset = {};  // in memory that the client offered
    std::optional<Parts> parts = {};             // nothing: the whole
    std::optional<uint64_t> transfer = {};       // of the SSD: for which staging memory of the node was taken

    /// Bytes that are sent.
    [[nodiscard]] uint64_t length() const { return parts ? parts->length : request.payloadLength; }
    [[nodiscard]] size_t partCount() const { return parts ? parts->ranges.size() : 0; }
  };
  struct TierRead {
    ConnectionId connection = 0;
    Read read;
    uint32_t crc = 0;
    uint64_t heldBytes = 0;
    bool left = false;  // it was answered, or cannot be: what it holds is counted until the read has ended
  };
  struct Sending {
    uint64_t generation = 0;  // pinned
    uint64_t tierBytes = 0;   // held by what was read from the tier; then nothing is pinned
    bool isTier = false;
  };
  struct Session {
    bool local = false;
    bool welcomed = false;
    bool closing = false;
    uint64_t helloUntilMs = 0;
    uint64_t usedMs = 0;  // when something was last asked or under way
    std::string peer;
    std::optional<Principal> who;
    OwnKeys keys;
    wire::VersionRange wire;    // what it understands
    wire::VersionRange layout;  // likewise; matters when local
    bool attached = false;      // shares memory, if only to read
    bool grantRefused = false;  // of a write
    uint64_t stagingBytes = 0;
    std::optional<RemoteProtocol> remote;  // reaches the staging memory
    uint32_t remoteTransfers = 0;          // under way
    std::optional<Write> write;
    std::optional<Attach> attach;
    std::optional<RemoteAttach> remoteAttach;
    std::deque<Sending> sending;        // in the order in which they are sent
    std::deque<Read> reads;             // of memory: the first one is being checked, the others wait behind it
    std::optional<PayloadCheck> check;  // of the first one
    std::optional<PartsSum> sum;        // of the first one, when it is checked
    std::deque<Read> tierReads;         // of the tier, not begun
    std::optional<uint64_t> staging;    // the transfer of the first of these, which waits for staging memory
    std::vector<uint64_t> tierOps;      // begun
    uint64_t tierBytes = 0;             // held by payloads from the tier: being read, being sent
    bool starved = false;               // the next one waits for room

    [[nodiscard]] bool mayWrite() const { return !who || may(*who, Verb::Write); }
    /// Who shares the connections of clients: tenants, and the members of the pool, which copy for all of them.
    [[nodiscard]] std::string_view party() const {
      if (!who) return "default";
      return may(*who, Verb::ReadAny) ? std::string_view() : std::string_view(who->tenant);
    }
    /// The first of the reads is being looked at.
    [[nodiscard]] bool checks() const { return check || sum; }
    [[nodiscard]] bool busy() const {
      return write || attach || remoteAttach || remoteTransfers > 0 || !sending.empty() || !reads.empty() ||
             !tierReads.empty() || !tierOps.empty();
    }
  };

  [[nodiscard]] size_t connectionsOf(std::string_view party) const;
  [[nodiscard]] bool isWithinShare(const Session& session) const;
  bool makeRoom(uint64_t nowMs, ConnectionId newcomer);
  [[nodiscard]] bool knowsActive(const Session& session) const;
  void hello(ConnectionId id, Session& session, wire::Body body);
  void write(ConnectionId id, Session& session, const WriteRequest& request);
  [[nodiscard]] Status admitWrite(Session& session, const WriteRequest& request, std::string_view key);
  Status grantRefused(Session& session, const WriteRequest& request);
  void refuseWrite(ConnectionId id, Session& session, const WriteRequest& request, const Status& why);
  void writeParts(ConnectionId id, Session& session, PartsWrite request);
  void refuseParts(ConnectionId id, const PartsWrite& request, uint64_t length, int32_t status);
  void countDamage(uint32_t computed, uint32_t sent);
  void finishParts(ConnectionId id, const Write& write, uint32_t computed, uint32_t sent);
  void finishWrite(ConnectionId id, const Write& write, int32_t status, uint32_t computed, uint32_t sent);
  void read(ConnectionId id, Session& session, Read read);
  void continueReads(ConnectionId id, Session& session);
  /// False when the payload must be looked at first.
  bool serve(ConnectionId id, Session& session, const Read& read);
  void continueCheck(ConnectionId id, Session& session, uint64_t& bytesMax);
  void continueSum(ConnectionId id, Session& session, uint64_t& bytesMax);
  void sendParts(ConnectionId id, Session& session, const Read& read, uint32_t crc);
  void beginTierReads(ConnectionId id, Session& session);
  void takeStaging(ConnectionId id, Session& session);
  Result<Tier::Begun> beginTierRead(const Session& session, const Read& read);
  void dropStaging(const Read& read);
  void leaveStaged(uint64_t op, TierRead& read);
  void sendTier(Session& session, uint64_t op, TierRead read);
  void pushTier(const TierRead& read);
  void leaveTier(const Session& session);
  void releaseTier(Session& session, uint64_t bytes);
  void feedStarved();
  void refuseRead(ConnectionId id, uint64_t requestId, int32_t status);
  void attach(ConnectionId id, Session& session, const ShmAttach& request);
  void attachRemote(ConnectionId id, Session& session, const StagingAttach& request);
  RemoteStats& statsOf(RemoteProtocol protocol);
  void readStaged(ConnectionId id, Session& session, const StagedRead& request);
  void readParts(ConnectionId id, Session& session, PartsRead request);
  [[nodiscard]] static size_t partsOf(const Session& session);
  void closeOneWithMostParts();
  void pull(ConnectionId id, Session& session, const WriteRequest& request, uint32_t slot);
  void push(ConnectionId id, Session& session, const Read& read, const store::Slot& slot);
  uint64_t beginTransfer(Session& session, const RemoteTransfer& transfer);
  std::optional<RemoteTransfer> endTransfer(uint64_t transfer);
  void replyWrite(ConnectionId id, uint64_t requestId, int32_t status, const ExtentRef& extent);
  void close(ConnectionId id, Session& session, const std::string& reason);

  CoreContext& context_;
  Tier& tier_;
  OpenWrites openWrites_;
  StagingBudget staging_;
  uint64_t partsWaiting_ = 0;  // of reads
  std::unordered_map<ConnectionId, Session> sessions_;
  size_t closing_ = 0;  // of them
  std::unordered_map<uint64_t, RemoteTransfer> remoteTransfers_;
  uint64_t lastRemoteTransfer_ = 0;
  std::unordered_map<uint64_t, TierRead> tierReads_;  // by op
  std::vector<ConnectionId> starved_;                 // in the order in which they began to be
  std::vector<ConnectionId> checking_;                // sessions with a check
};

}  // namespace kvpool::node
