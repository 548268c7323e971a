// SPDX-License-Identifier: Apache-2.0
#include "client/shell/device_copies.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "net/clock.h"

namespace kvpool::client {
namespace {

constexpr auto kHost = ascend::Location::Host;
constexpr auto kDevice = ascend::Location::Device;

ascend::Copy copyOf(void* to, const void* from, uint64_t length, bool toDevice) {
  return {static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), length, toDevice ? kDevice : kHost,
          toDevice ? kHost : kDevice};
}

/// A sum that is too large for take() stays so, whatever is added.
void add(uint64_t& bytes, uint64_t more) {
  constexpr uint64_t kTooMany = DeviceCopies::kBytesMax + 1;
  bytes = std::min(bytes + std::min(more, kTooMany), kTooMany);
}

LentMemory::Loans stillLent(const std::vector<std::weak_ptr<const LentMemory::Region>>& regions) {
  LentMemory::Loans loans;
  for (const auto& region : regions) {
    if (LentMemory::Loan loan = region.lock()) loans.push_back(std::move(loan));
  }
  return loans;
}

bool areOf(const LentMemory::Loans& loans, std::span<const kv_piece> pieces) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const kv_piece& piece) {
    return piece.length == 0 || std::any_of(loans.begin(), loans.end(), [&](const LentMemory::Loan& loan) {
             return LentMemory::isOf(loan, piece.data, piece.length);
           });
  });
}

}  // namespace

/// Copies of a call for all its lines: they share one time, so that a device that hangs takes it once.
class DeviceCopies::Copying {
 public:
  Copying(ascend::Npu& npu, int64_t timeoutMs)
      : npu_(npu), until_(net::steadyMs() + std::min<int64_t>(timeoutMs, npu.timeoutMs())) {}

  [[nodiscard]] ascend::Npu& npu() const { return npu_; }
  /// Why no more copies begin: one hangs, or hung and took the time.
  Status mayBegin() {
    if (late_.ok()) late_ = npu_.mayStillCopy();
    if (late_.ok() && net::steadyMs() >= until_) late_ = {KV_TIMEOUT, "no time is left to copy between host and NPU"};
    return late_;
  }
  Status copy(std::span<const ascend::Copy> copies, CopyRoom& by) {
    if (copies.empty()) return {};
    if (Status may = mayBegin(); !may.ok()) return may;
    const int64_t leftMs = std::max<int64_t>(until_ - net::steadyMs(), 1);
    Status copied = npu_.copy(copies, static_cast<int32_t>(leftMs), by.memory);
    if (copied.code() == KV_TIMEOUT) late_ = copied;
    return copied;
  }

 private:
  ascend::Npu& npu_;
  const int64_t until_;
  Status late_;
};

DeviceCopies::Staged DeviceCopies::stage(Submission& submission, kv_op* table, const LentMemory::Loans& loans) {
  Staged staged;
  const bool isWrite = submission.op == OpCode::Put || submission.op == OpCode::PutParts;
  ascend::Npu* npu = npu_.get();
  if (npu == nullptr || (!isWrite && submission.op != OpCode::Get)) return staged;
  Copying copying(*npu, submission.deadline - net::steadyMs());
  staged.table_ = table;
  staged.isRead_ = !isWrite;
  for (uint32_t i = 0; i < submission.lines.size(); ++i) {
    Operation& line = submission.lines[i];
    if (line.refused != KV_OK || line.length == 0) continue;
    Status done = stageLine(copying, line, isWrite, staged, i);
    if (done.ok()) continue;
    line.refused = done.code();
    if (staged.refusal_.ok()) staged.refusal_ = std::move(done);
  }
  if (staged.isRead_ && !staged.lines_.empty()) staged.regions_.assign(loans.begin(), loans.end());
  return staged;
}

