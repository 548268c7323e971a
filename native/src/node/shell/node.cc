// SPDX-License-Identifier: Apache-2.0
#include "node/shell/node.h"

#include <chrono>
#include <ctime>
#include <exception>

#include "base/boot.h"
#include "base/entropy.h"
#include "base/quiet_thread.h"
#include "base/rights.h"
#include "net/socket.h"
#include "node/shell/socket_place.h"
#include "node/shell/tier_start.h"
#include "store/memory_lock.h"

namespace kvpool::node {
namespace {

/// How long the farewell of a node may take.
constexpr std::chrono::milliseconds kLeaveMax{250};

std::string utcTimestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), length};
}

Result<store::SegmentFile> openSegment(const NodeSettings& settings, const store::SegmentIdentity& identity,
                                       uint64_t boot, store::StoreGate& gate) {
  if (!settings.isTransient()) {
    return store::openSegment(settings.dataDir, identity, settings.segmentBytes, utcTimestamp(), boot, gate,
                              settings.numa);
  }
  if (settings.memoryPath.empty()) {
    return store::anonymousSegment(identity, settings.segmentBytes, gate, settings.numa);
  }
  return store::lentSegment({settings.memoryPath, settings.memoryOffset}, identity, settings.segmentBytes, gate);
}

void reportRecovery(const NodeSettings& settings, const store::Recovery& recovery) {
  const std::string what = "segment of node " + settings.nodeId + ": " + std::to_string(recovery.restored) +
                           " objects and " + std::to_string(recovery.tombstones) + " tombstones restored, " +
                           std::to_string(recovery.unfinished) + " unfinished writes undone, " +
                           std::to_string(recovery.purged) + " purged";
  if (recovery.dropped() == 0) return log(LogLevel::Info, what);
  log(LogLevel::Warning, what + ", dropped " + std::to_string(recovery.torn) + " torn, " +
                             std::to_string(recovery.invalid) + " invalid and " + std::to_string(recovery.overlapping) +
                             " overlapping records, and " + std::to_string(recovery.above) +
                             " of an epoch that no leader had");
}

}  // namespace

Result<std::unique_ptr<Node>> Node::start(const NodeSettings& settings) {
  std::unique_ptr<Node> node(new Node());
  node->incarnation_ = randomNumber();
  const auto security = secure::Security::open(settings.tls);
  if (!security.ok()) return security.status();
  if (Status named = judgeName(settings, *security.value()); !named.ok()) return named;
  if (Status opened = node->open(settings); !opened.ok()) return opened;
  node->countAside(settings);
  Shell::Listeners listeners;
  if (Status listening = node->listen(settings, &listeners); !listening.ok()) return listening;
  node->mastersTotal_ = static_cast<uint32_t>(settings.masters.size());
  std::optional<RemoteSource> remote;
  if (Status opened = node->openRemote(settings, remote); !opened.ok()) return opened;
  ssd::Table* table = node->table_ ? &*node->table_ : nullptr;
  node->core_.emplace(node->coreConfig(settings, security.value()->isOn()), *node->directory_, *node->state_, table);
  ssd::Device* device = node->tier_ ? node->tier_->device.get() : nullptr;
  node->shell_.emplace(node->loop_, *node->core_, settings, node->segment_, device, std::move(listeners),
                       std::move(remote), security.value());
  node->publishStats();

  if (settings.prefault) node->beginPrefault();
  node->thread_ = startQuietThread("kvpool-node", [raw = node.get()] { raw->run(); });
  return node;
}

Node::~Node() {
  stop_.store(true, std::memory_order_relaxed);
  loop_.wake();
  if (thread_.joinable()) thread_.join();
  if (prefault_) prefault_->stop();  // a start that failed had no thread yet
  socketFile_.remove();              // while the socket is open, so that no other file can have got its number
  shell_.reset();
}

