// SPDX-License-Identifier: Apache-2.0
#include "client/shell/client.h"

#include <chrono>
#include <utility>

#include "net/clock.h"

namespace kvpool::client {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const Status kDefunct(KV_INTERNAL, "the client ended because of a defect, see the log; create a new client");

}  // namespace

Client::Client(ClientSettings settings)
    : settings_(std::move(settings)),
      pending_(settings_.queueOpsMax),
      shell_(settings_.config, settings_.busyWait, settings_.security, *this) {
  if (ascend::Station* station = shell_.station()) npu_.use(station->npu());
}

Client::~Client() {
  driver_.stop();
}

std::unique_ptr<Client> Client::begin(ClientSettings settings) {
  std::unique_ptr<Client> client(new Client(std::move(settings)));
  client->driver_.start();
  return client;
}

Result<std::unique_ptr<Client>> Client::connect(ClientSettings settings) {
  const bool remoteOnly = settings.config.remoteOnly;
  std::unique_ptr<Client> client = begin(std::move(settings));
  if (const Status& problem = client->shell_.ascendProblem(); remoteOnly && !problem.ok()) {
    return Status(problem.code(),
                  "ascend cannot be used here, and tcp is not among the protocols; add it if it may be used instead: " +
                      problem.text());
  }
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
  LentMemory::Loans loans;
  Submission submission = submissionOf(op, table, count, options, memory_, net::steadyMs(), loans);
  DeviceCopies::Staged staged = devices_.stage(submission, table, loans);
  std::unique_lock lock(driver_.mutex());
  if (!driver_.running()) return kDefunct;
  const bool names =
      op == OpCode::Get || op == OpCode::PutStart || op == OpCode::AskTask;  // the others only read what they are of
  Result<BatchId> taken = pending_.add(submission, table, count, std::move(loans), names ? options.objects : nullptr);
  if (!taken.ok()) return taken;
  submission.id = taken.value();
  devices_.keep(taken.value(), std::move(staged));
  driver_.submit(lock, std::move(submission), options.waits);
  return taken;
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
  if (!pending_.finish(finished)) return;
  if (settings_.somethingHappened) settings_.somethingHappened(finished.batch);
}

void Client::stateChanged() {
  const std::lock_guard lock(driver_.mutex());
  driver_.changed();
  if (settings_.somethingHappened) settings_.somethingHappened(0);
}

int32_t Client::wait(uint64_t batch, uint32_t timeoutMs) {
  const auto deadline = steady_clock::now() + milliseconds(timeoutMs);
  const LentMemory::Loans loans = devices_.borrowed(batch);
  std::unique_lock lock(driver_.mutex());
  if (!pending_.has(batch)) return KV_INVALID_ARGUMENT;
  if (!driver_.await(lock, deadline, [&] { return pending_.isOver(batch); })) return KV_TIMEOUT;
  const int32_t forgotten = pending_.forget(batch);
  lock.unlock();
  if (const Status done = devices_.collect(batch); !done.ok()) explain(done.text());
  return forgotten;
}

Statistics Client::statistics() const {
  Statistics seen = shell_.snapshot().statistics;
  const std::lock_guard lock(driver_.mutex());
  return pending_.measured(seen);
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
