// SPDX-License-Identifier: Apache-2.0
#include "agent/shell/agent.h"

#include <sys/epoll.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/quiet_thread.h"
#include "net/clock.h"
#include "net/socket.h"
#include "store/staging.h"

namespace kvpool::agent {
namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr int kRoundsPerTurn = 8;
constexpr uint64_t kTickMs = 100;
/// Answers a guest does not read wait here; while this many do, nothing more is read from it.
constexpr node::Connection::Limits kLimits{kRequestBytes, 2 * kRequestsInFlight};

uint64_t monotonicMs() {
  return static_cast<uint64_t>(net::steadyMs());
}

/// A miss and an object that is there already are answers.
bool isFailure(const kv_op& line) {
  return line.status != KV_OK && line.status != KV_NOT_FOUND && line.status != KV_EXISTS;
}

client::BatchOptions optionsOf(const Request& request, const std::vector<uint64_t>& groups) {
  client::BatchOptions options;
  options.reuse = request.reuse;
  options.force = request.force;
  options.timeoutMs = request.timeoutMs;
  options.replicas = request.replicas;
  options.preferredNode = request.preferredNode;
  options.upsert = request.upsert;
  options.pins = request.pins;
  options.softPinMs = request.softPinMs;
  options.groups = groups.data();
  return options;
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::start(AgentSettings settings) {
  std::unique_ptr<Agent> agent(new Agent(std::move(settings)));
  Result<Fd> listener = net::listenUnix(agent->settings_.socketPath, &agent->socketFile_);
  if (!listener.ok()) return listener.status();
  agent->listener_ = std::move(listener.value());
  agent->loop_.add(agent->listener_.get(), EPOLLIN, [raw = agent.get()](uint32_t) { raw->acceptAll(); });

  client::ClientSettings own = agent->settings_.client;
  own.somethingHappened = [raw = agent.get()](uint64_t batch) {
    const std::lock_guard lock(raw->mutex_);
    if (batch != 0) raw->done_.push_back(batch);
    raw->loop_.wake();
  };
  agent->client_ = client::Client::begin(std::move(own));

  agent->thread_ = startQuietThread("kvpool-agent", [raw = agent.get()] { raw->run(); });
  return agent;
}

Agent::Agent(AgentSettings settings)
    : settings_(std::move(settings)), guests_(settings_.guests), nowMs_(monotonicMs()) {}

Agent::~Agent() {
  stop_.store(true, std::memory_order_relaxed);
  loop_.wake();
  if (thread_.joinable()) thread_.join();
  client_.reset();       // lets go of the guests' memory
  socketFile_.remove();  // while the socket is open, so that no other file can have got its number
}

AgentStats Agent::stats() const {
  AgentStats stats;
  stats.pool = client_->statistics();
  stats.stagingBytesMax = settings_.guests.stagingBytes;
  const std::lock_guard lock(mutex_);
  stats.guests = counters_;
  return stats;
}

std::string Agent::whyNotReady() const {
  return client_->readiness().text();
}

bool Agent::running() const {
  return running_.load(std::memory_order_relaxed) && client_->running();
}

// ---- turns ----

void Agent::run() {
  try {
    while (!stop_.load(std::memory_order_relaxed))
      turn();
  } catch (const std::exception& defect) {
    log(LogLevel::Error, std::string("the agent gives up: ") + defect.what());
    running_.store(false, std::memory_order_relaxed);
  }
  connections_.clear();  // guests see that we are gone
}

void Agent::turn() {
  nowMs_ = monotonicMs();
  const bool waits = ready_.empty() && touched_.empty() && nowMs_ < nextTickMs_;
  loop_.runOnce(waits ? static_cast<int>(nextTickMs_ - nowMs_) : 0);
  nowMs_ = monotonicMs();
  for (const ConnectionId id : std::exchange(ready_, {})) {
    if (node::Connection* connection = find(id)) work(*connection);
  }
  takeDone();
  if (nowMs_ >= nextTickMs_) tick();
  act();
  settle();
  const std::lock_guard lock(mutex_);
  counters_ = guests_.counters();
}

void Agent::tick() {
  nextTickMs_ = nowMs_ + kTickMs;
  loop_.modify(listener_.get(), EPOLLIN);
  const client::Statistics pool = client_->statistics();
  const Status readiness = client_->readiness();
  guests_.stateIs({readiness.ok(), pool.epoch, readiness.text()});
  guests_.tick(static_cast<Time>(nowMs_));
  const auto patienceMs = static_cast<uint64_t>(settings_.client.config.transferTimeoutMs);
  for (auto& [id, connection] : connections_) {
    connection->expire(nowMs_);
    const uint64_t since = connection->stalledSinceMs();
    if (since != 0 && nowMs_ - since > patienceMs) {
      connection->abandon("made no progress for " + std::to_string(patienceMs) + " ms");
    }
    if (connection->gone()) touched_.insert(id);
  }
}

void Agent::acceptAll() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    net::SocketAddress address;
    Result<Fd> accepted = net::acceptOne(listener_.get(), &address);
    if (!accepted.ok()) {  // out of descriptors: the listener stays readable, so it rests until the next tick
      if (!std::exchange(acceptFailed_, true)) log(LogLevel::Error, accepted.status().text());
      return loop_.modify(listener_.get(), 0);
    }
    if (!accepted.value().valid()) {  // there are descriptors again: without one accepting fails also when nobody waits
      acceptFailed_ = false;
      return;
    }
    const ConnectionId id = ++lastId_;
    auto connection = std::make_unique<node::Connection>(id, std::move(accepted.value()), true, "client", kLimits,
                                                         std::span<uint8_t>(), nowMs_);
    loop_.add(connection->fd(), EPOLLIN, [this, id](uint32_t events) {
      node::Connection* known = find(id);
      if (known == nullptr) return;
      if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) work(*known);
      // Reading is off, or did not notice: a dead peer must not wake the loop for ever.
      if ((events & (EPOLLERR | EPOLLHUP)) != 0) known->abandon("connection lost");
      touched_.insert(id);
    });
    watched_[id] = EPOLLIN;
    connections_.emplace(id, std::move(connection));
    guests_.accepted(static_cast<Time>(nowMs_), id);
  }
}

