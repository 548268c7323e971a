// SPDX-License-Identifier: Apache-2.0
// One connection to one life of a storage node, and the transfers on it: dials when there is work, greets, attaches the
// shared memory when it is a unix socket, or memory that UCX or CANN reaches when that is wanted, then keeps up to
// kTransfersInFlight transfers on the way. Closes when nobody has used it for a while; the next use dials again.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "client/core/context.h"
#include "client/core/staging_ring.h"
#include "client/core/transfer.h"

namespace kvpool::client {

class NodeConnection {
 public:
  /// `address` is HOST:PORT or the path of the unix socket; finished transfers are appended to `results`.
  NodeConnection(Context& context, std::vector<TransferResult>& results, Transport transport, std::string address,
                 const NodeAddress& node);

  /// Why the connection takes no transfers now: it failed a moment ago, or for good. Otherwise OK.
  [[nodiscard]] Status whyNot() const;
  /// It has work and makes no progress: who can goes elsewhere.
  [[nodiscard]] bool stalled() const;
  [[nodiscard]] bool idle() const { return waiting_.empty() && moving_.empty(); }
  /// Nor has it values that come in parts.
  [[nodiscard]] bool unused() const { return idle() && rooms_ == 0; }
  [[nodiscard]] bool owns(ConnectionId connection) const { return stage_ != Stage::Down && connection_ == connection; }
  /// Transfers that were never begun when the connection failed; they may take another connection.
  std::deque<Transfer> takeStranded() { return std::exchange(stranded_, {}); }

  void enqueue(Transfer transfer, const PoolId& pool);
  void opened();
  void closed(const std::string& reason);
  void replied(const Reply& reply);
  void payloadSent(TransferId id);
  void payloadReceived(TransferId id, uint32_t computedCrc, uint32_t sentCrc);
  void progressed() { lastProgress_ = context_.now; }
  void stagingOffered(const Result<StagingOffer>& offer);
  void segmentsMapped(const Status& status);
  void copiedToStaging(TransferId id, uint32_t crc);
  void copiedFromSegment(TransferId id, int32_t status, uint32_t crc);
  void tick();

  /// Takes back the caller's memory from every transfer of this batch; their results will not be told.
  void abandon(BatchId batch);
  /// Closes the connection; every transfer begun fails with this status.
  void fail(const Status& why);

 private:
  enum class Stage { Down, Dialing, Greeting, Offering, Attaching, Mapping, Ready };
  enum class Step { SendingPayload, CopyingIn, AwaitingReply, ReceivingPayload, CopyingOut };

  struct Moving {
    Transfer transfer;
    Step step = Step::AwaitingReply;
    bool orphan = false;                 // its batch is gone: nobody hears the result
    std::optional<int32_t> earlyStatus;  // the node answered while the payload was still being sent
    std::optional<uint64_t> staging;     // block in the ring
  };

  void dial(const PoolId& pool);
  void greeted(const Reply& reply);
  void attached(const Reply& reply);
  void attachedRemote(const Reply& reply);
  void goWithoutRemote(const std::string& why);
  void goWithoutShm();
  void loseRemote(bool attaching, const Status& why);
  void begin();
  static wire::Bytes readOf(const Transfer& transfer);
  bool beginOne(const Transfer& transfer);
  bool beginShared(const Transfer& transfer);
  bool beginStagedRead(const Transfer& transfer);
  bool beginStagedWrite(const Transfer& transfer);
  void beginInlineWrite(const Transfer& transfer);
  void ask(const Transfer& transfer, wire::Bytes frame);
  [[nodiscard]] bool goesByRemote(const Transfer& transfer) const;
  [[nodiscard]] const char* remoteName() const { return toString(*context_.config.remote); }
  [[nodiscard]] RemoteUse& remoteUse() const;
  Moving* find(TransferId id);
  void written(const WriteReply& reply);
  void readable(const ReadReply& reply);
  void readWithoutRemote(TransferId id, Moving& moving);
  void finish(TransferId id, int32_t status, const ExtentRef& extent = {});
  void countRooms(const Moving& moving, int32_t status, const ExtentRef& extent);
  void report(const Transfer& transfer, int32_t status);
  template <typename Predicate>
  void dropWaiting(Predicate isDropped);
  bool canOnlyClose(const Moving& moving);
  void letGo();
  void end(const Status& why);
  void watchUse();

  Context& context_;
  std::vector<TransferResult>& results_;
  const Transport transport_;
  const std::string address_;
  const uint64_t incarnation_;
  const std::string node_;
  const bool isTransient_;

  Stage stage_ = Stage::Down;
  ConnectionId connection_ = 0;
  wire::Hello hello_;
  Time since_ = 0;
  Time lastProgress_ = 0;
  Time lastUse_ = 0;   // when it last had something to do
  size_t rooms_ = 0;   // for values that come in parts, which end with the connection
  Time lastSaid_ = 0;  // the last heartbeat
  Time restUntil_ = 0;
  bool failedForGood_ = false;
  bool remote_ = false;         // attached on this connection
  bool remoteOfSsd_ = true;     // until the node says that what lies on its SSD is not moved so
  bool remoteGivenUp_ = false;  // in this life of the node
  uint32_t remoteLosses_ = 0;   // connections that ended with it
  bool shmWasUsed_ = false;     // in this life of the node, as in the next
  bool shmLossTold_ = false;
  Status why_;  // of the last failure
  StagingRing ring_{kStagingBytes};
  std::deque<Transfer> waiting_;
  std::deque<Transfer> stranded_;
  std::unordered_map<TransferId, Moving> moving_;
};

}  // namespace kvpool::client
