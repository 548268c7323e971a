// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/engine.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/process_memory.h"
#include "base/quiet_thread.h"
#include "engine/core/membership.h"
#include "engine/shell/listen_port.h"
#include "net/clock.h"
#include "net/socket.h"

namespace kvpool::engine {

using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

const Status kDefunct(KV_INTERNAL, "the transfer engine ended because of a defect, see the log; create a new one");

constexpr const char* kFabricNotTrusted =
    "this process has a certificate, and CANN checks no peer and encrypts nothing; set trusted_fabric "
    "(KVPOOL_TRUSTED_FABRIC=true) where every host on the network of the NPUs is trusted, or use tcp";

const char* opName(TransferOp op) {
  switch (op) {
    case TransferOp::Write:
      return "write";
    case TransferOp::Read:
      return "read";
    case TransferOp::Probe:
      return "probe";
    case TransferOp::Connect:
      break;
  }
  return "connect";
}

/// Where peers reach our engine of CANN: one address, as CANN wants it.
Result<std::string> ascendHost(const EngineSettings& settings) {
  if (!settings.ascendHost.empty()) return settings.ascendHost;
  if (const char* named = std::getenv("HCCL_IF_IP"); named != nullptr && *named != '\0') return std::string(named);
  if (settings.listenHost != "::" && settings.listenHost != "0.0.0.0") return settings.listenHost;
  return {KV_INVALID_ARGUMENT,
          "ascend needs the IP at which peers reach this machine: give it as host, or set HCCL_IF_IP"};
}

/// Null where the list has no ascend, or CANN cannot be used and the list has something else.
Result<std::unique_ptr<AscendMoves>> openMoves(EngineSettings& settings) {
  const auto installed = [&](const char* protocol) {
    return std::ranges::find_if(settings.transports,
                                [&](const Installation& one) { return one.used && one.protocol == protocol; });
  };
  const auto ascend = installed("ascend");
  settings.config.tcp = installed("tcp") != settings.transports.end();
  if (ascend == settings.transports.end()) return std::unique_ptr<AscendMoves>();
  if (settings.security->isOn() && !settings.trustedFabric) {
    const Status refusal(KV_INVALID_ARGUMENT, kFabricNotTrusted);
    if (!settings.config.tcp) return refusal;
    ascend->used = false;
    ascend->text = "ascend: not used, " + refusal.text();
    log(LogLevel::Warning, ascend->text);
    return std::unique_ptr<AscendMoves>();
  }
  const Result<std::string> host = ascendHost(settings);
  auto moves = host.ok() ? AscendMoves::open({host.value(), settings.config.me.name})
                         : Result<std::unique_ptr<AscendMoves>>(host.status());
  if (moves.ok()) {
    settings.config.ascend = moves.value()->endpoint();
    return moves;
  }
  if (!settings.config.tcp) return moves;
  ascend->used = false;
  ascend->text = "ascend: not used, " + moves.status().text();
  log(LogLevel::Warning, ascend->text);
  return std::unique_ptr<AscendMoves>();
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(EngineSettings settings) {
  if (settings.security->isOn()) {
    Status may = judgeOwn(settings.security->credentials()->self().principal);
    if (!may.ok()) return may;
  }
  Result<Fd> listener = listenInRange(settings.listenHost, settings.portMin, settings.portMax, settings.seed);
  if (!listener.ok()) return listener.status();
  Result<std::unique_ptr<AscendMoves>> moves = openMoves(settings);
  if (!moves.ok()) return moves.status();
  std::unique_ptr<Engine> engine(
      new Engine(std::move(settings), std::move(listener.value()), std::move(moves.value())));
  engine->thread_ = startQuietThread("kvpool-engine", [raw = engine.get()] { raw->run(); });
  return engine;
}

Engine::Engine(EngineSettings settings, Fd listener, std::unique_ptr<AscendMoves> moves)
    : settings_(std::move(settings)),
      port_(net::boundPort(listener.get())),
      shell_(settings_.config, std::move(listener), std::move(moves), settings_.security, *this),
      attendance_(shell_, settings_.busyWait) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    attendance_.end();
  }
  if (thread_.joinable()) thread_.join();
  LentMemory::awaitReturn(lent_->recallAll());
}

