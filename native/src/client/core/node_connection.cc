// SPDX-License-Identifier: Apache-2.0
#include "client/core/node_connection.h"

#include <algorithm>
#include <utility>

#include "wire/frame.h"

namespace kvpool::client {

NodeConnection::NodeConnection(Context& context, std::vector<TransferResult>& results, Transport transport,
                               std::string address, const NodeAddress& node)
    : context_(context),
      results_(results),
      transport_(transport),
      address_(std::move(address)),
      incarnation_(node.incarnation),
      node_(node.id),
      isTransient_(node.isTransient) {}

Status NodeConnection::whyNot() const {
  if (failedForGood_ || context_.now < restUntil_) return why_;
  return {};
}

NodeConnection::Moving* NodeConnection::find(TransferId id) {
  const auto found = moving_.find(id);
  return found == moving_.end() ? nullptr : &found->second;
}

void NodeConnection::enqueue(Transfer transfer, const PoolId& pool) {
  waiting_.push_back(transfer);
  lastUse_ = context_.now;
  if (stage_ == Stage::Down) dial(pool);
  if (stage_ == Stage::Ready) begin();
}

// ---- moving ----

void NodeConnection::begin() {
  while (stage_ == Stage::Ready && !waiting_.empty() && moving_.size() < kTransfersInFlight) {
    if (moving_.empty()) lastProgress_ = context_.now;
    const Transfer next = waiting_.front();
    const bool begun = transport_ == Transport::Unix ? beginShared(next) : beginOne(next);
    if (!begun) return;
    waiting_.pop_front();
  }
}

bool NodeConnection::goesByRemote(const Transfer& transfer) const {
  const bool isRead = transfer.direction == Direction::Read;
  const bool moves =
      isRead ? remoteOfSsd_ || transfer.extent.segment == kMemorySegment : transfer.direction == Direction::Write;
  return remote_ && moves && transfer.offsets == nullptr && transfer.length > kRemoteInlineBytes &&
         transfer.length <= kStagingBytes;
}

wire::Bytes NodeConnection::readOf(const Transfer& transfer) {
  if (transfer.offsets == nullptr) {
    return readRequest(transfer.id, transfer.extent, transfer.object, transfer.length);
  }
  return partsRead(transfer.id, transfer.extent, transfer.object, transfer.payloadLength, transfer.crc,
                   transfer.memory.pieces(), transfer.offsets);
}

bool NodeConnection::beginOne(const Transfer& transfer) {
  if (goesByRemote(transfer)) {
    return transfer.direction == Direction::Write ? beginStagedWrite(transfer) : beginStagedRead(transfer);
  }
  switch (transfer.direction) {
    case Direction::Write:
    case Direction::Part:
      beginInlineWrite(transfer);
      break;
    case Direction::Read:
      ask(transfer, readOf(transfer));
      break;
    case Direction::Open:
      ask(transfer, openWrite(transfer.id, transfer.writeLine()));
      break;
    case Direction::Commit:
      ask(transfer, endParts(transfer.id, transfer.extent, transfer.object, PartsEnd::Commit));
      break;
    case Direction::Abort:
      ask(transfer, endParts(transfer.id, transfer.extent, transfer.object, PartsEnd::Abort));
      break;
  }
  return true;
}

void NodeConnection::ask(const Transfer& transfer, wire::Bytes frame) {
  moving_[transfer.id] = Moving{transfer, Step::AwaitingReply, false, {}, {}};
  context_.act(SendFrame{connection_, std::move(frame)});
}

void NodeConnection::beginInlineWrite(const Transfer& transfer) {
  moving_[transfer.id] = Moving{transfer, Step::SendingPayload, false, {}, {}};
  context_.act(SendFrame{connection_, transfer.direction == Direction::Part
                                          ? inlineParts(transfer.id, transfer.partsLine())
                                          : inlineWrite(transfer.id, transfer.writeLine())});
  context_.act(SendPayload{connection_, transfer.id, transfer.memory, transfer.length});
}

bool NodeConnection::beginShared(const Transfer& transfer) {
  const bool isWrite = transfer.direction == Direction::Write || transfer.direction == Direction::Part;
  if (isWrite && transfer.length <= kStagingBytes) return beginStagedWrite(transfer);
  if (transfer.direction != Direction::Read) return beginOne(transfer);
  moving_[transfer.id] = Moving{transfer, Step::CopyingOut, false, {}, {}};
  const uint64_t payloadLength = transfer.offsets == nullptr ? transfer.length : transfer.payloadLength;
  context_.act(CopyFromSegment{connection_, transfer.id, transfer.extent, transfer.object, transfer.offset,
                               payloadLength, transfer.memory, transfer.offsets, transfer.crc});
  return true;
}

/// The node puts the bytes into our staging memory.
bool NodeConnection::beginStagedRead(const Transfer& transfer) {
  const std::optional<uint64_t> block = ring_.take(transfer.length);
  if (!block) return false;  // begun again when an earlier transfer gives its block back
  moving_[transfer.id] = Moving{transfer, Step::AwaitingReply, false, {}, block};
  context_.act(
      SendFrame{connection_, stagedRead(transfer.id, transfer.extent, transfer.object, transfer.length, *block)});
  return true;
}

bool NodeConnection::beginStagedWrite(const Transfer& transfer) {
  const std::optional<uint64_t> block = ring_.take(transfer.length);
  if (!block) return false;  // likewise
  moving_[transfer.id] = Moving{transfer, Step::CopyingIn, false, {}, block};
  context_.act(CopyToStaging{connection_, transfer.id, transfer.memory, transfer.length, *block});
  return true;
}

void NodeConnection::replied(const Reply& reply) {
  progressed();
  if (std::holds_alternative<Heartbeat>(reply)) return;
  if (stage_ == Stage::Greeting) return greeted(reply);
  if (stage_ == Stage::Attaching) return attached(reply);
  if (const auto* write = std::get_if<WriteReply>(&reply)) return written(*write);
  if (const auto* read = std::get_if<ReadReply>(&reply)) return readable(*read);
  fail(Status(KV_PROTOCOL, "sent a message that no client asked for"));
}

void NodeConnection::written(const WriteReply& reply) {
  Moving* moving = find(reply.request);
  const bool asked = moving != nullptr && moving->transfer.direction != Direction::Read && !moving->earlyStatus &&
                     (moving->step == Step::AwaitingReply || moving->step == Step::SendingPayload);
  if (!asked) return fail(Status(KV_PROTOCOL, "answered a write that was not asked for"));
  if (moving->step == Step::SendingPayload) {
    moving->earlyStatus = reply.status;  // the caller's memory is still being read; the result waits for that
    return;
  }
  finish(reply.request, reply.status, reply.extent);
}

void NodeConnection::payloadSent(TransferId id) {
  progressed();
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::SendingPayload) return;
  moving->step = Step::AwaitingReply;
  if (moving->earlyStatus) finish(id, *moving->earlyStatus);
}