/// Masters would refuse it, but this process's own people should read why.
Status Node::judgeName(const NodeSettings& settings, const secure::Security& security) {
  if (!security.isOn() || settings.isTransient()) return {};
  const secure::PeerName& self = security.credentials()->self();
  const bool isThis =
      may(self.principal, Verb::Serve) && self.principal.mayBe(settings.nodeId) && self.pool == settings.poolId;
  if (isThis) return {};
  return {KV_INVALID_ARGUMENT, settings.tls.directory + "/tls.crt is of " + toString(self.principal) + " of pool " +
                                   toString(self.pool) + ", and this is node/" + settings.nodeId + " of pool " +
                                   toString(settings.poolId) +
                                   "; give it a certificate of its own (kvpool cert issue)"};
}

Status Node::open(const NodeSettings& settings) {
  const store::SegmentIdentity identity{settings.poolId, settings.nodeId, 0};
  const uint64_t boot = bootNumber();
  Result<store::SegmentFile> opened = openSegment(settings, identity, boot, gate_);
  if (!opened.ok()) return opened.status();
  segment_ = std::move(opened.value());
  for (const std::string& warning : segment_.warnings)
    log(LogLevel::Warning, warning);
  log(LogLevel::Info, "segment of node " + settings.nodeId + ": " + std::to_string(segment_.geometry.fileBytes) +
                          " bytes on " + store::nameOf(segment_.memory.kind) + " in pages of " +
                          std::to_string(segment_.memory.pageBytes) + " bytes");
  if (settings.lockMemory && segment_.memory.kind != store::MemoryKind::HugePages) {
    const std::string shown = settings.isTransient() ? "in memory" : "in " + settings.dataDir;
    if (Status locked = store::lockMemory(segment_.mapping.bytes(), shown); !locked.ok()) return locked;
  }
  state_.emplace(segment_.mapping.bytes(), gate_);
  if (Status begun = state_->beginLife(boot); !begun.ok()) return begun;
  directory_.emplace(segment_.mapping.bytes(), segment_.geometry, *state_, gate_);
  recovery_ = directory_->recover(store::recoveryThreads(std::thread::hardware_concurrency(), segment_.geometry.slots));
  reportRecovery(settings, recovery_);
  if (settings.ssdPath.empty()) return {};
  if (Status tier = openTier(settings); !tier.ok()) {
    // Memory is worth more than what an SSD adds to it.
    tier_.reset();
    table_.reset();
    tierProblem_ = tier.text();
    log(LogLevel::Error, "node " + settings.nodeId + " goes on without its SSD tier: " + tierProblem_);
  }
  return {};
}

Status Node::openTier(const NodeSettings& settings) {
  const store::SegmentIdentity identity{settings.poolId, settings.nodeId, 0};
  const auto fresh = static_cast<uint32_t>(randomNumber() | 1U);
  std::optional<ssd::SealKey> key;
  if (!settings.ssdKeyFile.empty()) {
    const Result<ssd::SealKey> read = ssd::readSealKey(settings.ssdKeyFile);
    if (!read.ok()) return read.status();
    key = read.value();
  }
  Result<ssd::TierFile> opened =
      ssd::openTier({settings.ssdPath, settings.ssdBytes, identity, utcTimestamp(), fresh, key});
  if (!opened.ok()) return opened.status();
  tier_ = std::move(opened.value());
  for (const std::string& warning : tier_->warnings)
    log(LogLevel::Warning, warning);
  const OpenTier open{*tier_->device, tier_->header, tier_->created};
  Result<TierStart> start = startTier(open, fresh, state_->get(), *directory_);
  if (!start.ok()) return start.status();
  if (start.value().emptied) {
    log(LogLevel::Warning, tier_->shown + " was emptied: node " + settings.nodeId +
                               " ran without it since, and what was removed then would come back");
  }
  const ssd::TierRecovery recovery = start.value().recovery;
  table_.emplace(std::move(start.value().table));
  log(recovery.dropped() == 0 ? LogLevel::Info : LogLevel::Warning,
      "SSD tier of node " + settings.nodeId + " in " + tier_->shown + ": " + std::to_string(tier_->header.dataBytes) +
          (key ? " bytes, encrypted, " : " bytes, ") + std::to_string(recovery.restored) + " objects restored, " +
          std::to_string(recovery.dead) + " removed since, dropped " + std::to_string(recovery.torn) + " torn, " +
          std::to_string(recovery.invalid) + " invalid and " + std::to_string(recovery.overlapping) +
          " overlapping records, and " + std::to_string(recovery.above) + " of an epoch that no leader had");
  return {};
}