void Engine::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && running_) {
    if (attendance_.watch(lock, shell_.core().quiet() ? kQuietTickMs : kTickMs)) round();
  }
  running_ = false;
  shell_.endMoves();
  shell_.core().shutDown(net::steadyMs());
  shell_.settle();
}

/// With mutex_ held.
void Engine::round() {
  try {
    if (running_ && !stopping_) shell_.round();
  } catch (const std::exception& defect) {
    giveUp(defect);
  }
}

/// Every batch gets its status, later ones are refused.
void Engine::giveUp(const std::exception& defect) {
  log(LogLevel::Error, std::string("the transfer engine gives up: ") + defect.what());
  running_ = false;
  attendance_.end();
}

Status Engine::registerRegions(std::span<const kv_region> regions) {
  std::vector<kv_region> ofHost;
  std::vector<kv_region> ofDevice;
  std::vector<uint64_t> addressesOfDevice;
  for (const kv_region& region : regions) {
    if (shell_.moves() != nullptr && shell_.moves()->isOfDevice(region.address)) {
      ofDevice.push_back(region);
      addressesOfDevice.push_back(region.address);
    } else {
      ofHost.push_back(region);
    }
  }
  Status readable = judgeReadable(ofHost);
  if (!readable.ok()) return readable;
  const std::lock_guard alone(registering_);
  if (AscendMoves* moves = shell_.moves()) {
    {
      const std::lock_guard lock(mutex_);
      if (Status may = shell_.core().judgeRegions(regions); !may.ok()) return may;
    }
    // Before a peer can name them, and without the lock: CANN takes its time, transfers shall not.
    if (Status known = moves->add(regions); !known.ok()) return known;
  }
  const std::lock_guard lock(mutex_);
  Status added = shell_.core().registerRegions(regions, addressesOfDevice);
  if (!added.ok()) return added;  // not where it was judged: no other call has come in between
  unreadable_.forget(regions);
  lent_->lend(ofHost);
  lent_->lend(ofDevice, LentMemory::Kind::Device);
  return added;
}

Status Engine::judgeReadable(std::span<const kv_region> regions) {
  const ProcessMemory memory;
  Status first;
  for (const kv_region& region : regions) {
    Status readable = memory.judge(region.address, region.length);
    if (readable.ok()) continue;
    const std::lock_guard lock(mutex_);
    unreadable_.add(region);
    if (first.ok()) first = std::move(readable);
  }
  return first;
}

Status Engine::unregisterRegions(std::span<const kv_region> regions) {
  LentMemory::Recalled recalled;
  std::unique_lock alone(registering_);
  {
    const std::lock_guard lock(mutex_);
    Status removed = shell_.core().unregisterRegions(regions);
    shell_.settle();  // transfers that were going on there are cut before this returns
    if (!removed.ok()) return removed;
    recalled = lent_->recall(regions);
  }
  if (AscendMoves* moves = shell_.moves()) moves->remove(regions);
  alone.unlock();
  LentMemory::awaitReturn(recalled);  // without the lock: a put may take its time, peers shall not
  return {};
}

Result<BatchId> Engine::submit(TransferOp op, kv_transfer* table, uint32_t count, const Options& options) {
  Submission submission;
  submission.op = op;
  submission.deadline = net::steadyMs() + options.timeoutMs;
  submission.notify = options.notify;
  submission.lines.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    Line& line = submission.lines[i];
    line.peer = table[i].peer == nullptr ? "" : table[i].peer;
    if (op == TransferOp::Probe || op == TransferOp::Connect) continue;
    line.local = static_cast<uint8_t*>(table[i].local);
    line.remote = table[i].remote;
    line.length = table[i].length;
  }
  const std::lock_guard lock(mutex_);
  for (const Line& line : submission.lines) {
    const auto local = reinterpret_cast<uintptr_t>(line.local);
    if (!unreadable_.holdsAnyOf(local, line.length)) continue;
    return {KV_INVALID_ARGUMENT, "the " + std::to_string(line.length) + " bytes at 0x" + hex16(local) +
                                     " are memory that could not be registered, because this process cannot read it"};
  }
  return begin(std::move(submission), Pending{table, count, op, Clock::now(), false, false, KV_OK});
}

