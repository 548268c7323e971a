// SPDX-License-Identifier: Apache-2.0
#include "client/core/lane.h"

#include <algorithm>

namespace kvpool::client {

Lane::Lane(Context& context, std::vector<TransferResult>& results, Transport transport, std::string address,
           uint64_t incarnation, std::string node)
    : context_(context),
      results_(results),
      transport_(transport),
      address_(std::move(address)),
      incarnation_(incarnation),
      node_(std::move(node)) {}

Status Lane::whyNot() const {
  if (failedForGood_ || context_.now < restUntil_) return why_;
  return {};
}

Lane::Moving* Lane::find(TransferId id) {
  const auto found = moving_.find(id);
  return found == moving_.end() ? nullptr : &found->second;
}

void Lane::enqueue(Transfer transfer, const PoolId& pool) {
  waiting_.push_back(transfer);
  lastUse_ = context_.now;
  if (stage_ == Stage::Down) dial(pool);
  if (stage_ == Stage::Ready) begin();
}

// ---- moving ----

void Lane::begin() {
  while (stage_ == Stage::Ready && !waiting_.empty() && moving_.size() < kTransfersInFlight) {
    if (moving_.empty()) lastProgress_ = context_.now;
    const Transfer next = waiting_.front();
    const bool begun = transport_ == Transport::Unix ? beginShared(next) : beginOne(next);
    if (!begun) return;
    waiting_.pop_front();
  }
}

bool Lane::goesByUcx(const Transfer& transfer) const {
  const bool inMemory = transfer.direction == Direction::Write || transfer.extent.segment == kMemorySegment;
  return ucx_ && inMemory && transfer.length > kUcxInlineBytes && transfer.length <= kStagingBytes;
}

bool Lane::beginOne(const Transfer& transfer) {
  if (goesByUcx(transfer)) {
    return transfer.direction == Direction::Write ? beginStagedWrite(transfer) : beginStagedRead(transfer);
  }
  Moving& moving = moving_[transfer.id];
  moving.transfer = transfer;
  if (transfer.direction == Direction::Write) {
    moving.step = Step::SendingPayload;
    context_.act(SendFrame{connection_, inlineWrite(transfer.id, transfer.writeLine())});
    context_.act(SendPayload{connection_, transfer.id, transfer.memory, transfer.length});
  } else {
    moving.step = Step::AwaitingReply;
    context_.act(SendFrame{connection_, readRequest(transfer.id, transfer.extent, transfer.object, transfer.length)});
  }
  return true;
}

bool Lane::beginShared(const Transfer& transfer) {
  if (transfer.direction == Direction::Read) {
    moving_[transfer.id] = Moving{transfer, Step::CopyingOut, false, {}, {}};
    context_.act(CopyFromSegment{connection_, transfer.id, transfer.extent, transfer.object, transfer.offset,
                                 transfer.length, transfer.memory});
    return true;
  }
  return beginStagedWrite(transfer);
}

/// The node puts the bytes into our staging memory.
bool Lane::beginStagedRead(const Transfer& transfer) {
  const std::optional<uint64_t> block = ring_.take(transfer.length);
  if (!block) return false;  // begun again when an earlier transfer gives its block back
  moving_[transfer.id] = Moving{transfer, Step::AwaitingReply, false, {}, block};
  context_.act(
      SendFrame{connection_, stagedRead(transfer.id, transfer.extent, transfer.object, transfer.length, *block)});
  return true;
}

bool Lane::beginStagedWrite(const Transfer& transfer) {
  const std::optional<uint64_t> block = ring_.take(transfer.length);
  if (!block) return false;  // likewise
  moving_[transfer.id] = Moving{transfer, Step::CopyingIn, false, {}, block};
  context_.act(CopyToStaging{connection_, transfer.id, transfer.memory, transfer.length, *block});
  return true;
}

void Lane::replied(const Reply& reply) {
  progressed();
  if (std::holds_alternative<Heartbeat>(reply)) return;
  if (stage_ == Stage::Greeting) return greeted(reply);
  if (stage_ == Stage::Attaching) return attached(reply);
  if (const auto* write = std::get_if<WriteReply>(&reply)) return written(*write);
  if (const auto* read = std::get_if<ReadReply>(&reply)) return readable(*read);
  fail(Status(KV_PROTOCOL, "sent a message that no client asked for"));
}

void Lane::written(const WriteReply& reply) {
  Moving* moving = find(reply.request);
  const bool asked = moving != nullptr && moving->transfer.direction == Direction::Write && !moving->earlyStatus &&
                     (moving->step == Step::AwaitingReply || moving->step == Step::SendingPayload);
  if (!asked) return fail(Status(KV_PROTOCOL, "answered a write that was not asked for"));
  if (moving->step == Step::SendingPayload) {
    moving->earlyStatus = reply.status;  // the caller's memory is still being read; the result waits for that
    return;
  }
  finish(reply.request, reply.status);
}

void Lane::payloadSent(TransferId id) {
  progressed();
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::SendingPayload) return;
  moving->step = Step::AwaitingReply;
  if (moving->earlyStatus) finish(id, *moving->earlyStatus);
}

