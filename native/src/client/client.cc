// SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include <chrono>
#include <utility>

namespace kvpool::client {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const Status kDefunct(KV_INTERNAL,
                      "the client's I/O thread ended because of a defect, see the log; create a new client");

}  // namespace

Client::Client(ClientSettings settings) : settings_(std::move(settings)), shell_(settings_.config, *this) {}

Client::~Client() {
  shell_.stop();
}

Result<std::unique_ptr<Client>> Client::connect(ClientSettings settings) {
  std::unique_ptr<Client> client(new Client(std::move(settings)));
  client->shell_.start();
  Status ready = client->awaitLeader();
  if (!ready.ok()) return ready;
  return client;
}

Status Client::awaitLeader() {
  const auto deadline = steady_clock::now() + milliseconds(settings_.readyTimeoutMs);
  std::unique_lock lock(mutex_);
  while (true) {
    lock.unlock();
    const ClientShell::Snapshot seen = shell_.snapshot();
    if (seen.readiness.ok()) return {};
    if (seen.hopeless) return seen.readiness;
    lock.lock();
    if (steady_clock::now() >= deadline) {
      return {seen.readiness.code(),
              "not ready after " + std::to_string(settings_.readyTimeoutMs) + " ms: " + seen.readiness.text()};
    }
    // A change between the look and this wait is seen at the next round of the I/O thread, milliseconds later.
    changed_.wait_until(lock, std::min(deadline, steady_clock::now() + milliseconds(50)));
  }
}

Submission Client::prepare(OpCode op, const kv_op* table, uint32_t count, const Options& options) const {
  Submission submission;
  submission.op = op;
  submission.deadline = ClientShell::now() + options.timeoutMs;
  submission.force = options.force;
  submission.replicas = options.replicas;
  submission.preferredNode = options.preferredNode;
  submission.upsert = options.upsert;
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
    line.data = asked.data;
    line.length = asked.length;
    if (asked.data == nullptr && asked.length > 0) line.refused = KV_INVALID_ARGUMENT;
    if (options.registered && !memory_.covers(asked.data, asked.length)) line.refused = KV_NOT_REGISTERED;
  }
  return submission;
}

Result<uint64_t> Client::submit(OpCode op, kv_op* table, uint32_t count, const Options& options) {
  if (!shell_.running()) return kDefunct;
  Submission submission = prepare(op, table, count, options);
  const std::lock_guard lock(mutex_);
  if (count > settings_.queueOpsMax - opsInFlight_) {
    return {KV_QUEUE_FULL, std::to_string(opsInFlight_) + " operations are in flight or not waited for, and " +
                               std::to_string(count) +
                               " more exceed queue_ops_max = " + std::to_string(settings_.queueOpsMax)};
  }
  opsInFlight_ += count;
  submission.id = ++lastBatch_;
  pending_[submission.id] = Pending{table, count, false, false, {}};
  const uint64_t id = submission.id;
  shell_.submit(std::move(submission));
  return id;
}

void Client::batchFinished(const FinishBatch& finished) {
  {
    const std::lock_guard lock(mutex_);
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
  changed_.notify_all();
}

void Client::stateChanged() {
  changed_.notify_all();
}

int32_t Client::wait(uint64_t batch, uint32_t timeoutMs) {
  const auto deadline = steady_clock::now() + milliseconds(timeoutMs);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = pending_.find(batch);
    if (found == pending_.end() || found->second.isRemoveAll) return KV_INVALID_ARGUMENT;
    if (found->second.done) {
      opsInFlight_ -= found->second.count;
      pending_.erase(found);
      return KV_OK;
    }
    if (steady_clock::now() >= deadline) return KV_TIMEOUT;
    changed_.wait_until(lock, deadline);
  }
}

Result<uint64_t> Client::removeAll(bool force, uint32_t timeoutMs) {
  if (!shell_.running()) return kDefunct;
  Submission submission;
  submission.op = OpCode::RemoveAll;
  submission.force = force;
  submission.deadline = ClientShell::now() + timeoutMs;
  submission.lines.resize(1);
  std::unique_lock lock(mutex_);
  const uint64_t id = ++lastBatch_;
  submission.id = id;
  pending_[id].isRemoveAll = true;
  shell_.submit(std::move(submission));
  changed_.wait(lock, [&] { return pending_.at(id).done; });  // ends by the batch's own deadline
  const LineResult result = pending_.at(id).removedAll;
  pending_.erase(id);
  if (result.status != KV_OK) return {result.status, std::string("remove_all: ") + statusText(result.status)};
  return result.length;
}

std::string Client::explanation() const {
  const std::string latest = shell_.snapshot().explanation;
  const std::lock_guard lock(mutex_);
  return refusal_.empty() || latest != refusalAfter_ ? latest : refusal_;
}

void Client::explain(std::string sentence) {
  std::string latest = shell_.snapshot().explanation;
  const std::lock_guard lock(mutex_);
  refusal_ = std::move(sentence);
  refusalAfter_ = std::move(latest);
}

}  // namespace kvpool::client