/// With mutex_ held.
Result<BatchId> Engine::begin(Submission submission, Pending pending) {
  if (!running_) return kDefunct;
  if (pending.count > settings_.queueLinesMax - linesInFlight_) {
    return {KV_QUEUE_FULL, std::to_string(linesInFlight_) + " transfers are in flight or not waited for, and " +
                               std::to_string(pending.count) +
                               " more exceed queue_lines_max = " + std::to_string(settings_.queueLinesMax)};
  }
  linesInFlight_ += pending.count;
  const bool wasQuiet = shell_.core().quiet();
  const BatchId id = submission.id = ++lastBatch_;
  pending_.emplace(id, pending);
  try {
    shell_.core().submit(net::steadyMs(), std::move(submission));
    shell_.settle();
  } catch (const std::exception& defect) {
    giveUp(defect);  // the engine's thread ends this batch with the others
  }
  if (wasQuiet) attendance_.hurry();
  return id;
}

void Engine::batchFinished(const FinishBatch& finished) {
  const auto found = pending_.find(finished.batch);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  for (uint32_t i = 0; !pending.isOurs && i < pending.count; ++i)
    pending.table[i].status = finished.statuses[i];
  pending.first = finished.statuses.empty() ? KV_OK : finished.statuses.front();
  pending.done = true;
  measure(pending, finished);
  attendance_.changed();
}

void Engine::measure(const Pending& pending, const FinishBatch& finished) {
  const auto count = [&](int32_t status) {
    return static_cast<uint64_t>(std::count(finished.statuses.begin(), finished.statuses.end(), status));
  };
  const auto us = std::chrono::duration_cast<microseconds>(Clock::now() - pending.since).count();
  kv_engine_stats& m = measured_;
  ++m.batches;
  durations_.add(static_cast<uint64_t>(us));
  (pending.op == TransferOp::Read ? m.read_bytes : m.write_bytes) += finished.bytes;
  m.failed_lines += finished.statuses.size() - count(KV_OK);
  m.timed_out_lines += count(KV_TIMEOUT);
  if (!logs(LogLevel::Debug)) return;
  log(LogLevel::Debug, "transfer " + std::to_string(finished.batch) + ": " + opName(pending.op) + " of " +
                           std::to_string(pending.count) + " lines, " + std::to_string(finished.bytes) +
                           " bytes done, " + std::to_string(finished.statuses.size() - count(KV_OK)) +
                           " lines failed, " + std::to_string(us) + " us");
}

int32_t Engine::wait(BatchId batch, uint32_t timeoutMs) {
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(batch);
  if (found == pending_.end() || found->second.isOurs) return KV_INVALID_ARGUMENT;
  return await(lock, batch, timeoutMs);
}

/// KV_OK when the batch is done: it is forgotten then.
int32_t Engine::await(std::unique_lock<std::mutex>& lock, BatchId batch, uint32_t timeoutMs) {
  const auto deadline = Clock::now() + milliseconds(timeoutMs);
  auto found = pending_.find(batch);
  const auto isOver = [&] {
    found = pending_.find(batch);  // another thread may have waited for it and taken it out
    return found == pending_.end() || found->second.done;
  };
  if (!attendance_.await(lock, deadline, isOver, [this] { round(); })) return KV_TIMEOUT;
  if (found == pending_.end()) return KV_INVALID_ARGUMENT;
  linesInFlight_ -= found->second.count;
  pending_.erase(found);
  return KV_OK;
}

