// SPDX-License-Identifier: Apache-2.0
#include "engine/core/batch_table.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/host_port.h"

namespace kvpool::engine {
namespace {

constexpr int32_t kUndecided = 1;  // no kv_status

bool isPossible(const Line& line) {
  const auto local = reinterpret_cast<uintptr_t>(line.local);
  if (line.length == 0) return true;
  return line.local != nullptr && checkedAdd(local, line.length) && checkedAdd(line.remote, line.length);
}

}  // namespace

std::vector<PeerLines> BatchTable::add(Submission submission) {
  Batch batch;
  batch.statuses.assign(submission.lines.size(), kUndecided);
  std::vector<PeerLines> peers;
  std::unordered_map<std::string_view, size_t> known;  // texts of the caller, so that each is parsed once
  constexpr size_t kBad = SIZE_MAX;
  const auto peerOf = [&](const std::string& text) {
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    const auto address = parseHostPort(text);
    if (!address.ok()) return known.emplace(text, kBad).first->second;
    const std::string name = toString(address.value());
    const auto same = std::find_if(peers.begin(), peers.end(), [&](const PeerLines& one) { return one.peer == name; });
    const auto index = static_cast<size_t>(same - peers.begin());
    if (same == peers.end()) peers.push_back({name, {}});
    return known.emplace(text, index).first->second;
  };
  for (uint32_t i = 0; i < submission.lines.size(); ++i) {
    const Line& line = submission.lines[i];
    const size_t peer = isPossible(line) ? peerOf(line.peer) : kBad;
    if (peer == kBad) {
      batch.statuses[i] = KV_INVALID_ARGUMENT;
    } else {
      peers[peer].lines.push_back(i);
    }
  }
  batch.peersLeft = peers.size();
  batch.submission = std::move(submission);
  const BatchId id = batch.submission.id;
  batches_.emplace(id, std::move(batch));
  return peers;
}

std::optional<FinishBatch> BatchTable::peerDone(BatchId id) {
  const auto batch = batches_.find(id);
  if (batch == batches_.end() || --batch->second.peersLeft > 0) return std::nullopt;
  return finish(batch);
}

std::optional<FinishBatch> BatchTable::ifEmpty(BatchId id) {
  const auto batch = batches_.find(id);
  if (batch == batches_.end() || batch->second.peersLeft > 0) return std::nullopt;
  return finish(batch);
}

FinishBatch BatchTable::end(BatchId id, int32_t status) {
  const auto batch = batches_.find(id);
  std::replace(batch->second.statuses.begin(), batch->second.statuses.end(), kUndecided, status);
  return finish(batch);
}

FinishBatch BatchTable::finish(std::map<BatchId, Batch>::iterator batch) {
  FinishBatch finished{batch->first, std::move(batch->second.statuses), 0};
  for (size_t i = 0; i < finished.statuses.size(); ++i) {
    if (finished.statuses[i] == KV_OK) finished.bytes += batch->second.submission.lines[i].length;
  }
  batches_.erase(batch);
  return finished;
}

std::vector<BatchId> BatchTable::expired(Time now) const {
  std::vector<BatchId> ids;
  for (const auto& [id, batch] : batches_) {
    if (batch.submission.deadline <= now) ids.push_back(id);
  }
  return ids;
}

std::vector<BatchId> BatchTable::all() const {
  std::vector<BatchId> ids;
  for (const auto& [id, batch] : batches_)
    ids.push_back(id);
  return ids;
}

}  // namespace kvpool::engine