void NodeConnection::readable(const ReadReply& reply) {
  Moving* moving = find(reply.request);
  const bool asked =
      moving != nullptr && moving->transfer.direction == Direction::Read && moving->step == Step::AwaitingReply;
  if (!asked) return fail(Status(KV_PROTOCOL, "answered a read that was not asked for"));
  const bool ofSsd = moving->transfer.extent.segment != kMemorySegment;
  if (reply.status == KV_INVALID_ARGUMENT && moving->staging && ofSsd) return readWithoutRemote(reply.request, *moving);
  if (reply.status != KV_OK) return finish(reply.request, reply.status);
  if (reply.payloadLength != moving->transfer.length) {
    return fail(Status(KV_PROTOCOL, "announced " + std::to_string(reply.payloadLength) + " bytes for an object of " +
                                        std::to_string(moving->transfer.length)));
  }
  if (moving->staging) {
    if (moving->orphan) return finish(reply.request, KV_OK);
    moving->step = Step::CopyingOut;
    context_.act(CopyFromStaging{connection_, reply.request, *moving->staging, moving->transfer.length,
                                 moving->transfer.memory});
    return;
  }
  moving->step = Step::ReceivingPayload;
  ReceivePayload receive{connection_, reply.request, std::nullopt, moving->transfer.length};
  if (!moving->orphan) receive.destination = moving->transfer.memory;
  context_.act(receive);
}