/// Once: to look at a disk again and again could hang whoever asks for statistics, and with him the probes.
void Node::countAside(const NodeSettings& settings) {
  if (!settings.isTransient()) store::countAside(settings.dataDir, store::kSegmentFileName, aside_);
  if (!settings.ssdPath.empty()) store::countAside(settings.ssdPath, ssd::kTierFileName, aside_);
  if (aside_.damaged + aside_.foreign == 0) return;
  log(LogLevel::Warning, "node " + settings.nodeId + " has " + std::to_string(aside_.damaged) + " damaged and " +
                             std::to_string(aside_.foreign) + " foreign files set aside, which take " +
                             std::to_string(aside_.bytes) + " bytes; delete them when they are not needed");
}

Status Node::listen(const NodeSettings& settings, Shell::Listeners* listeners) {
  Result<Fd> tcp = net::listenTcp(settings.listenHost, settings.listenPort);
  if (!tcp.ok()) return tcp.status();
  listeners->tcp = std::move(tcp.value());
  port_ = net::boundPort(listeners->tcp.get());
  if (!settings.shm) return {};
  Result<std::string> path = socketPath(settings);
  if (!path.ok()) return path.status();
  Result<Fd> local = net::listenUnix(path.value(), &socketFile_);
  if (!local.ok()) return local.status();
  if (!settings.socketDir.empty()) removeDeadSockets(settings.socketDir);
  listeners->local = std::move(local.value());
  return {};
}

/// Without what was asked for the node serves by what else it may: clients of its pool must find their objects.
Status Node::openRemote(const NodeSettings& settings, std::optional<RemoteSource>& source) {
  if (settings.shm) protocols_ |= KV_PROTOCOL_SHM;
  if (!settings.remote) return {};
  const std::string name = toString(*settings.remote);
  Result<RemoteSource> opened =
      settings.tls.mode == secure::Mode::Required && !settings.trustedFabric
          ? Result<RemoteSource>(KV_INVALID_ARGUMENT,
                                 "TLS is required, which " + name +
                                     " does not have; say that every host on its network is trusted "
                                     "(--trusted-fabric), or leave " +
                                     name + " out of the protocols")
          : node::openRemote(settings, segment_.mapping.bytes(), tier_.has_value());
  if (opened.ok()) {
    protocols_ |= *settings.remote == RemoteProtocol::Ucx ? uint32_t{KV_PROTOCOL_UCX} : uint32_t{KV_PROTOCOL_ASCEND};
    log(LogLevel::Info, "node " + settings.nodeId + " serves " + name);
    source = std::move(opened.value());
    tierStagingBytes_ = tierStagingOf(*source).size();
    return {};
  }
  remoteProblem_ = opened.status().text();
  if (settings.remoteRequired) {
    return {opened.status().code(), "node " + settings.nodeId + " cannot serve " + name +
                                        ", and tcp is not among its protocols: " + remoteProblem_};
  }
  log(LogLevel::Warning,
      "node " + settings.nodeId + " does not serve " + name + ", and goes on without: " + remoteProblem_);
  return {};
}

