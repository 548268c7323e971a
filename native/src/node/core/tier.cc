// SPDX-License-Identifier: Apache-2.0
#include "node/core/tier.h"

#include <algorithm>
#include <utility>

namespace kvpool::node {

namespace {

/// What says nothing about the device: this one job was not done, the next one may be.
bool sparesTier(const Status& outcome) {
  return outcome.code() == KV_OUT_OF_MEMORY || outcome.code() == KV_CLOSED;
}

}  // namespace

Tier::Tier(CoreContext& context) : context_(context), readBytesMax_(kReadBytesMax - context.config.tierStagingBytes) {
  purge();
}

ExtentRef Tier::extentOf(uint32_t slot) const {
  return {kTierSegment, slot, context_.table->slot(slot).object.generation};
}

// ---- to the device ----

Status Tier::admit(const Copy& command) const {
  if (!on()) return {KV_UNAVAILABLE, "there is no SSD tier that works"};
  if (writing_.size() + storing_.size() >= kDemotionsMax) {
    return {KV_QUEUE_FULL, std::to_string(kDemotionsMax) + " objects are on their way to the SSD, the most at a time"};
  }
  if (command.sourceIncarnation != context_.config.self.incarnation) {
    return {KV_IDENTITY_MISMATCH, "an object comes to the SSD from the memory of its own node"};
  }
  const store::Slot* slot = context_.directory.find(command.sourceExtent, command.objectId);
  if (slot == nullptr) return {KV_NOT_FOUND, "it is not in memory any more"};
  if (!context_.directory.isKeyIntact(*slot)) return {KV_CHECKSUM, "its key has changed in memory"};
  // The device may know of a later purge than a segment that is new beside it.
  const bool purged = command.objectId < context_.table->purged();
  if (purged || context_.directory.removed(command.sourceExtent.slot)) return {KV_STALE_EPOCH, "it was removed"};
  return {};
}

void Tier::demote(ConnectionId master, const Copy& command) {
  const Status admitted = admit(command);
  if (!admitted.ok()) return context_.answer(master, command.requestId, true, admitted.code());
  const store::Slot& slot = *context_.directory.find(command.sourceExtent, command.objectId);
  const Result<uint32_t> begun = context_.table->begin(command.objectId, context_.directory.key(slot),
                                                       slot.payloadLength, slot.payloadCrc, slot.retention);
  if (!begun.ok()) return context_.answer(master, command.requestId, true, begun.status().code());
  context_.directory.pin(slot.generation);
  writing_[++lastOp_] = {master,           command.requestId, command.authority, command.sourceExtent,
                         command.objectId, begun.value()};
  context_.outbox.add(TierWrite{lastOp_, slot.payloadOffset(), slot.payloadLength,
                                context_.table->slot(begun.value()).object.extent.offset, slot.payloadCrc});
}

void Tier::payloadWritten(uint64_t op, const Status& outcome) {
  const auto found = writing_.find(op);
  if (found == writing_.end()) return;
  const Demotion demotion = found->second;
  writing_.erase(found);
  context_.directory.unpin(demotion.memory.generation);
  if (!on()) return;  // whoever waits was told when the tier ended
  const int32_t judged = context_.fencing.judge(demotion.authority);
  const bool gone = context_.directory.find(demotion.memory, demotion.objectId) == nullptr ||
                    context_.directory.removed(demotion.memory.slot);
  if (outcome.ok() && judged == KV_OK && !gone) {
    context_.table->written(demotion.slot);
    storing_[demotion.slot] = demotion;
    return flush();
  }
  context_.table->abandon(demotion.slot);
  if (!outcome.ok()) {
    if (outcome.code() != KV_CHECKSUM && !sparesTier(outcome)) fail(outcome.text());
    return context_.answer(demotion.master, demotion.requestId, true, outcome.code());
  }
  context_.answer(demotion.master, demotion.requestId, judged == KV_OK, judged == KV_OK ? KV_STALE_EPOCH : judged);
}

void Tier::flush() {
  if (batch_ != nullptr || !context_.table->isDirty()) return;
  batch_ = std::make_shared<const ssd::Table::Batch>(context_.table->takeDirty(kStoreBlocksMax));
  batchOp_ = ++lastOp_;
  context_.outbox.add(TierStore{batch_});
}

void Tier::stored(const Status& outcome) {
  const std::shared_ptr<const ssd::Table::Batch> batch = std::exchange(batch_, nullptr);
  if (!on() || batch == nullptr) return;
  if (sparesTier(outcome)) {
    batch_ = batch;  // tick() has it done again
    storeAgain_ = true;
    return;
  }
  if (!outcome.ok()) return fail(outcome.text());
  settle(context_.table->stored(*batch));
  if (batch->header) {
    purging_ = true;
    next_ = 0;
  }
  flush();
}

void Tier::settle(const ssd::Table::Changes& changes) {
  for (const uint32_t slot : changes.readable) {
    context_.stream.tierCommitted(slot);
    ++context_.stats.demotions;
    context_.stats.demotedBytes += context_.table->slot(slot).object.payloadLength;
    const auto demotion = storing_.find(slot);
    if (demotion == storing_.end()) continue;
    context_.answer(demotion->second.master, demotion->second.requestId, true, KV_OK);
    storing_.erase(demotion);
  }
  settleDemotions();
  for (const ssd::Table::Changes::Freed& freed : changes.freed) {
    context_.stream.freed({kTierSegment, freed.slot, freed.generation}, freed.objectId);
    cleared(freed.slot);
  }
}

/// Of objects that were freed while they were on their way: when nothing of them is left on the device.
void Tier::settleDemotions() {
  std::erase_if(storing_, [&](const auto& one) {
    const ssd::Table::State state = context_.table->slot(one.first).state;
    if (state == ssd::Table::State::Storing || state == ssd::Table::State::Clearing) return false;
    context_.answer(one.second.master, one.second.requestId, true, KV_STALE_EPOCH);
    return true;
  });
}

// ---- frees ----

void Tier::free(const ExtentRef& extent, const ObjectId& id) {
  if (on() && context_.table->free(extent, id)) collected_.push_back(extent.slot);
}

void Tier::memoryFreed(const ObjectId& id) {
  if (!on()) return;
  const std::optional<uint32_t> slot = context_.table->slotOf(id);
  if (!slot || context_.table->slot(*slot).state != ssd::Table::State::Storing) return;
  if (context_.table->freeAnyState(*slot)) collected_.push_back(*slot);
}

void Tier::answerFree(ConnectionId master, uint64_t requestId) {
  const std::vector<uint32_t> slots = std::exchange(collected_, {});
  if (slots.empty()) return context_.answer(master, requestId, true, KV_OK);
  frees_[++lastFree_] = {master, requestId, slots.size()};
  for (const uint32_t slot : slots)
    freesBySlot_.emplace(slot, lastFree_);
  flush();
}

void Tier::cleared(uint32_t slot) {
  const auto [begin, end] = freesBySlot_.equal_range(slot);
  for (auto it = begin; it != end; ++it) {
    PendingFree& pending = frees_.at(it->second);
    if (--pending.open > 0) continue;
    context_.answer(pending.master, pending.requestId, true, KV_OK);
    frees_.erase(it->second);
  }
  freesBySlot_.erase(begin, end);
}

void Tier::purge() {
  if (!on()) return;
  context_.table->purge(context_.fencing.purged());
  flush();
}

void Tier::purgeSlice() {
  const uint32_t end = std::min(context_.table->slotsTouched(), next_ + kLooksPerSlice);
  for (; next_ < end; ++next_) {
    const ssd::Table::Slot& slot = context_.table->slot(next_);
    if (slot.state != ssd::Table::State::Free && slot.object.objectId < context_.table->purged()) {
      context_.table->freeAnyState(next_);
    }
  }
  purging_ = next_ < context_.table->slotsTouched();
  flush();
}

// ---- reads ----

bool Tier::roomForReads(uint64_t heldBytes) const {
  if (!on()) return true;  // to be told so
  const uint64_t rest = readBytesMax_ - std::min(readBytes_, readBytesMax_);
  return rest > 0 && heldBytes <= rest / kReadShareOfRest;
}

const ssd::Described* Tier::findFor(const OwnKeys& reader, const ExtentRef& extent, const ObjectId& id,
                                    uint64_t payloadLength) const {
  const ssd::Table::Slot* slot = on() ? context_.table->find(extent, id) : nullptr;
  const bool same = slot != nullptr && slot->object.payloadLength == payloadLength;
  if (!same || context_.directory.removed(id, slot->object.key) || !reader.see(slot->object.key)) return nullptr;
  return &slot->object;
}

Result<Tier::Begun> Tier::beginRead(const ExtentRef& extent, const ObjectId& id, uint64_t payloadLength,
                                    const OwnKeys& reader, uint64_t heldBytes) {
  const ssd::Described* object = findFor(reader, extent, id, payloadLength);
  if (object == nullptr) return Status(KV_NOT_FOUND, "the SSD does not hold it");
  if (!roomForReads(heldBytes)) return Status(KV_QUEUE_FULL, "as much as may be is read from the SSD already");
  const uint64_t held = ssd::tierExtentBytes(payloadLength);  // so that many small ones are bounded too
  readBytes_ += held;
  return begin(*object, extent, held, {});
}

Result<Tier::Begun> Tier::beginStagedRead(const ExtentRef& extent, const ObjectId& id, uint64_t payloadLength,
                                          const OwnKeys& reader, uint64_t transfer) {
  const ssd::Described* object = findFor(reader, extent, id, payloadLength);
  if (object == nullptr) return Status(KV_NOT_FOUND, "the SSD does not hold it");
  return begin(*object, extent, 0, transfer);
}

Tier::Begun Tier::begin(const ssd::Described& object, const ExtentRef& extent, uint64_t heldBytes,
                        std::optional<uint64_t> transfer) {
  context_.table->pin(extent.generation);
  reading_[++lastOp_] = {extent, object.objectId, object.payloadLength};
  context_.outbox.add(TierRead{lastOp_, object.extent.offset, object.payloadLength, object.payloadCrc, transfer});
  return {lastOp_, object.payloadCrc, heldBytes};
}

int32_t Tier::payloadRead(uint64_t op, const Status& outcome) {
  const auto found = reading_.find(op);
  if (found == reading_.end()) return KV_NOT_FOUND;
  const Reading reading = found->second;
  reading_.erase(found);
  context_.table->unpin(reading.extent.generation);
  if (!on()) return KV_NOT_FOUND;
  writeWatch_.waitedMs = 0;
  if (outcome.ok()) {
    // Removed while it was read: whoever asked before may have it, as with what is being sent from memory.
    ++context_.stats.tierReads;
    context_.stats.tierReadBytes += reading.payloadLength;
    return KV_OK;
  }
  if (sparesTier(outcome)) return outcome.code();
  if (outcome.code() != KV_CHECKSUM) {
    fail(outcome.text());
    return KV_NOT_FOUND;
  }
  ++context_.stats.damaged;
  ++context_.stats.checksumFailures;
  context_.outbox.note(LogLevel::Error,
                       "object " + toString(reading.objectId) +
                           " on the SSD does not match its checksum and was dropped; look at the disk");
  context_.table->free(reading.extent, reading.objectId);
  flush();
  return KV_CHECKSUM;
}

// ---- the end of it ----

bool Tier::Watch::outOfPatience(uint64_t oldest, uint64_t passedMs, uint64_t patienceMs) {
  waitedMs = oldest == op ? waitedMs + passedMs : 0;
  op = oldest;
  return oldest != 0 && waitedMs >= patienceMs;
}

void Tier::tick(uint64_t nowMs) {
  // A process that was stopped has not waited for the disk all that time.
  const uint64_t passedMs = std::min(nowMs - lastTickMs_, kTickMsMax);
  lastTickMs_ = nowMs;
  if (std::exchange(storeAgain_, false) && on()) context_.outbox.add(TierStore{batch_});
  const auto oldest = [](const auto& byOp) { return byOp.empty() ? 0 : byOp.begin()->first; };
  if (storeWatch_.outOfPatience(batch_ == nullptr ? 0 : batchOp_, passedMs, kPatienceMs)) {
    hangs("a write of its table", kPatienceMs);
  } else if (readWatch_.outOfPatience(oldest(reading_), passedMs, kPatienceMs)) {
    hangs("a read", kPatienceMs);
  } else if (writeWatch_.outOfPatience(oldest(writing_), passedMs, kWritePatienceMs)) {
    hangs("a write of a payload", kWritePatienceMs);
  }
}

void Tier::hangs(const std::string& what, uint64_t patienceMs) {
  fail(what + " takes more than " + std::to_string(patienceMs / 1000) + " s; look at the disk");
}

/// What is in memory goes on. The segment forgets the tier, so that the next life does not believe it: what is freed
/// from now on is not written there.
void Tier::fail(const std::string& why) {
  if (!on()) return;
  context_.tierProblem = why;
  context_.outbox.note(LogLevel::Error, "the SSD tier is off until the node is started again: " + why);
  context_.state.update([](store::SegmentState& state) { state.tier = 0; });
  context_.stream.forgetTier();
  for (const auto& [slot, demotion] : storing_)
    context_.answer(demotion.master, demotion.requestId, true, KV_IO);
  storing_.clear();
  // Those stay: the device reads their memory until it answers.
  for (const auto& [op, demotion] : writing_)
    context_.answer(demotion.master, demotion.requestId, true, KV_IO);
  // Answered before the records say that they are gone: nobody knows that the device will not show them again.
  for (const auto& [number, pending] : frees_)
    context_.answer(pending.master, pending.requestId, true, KV_IO);
  frees_.clear();
  freesBySlot_.clear();
  ended_.emplace();
  for (const auto& [op, reading] : reading_) {
    context_.table->unpin(reading.extent.generation);
    ended_->push_back(op);
  }
  reading_.clear();
  purging_ = false;
  dropping_ = true;
  next_ = 0;
}

void Tier::continueWork() {
  if (dropping_) return dropSlice();
  if (purging_) purgeSlice();
}

void Tier::dropSlice() {
  const uint32_t end = std::min(context_.table->slotsTouched(), next_ + kLooksPerSlice);
  for (; next_ < end; ++next_) {
    const ssd::Table::Slot& slot = context_.table->slot(next_);
    const bool told = slot.state == ssd::Table::State::Readable || slot.state == ssd::Table::State::Clearing;
    if (told) context_.stream.freed(extentOf(next_), slot.object.objectId);
  }
  dropping_ = next_ < context_.table->slotsTouched();
}

}  // namespace kvpool::node
