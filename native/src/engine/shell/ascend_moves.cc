// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/ascend_moves.h"

#include "net/clock.h"

namespace kvpool::engine {

Result<std::unique_ptr<AscendMoves>> AscendMoves::open(const ascend::Station::Terms& terms) {
  auto opened = ascend::Station::open(terms);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<AscendMoves>(new AscendMoves(std::move(opened.value())));
}

bool AscendMoves::isOfDevice(uint64_t address) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of the caller, which CANN looks up
  const Result<bool> holds = station_->npu()->holds(reinterpret_cast<const void*>(address));
  return !holds.ok() || holds.value();  // another NPU's too, which add() refuses
}

Status AscendMoves::add(std::span<const kv_region> regions) {
  std::vector<std::pair<uint64_t, ascend::MemoryHandle>> added;
  for (const kv_region& region : regions) {
    const auto handle = station_->registerMemory(region.address, region.length);
    if (handle.ok()) {
      added.emplace_back(region.address, handle.value());
      continue;
    }
    for (const auto& [address, earlier] : added)
      (void)station_->engine().deregisterMemory(earlier);
    return handle.status();
  }
  const std::lock_guard lock(mutex_);
  handles_.insert(added.begin(), added.end());
  station_->transport().registered();
  return {};
}

void AscendMoves::remove(std::span<const kv_region> regions) {
  std::vector<ascend::MemoryHandle> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const kv_region& region : regions) {
      if (const auto handle = handles_.extract(region.address)) gone.push_back(handle.mapped());
    }
  }
  if (gone.empty()) return;
  own_.awaitBegun();
  station_->transport().withoutChannels([&] {
    for (const ascend::MemoryHandle handle : gone)
      (void)station_->engine().deregisterMemory(handle);
  });
}

void AscendMoves::begin(const Move& move) {
  if (move.isOwn) return own_.begin(move);
  std::vector<ascend::Piece> pieces;
  pieces.reserve(move.pieces.size());
  for (const MovedPiece& piece : move.pieces)
    pieces.push_back({reinterpret_cast<uintptr_t>(piece.local), piece.remote, piece.length});
  station_->transport().submit({move.endpoint, move.registrations},
                               move.read ? ascend::Direction::Read : ascend::Direction::Write, std::move(pieces),
                               move.deadline - net::steadyMs(),
                               [this, id = move.move](const Status& status) { end(id, status); });
}

void AscendMoves::end(uint64_t move, const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    ends_.push_back({move, status});
  }
  ended_();
}

void AscendMoves::shutDown() {
  own_.shutDown();
  station_->transport().shutDown();
}

std::vector<AscendMoves::End> AscendMoves::takeEnds() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ends_, {});
}

}  // namespace kvpool::engine