/// The node has no memory for that, or comes from before.
void NodeConnection::readWithoutRemote(TransferId id, Moving& moving) {
  remoteOfSsd_ = false;
  if (moving.orphan) return finish(id, KV_INVALID_ARGUMENT);
  ring_.release(*std::exchange(moving.staging, std::nullopt));
  context_.act(SendFrame{connection_, readOf(moving.transfer)});
}

void NodeConnection::payloadReceived(TransferId id, uint32_t computedCrc, uint32_t sentCrc) {
  progressed();
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::ReceivingPayload) return;
  // The node has the checksum of parts from sums that were noted when the object came, not from what it sends.
  const bool fits = moving->transfer.offsets != nullptr || computedCrc == moving->transfer.crc;
  const bool good = moving->orphan || (computedCrc == sentCrc && fits);
  finish(id, good ? KV_OK : KV_CHECKSUM);
}

void NodeConnection::copiedToStaging(TransferId id, uint32_t crc) {
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::CopyingIn) return;
  progressed();
  moving->step = Step::AwaitingReply;
  const Transfer& transfer = moving->transfer;
  const Staged staged{*moving->staging, crc};
  context_.act(SendFrame{connection_, transfer.direction == Direction::Part
                                          ? stagedParts(id, transfer.partsLine(), staged)
                                          : stagedWrite(id, transfer.writeLine(), staged)});
}

void NodeConnection::copiedFromSegment(TransferId id, int32_t status, uint32_t crc) {
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::CopyingOut) return;
  progressed();
  if (status == KV_OK && crc != moving->transfer.crc) status = KV_CHECKSUM;
  finish(id, status);
}

/// A room that no batch waits for any more goes back.
void NodeConnection::countRooms(const Moving& moving, int32_t status, const ExtentRef& extent) {
  if (moving.transfer.endsRoom() && rooms_ > 0) --rooms_;
  if (moving.transfer.direction != Direction::Open || status != KV_OK) return;
  ++rooms_;
  if (!moving.orphan) return;
  Transfer abort;
  abort.id = context_.newRequest();
  abort.direction = Direction::Abort;
  abort.node = incarnation_;
  abort.connection = connection_;
  abort.extent = extent;
  abort.object = moving.transfer.object;
  waiting_.push_back(abort);
}

void NodeConnection::finish(TransferId id, int32_t status, const ExtentRef& extent) {
  const auto node = moving_.extract(id);
  const Moving& moving = node.mapped();
  countRooms(moving, status, extent);
  if (moving.staging) ring_.release(*moving.staging);
  if (!moving.orphan) {
    const bool shared = transport_ == Transport::Unix;
    if (status == KV_CHECKSUM) ++context_.statistics.checksumFailures;
    if (status == KV_OK && shared) context_.statistics.shmBytes += moving.transfer.length;
    if (status == KV_OK && !shared && moving.staging) remoteUse().bytes += moving.transfer.length;
    if (status != KV_OK) context_.explain("node " + node_ + ": " + statusText(status));
    results_.push_back(
        {id, moving.transfer.batch, moving.transfer.line, incarnation_, status, shared, connection_, extent});
  }
  begin();
}

// ---- ending ----

/// What would have ended the room of a value ends it all the same, and no batch waits for that.
template <typename Predicate>
void NodeConnection::dropWaiting(Predicate isDropped) {
  for (Transfer& transfer : waiting_) {
    if (!isDropped(transfer) || !transfer.endsRoom()) continue;
    transfer.direction = Direction::Abort;
    transfer.batch = 0;
    transfer.patienceMs = 0;
  }
  std::erase_if(waiting_, isDropped);
}