void Agent::work(node::Connection& connection) {
  touched_.insert(connection.id());
  if (connection.work(*this, nowMs_)) ready_.insert(connection.id());
}

void Agent::onFrame(node::Connection& connection, wire::Body body) {
  try {
    guests_.frame(connection.id(), body);
  } catch (const std::runtime_error& malformed) {
    guests_.malformed(connection.id(), malformed.what());
  }
  act();  // what it asked for is done at once: a descriptor belongs to the frame it came with
}

void Agent::onMalformed(node::Connection& connection, const std::string& what) {
  guests_.malformed(connection.id(), what);
  act();
}

/// Sends what was queued and forgets who is gone; the latter can lead to more.
void Agent::settle() {
  for (int round = 0; round < kRoundsPerTurn && !touched_.empty(); ++round) {
    for (const ConnectionId id : std::exchange(touched_, {})) {
      node::Connection* connection = find(id);
      if (connection == nullptr) continue;
      connection->flush(*this, nowMs_);
      if (connection->gone()) {
        remove(id);
        continue;
      }
      if (connection->takeResume()) ready_.insert(id);
      uint32_t& watched = watched_[id];
      if (watched == connection->interest()) continue;
      watched = connection->interest();
      loop_.modify(connection->fd(), watched);
    }
    act();
  }
}

void Agent::remove(ConnectionId id) {
  const auto found = connections_.find(id);
  loop_.remove(found->second->fd());
  connections_.erase(found);
  watched_.erase(id);
  ready_.erase(id);
  memories_.erase(id);
  guests_.closed(id);
}

node::Connection* Agent::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

// ---- what the guests want ----

void Agent::act() {
  for (auto actions = guests_.takeActions(); !actions.empty(); actions = guests_.takeActions()) {
    for (Action& action : actions)
      std::visit([this](auto& one) { perform(one); }, action);
  }
}

void Agent::perform(SendFrame& send) {
  node::Connection* connection = find(send.connection);
  if (connection == nullptr) return;
  connection->queueFrames(std::make_shared<const wire::Bytes>(std::move(send.frame)));
  touched_.insert(send.connection);
}

void Agent::perform(const MapStaging& map) {
  node::Connection* connection = find(map.connection);
  if (connection == nullptr) return;
  Result<store::Mapping> mapped = store::mapStaging(connection->takeDescriptor(), map.bytes, true);
  if (mapped.ok()) memories_[map.connection] = std::make_shared<store::Mapping>(std::move(mapped.value()));
  guests_.mapped(map.connection, mapped.status());
}

void Agent::perform(Execute& execute) {
  const Request& request = execute.request;
  Job job;
  job.token = execute.token;
  job.memory = memories_[execute.connection];
  job.body = std::move(execute.body);
  for (const RequestLine& line : request.lines) {
    kv_op op{};
    op.key = line.key.data();
    op.key_length = static_cast<uint32_t>(line.key.size());
    const bool hasData = request.op == client::OpCode::Put || request.op == client::OpCode::Get;
    if (hasData) op.data = job.memory->bytes().data() + line.offset;
    if (hasData) op.length = line.length;
    job.table.push_back(op);
    job.groups.push_back(line.group);
  }
  const auto batch = client_->submit(request.op, job.table.data(), static_cast<uint32_t>(job.table.size()),
                                     optionsOf(request, job.groups));
  if (!batch.ok()) {
    client_->explain(batch.status().text());
    return answer(job, batch.status().code());
  }
  batchOf_[job.token] = batch.value();
  jobs_.emplace(batch.value(), std::move(job));  // moving a vector leaves its table where it is
}

void Agent::perform(const Cancel& cancel) {
  const auto found = batchOf_.find(cancel.token);
  if (found != batchOf_.end()) client_->cancel(found->second);
}

void Agent::perform(const Close& close) {
  log(close.level, "closing: " + close.reason);
  node::Connection* connection = find(close.connection);
  if (connection == nullptr) return;
  connection->closeAfterOutput();
  touched_.insert(close.connection);
}

void Agent::takeDone() {
  std::vector<BatchId> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const BatchId batch : done) {
    const auto found = jobs_.find(batch);
    if (found == jobs_.end() || client_->wait(batch, 0) != KV_OK) continue;
    const auto job = jobs_.extract(found);
    batchOf_.erase(job.mapped().token);
    answer(job.mapped(), KV_OK);
  }
}

/// `refusal`: the status of every line of a batch that was not taken; KV_OK: each has its own.
void Agent::answer(const Job& job, int32_t refusal) {
  std::vector<client::LineResult> lines;
  bool failed = refusal != KV_OK;
  for (const kv_op& op : job.table) {
    lines.push_back({refusal != KV_OK ? refusal : op.status, op.result_length});
    failed = failed || isFailure(op);
  }
  guests_.finished(job.token, std::move(lines), failed ? client_->explanation() : "");
}

}  // namespace kvpool::agent
