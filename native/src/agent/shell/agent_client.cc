// SPDX-License-Identifier: Apache-2.0
#include "agent/shell/agent_client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/quiet_thread.h"
#include "net/clock.h"

namespace kvpool::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kBusyWaitMs = 20;  // while batches run, or nobody listens at the other end
constexpr int kIdleWaitMs = 1000;

}  // namespace

Result<std::unique_ptr<AgentClient>> AgentClient::attach(AgentClientSettings settings) {
  std::unique_ptr<AgentClient> agentClient(new AgentClient(std::move(settings)));
  agentClient->thread_ = startQuietThread("kvpool-attached", [raw = agentClient.get()] { raw->run(); });
  Status ready = agentClient->awaitReadiness();
  if (!ready.ok()) return ready;
  return agentClient;
}

AgentClient::~AgentClient() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  loop_.wake();
  if (thread_.joinable()) thread_.join();
}

Status AgentClient::awaitReadiness() {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, steady_clock::now() + milliseconds(settings_.readyTimeoutMs),
                      [&] { return core_.readiness().ok() || core_.hopeless(); });
  Status seen = core_.readiness();
  if (seen.ok() || core_.hopeless()) return seen;
  return {seen.code(), "not ready after " + std::to_string(settings_.readyTimeoutMs) + " ms: " + seen.text()};
}

// ---- the thread ----

void AgentClient::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    dialWhenDue();
    const int waitMs = core_.idle() && connection_ ? kIdleWaitMs : kBusyWaitMs;
    lock.unlock();
    loop_.await(waitMs);
    lock.lock();
    loop_.runOnce(0);
    core_.tick(net::steadyMs());
    act();
  }
  core_.shutDown();
  act();
  if (connection_) connection_->close();
  connection_.reset();
}

void AgentClient::dialWhenDue() {
  const std::optional<Time> due = core_.dialAt();
  if (connection_ || !due || net::steadyMs() < *due) return;
  connection_ = std::make_shared<net::Stream>(loop_, static_cast<net::Stream::Listener&>(*this), ++lastConnection_,
                                              net::Stream::Limits());
  const std::shared_ptr<net::Stream> keep = connection_;
  keep->dialUnix(settings_.core.agent);
  act();
}

/// Each life of an agent gets memory of its own: what an older one may still write goes nowhere.
void AgentClient::streamOpened(net::Stream::Id) {
  auto staging = client::StagingMemory::create(settings_.core.stagingBytes);
  if (!staging.ok()) {
    core_.withoutStaging(staging.status());
    return act();
  }
  staging_ = std::move(staging.value());
  core_.connected(net::steadyMs(), {staging_->at(0), settings_.core.stagingBytes});
}

void AgentClient::streamEnded(net::Stream::Id, const net::Stream::Ending& ending) {
  if (connection_) connection_->close();
  connection_.reset();
  core_.lost(net::steadyMs(), ending.why);
  staging_.reset();
}

void AgentClient::streamMalformed(net::Stream::Id id, const std::string& what) {
  streamEnded(id, {net::Stream::Ending::How::Lost, "sent malformed bytes: " + what});
}

void AgentClient::frameArrived(net::Stream::Id, wire::Body body) {
  core_.frame(net::steadyMs(), body);
}

void AgentClient::act() {
  AgentClientCore::Actions actions = core_.takeActions();
  const std::shared_ptr<net::Stream> connection = connection_;
  if (connection && actions.handOver) {
    connection->out().addFrames(std::make_shared<const wire::Bytes>(std::move(actions.frames.back())),
                                staging_->descriptor());
    actions.frames.pop_back();
  }
  for (wire::Bytes& frame : actions.frames) {
    if (connection) connection->out().addFrame(std::move(frame));
  }
  if (connection) connection->flush();
  if (actions.close && connection_) streamEnded(lastConnection_, {net::Stream::Ending::How::Closed, "closed"});
  for (const client::FinishBatch& finished : actions.finished)
    pending_.finish(finished);
  changed_.notify_all();
}

// ---- callers ----

Result<uint64_t> AgentClient::submit(client::OpCode op, kv_op* table, uint32_t count,
                                     const client::BatchOptions& options) {
  if (options.offsets != nullptr) return {KV_INVALID_ARGUMENT, "parts of values are not read through an agent"};
  if (client::isOfPutSession(op)) return {KV_INVALID_ARGUMENT, "values are not put in many calls through an agent"};
  if (client::isOfTask(op)) return {KV_INVALID_ARGUMENT, "copies are not asked for through an agent"};
  if (op == client::OpCode::Locate) return {KV_INVALID_ARGUMENT, "copies are not located through an agent"};
  LentMemory::Loans loans;
  client::Submission submission = client::submissionOf(op, table, count, options, memory_, net::steadyMs(), loans);
  client::DeviceCopies::Staged staged = devices_.stage(submission, table, loans);
  const std::lock_guard lock(mutex_);
  Result<client::BatchId> taken = pending_.add(submission, table, count, std::move(loans));
  if (!taken.ok()) return taken;
  submission.id = taken.value();
  devices_.keep(taken.value(), std::move(staged));
  const bool wasIdle = core_.idle();
  core_.submit(net::steadyMs(), std::move(submission));
  act();
  if (wasIdle) loop_.wake();  // the thread keeps deadlines from now on
  return taken;
}

int32_t AgentClient::wait(uint64_t batch, uint32_t timeoutMs) {
  const LentMemory::Loans loans = devices_.borrowed(batch);
  std::unique_lock lock(mutex_);
  if (!pending_.has(batch)) return KV_INVALID_ARGUMENT;
  const auto isOver = [&] { return pending_.isOver(batch); };
  if (!changed_.wait_until(lock, steady_clock::now() + milliseconds(timeoutMs), isOver)) return KV_TIMEOUT;
  const int32_t forgotten = pending_.forget(batch);
  lock.unlock();
  if (const Status done = devices_.collect(batch); !done.ok()) explain(done.text());
  return forgotten;
}

std::string AgentClient::explanation() const {
  const std::lock_guard lock(mutex_);
  return core_.explanation();
}

void AgentClient::explain(std::string sentence) {
  const std::lock_guard lock(mutex_);
  core_.explain(std::move(sentence));
}

client::Statistics AgentClient::statistics() const {
  const std::lock_guard lock(mutex_);
  return pending_.measured(core_.statistics());
}

}  // namespace kvpool::agent