/// Of what is in the middle of its payload. Without open values, which would end with the connection, another one is
/// cheaper than the rest of the bytes.
bool NodeConnection::canOnlyClose(const Moving& moving) {
  if (moving.step != Step::SendingPayload && moving.step != Step::ReceivingPayload) return false;
  if (rooms_ == 0) return true;
  context_.act(GivePayloadUp{connection_, moving.transfer.id});
  return false;
}

void NodeConnection::abandon(BatchId batch) {
  const auto ours = [batch](const Transfer& transfer) { return transfer.batch == batch; };
  dropWaiting(ours);
  std::erase_if(stranded_, ours);
  bool close = false;
  for (auto entry = moving_.begin(); entry != moving_.end();) {
    Moving& moving = entry->second;
    const bool copying = moving.step == Step::CopyingIn || moving.step == Step::CopyingOut;
    if (!ours(moving.transfer)) {
      ++entry;
    } else if (copying) {
      context_.act(CancelCopy{connection_, moving.transfer.id});
      if (moving.staging) ring_.release(*moving.staging);
      entry = moving_.erase(entry);
    } else {
      if (!moving.orphan && canOnlyClose(moving)) close = true;
      moving.orphan = true;
      ++entry;
    }
  }
  if (close) fail(Status(KV_TRANSFER_FAILED, "closed: a batch ended while its bytes were on the way"));
}

void NodeConnection::closed(const std::string& reason) {
  const int32_t code = stage_ == Stage::Ready ? KV_TRANSFER_FAILED : KV_CONNECT_FAILED;
  end(Status(code, reason));
}

void NodeConnection::fail(const Status& why) {
  if (stage_ == Stage::Down) return;
  context_.act(Close{connection_});
  end(why);
}

void NodeConnection::end(const Status& why) {
  const bool wasReady = stage_ == Stage::Ready;
  const bool attaching = stage_ == Stage::Offering || stage_ == Stage::Attaching;
  stage_ = Stage::Down;
  loseRemote(attaching, why);
  why_ = Status(why.code(), "node " + node_ + " at " + address_ + ": " + why.text());
  if (!wasReady) {
    failedForGood_ = why_.code() == KV_IDENTITY_MISMATCH;
    restUntil_ = context_.now + kNodeConnectionRestMs;
  }
  if (!wasReady && transport_ == Transport::Unix) {
    goWithoutShm();
  } else if (!idle()) {
    context_.explain(why_.text());
  }
  for (const auto& [id, moving] : moving_) {
    if (!moving.orphan) report(moving.transfer, why_.code());
  }
  moving_.clear();
  rooms_ = 0;
  ring_ = StagingRing(kStagingBytes);
  for (const Transfer& transfer : waiting_) {
    if (transport_ == Transport::Unix && !transfer.isBound()) {
      stranded_.push_back(transfer);
    } else {
      report(transfer, why_.code());
    }
  }
  waiting_.clear();
}

void NodeConnection::report(const Transfer& transfer, int32_t status) {
  results_.push_back({transfer.id, transfer.batch, transfer.line, incarnation_, status, false});
}

// ---- until transfers begin ----
// The dial, the greeting, and the memory that both sides are to share.

void NodeConnection::dial(const PoolId& pool) {
  hello_ = wire::Hello{};
  hello_.self = context_.config.me;
  hello_.self.poolId = pool;
  hello_.expectedPeer = incarnation_;
  connection_ = context_.newConnection();
  stage_ = Stage::Dialing;
  since_ = context_.now;
  context_.act(Dial{connection_, transport_, address_, node_, isTransient_});
}

void NodeConnection::opened() {
  if (stage_ != Stage::Dialing) return;
  stage_ = Stage::Greeting;
  context_.act(SendFrame{connection_, wire::framed(wire::appendHello, hello_)});
}

