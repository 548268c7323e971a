// SPDX-License-Identifier: Apache-2.0
#include "agent/shell/agent.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/quiet_thread.h"
#include "net/abstract_socket.h"
#include "net/clock.h"
#include "net/socket.h"
#include "store/staging.h"

namespace kvpool::agent {
namespace {

constexpr int kRoundsPerTurn = 8;
constexpr Time kTickMs = 100;
/// While so many bytes of answers wait for a client, nothing more is read from it.
constexpr net::Stream::Limits kLimits{kRequestBytes, SIZE_MAX, uint64_t{1} << 20, uint64_t{1} << 20};

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
  options.nodes = request.nodes;
  options.upsert = request.upsert;
  options.pins = request.pins;
  options.softPinMs = request.softPinMs;
  options.ofGroups = request.ofGroups;
  options.retainMs = request.retainMs;
  options.groups = groups.data();
  return options;
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::start(AgentSettings settings) {
  std::unique_ptr<Agent> agent(new Agent(std::move(settings)));
  Result<Fd> listener = net::listenUnix(agent->settings_.socketPath, &agent->socketFile_);
  if (!listener.ok()) return listener.status();
  agent->acceptors_.emplace_back(
      agent->loop_, std::move(listener.value()),
      [raw = agent.get()](Fd socket, const net::SocketAddress&) { raw->accepted(std::move(socket)); });
  if (const std::string& name = agent->settings_.abstractSocket; !name.empty()) {
    Result<Fd> named = net::listenAbstract(name);
    if (named.status().code() == KV_INVALID_ARGUMENT) return named.status();
    if (named.ok()) {
      agent->acceptors_.emplace_back(
          agent->loop_, std::move(named.value()),
          [raw = agent.get()](Fd socket, const net::SocketAddress&) { raw->acceptedByName(std::move(socket)); });
    } else {
      // Any process may have taken the name, of any user: none is to stop an agent by that.
      log(LogLevel::Warning, "clients find this agent by " + agent->settings_.socketPath + " alone, and not by " +
                                 name + ": " + named.status().text());
    }
  }

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
    : settings_(std::move(settings)),
      agentClients_(settings_.agentClients),
      now_(net::steadyMs()),
      streams_(loop_, static_cast<net::Stream::Listener&>(*this)) {}

Agent::~Agent() {
  stop_.store(true, std::memory_order_relaxed);
  loop_.wake();
  if (thread_.joinable()) thread_.join();
  client_.reset();       // lets go of the clients' memory
  socketFile_.remove();  // while the socket is open, so that no other file can have got its number
}

AgentStats Agent::stats() const {
  AgentStats stats;
  stats.pool = client_->statistics();
  stats.stagingBytesMax = settings_.agentClients.stagingBytes;
  const std::lock_guard lock(mutex_);
  stats.agentClients = counters_;
  return stats;
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
  streams_.closeAll();  // clients see that we are gone
}

void Agent::turn() {
  now_ = net::steadyMs();
  const bool waits = !streams_.unsettled() && now_ < nextTick_;
  loop_.runOnce(waits ? static_cast<int>(nextTick_ - now_) : 0);
  now_ = net::steadyMs();
  takeDone();
  if (now_ >= nextTick_) tick();
  streams_.settle([this] { act(); }, kRoundsPerTurn);
  const std::lock_guard lock(mutex_);
  counters_ = agentClients_.counters();
}

void Agent::tick() {
  nextTick_ = now_ + kTickMs;
  for (net::Acceptor& acceptor : acceptors_)
    acceptor.resume();
  const client::Statistics pool = client_->statistics();
  const Status readiness = client_->readiness();
  agentClients_.stateIs({readiness.ok(), pool.epoch, readiness.text()});
  agentClients_.tick(now_);
  streams_.tick(now_);
  streams_.endStalled(now_, settings_.client.config.transferTimeoutMs);
}

void Agent::accepted(Fd socket) {
  const ConnectionId id = ++lastId_;
  streams_.add(id, kLimits)->adopt(std::move(socket), true);
  agentClients_.accepted(now_, id);
}

void Agent::acceptedByName(Fd socket) {
  if (net::isOfThisUser(socket.get())) return accepted(std::move(socket));
  if (std::exchange(toldRefusal_, true)) return;
  log(LogLevel::Warning, "refuses a client of another user at " + settings_.abstractSocket + ": run both as one user");
}

void Agent::streamEnded(ConnectionId id, const net::Stream::Ending&) {
  streams_.drop(id);
  memories_.erase(id);
  agentClients_.closed(id);
}

void Agent::streamMalformed(ConnectionId id, const std::string& what) {
  agentClients_.malformed(id, what);
  act();
}

void Agent::frameArrived(ConnectionId id, wire::Body body) {
  agentClients_.frame(id, body);
  act();  // what it asked for is done at once: a descriptor belongs to the frame it came with
}

// ---- what the clients want ----

void Agent::act() {
  for (auto actions = agentClients_.takeActions(); !actions.empty(); actions = agentClients_.takeActions()) {
    for (Action& action : actions)
      std::visit([this](auto& one) { perform(one); }, action);
  }
}

void Agent::perform(SendFrame& send) {
  if (net::OutQueue* out = streams_.outOf(send.connection)) out->addFrame(std::move(send.frame));
}

void Agent::perform(const MapStaging& map) {
  net::Stream* stream = streams_.find(map.connection);
  if (stream == nullptr) return;
  Result<store::Mapping> mapped = store::mapStaging(stream->takeDescriptors(), map.bytes, true);
  if (mapped.ok()) memories_[map.connection] = std::make_shared<store::Mapping>(std::move(mapped.value()));
  agentClients_.mapped(map.connection, mapped.status());
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
  streams_.dropAfterOutput(close.connection, now_);
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
  agentClients_.finished(job.token, std::move(lines), failed ? client_->explanation() : "");
}

}  // namespace kvpool::agent
