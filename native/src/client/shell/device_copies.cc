// SPDX-License-Identifier: Apache-2.0
#include "client/shell/device_copies.h"

#include <algorithm>

namespace kvpool::client {
namespace {

ascend::Copy copyOf(void* to, const void* from, uint64_t length, bool toDevice) {
  const auto host = ascend::Location::Host;
  const auto device = ascend::Location::Device;
  return {static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), length, toDevice ? device : host,
          toDevice ? host : device};
}

}  // namespace

void DeviceCopies::stage(Submission& submission, kv_op* table, Staged& staged) {
  const bool isWrite = submission.op == OpCode::Put || submission.op == OpCode::PutParts;
  if (!isWrite && submission.op != OpCode::Get) return;
  staged.table_ = table;
  staged.isRead_ = !isWrite;
  staged.held_.all = &held_;
  for (uint32_t i = 0; i < submission.lines.size(); ++i) {
    Operation& line = submission.lines[i];
    if (line.refused != KV_OK || line.length == 0) continue;
    Status done = stageLine(line, isWrite, staged, i);
    if (done.ok()) continue;
    line.refused = done.code();
    if (staged.refusal_.ok()) staged.refusal_ = std::move(done);
  }
}

Status DeviceCopies::stageLine(Operation& line, bool isWrite, Staged& staged, uint32_t index) {
  auto kept = std::make_unique<Staged::Line>();
  kept->index = index;
  uint64_t bytes = 0;
  const std::span<const kv_piece> pieces = line.memory.pieces();
  std::vector<bool> isOurs;
  for (const kv_piece& piece : pieces) {
    isOurs.push_back(piece.length > 0 && isOfDevice(piece.data));
    if (isOurs.back()) bytes += piece.length;
  }
  if (bytes == 0) return {};
  if (held_.fetch_add(bytes) + bytes > kBytesMax) {
    held_.fetch_sub(bytes);
    return {KV_QUEUE_FULL, "memory of the host for " + std::to_string(bytes) +
                               " bytes of an NPU: batches that are under way hold what they may, " +
                               std::to_string(kBytesMax) + " bytes; wait for some, or make them smaller"};
  }
  staged.held_.bytes += bytes;
  auto memory = station_.copyMemory(bytes);
  if (!memory.ok()) return memory.status();
  kept->memory = std::move(memory.value());
  uint8_t* next = kept->memory.get();
  std::vector<ascend::Copy> copies;
  for (size_t i = 0; i < pieces.size(); ++i) {
    kept->wanted.push_back(pieces[i]);
    kept->pieces.push_back(pieces[i]);
    if (!isOurs[i]) continue;
    kept->pieces.back().data = next;
    if (isWrite) copies.push_back(copyOf(next, pieces[i].data, pieces[i].length, false));
    next += pieces[i].length;
  }
  if (Status copied = station_.copy(copies); !copied.ok()) return copied;
  staged.lines_.push_back(std::move(kept));
  line.memory = Pieces(std::span<const kv_piece>(staged.lines_.back()->pieces));
  return {};
}

Status DeviceCopies::collect(const Staged& staged) {
  Status first = staged.refusal_;
  if (!staged.isRead_) return first;
  for (const auto& line : staged.lines_) {
    kv_op& op = staged.table_[line->index];
    if (op.status != KV_OK) continue;
    std::vector<ascend::Copy> copies;
    uint64_t left = op.result_length;
    for (size_t i = 0; i < line->pieces.size(); ++i) {
      const uint64_t part = std::min(left, line->pieces[i].length);
      left -= part;
      if (line->wanted[i].data == line->pieces[i].data || part == 0) continue;
      copies.push_back(copyOf(line->wanted[i].data, line->pieces[i].data, part, true));
    }
    Status copied = station_.copy(copies);
    if (copied.ok()) continue;
    op.status = KV_TRANSFER_FAILED;
    if (first.ok()) first = std::move(copied);
  }
  return first;
}

}  // namespace kvpool::client
