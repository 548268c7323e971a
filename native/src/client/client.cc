// SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

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

std::unique_ptr<Client> Client::begin(ClientSettings settings) {
  std::unique_ptr<Client> client(new Client(std::move(settings)));
  client->driver_.start();
  return client;
}

Result<std::unique_ptr<Client>> Client::connect(ClientSettings settings) {
  std::unique_ptr<Client> client = begin(std::move(settings));
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

Result<uint64_t> Client::submit(OpCode op, kv_op* table, uint32_t count, const BatchOptions& options) {
  Submission submission = submissionOf(op, table, count, options, memory_, ClientShell::now());
  std::unique_lock lock(driver_.mutex());
  if (!driver_.running()) return kDefunct;
  if (count > settings_.queueOpsMax - opsInFlight_) return queueFull(opsInFlight_, count, settings_.queueOpsMax);
  opsInFlight_ += count;
  const uint64_t id = submission.id = ++lastBatch_;
  pending_[id] = Pending{table, count, false};
  driver_.submit(lock, std::move(submission), options.waits);
  return id;
}

void Client::cancel(uint64_t batch) {
  const std::lock_guard lock(driver_.mutex());
  if (driver_.running()) driver_.cancel(batch);
}

bool Client::running() const {
  const std::lock_guard lock(driver_.mutex());
  return driver_.running();
}

void Client::batchFinished(const FinishBatch& finished) {
  const std::lock_guard lock(driver_.mutex());
  driver_.finished();
  const auto found = pending_.find(finished.batch);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  for (uint32_t i = 0; i < pending.count; ++i) {
    pending.table[i].status = finished.lines[i].status;
    pending.table[i].result_length = finished.lines[i].length;
  }
  pending.done = true;
  if (settings_.somethingHappened) settings_.somethingHappened(finished.batch);
}

void Client::stateChanged() {
  const std::lock_guard lock(driver_.mutex());
  driver_.changed();
  if (settings_.somethingHappened) settings_.somethingHappened(0);
}

int32_t Client::wait(uint64_t batch, uint32_t timeoutMs) {
  const auto deadline = steady_clock::now() + milliseconds(timeoutMs);
  std::unique_lock lock(driver_.mutex());
  auto found = pending_.find(batch);
  const auto isOver = [&] {
    found = pending_.find(batch);  // another thread may have waited for it and taken it out
    return found == pending_.end() || found->second.done;
  };
  if (found == pending_.end()) return KV_INVALID_ARGUMENT;
  if (!driver_.await(lock, deadline, isOver)) return KV_TIMEOUT;
  if (found == pending_.end()) return KV_INVALID_ARGUMENT;
  opsInFlight_ -= found->second.count;
  pending_.erase(found);
  return KV_OK;
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
