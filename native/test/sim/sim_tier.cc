// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_tier.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "ssd/tier_file.h"

namespace kvpool::sim {
namespace {

constexpr size_t kSectorBytes = 512;

}  // namespace

// ---- the device ----

bool BytesDevice::isStored() {
  if (torn_ == 0) return true;
  torn_ ^= torn_ << 13U;
  torn_ ^= torn_ >> 7U;
  torn_ ^= torn_ << 17U;
  return (torn_ & 1U) != 0;
}

Status BytesDevice::read(std::span<const ssd::Piece> pieces) {
  for (const ssd::Piece& piece : pieces) {
    std::memcpy(piece.bytes.data(), bytes_.subspan(piece.offset, piece.bytes.size()).data(), piece.bytes.size());
  }
  return {};
}

Status BytesDevice::write(std::span<const ssd::Piece> pieces) {
  for (const ssd::Piece& piece : pieces) {
    if (piece.offset + piece.bytes.size() > bytes_.size()) throw std::logic_error("a write beyond the end of the SSD");
    for (size_t at = 0; at < piece.bytes.size(); at += kSectorBytes) {
      if (isStored()) std::memcpy(bytes_.data() + piece.offset + at, piece.bytes.data() + at, kSectorBytes);
    }
  }
  return {};
}

// ---- the tier ----

ssd::Table* SimTier::open(uint32_t fresh, const store::SegmentIdentity& identity, const store::SegmentState& state,
                          const store::Directory& directory) {
  ssd::TierCheck found = ssd::checkTier(deviceBytes_.first(ssd::kTableOffset), deviceBytes_.size(), identity);
  const bool created = found.verdict == ssd::TierVerdict::Empty;
  if (created) {
    found.header = ssd::newHeader(ssd::planTier(deviceBytes_.size()).value(), identity, fresh);
    if (!ssd::formatTier(device_, found.header).ok()) return nullptr;
  } else if (found.verdict != ssd::TierVerdict::Fits) {
    return nullptr;
  }
  Result<node::TierStart> start = node::startTier({device_, found.header, created}, fresh, state, directory);
  if (!start.ok()) return nullptr;
  table_.emplace(std::move(start.value().table));
  return &*table_;
}

uint64_t SimTier::submit(ssd::Job job, std::vector<Touched> touched) {
  for (const auto& [number, other] : pending_) {
    for (const Touched& mine : touched) {
      for (const Touched& theirs : other.touched) {
        const bool overlap = mine.offset < theirs.offset + theirs.length && theirs.offset < mine.offset + mine.length;
        if (overlap && (mine.written || theirs.written)) {
          throw std::logic_error("blocks of the SSD at " + std::to_string(mine.offset) +
                                 " are used by two jobs at a time");
        }
      }
    }
  }
  pending_.emplace(++lastJob_, Pending{std::move(job), std::move(touched)});
  return lastJob_;
}

uint64_t SimTier::submit(const node::TierWrite& write) {
  const std::span<const uint8_t> from = segment_.subspan(write.offset, write.length);
  return submit(ssd::WritePayload{write.op, from, write.to, write.crc},
                {{write.to, ssd::tierExtentBytes(write.length), true}});
}

uint64_t SimTier::submit(const node::TierStore& store) {
  std::vector<Touched> touched;
  for (const ssd::Table::Batch::Block& block : store.batch->blocks)
    touched.push_back({block.offset, ssd::kBlockBytes, true});
  return submit(ssd::StoreBlocks{store.batch}, std::move(touched));
}

uint64_t SimTier::submit(const node::TierRead& read, std::span<uint8_t> into) {
  return submit(ssd::ReadPayload{read.op, read.from, read.length, read.crc, into},
                {{read.from, ssd::tierExtentBytes(read.length), false}});
}

std::optional<SimTier::Worked> SimTier::work(uint64_t job, bool fails) {
  const auto found = pending_.find(job);
  if (found == pending_.end()) return std::nullopt;
  ssd::Done done{found->second.job, Status(KV_IO, "the simulated SSD failed"), {}};
  pending_.erase(found);
  if (!fails) done = ssd::perform(device_, done.job);
  const auto* read = std::get_if<ssd::ReadPayload>(&done.job);
  if (read != nullptr && read->into.empty() && done.status.ok()) payloads_[read->op] = std::move(done.payload);
  return Worked{std::move(done.job), std::move(done.status)};
}

void SimTier::tear(uint64_t random) {
  device_.tear(random);
  for (const auto& [number, pending] : pending_)
    static_cast<void>(ssd::perform(device_, pending.job));
  pending_.clear();
}

std::span<const uint8_t> SimTier::send(const node::SendTierPayload& send) {
  const auto payload = payloads_.find(send.op);
  if (payload == payloads_.end()) throw std::logic_error("a payload is sent that was not read");
  std::deque<ssd::BlockBuffer>& queue = sending_[send.connection];
  queue.push_back(std::move(payload->second));
  payloads_.erase(payload);
  return queue.back().bytes().first(send.length);
}

}  // namespace kvpool::sim