CoreConfig Node::coreConfig(const NodeSettings& settings, bool secured) const {
  CoreConfig config;
  config.self = {wire::Role::Node,      settings.poolId,    incarnation_,    wire::kWireVersions,
                 wire::kLayoutVersions, wire::kAbiVersions, settings.nodeId, settings.product};
  config.isTransient = settings.isTransient();
  config.masters = settings.masters.size();
  for (const HostPort& master : settings.masters)
    config.masterAddresses.push_back(toString(master));
  config.tcp = toString(HostPort{settings.advertiseHost, port_});
  // With the boot, so that a client elsewhere does not try a path that means another file there.
  config.shm = socketFile_.path().empty() ? "" : bootId() + ":" + socketFile_.path();
  if (remoteProblem_.empty()) config.remote = settings.remote;
  config.remoteProblem = remoteProblem_.empty() ? "it was not asked to" : remoteProblem_;
  config.tierStagingBytes = tierStagingBytes_;
  config.zone = settings.zone;
  config.separatesTenants = secured;
  config.clientIdleMs = settings.idleTimeoutMs;
  config.randomSeed = incarnation_;
  config.scrubBytesPerSecond = settings.scrubBytesPerSecond;
  config.stagingBytes = settings.stagingBytes;
  config.tierProblem = tierProblem_;
  return config;
}

/// Beside the serving: a large segment takes long, and a restart with objects in it must not wait.
void Node::beginPrefault() {
  if (!store::worthPrefaulting(segment_.memory.kind)) {
    return log(LogLevel::Info, std::string("the segment is not prefaulted: it lies on ") +
                                   store::nameOf(segment_.memory.kind) + ", which each start would write again");
  }
  prefault_.emplace(segment_.mapping.bytes(), store::prefaultThreads(std::thread::hardware_concurrency()));
}

void Node::run() {
  bool inOrder = false;
  try {
    while (!stop_.load(std::memory_order_relaxed)) {
      shell_->turn();
      publishStats();
    }
    if (core_->transient()) leave();
    core_->ended();
    inOrder = true;
  } catch (const SegmentLost& lost) {
    log(LogLevel::Error, std::string("the node ends: ") + lost.what());
  } catch (const std::exception& defect) {
    log(LogLevel::Error, std::string("the node ends because of a defect: ") + defect.what() +
                             (core_->transient() ? "; its memory leaves the pool, and the process around it goes on"
                                                 : "; start it again: it recovers what its segment holds"));
  }
  running_.store(false, std::memory_order_relaxed);
  if (prefault_) prefault_->stop();  // it needs the shell's guard
  // Peers see closed connections at once instead of silence.
  shell_.reset();
  if (core_->transient()) segment_.release();  // the process around it may go on for long
  if (inOrder && segment_.memory.kind == store::MemoryKind::Disk) settle();
}

/// Nothing is written any more: what is on the disk from here on is what a later boot may believe.
void Node::settle() {
  const std::span<uint8_t> all = segment_.mapping.bytes();
  const Status settled = gate_.settle(all.data(), all.size())
                             ? state_->saySettled()
                             : systemError("cannot write the segment to its disk", errno);
  if (!settled.ok()) {
    log(LogLevel::Error, settled.text() + "; should the machine go down now, what the segment holds counts as lost");
  }
}

/// Masters that hang do not hold up whoever ends this node.
void Node::leave() {
  const auto until = std::chrono::steady_clock::now() + kLeaveMax;
  core_->leave();
  while (!core_->hasLeft() && std::chrono::steady_clock::now() < until)
    shell_->turn();
}

void Node::publishStats() {
  const CoreSnapshot now = core_->snapshot();
  const RemoteOutcomes outcomes = shell_->remoteOutcomes();
  const Shell::TlsCounts tls = shell_->tls();
  const std::lock_guard lock(statsMutex_);
  stats_ = now;
  outcomes_ = outcomes;
  routes_ = shell_->routes();
  tls_ = tls;
  tierTimes_ = shell_->tierTimes();
}