void NodeConnection::greeted(const Reply& reply) {
  if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
    return fail(wire::refusalStatus(*refused, "node " + node_));
  }
  const auto* welcome = std::get_if<wire::Welcome>(&reply);
  if (welcome == nullptr) return fail(Status(KV_PROTOCOL, "the greeting was answered with something else"));
  Status fits = wire::judgeWelcome(*welcome, wire::Role::Node, hello_);
  if (!fits.ok()) return fail(fits);
  if (transport_ == Transport::Unix) {
    stage_ = Stage::Attaching;
    context_.act(SendStaging{connection_, shmAttach(context_.newRequest(), kStagingBytes), kStagingBytes});
    return;
  }
  if (context_.config.remote && !remoteGivenUp_) {
    stage_ = Stage::Offering;
    since_ = context_.now;
    context_.act(OfferStaging{connection_, kStagingBytes});
    return;
  }
  stage_ = Stage::Ready;
  begin();
}

void NodeConnection::stagingOffered(const Result<StagingOffer>& offer) {
  if (stage_ != Stage::Offering) return;
  if (!offer.ok()) return goWithoutRemote(offer.status().text());
  stage_ = Stage::Attaching;
  context_.act(SendFrame{connection_, stagingAttach(context_.newRequest(), offer.value())});
}

void NodeConnection::attachedRemote(const Reply& reply) {
  const auto* attached = std::get_if<UcxAttached>(&reply);
  if (attached == nullptr) return fail(Status(KV_PROTOCOL, "the attachment was answered with something else"));
  if (attached->status != KV_OK) return goWithoutRemote("the node says: " + attached->reason);
  remote_ = true;
  ++remoteUse().lanes;
  stage_ = Stage::Ready;
  begin();
}

RemoteUse& NodeConnection::remoteUse() const {
  return *context_.config.remote == RemoteProtocol::Ucx ? context_.statistics.ucx : context_.statistics.ascend;
}

/// By tcp alone, for the rest of this life of the node; or not at all, until the connection has rested.
void NodeConnection::goWithoutRemote(const std::string& why) {
  ++remoteUse().refusals;
  if (context_.config.remoteOnly) {
    return fail(Status(KV_CONNECT_FAILED, std::string("is not reached by ") + remoteName() +
                                              ", and tcp is not among the protocols, so it is not used: " + why));
  }
  remoteGivenUp_ = true;
  const std::string sentence = "node " + node_ + " is used by tcp, not by " + remoteName() + ": " + why;
  context_.explain(sentence);
  context_.act(Note{sentence});
  if (stage_ != Stage::Offering && stage_ != Stage::Attaching) return;
  stage_ = Stage::Ready;
  begin();
}

/// By tcp, where that is allowed, until the connection has rested. Told once in this life of the node: where its socket
/// is not mounted, every try ends alike.
void NodeConnection::goWithoutShm() {
  if (why_.code() == KV_CLOSED) return;
  // Another life of the node answers at the path of the one that shared its memory.
  if (why_.code() == KV_IDENTITY_MISMATCH && shmWasUsed_) return;
  if (context_.config.tcp) restUntil_ = context_.now + kShmRestMs;
  ++context_.statistics.shmRefusals;
  if (std::exchange(shmLossTold_, true)) return;
  const std::string sentence = why_.text() + "; shared memory is not used" + (context_.config.tcp ? ", tcp is" : "");
  context_.explain(sentence);
  context_.act(Note{sentence});
}

void NodeConnection::attached(const Reply& reply) {
  if (transport_ == Transport::Tcp) return attachedRemote(reply);
  const auto* attached = std::get_if<ShmAttached>(&reply);
  if (attached == nullptr) return fail(Status(KV_PROTOCOL, "the attachment was answered with something else"));
  if (attached->status != KV_OK) {
    return fail(Status(attached->status, std::string("no shared memory: ") + statusText(attached->status)));
  }
  stage_ = Stage::Mapping;
  context_.act(MapSegments{connection_, attached->segments});
}

void NodeConnection::segmentsMapped(const Status& status) {
  if (stage_ != Stage::Mapping) return;
  if (!status.ok()) return fail(status);
  shmWasUsed_ = true;
  stage_ = Stage::Ready;
  begin();
}