Result<std::vector<Region>> Engine::describe(const std::string& peer, uint32_t timeoutMs) {
  const auto address = parseHostPort(peer);
  if (!address.ok()) return address.status();
  Submission submission;
  submission.op = TransferOp::Probe;
  submission.deadline = net::steadyMs() + timeoutMs;
  submission.lines.resize(1);
  submission.lines[0].peer = peer;
  std::unique_lock lock(mutex_);
  const Result<BatchId> batch =
      begin(std::move(submission), Pending{nullptr, 1, TransferOp::Probe, Clock::now(), true, false, KV_OK});
  if (!batch.ok()) return batch.status();
  const auto isDone = [&] { return pending_.at(batch.value()).done; };
  while (!isDone())  // the batch ends by its own deadline
    attendance_.await(lock, Clock::now() + milliseconds(timeoutMs), isDone, [this] { round(); });
  const int32_t status = pending_.at(batch.value()).first;
  --linesInFlight_;
  pending_.erase(batch.value());
  if (status != KV_OK) return {status, shell_.core().explanation()};
  const Description* description = shell_.core().descriptionOf(toString(address.value()));
  if (description == nullptr) return {KV_TRANSFER_FAILED, "the connection to " + peer + " was lost again"};
  return description->regions();
}

std::shared_ptr<ascend::Npu> Engine::npu() const {
  return shell_.moves() == nullptr ? nullptr : shell_.moves()->npu();
}

std::string Engine::transports() const {
  std::string text = toString(settings_.transports);
  if (!settings_.config.tcp) return text;
  if (settings_.config.process.pid == 0) return text + "; peers on this machine: by tcp too";
  const std::lock_guard lock(mutex_);
  text += "; peers on this machine: from memory to memory";
  const std::string& refusal = shell_.core().sameMachineRefusal();
  return refusal.empty() ? text : text + ", by tcp the latest that could not: " + refusal;
}

std::string Engine::explanation() const {
  const std::lock_guard lock(mutex_);
  const std::string& latest = shell_.core().explanation();
  return refusal_.empty() || latest != refusalAfter_ ? latest : refusal_;
}

void Engine::explain(std::string sentence) {
  const std::lock_guard lock(mutex_);
  refusal_ = std::move(sentence);
  refusalAfter_ = shell_.core().explanation();
}

kv_engine_stats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  const EngineCore& core = shell_.core();
  const Counters& counted = core.counters();
  kv_engine_stats out = measured_;
  out.batch_us = durations_.us;
  KVPOOL_TELL_DURATIONS(durations_, out, batches);
  out.listen_port = port_;
  out.incarnation = settings_.config.me.incarnation;
  out.regions = core.regions().count();
  out.region_bytes = core.regions().bytes();
  out.peers_connected = core.peersConnected();
  out.clients_connected = core.clientsConnected();
  out.retries = counted.retries;
  out.peer_restarts = counted.peerRestarts;
  out.served_writes = counted.servedWrites;
  out.served_write_bytes = counted.servedWriteBytes;
  out.served_reads = counted.servedReads;
  out.served_read_bytes = counted.servedReadBytes;
  out.refused_requests = counted.refusedRequests;
  out.checksum_failures = counted.checksumFailures;
  out.protocol_errors = counted.protocolErrors;
  out.peers_refused = shell_.peersRefused();
  out.notifies_sent = counted.notifiesSent;
  out.notifies_received = counted.notifiesReceived;
  out.same_machine_requests = counted.sameMachineRequests;
  out.same_machine_bytes = counted.sameMachineBytes;
  out.same_machine_refusals = counted.sameMachineRefusals;
  if (const AscendMoves* moves = shell_.moves()) {
    const ascend::RouteCounters routes = moves->counters();
    out.ascend_transfers = routes.transfers;
    out.ascend_transfer_failures = routes.failures;
    ascend::tell(routes, out);
  }
  return out;
}

}  // namespace kvpool::engine