void Lane::readable(const ReadReply& reply) {
  Moving* moving = find(reply.request);
  const bool asked =
      moving != nullptr && moving->transfer.direction == Direction::Read && moving->step == Step::AwaitingReply;
  if (!asked) return fail(Status(KV_PROTOCOL, "answered a read that was not asked for"));
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

void Lane::payloadReceived(TransferId id, uint32_t computedCrc, uint32_t sentCrc) {
  progressed();
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::ReceivingPayload) return;
  const bool good = moving->orphan || (computedCrc == sentCrc && computedCrc == moving->transfer.crc);
  finish(id, good ? KV_OK : KV_CHECKSUM);
}

void Lane::copiedToStaging(TransferId id, uint32_t crc) {
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::CopyingIn) return;
  progressed();
  moving->step = Step::AwaitingReply;
  context_.act(SendFrame{connection_, stagedWrite(id, moving->transfer.writeLine(), {*moving->staging, crc})});
}

void Lane::copiedFromSegment(TransferId id, int32_t status, uint32_t crc) {
  Moving* moving = find(id);
  if (moving == nullptr || moving->step != Step::CopyingOut) return;
  progressed();
  if (status == KV_OK && crc != moving->transfer.crc) status = KV_CHECKSUM;
  finish(id, status);
}

void Lane::finish(TransferId id, int32_t status) {
  const auto node = moving_.extract(id);
  const Moving& moving = node.mapped();
  if (moving.staging) ring_.release(*moving.staging);
  if (!moving.orphan) {
    const bool shared = transport_ == Transport::Unix;
    if (status == KV_CHECKSUM) ++context_.statistics.checksumFailures;
    if (status == KV_OK && shared) context_.statistics.shmBytes += moving.transfer.length;
    if (status == KV_OK && !shared && moving.staging) context_.statistics.ucxBytes += moving.transfer.length;
    if (status != KV_OK) context_.explain("node " + node_ + ": " + statusText(status));
    results_.push_back({id, moving.transfer.batch, moving.transfer.line, incarnation_, status, shared});
  }
  begin();
}

// ---- ending ----

void Lane::abandon(BatchId batch) {
  const auto ours = [batch](const Transfer& transfer) { return transfer.batch == batch; };
  std::erase_if(waiting_, ours);
  std::erase_if(stranded_, ours);
  bool onTheWay = false;
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
      onTheWay = onTheWay || moving.step != Step::AwaitingReply;
      moving.orphan = true;
      ++entry;
    }
  }
  if (onTheWay) fail(Status(KV_TRANSFER_FAILED, "closed: a batch ended while its bytes were on the way"));
}

void Lane::closed(const std::string& reason) {
  const int32_t code = stage_ == Stage::Ready ? KV_TRANSFER_FAILED : KV_CONNECT_FAILED;
  end(Status(code, reason));
}

void Lane::fail(const Status& why) {
  if (stage_ == Stage::Down) return;
  context_.act(Close{connection_});
  end(why);
}

void Lane::end(const Status& why) {
  const bool wasReady = stage_ == Stage::Ready;
  const bool attaching = stage_ == Stage::Offering || stage_ == Stage::Attaching;
  stage_ = Stage::Down;
  loseUcx(attaching, why);
  why_ = Status(why.code(), "node " + node_ + " at " + address_ + ": " + why.text());
  if (!wasReady) {
    failedForGood_ = why_.code() == KV_IDENTITY_MISMATCH;
    restUntil_ = context_.now + kLaneRestMs;
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
  ring_ = StagingRing(kStagingBytes);
  if (transport_ == Transport::Unix) {
    stranded_.insert(stranded_.end(), waiting_.begin(), waiting_.end());
  } else {
    for (const Transfer& transfer : waiting_)
      report(transfer, why_.code());
  }
  waiting_.clear();
}

void Lane::report(const Transfer& transfer, int32_t status) {
  results_.push_back({transfer.id, transfer.batch, transfer.line, incarnation_, status, false});
}

}  // namespace kvpool::client