Status DeviceCopies::stageLine(Copying& copying, Operation& line, bool isWrite, Staged& staged, uint32_t index) {
  auto kept = std::make_unique<Staged::Line>();
  kept->index = index;
  uint64_t bytes = 0;
  const std::span<const kv_piece> pieces = line.memory.pieces();
  std::vector<bool> isOurs;
  for (const kv_piece& piece : pieces) {
    const Result<bool> holds = piece.length > 0 ? copying.npu().holds(piece.data) : false;
    if (!holds.ok()) return holds.status();
    isOurs.push_back(holds.value());
    if (isOurs.back()) add(bytes, piece.length);
  }
  if (bytes == 0) return {};
  auto room = take(copying, bytes);
  if (!room.ok()) return room.status();
  kept->room = std::move(room.value());
  uint8_t* next = kept->room.memory.get();
  std::vector<ascend::Copy> copies;
  for (size_t i = 0; i < pieces.size(); ++i) {
    kept->wanted.push_back(pieces[i]);
    kept->pieces.push_back(pieces[i]);
    if (!isOurs[i]) continue;
    kept->pieces.back().data = next;
    if (isWrite) copies.push_back(copyOf(next, pieces[i].data, pieces[i].length, false));
    next += pieces[i].length;
  }
  if (Status copied = copying.copy(copies, kept->room); !copied.ok()) return copied;
  staged.lines_.push_back(std::move(kept));
  line.memory = Pieces(std::span<const kv_piece>(staged.lines_.back()->pieces));
  return {};
}

Result<CopyRoom> DeviceCopies::take(Copying& copying, uint64_t bytes) {
  if (Status may = copying.mayBegin(); !may.ok()) return may;  // memory would be taken for nothing
  CopyRoom room;
  const bool fits = held_.fetch_add(bytes) + bytes <= kBytesMax;
  room.counted = {&held_, CopyRoom::Uncount{bytes}};
  if (!fits) {
    return {KV_QUEUE_FULL, "memory of the host for " + std::to_string(bytes) +
                               " bytes of an NPU: batches that are under way hold what they may, " +
                               std::to_string(kBytesMax) + " bytes; wait for some, or make them smaller"};
  }
  auto memory = copying.npu().copyMemory(bytes);
  if (!memory.ok()) return memory.status();
  room.memory = std::move(memory.value());
  return room;
}

void DeviceCopies::keep(BatchId batch, Staged staged) {
  if (staged.empty()) return;
  const std::lock_guard lock(mutex_);
  kept_.emplace(batch, std::move(staged));
}

LentMemory::Loans DeviceCopies::borrowed(BatchId batch) {
  const std::lock_guard lock(mutex_);
  const auto kept = kept_.find(batch);
  return kept == kept_.end() ? LentMemory::Loans() : stillLent(kept->second.regions_);
}

Status DeviceCopies::collect(BatchId batch) {
  Staged staged;
  {
    const std::lock_guard lock(mutex_);
    auto kept = kept_.extract(batch);
    if (!kept) return {};
    staged = std::move(kept.mapped());
  }
  Status first = staged.refusal_;
  if (!staged.isRead_) return first;
  const LentMemory::Loans loans = stillLent(staged.regions_);
  const bool allLent = loans.size() == staged.regions_.size();
  if (staged.lines_.empty()) return first;
  Copying copying(*npu_.get(), npu_.get()->timeoutMs());
  for (const auto& line : staged.lines_) {
    kv_op& op = staged.table_[line->index];
    if (op.status != KV_OK) continue;
    if (!allLent && !areOf(loans, line->wanted)) {
      op.status = KV_NOT_REGISTERED;
      if (first.ok()) first = {op.status, "memory of an NPU was unregistered before its batch was waited for"};
      continue;
    }
    std::vector<ascend::Copy> copies;
    uint64_t left = op.result_length;
    for (size_t i = 0; i < line->pieces.size(); ++i) {
      const uint64_t part = std::min(left, line->pieces[i].length);
      left -= part;
      if (line->wanted[i].data == line->pieces[i].data || part == 0) continue;
      copies.push_back(copyOf(line->wanted[i].data, line->pieces[i].data, part, true));
    }
    Status copied = copying.copy(copies, line->room);
    if (copied.ok()) continue;
    op.status = copied.code();
    if (first.ok()) first = std::move(copied);
  }
  return first;
}

Status DeviceCopies::copy(std::span<const kv_memory_copy> copies) {
  std::vector<ascend::Copy> wanted;
  for (const kv_memory_copy& one : copies)
    wanted.push_back({static_cast<uint8_t*>(one.to), static_cast<const uint8_t*>(one.from), one.length});
  if (ascend::Npu* npu = npu_.get(); npu != nullptr) return npu->copyWithin(wanted, npu->timeoutMs());
  for (const ascend::Copy& copy : wanted) {
    if (copy.length > 0) std::memmove(copy.to, copy.from, copy.length);
  }
  return {};
}

}  // namespace kvpool::client