/// What ends a connection can be the protocol: UCX answers a probe and then fails with large pieces, or stops the
/// node's answer.
/// One that ends with nothing under way says nothing about that.
void NodeConnection::loseRemote(bool attaching, const Status& why) {
  const bool wasUsed = std::exchange(remote_, false);
  if (transport_ != Transport::Tcp || why.code() == KV_CLOSED || remoteGivenUp_ || context_.config.remoteOnly) return;
  if (attaching || (wasUsed && !moving_.empty() && ++remoteLosses_ >= kRemoteLossesMax)) goWithoutRemote(why.text());
}

// ---- what follows from time going by ----
// Work that stands still, connections that nobody uses.

bool NodeConnection::stalled() const {
  if (stage_ == Stage::Down || idle()) return false;
  return context_.now - (stage_ == Stage::Ready ? lastProgress_ : since_) >= kFallOverMs;
}

/// A stalled connection keeps what can only be done here; what can be tried at another node is given back.
void NodeConnection::letGo() {
  const int64_t stillMs = context_.now - (stage_ == Stage::Ready ? lastProgress_ : since_);
  const auto lostPatience = [stillMs](const Transfer& transfer) {
    return transfer.patienceMs > 0 && stillMs >= transfer.patienceMs;
  };
  const size_t before = results_.size();
  for (const Transfer& transfer : waiting_) {
    if (lostPatience(transfer)) report(transfer, KV_TRANSFER_FAILED);
  }
  dropWaiting(lostPatience);
  bool close = false;
  for (auto& [id, moving] : moving_) {
    if (moving.orphan || !lostPatience(moving.transfer)) continue;
    if (moving.step == Step::CopyingIn || moving.step == Step::CopyingOut) continue;
    if (canOnlyClose(moving)) {
      close = true;
      continue;
    }
    moving.orphan = true;  // a late answer is read and dropped
    report(moving.transfer, KV_TRANSFER_FAILED);
  }
  if (results_.size() > before) {
    context_.explain("node " + node_ + " at " + address_ + ": no progress within " + std::to_string(kFallOverMs) +
                     " ms; trying elsewhere");
  }
  if (close) fail(Status(KV_TRANSFER_FAILED, "no progress in the middle of a payload; trying elsewhere"));
}

/// Closes what is idle: with nothing under way no failure follows from it, and the memory that is shared goes back.
void NodeConnection::watchUse() {
  if (!unused()) {
    lastUse_ = context_.now;
  } else if (context_.now - lastUse_ >= context_.config.idleTimeoutMs) {
    return fail(Status(KV_CLOSED, "closed: idle"));
  }
  const bool silent = transport_ == Transport::Unix && lastUse_ > lastSaid_;
  if (!silent || context_.now - lastSaid_ < kNodeConnectionHeartbeatMs) return;
  lastSaid_ = context_.now;
  context_.act(SendFrame{connection_, wire::framed(wire::appendHeartbeat, {})});
}

void NodeConnection::tick() {
  if (stage_ == Stage::Down) return;
  if (stalled()) letGo();
  const bool makesChannel = stage_ == Stage::Attaching && context_.config.remote == RemoteProtocol::Ascend;
  const int64_t connectMs =
      makesChannel ? std::max(kAscendAttachMs, context_.config.connectTimeoutMs) : context_.config.connectTimeoutMs;
  if (stage_ != Stage::Ready && context_.now - since_ >= connectMs) {
    return fail(Status(KV_CONNECT_FAILED, "not connected within " + std::to_string(connectMs) + " ms"));
  }
  if (stage_ == Stage::Ready && !moving_.empty() && context_.now - lastProgress_ >= context_.config.transferTimeoutMs) {
    fail(Status(KV_TRANSFER_FAILED, "no progress within " + std::to_string(context_.config.transferTimeoutMs) + " ms"));
  }
  if (stage_ == Stage::Ready) watchUse();
}

}  // namespace kvpool::client
