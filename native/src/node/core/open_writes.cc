// SPDX-License-Identifier: Apache-2.0
#include "node/core/open_writes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.h"

namespace kvpool::node {

Status OpenWrites::admits(uint64_t payloadLength) const {
  if (count_ >= kOpenMax) {
    return {KV_QUEUE_FULL, std::to_string(kOpenMax) + " objects are being written in parts, the most of a node"};
  }
  const uint64_t bytesMax = context_.directory.geometry().dataBytes / kShare;
  const std::optional<uint64_t> bytes = checkedAdd(bytes_, payloadLength);
  if (count_ == 0 || (bytes && *bytes <= bytesMax)) return {};
  return {KV_NO_SPACE, "objects that are being written in parts hold " + std::to_string(bytes_) +
                           " bytes, and may hold " + std::to_string(bytesMax)};
}

void OpenWrites::add(ConnectionId connection, uint32_t slot, const Authority& authority, uint64_t nowMs) {
  Write write;
  write.authority = authority;
  write.untilMs = nowMs + kOpenMs;
  owners_[connection].writes.emplace(slot, std::move(write));
  ++count_;
  bytes_ += context_.directory.slot(slot).payloadLength;
}

const OpenWrites::Write* OpenWrites::find(ConnectionId connection, uint32_t slot) const {
  const auto owner = owners_.find(connection);
  if (owner == owners_.end()) return nullptr;
  const auto write = owner->second.writes.find(slot);
  return write == owner->second.writes.end() ? nullptr : &write->second;
}

Status OpenWrites::judge(ConnectionId connection, const PartsWrite& request) const {
  const Write* write = find(connection, request.extent.slot);
  if (write == nullptr || request.extent.segment != kMemorySegment) {
    return {KV_LEASE_EXPIRED, "no object is being written there"};
  }
  const store::Slot& slot = context_.directory.slot(request.extent.slot);
  if (slot.generation != request.extent.generation || slot.objectId != request.objectId) {
    return {KV_LEASE_EXPIRED, "another object is being written there"};
  }
  // What is committed is judged when it is whole, and room goes back, also that of an earlier leader.
  if (request.step == PartsWrite::Step::Write && context_.fencing.judge(write->authority) != KV_OK) {
    return {KV_LEASE_EXPIRED, "the leader that granted it is obeyed no more"};
  }
  if (write->commit) return {KV_BUSY, "it is being committed"};
  for (const store::Range& part : request.parts) {
    if (!rangeInside(part.offset, part.length, 0, slot.payloadLength)) {
      return {KV_INVALID_ARGUMENT, "a part is outside of the object"};
    }
  }
  if (runs_ + request.parts.size() > kRunsMax) {
    return {KV_QUEUE_FULL,
            std::to_string(kRunsMax) + " runs of bytes were written to open objects, the most of a node"};
  }
  return {};
}

std::vector<store::Range> OpenWrites::beginParts(ConnectionId connection, const PartsWrite& request) {
  at(connection, request.extent.slot).receiving = true;
  const uint64_t offset = context_.directory.slot(request.extent.slot).payloadOffset();
  std::vector<store::Range> there = request.parts;
  for (store::Range& part : there)
    part.offset += offset;
  return there;
}

void OpenWrites::endParts(ConnectionId connection, uint32_t slot, const std::vector<store::Range>& parts, bool good) {
  if (!good) return abort(connection, slot);
  Write& write = at(connection, slot);
  write.receiving = false;
  runs_ -= write.runs.count();
  for (const store::Range& part : parts)
    write.runs.add(part);
  runs_ += write.runs.count();
}

Status OpenWrites::commit(ConnectionId connection, const PartsWrite& request) {
  const uint32_t slot = request.extent.slot;
  Owner& owner = owners_.at(connection);
  Write& write = owner.writes.at(slot);
  const uint64_t length = context_.directory.slot(slot).payloadLength;
  if (!write.runs.cover(length)) {
    abort(connection, slot);
    return {KV_INVALID_ARGUMENT, "bytes of the object were never written"};
  }
  uint8_t* payload = context_.directory.room(slot).data();
  write.commit = Commit{request.requestId, RunningSum::behind(payload, length), 0};
  if (owner.committing.empty()) committing_.push_back(connection);
  owner.committing.push_back(slot);
  return {};
}

void OpenWrites::abort(ConnectionId connection, uint32_t slot) {
  forget(connection, slot);
  context_.directory.abort(slot);
}

std::vector<OpenWrites::Whole> OpenWrites::step(uint64_t bytesMax) {
  std::vector<Whole> whole;
  for (const ConnectionId connection : std::exchange(committing_, {})) {
    Owner& owner = owners_.at(connection);
    stepOf(connection, owner, bytesMax, whole);
    if (!owner.committing.empty()) committing_.push_back(connection);
  }
  for (const Whole& one : whole)
    forget(one.connection, one.slot);
  return whole;
}

void OpenWrites::stepOf(ConnectionId connection, Owner& owner, uint64_t bytesMax, std::vector<Whole>& whole) {
  while (!owner.committing.empty() && bytesMax > 0) {
    const uint32_t slot = owner.committing.front();
    Write& write = owner.writes.at(slot);
    Commit& commit = *write.commit;
    const std::span<const uint8_t> payload = context_.directory.room(slot);
    const uint64_t part = std::min(bytesMax, payload.size() - commit.summed);
    commit.sum.add(payload.data() + commit.summed, part);
    commit.summed += part;
    bytesMax -= std::max<uint64_t>(part, 1);
    if (commit.summed < payload.size()) return;
    owner.committing.pop_front();
    whole.push_back({connection, commit.requestId, slot, write.authority, commit.sum.crc()});
  }
}

void OpenWrites::uncount(uint32_t slot, const Write& write) {
  --count_;
  runs_ -= write.runs.count();
  bytes_ -= context_.directory.slot(slot).payloadLength;
}

/// Of one that is not in the queue of those that are being committed.
void OpenWrites::forget(ConnectionId connection, uint32_t slot) {
  const auto owner = owners_.find(connection);
  const auto write = owner->second.writes.find(slot);
  uncount(slot, write->second);
  owner->second.writes.erase(write);
  if (owner->second.writes.empty()) owners_.erase(owner);
}

void OpenWrites::closed(ConnectionId connection) {
  const auto owner = owners_.find(connection);
  if (owner == owners_.end()) return;
  for (const auto& [slot, write] : owner->second.writes) {
    ++context_.stats.writeFailures;
    uncount(slot, write);
    context_.directory.abort(slot);
  }
  std::erase(committing_, connection);
  owners_.erase(owner);
}

void OpenWrites::tick(uint64_t nowMs) {
  std::vector<std::pair<ConnectionId, uint32_t>> over;
  for (const auto& [connection, owner] : owners_) {
    for (const auto& [slot, write] : owner.writes) {
      if (write.receiving || write.commit) continue;
      const bool obeyed = context_.fencing.judge(write.authority) == KV_OK;
      if (!obeyed || nowMs >= write.untilMs) over.emplace_back(connection, slot);
    }
  }
  for (const auto& [connection, slot] : over) {
    ++context_.stats.writeFailures;
    abort(connection, slot);
  }
}

}  // namespace kvpool::node