kv_node_stats Node::stats() const {
  CoreSnapshot now;
  RemoteOutcomes outcomes;
  ascend::RouteCounters routes;
  Shell::TlsCounts tls;
  Shell::TierTimes tierTimes;
  {
    const std::lock_guard lock(statsMutex_);
    now = stats_;
    outcomes = outcomes_;
    routes = routes_;
    tls = tls_;
    tierTimes = tierTimes_;
  }
  kv_node_stats out{};
  out.listen_port = port_;
  out.incarnation = incarnation_;
  out.capacity_bytes = segment_.geometry.dataBytes;
  out.used_bytes = now.usedBytes;
  out.objects = now.objects;
  out.epoch = now.seen.epoch;
  out.masters_connected = now.mastersConnected;
  out.masters_total = mastersTotal_;
  out.clients_connected = now.clientsConnected;
  out.fenced = now.fenced ? 1 : 0;
  out.restored_objects = recovery_.restored;
  out.dropped_records = recovery_.dropped();
  out.writes = now.counters.writes;
  out.write_bytes = now.counters.writeBytes;
  out.write_failures = now.counters.writeFailures;
  out.reads = now.counters.reads;
  out.read_bytes = now.counters.readBytes;
  out.read_misses = now.counters.readMisses;
  out.checksum_failures = now.counters.checksumFailures;
  out.stale_refusals = now.counters.staleRefusals;
  out.protocol_errors = now.counters.protocolErrors;
  out.damaged_objects = now.counters.damaged;
  out.scrub_rounds = now.counters.scrubRounds;
  out.scrubbed_bytes = now.counters.scrubbedBytes;
  out.copies_in = now.counters.copiesIn;
  out.copies_in_bytes = now.counters.copiesInBytes;
  out.tombstones = now.tombstones;
  out.ids_hash = now.idsHash;
  out.restored_ids_hash = recovery_.restoredHash;
  if (prefault_) {
    out.prefault_bytes = prefault_->totalBytes();
    out.prefaulted_bytes = prefault_->doneBytes();
  }
  out.page_bytes = segment_.memory.pageBytes;
  out.protocols = protocols_;
  out.ucx_clients = static_cast<uint32_t>(now.counters.ucx.clients);
  out.ascend_clients = now.counters.ascend.clients;
  out.ascend_refusals = now.counters.ascend.refusals;
  out.ascend_write_bytes = now.counters.ascend.writeBytes;
  out.ascend_read_bytes = now.counters.ascend.readBytes;
  out.ascend_transfers = outcomes.transfers;
  out.ascend_transfer_failures = outcomes.failures;
  ascend::tell(routes, out);
  out.ucx_refusals = now.counters.ucx.refusals;
  out.ucx_write_bytes = now.counters.ucx.writeBytes;
  out.ucx_read_bytes = now.counters.ucx.readBytes;
  out.ssd_capacity_bytes = now.tierBytes;
  out.ssd_used_bytes = now.tierUsedBytes;
  out.ssd_objects = now.tierObjects;
  out.ssd_writes = now.counters.demotions;
  out.ssd_write_bytes = now.counters.demotedBytes;
  out.ssd_reads = now.counters.tierReads;
  out.ssd_read_bytes = now.counters.tierReadBytes;
  out.ssd_read_us = tierTimes.reading.us;
  KVPOOL_TELL_DURATIONS(tierTimes.reading, out, ssd_reads);
  out.ssd_write_us = tierTimes.writing.us;
  KVPOOL_TELL_DURATIONS(tierTimes.writing, out, ssd_writes);
  out.ssd_off = now.tierProblem.empty() ? 0 : 1;
  out.damaged_files_set_aside = aside_.damaged;
  out.foreign_files_set_aside = aside_.foreign;
  out.set_aside_bytes = aside_.bytes;
  out.replaced_layout = segment_.replacedLayout;
  out.tls_handshakes = tls.handshakes;
  out.tls_handshake_failures = tls.failures;
  out.tls_plain_refusals = tls.plainRefusals;
  out.auth_refusals = now.counters.authRefusals;
  out.grant_refusals = now.counters.grantRefusals;
  out.tls_not_after_ms = static_cast<uint64_t>(tls.notAfterMs);
  return out;
}

}  // namespace kvpool::node
