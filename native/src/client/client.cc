// SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kvpool::client {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const Status kDefunct(KV_INTERNAL, "the client ended because of a defect, see the log; create a new client");

}  // namespace

Client::Client(ClientSettings settings) : settings_(std::move(settings)), shell_(settings_.config, *this) {}

Client::~Client() {
  driver_.stop();
}

Result<std::unique_ptr<Client>> Client::connect(ClientSettings settings) {
  std::unique_ptr<Client> client(new Client(std::move(settings)));
  client->driver_.start();
  Status ready = client->awaitLeader();
  if (!ready.ok()) return ready;
  return client;
}

Status Client::awaitLeader() {
  ClientShell::Snapshot seen;
  std::unique_lock lock(driver_.mutex());
  driver_.await(lock, steady_clock::now() + milliseconds(settings_.readyTimeoutMs), [&] {
    seen = shell_.snapshot();
    return seen.readiness.ok() || seen.hopeless;
  });
  if (seen.readiness.ok()) return {};
  if (seen.hopeless) return seen.readiness;
  return {seen.readiness.code(),
          "not ready after " + std::to_string(settings_.readyTimeoutMs) + " ms: " + seen.readiness.text()};
}

Submission Client::prepare(OpCode op, const kv_op* table, uint32_t count, const Options& options) const {
  Submission submission;
  submission.op = op;
  submission.deadline = ClientShell::now() + options.timeoutMs;
  submission.force = options.force;
  submission.replicas = options.replicas;
  submission.preferredNode = options.preferredNode;
  submission.upsert = options.upsert;
  submission.reuse = options.reuse;
  submission.pins = options.pins;
  submission.softPinMs = options.softPinMs;
  submission.lines.resize(count);
  const bool hasData = op == OpCode::Put || op == OpCode::Get;
  for (uint32_t i = 0; i < count; ++i) {
    Operation& line = submission.lines[i];
    const kv_op& asked = table[i];
    if (asked.key == nullptr) {
      line.refused = KV_INVALID_KEY;
      continue;
    }
    line.key = {static_cast<const char*>(asked.key), asked.key_length};
    if (op == OpCode::Put && options.groups != nullptr) line.group = options.groups[i];
    if (!hasData) continue;
    nameMemory(line, asked, options);
  }
  return submission;
}

void Client::nameMemory(Operation& line, const kv_op& asked, const Options& options) const {
  line.memory = Memory(asked.data, asked.length);
  if (options.inPieces) {
    const bool whole = asked.length <= KV_PIECES_MAX && (asked.data != nullptr || asked.length == 0);
    if (!whole) {
      line.refused = KV_INVALID_ARGUMENT;
      return;
    }
    line.memory = Memory(std::span(static_cast<const kv_piece*>(asked.data), asked.length));
  }
  const auto pieces = line.memory.pieces();
  const auto length = Memory::lengthOf(pieces);
  line.length = length.value_or(0);
  if (!length) line.refused = KV_INVALID_ARGUMENT;
  const auto isCovered = [&](const kv_piece& piece) { return memory_.covers(piece.data, piece.length); };
  if (length && options.registered && !std::all_of(pieces.begin(), pieces.end(), isCovered)) {
    line.refused = KV_NOT_REGISTERED;
  }
}

Result<uint64_t> Client::submit(OpCode op, kv_op* table, uint32_t count, const Options& options) {
  Submission submission = prepare(op, table, count, options);
  std::unique_lock lock(driver_.mutex());
  if (!driver_.running()) return kDefunct;
  if (count > settings_.queueOpsMax - opsInFlight_) {
    return {KV_QUEUE_FULL, std::to_string(opsInFlight_) + " operations are in flight or not waited for, and " +
                               std::to_string(count) +
                               " more exceed queue_ops_max = " + std::to_string(settings_.queueOpsMax)};
  }
  opsInFlight_ += count;
  const uint64_t id = submission.id = ++lastBatch_;
  pending_[id] = Pending{table, count, false, false, {}};
  driver_.submit(lock, std::move(submission), options.waits);
  return id;
}

void Client::batchFinished(const FinishBatch& finished) {
  const std::lock_guard lock(driver_.mutex());
  driver_.finished();
  const auto found = pending_.find(finished.batch);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  if (pending.isRemoveAll) pending.removedAll = finished.lines.front();
  for (uint32_t i = 0; i < pending.count; ++i) {
    pending.table[i].status = finished.lines[i].status;
    pending.table[i].result_length = finished.lines[i].length;
  }
  pending.done = true;
}

void Client::stateChanged() {
  const std::lock_guard lock(driver_.mutex());
  driver_.changed();
}

int32_t Client::wait(uint64_t batch, uint32_t timeoutMs) {
  const auto deadline = steady_clock::now() + milliseconds(timeoutMs);
  std::unique_lock lock(driver_.mutex());
  auto found = pending_.find(batch);
  const auto isOver = [&] {
    found = pending_.find(batch);  // another thread may have waited for it and taken it out
    return found == pending_.end() || found->second.done;
  };
  if (found == pending_.end() || found->second.isRemoveAll) return KV_INVALID_ARGUMENT;
  if (!driver_.await(lock, deadline, isOver)) return KV_TIMEOUT;
  if (found == pending_.end()) return KV_INVALID_ARGUMENT;
  opsInFlight_ -= found->second.count;
  pending_.erase(found);
  return KV_OK;
}

Result<uint64_t> Client::removeAll(bool force, uint32_t timeoutMs) {
  Submission submission;
  submission.op = OpCode::RemoveAll;
  submission.force = force;
  submission.deadline = ClientShell::now() + timeoutMs;
  submission.lines.resize(1);
  std::unique_lock lock(driver_.mutex());
  if (!driver_.running()) return kDefunct;
  const uint64_t id = submission.id = ++lastBatch_;
  pending_[id].isRemoveAll = true;
  driver_.submit(lock, std::move(submission), true);
  // Ends by the batch's own deadline.
  driver_.await(lock, Driver::Clock::time_point::max(), [&] { return pending_.at(id).done; });
  const LineResult result = pending_.at(id).removedAll;
  pending_.erase(id);
  if (result.status != KV_OK) return {result.status, std::string("remove_all: ") + statusText(result.status)};
  return result.length;
}

std::string Client::explanation() const {
  const std::string latest = shell_.snapshot().explanation;
  const std::lock_guard lock(driver_.mutex());
  return refusal_.empty() || latest != refusalAfter_ ? latest : refusal_;
}

void Client::explain(std::string sentence) {
  std::string latest = shell_.snapshot().explanation;
  const std::lock_guard lock(driver_.mutex());
  refusal_ = std::move(sentence);
  refusalAfter_ = std::move(latest);
}

}  // namespace kvpool::client
