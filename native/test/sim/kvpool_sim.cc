// SPDX-License-Identifier: Apache-2.0
#include "sim/kvpool_sim.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/block_sums.h"
#include "disk_pages.h"
#include "node/core/node_core.h"
#include "secure/names.h"
#include "sim/sim_cann.h"
#include "sim/sim_tier.h"
#include "store/directory.h"
#include "store/segment_header.h"

namespace {

using namespace kvpool;

/// Thrown through the core when its life ends in the middle of a store. Not a std::exception: nobody may handle it.
struct LifeCut {};

class CuttingGate final : public store::StoreGate {
 public:
  /// From now on the segment lies on a disk, which has so much of it.
  void onDisk(const test::DiskPages& pages) { disk_ = pages; }
  void store(void* destination, const void* source, size_t length) override {
    if (done_ == cutAt_) {
      std::memcpy(destination, source, std::min<size_t>(length, cutBytes_));
      throw LifeCut();
    }
    StoreGate::store(destination, source, length);
    ++done_;
  }
  bool settle(const void* address, size_t length) override {
    if (disk_) disk_->settle(address, length);
    return true;
  }
  void cut(uint64_t stores, uint32_t bytes) {
    cutAt_ = stores > UINT64_MAX - done_ ? UINT64_MAX : done_ + stores;
    cutBytes_ = bytes;
  }
  [[nodiscard]] uint64_t done() const { return done_; }

 private:
  std::optional<test::DiskPages> disk_;
  uint64_t done_ = 0;
  uint64_t cutAt_ = UINT64_MAX;
  uint32_t cutBytes_ = 0;
};

test::DiskPages diskOf(std::span<uint8_t> memory, void* disk) {
  return {memory, {static_cast<uint8_t*>(disk), memory.size()}};
}

store::SegmentIdentity identityOf(const kv_sim_params& params) {
  return {{params.pool_high, params.pool_low}, params.node_id, 0, {.wire = {1, 2}}};
}

node::CoreConfig configOf(const kv_sim_params& params) {
  node::CoreConfig config;
  config.self.role = wire::Role::Node;
  config.self.poolId = {params.pool_high, params.pool_low};
  config.self.incarnation = params.incarnation;
  config.self.name = params.node_id;
  config.self.product = KVPOOL_PRODUCT_VERSION;
  config.self.wire = {1, 2};  // so that a pool can be raised
  config.isTransient = params.transient != 0;
  config.masters = params.masters;
  for (uint32_t master = 0; master < params.masters; ++master)
    config.masterAddresses.push_back("master-" + std::to_string(master) + ":0");
  config.tcp = params.tcp;
  if (params.tcp_only == 0) config.shm = std::string("simulated-boot:") + params.tcp;  // the path is the address
  config.separatesTenants = true;
  config.randomSeed = params.random_seed;
  if (params.cann != nullptr) config.remote = RemoteProtocol::Ascend;
  config.tierStagingBytes = params.tier == nullptr ? 0 : params.tier_staging_bytes;
  if (params.client_connections_max != 0) config.clientConnectionsMax = params.client_connections_max;
  return config;
}

sim::SimCann::Terms termsOf(const kv_sim_params& params) {
  const kv_sim_cann& cann = *params.cann;
  sim::SimCann::Terms terms;
  terms.routes.connectTimeoutMs = static_cast<int32_t>(cann.connect_timeout_ms);
  terms.routes.transferTimeoutMs = static_cast<int32_t>(cann.transfer_timeout_ms);
  terms.routes.connectsByItself = cann.connects_by_itself != 0;
  terms.routes.channelsMax = cann.channels_max;
  terms.routes.cardRepeatsMs = cann.card_repeats_ms;
  terms.callsMax = cann.calls_max;
  const std::span staging(static_cast<uint8_t*>(params.staging), params.staging_bytes);
  terms.staging = staging.first(params.staging_bytes - params.tier_staging_bytes);
  terms.ofTier = staging.last(params.tier_staging_bytes);
  return terms;
}

}  // namespace

struct kv_sim_node {
  CuttingGate gate;
  std::span<uint8_t> memory;
  std::optional<store::StatePages> state;
  std::optional<store::Directory> directory;
  std::optional<sim::SimTier> tier;
  std::optional<node::NodeCore> core;
  std::optional<sim::SimCann> cann;
  store::Recovery recovery;
  std::deque<node::Action> actions;
  node::Action current;
  ascend::Action call;
  std::string problem;
  bool cut = false;
  std::map<uint64_t, std::span<uint8_t>> storing;  // the payload that comes on a connection
  std::deque<uint64_t> moved;                      // by CANN, of which the caller is to know

  void take() {
    for (node::Action& action : core->takeActions()) {
      actions.push_back(std::move(action));
    }
    if (!cann) return;
    for (const uint64_t transfer : cann->takeMoved())
      moved.push_back(transfer);
    for (node::Close& lost : cann->takeLost())
      actions.emplace_back(std::move(lost));
  }
  /// The time of what CANN is called for.
  void at(uint64_t nowMs) {
    if (cann) cann->at(nowMs);
  }
};

namespace {

template <typename BodyFunction>
int32_t live(kv_sim_node* node, BodyFunction body) noexcept {
  if (node->cut) return KV_CLOSED;
  try {
    body();
    return KV_OK;
  } catch (const LifeCut&) {
    node->cut = true;
    return KV_CLOSED;
  } catch (const std::exception& defect) {
    node->problem = defect.what();
    return KV_INTERNAL;
  }
}

/// Fills the flat struct from whichever action it is.
struct Flatten {
  kv_sim_node* node;
  kv_sim_action* out;

  void frames(int32_t kind, node::ConnectionId connection, const node::Frames& frames) const {
    out->kind = kind;
    out->connection = connection;
    out->data = frames->data();
    out->data_length = static_cast<uint32_t>(frames->size());
  }
  void text(int32_t kind, const std::string& text) const {
    out->kind = kind;
    out->data = text.data();
    out->data_length = static_cast<uint32_t>(text.size());
  }
  void range(int32_t kind, node::ConnectionId connection, uint64_t offset, uint64_t length) const {
    out->kind = kind;
    out->connection = connection;
    out->offset = offset;
    out->length = length;
  }
  void operator()(const node::SendFrames& a) const { frames(KV_SIM_SEND_FRAMES, a.connection, a.frames); }
  void operator()(const node::SendSegments& a) const { frames(KV_SIM_SEND_SEGMENTS, a.connection, a.frames); }
  void operator()(const node::SendPayload& a) const {
    range(KV_SIM_SEND_PAYLOAD, a.connection, a.offset, a.length);
    out->crc = a.crc;
    if (node->tier) node->tier->sendsOther(a.connection);
  }
  void operator()(const node::SendParts&) const { throw std::logic_error("reads of parts are not simulated"); }
  void operator()(const node::SendTierParts&) const { throw std::logic_error("reads of parts are not simulated"); }
  void operator()(const node::ReceiveParts&) const { throw std::logic_error("writes in parts are not simulated"); }
  void operator()(const node::CopyStagingParts&) const { throw std::logic_error("writes in parts are not simulated"); }
  void operator()(const node::ReceivePayload& a) const {
    range(KV_SIM_RECEIVE_PAYLOAD, a.connection, a.offset, a.length);
    node->storing[a.connection] = node->memory.subspan(a.offset, a.length);
  }
  void operator()(const node::DiscardPayload& a) const { range(KV_SIM_DISCARD_PAYLOAD, a.connection, 0, a.length); }
  void operator()(const node::CopyStaging& a) const {
    range(KV_SIM_COPY_STAGING, a.connection, a.offset, a.length);
    node->storing[a.connection] = node->memory.subspan(a.offset, a.length);
    out->staging_offset = a.stagingOffset;
    out->crc = a.crc;
  }
  void operator()(const node::MapStaging& a) const { range(KV_SIM_MAP_STAGING, a.connection, 0, a.bytes); }
  void operator()(const node::ConnectRemote& a) const { node->cann->links().connect(a, 0); }
  void operator()(const node::PullPayload& a) const {
    range(KV_SIM_PULL, a.transfer, a.offset, a.length);
    node->cann->links().pull(a);
  }
  void operator()(const node::PushPayload& a) const {
    range(KV_SIM_PUSH, a.transfer, a.offset, a.length);
    node->cann->links().push(a);
  }
  void operator()(const node::TakeStaging& a) const { node->cann->tierStaging().ask(a); }
  void operator()(const node::PushStaged& a) const {
    node->cann->links().pushStaged(a, node->cann->tierStaging().of(a.transfer).first(a.length));
  }
  void operator()(const node::DropStaging& a) const { node->cann->tierStaging().release(a.transfer); }
  void operator()(const node::Close& a) const {
    text(KV_SIM_CLOSE, a.reason);
    out->connection = a.connection;
  }
  void operator()(const node::Dial& a) const {
    out->kind = KV_SIM_DIAL;
    out->master = static_cast<uint32_t>(a.master);
  }
  void operator()(const node::DialSource& a) const {
    text(KV_SIM_DIAL_SOURCE, a.address);
    out->connection = a.source;
  }
  void operator()(const node::Note& a) const { text(KV_SIM_NOTE, a.text); }
  void operator()(const node::TierWrite& a) const {
    range(KV_SIM_TIER_WRITE, node->tier->submit(a), a.offset, a.length);
  }
  void operator()(const node::TierStore& a) const { range(KV_SIM_TIER_STORE, node->tier->submit(a), 0, 0); }
  void operator()(const node::TierRead& a) const {
    const auto into = a.transfer ? node->cann->tierStaging().of(*a.transfer) : std::span<uint8_t>();
    range(KV_SIM_TIER_READ, node->tier->submit(a, into), 0, 0);
  }
  void operator()(const node::SendTierPayload& a) const {
    const auto address = reinterpret_cast<uintptr_t>(node->tier->send(a).data());
    range(KV_SIM_SEND_TIER_PAYLOAD, a.connection, address, a.length);
    out->crc = a.crc;
  }
  /// Nothing for the caller to do: as if every read had begun.
  void operator()(const node::CancelTierRead& /*a*/) const {}
  void operator()(const node::DropTierPayload& a) const { node->tier->drop(a); }

  void operator()(const ascend::Connect& a) const {
    text(KV_SIM_CANN_CONNECT, a.endpoint);
    out->length = static_cast<uint64_t>(a.timeoutMs);
  }
  void operator()(const ascend::Disconnect& a) const { text(KV_SIM_CANN_DISCONNECT, a.endpoint); }
  void operator()(const ascend::Transfer& a) const {
    text(a.direction == ascend::Direction::Read ? KV_SIM_CANN_READ : KV_SIM_CANN_WRITE, a.endpoint);
    const ascend::Piece& piece = a.pieces.at(0);  // links move what lies in one piece
    out->offset = piece.local;
    out->staging_offset = piece.remote;
    out->length = piece.length;
    out->crc = static_cast<uint32_t>(a.timeoutMs);
  }
  void operator()(const ascend::Finish&) const { throw std::logic_error("the end of a transfer is no call"); }
};

/// What there is to do without another turn of the core. Whether that was handed out.
bool handOut(kv_sim_node* node, kv_sim_action* out) {
  while (true) {
    if (node->actions.empty()) node->take();
    if (!node->moved.empty()) {
      out->kind = KV_SIM_MOVED;
      out->connection = node->moved.front();
      node->moved.pop_front();
      return true;
    }
    if (!node->actions.empty()) {
      node->current = std::move(node->actions.front());
      node->actions.pop_front();
      std::visit(Flatten{node, out}, node->current);
      if (out->kind != KV_SIM_NONE) return true;
      continue;
    }
    if (!node->cann) return false;
    node->cann->work();
    node->take();
    if (!node->actions.empty() || !node->moved.empty()) continue;
    if (auto call = node->cann->mover().next()) {
      node->call = std::move(call->action);
      std::visit(Flatten{node, out}, node->call);
      out->connection = call->number;
      return true;
    }
    if (node->cann->settled()) return false;
  }
}

}  // namespace

int32_t kv_sim_format(const kv_sim_params* params, void* memory, uint64_t bytes) {
  const std::optional<store::Geometry> geometry = store::planGeometry(bytes);
  if (!geometry) return KV_INVALID_ARGUMENT;
  const std::span segment(static_cast<uint8_t*>(memory), bytes);
  CuttingGate gate;
  if (params->disk != nullptr) gate.onDisk(diskOf(segment, params->disk));
  store::formatSegment(segment, *geometry, identityOf(*params), gate);
  gate.settle(memory, store::kDirectoryOffset);  // what was stored; to look at all of the pages would take memory
  return KV_OK;
}

int32_t kv_sim_node_create(const kv_sim_params* params, void* memory, uint64_t bytes, uint64_t cut_stores,
                           uint32_t cut_bytes, kv_sim_node** out) {
  *out = nullptr;
  if (params->struct_size != sizeof(kv_sim_params)) return KV_INVALID_ARGUMENT;
  auto node = std::make_unique<kv_sim_node>();
  node->memory = {static_cast<uint8_t*>(memory), bytes};
  const store::HeaderCheck check = store::checkHeader(node->memory, identityOf(*params));
  if (check.verdict != store::HeaderVerdict::Fits) return KV_SEGMENT_FOREIGN;
  node->gate.cut(cut_stores, cut_bytes);
  if (params->disk != nullptr) node->gate.onDisk(diskOf(node->memory, params->disk));
  const int32_t status = live(node.get(), [&] {
    if (params->disk != nullptr && store::maySetBack(*store::newestState(node->memory), params->boot)) {
      if (!store::formatAgain(node->memory, identityOf(*params), node->gate).ok()) throw std::logic_error("a bad disk");
    }
    node->state.emplace(node->memory, node->gate);
    if (!node->state->beginLife(params->boot).ok()) throw std::logic_error("a bad disk");
    node->directory.emplace(node->memory, check.geometry, *node->state, node->gate);
    node->recovery = node->directory->recover();
    ssd::Table* table = nullptr;
    if (params->tier != nullptr) {
      node->tier.emplace(std::span(static_cast<uint8_t*>(params->tier), params->tier_bytes), node->memory);
      table = node->tier->open(params->tier_number, identityOf(*params), node->state->get(), *node->directory);
      if (table == nullptr) throw std::logic_error("the SSD cannot be opened");
    }
    node->core.emplace(configOf(*params), *node->directory, *node->state, table);
    if (params->cann != nullptr) node->cann.emplace(termsOf(*params), node->memory, *node->core);
  });
  if (status == KV_OK) *out = node.release();
  return status;
}

void kv_sim_node_destroy(kv_sim_node* node) {
  delete node;
}

int32_t kv_sim_node_cut(kv_sim_node* node, uint64_t stores, uint32_t bytes) {
  node->gate.cut(stores, bytes);
  return KV_OK;
}

uint64_t kv_sim_node_stores(const kv_sim_node* node) {
  return node->gate.done();
}

void kv_sim_node_tier_tear(kv_sim_node* node, uint64_t random) {
  if (node->tier) node->tier->tear(random);
}

const char* kv_sim_node_problem(const kv_sim_node* node) {
  return node->problem.c_str();
}

int32_t kv_sim_node_recovery(const kv_sim_node* node, kv_sim_recovery* out) {
  const store::Recovery& recovery = node->recovery;
  *out = {recovery.restored, recovery.unfinished, recovery.torn, recovery.invalid + recovery.above,
          recovery.overlapping};
  return KV_OK;
}

int32_t kv_sim_node_accepted(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint32_t local, const char* who) {
  return live(node, [&] {
    std::optional<kvpool::Principal> peer;
    if (who != nullptr) {
      const std::string domain =
          "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";  // checked before, where there are certificates
      peer = kvpool::secure::parseName("spiffe://" + domain + "/" + who).value().principal;
    }
    node->core->accepted(now_ms, connection, local != 0, "client " + std::to_string(connection), peer);
  });
}

int32_t kv_sim_node_dialled(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint32_t master) {
  return live(node, [&] { node->core->dialled(now_ms, connection, master, "master " + std::to_string(master)); });
}

int32_t kv_sim_node_dial_failed(kv_sim_node* node, uint64_t now_ms, uint32_t master, uint32_t refused) {
  return live(node,
              [&] { node->core->dialFailed(now_ms, master, refused != 0, refused != 0 ? "refused" : "no answer"); });
}

int32_t kv_sim_node_source_dialled(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint64_t source) {
  return live(node, [&] { node->core->sourceDialled(now_ms, connection, source, "source " + std::to_string(source)); });
}

int32_t kv_sim_node_source_dial_failed(kv_sim_node* node, uint64_t source) {
  return live(node, [&] { node->core->sourceDialFailed(source, "refused"); });
}

int32_t kv_sim_node_frame(kv_sim_node* node, uint64_t now_ms, uint64_t connection, const void* body, uint32_t length) {
  return live(node, [&] {
    node->at(now_ms);
    node->core->frame(now_ms, connection, {static_cast<const uint8_t*>(body), length});
  });
}

int32_t kv_sim_node_malformed(kv_sim_node* node, uint64_t connection) {
  return live(node, [&] { node->core->malformed(connection, "malformed bytes"); });
}

int32_t kv_sim_node_payload_received(kv_sim_node* node, uint64_t connection, uint32_t computed_crc, uint32_t sent_crc) {
  return live(node, [&] {
    // The caller has stored the payload; the shell of a real node notes its sums on the way.
    if (const auto stored = node->storing.extract(connection)) {
      RunningSum::behind(stored.mapped().data(), stored.mapped().size())
          .add(stored.mapped().data(), stored.mapped().size());
    }
    node->core->payloadReceived(connection, computed_crc, sent_crc);
  });
}

int32_t kv_sim_node_payload_sent(kv_sim_node* node, uint64_t connection) {
  return live(node, [&] {
    if (node->tier) node->tier->sent(connection);
    node->core->payloadSent(connection);
  });
}

int32_t kv_sim_node_staging_mapped(kv_sim_node* node, uint64_t connection, int32_t status) {
  return live(node,
              [&] { node->core->stagingMapped(connection, status == KV_OK ? Status() : Status(status, "staging")); });
}

int32_t kv_sim_node_sent(kv_sim_node* node, uint64_t connection, uint64_t bytes) {
  return live(node, [&] { node->core->sent(connection, bytes); });
}

int32_t kv_sim_node_closed(kv_sim_node* node, uint64_t now_ms, uint64_t connection) {
  return live(node, [&] {
    if (node->tier) node->tier->closed(connection);
    node->storing.erase(connection);
    node->at(now_ms);
    if (node->cann) node->cann->disconnect(connection);
    node->core->closed(now_ms, connection);
  });
}

int32_t kv_sim_node_cann_answered(kv_sim_node* node, uint64_t now_ms, uint64_t call, uint32_t status) {
  return live(node, [&] {
    node->at(now_ms);
    node->cann->mover().answered(call, status);
  });
}

int32_t kv_sim_node_tier_work(kv_sim_node* node, uint64_t job, uint32_t fails) {
  return live(node, [&] {
    const std::optional<sim::SimTier::Worked> worked = node->tier->work(job, fails != 0);
    if (!worked) return;
    if (const auto* write = std::get_if<ssd::WritePayload>(&worked->job)) {
      node->core->tierWritten(write->op, worked->status);
    } else if (const auto* read = std::get_if<ssd::ReadPayload>(&worked->job)) {
      node->core->tierRead(read->op, worked->status);
    } else {
      node->core->tierStored(worked->status);
    }
  });
}

int32_t kv_sim_node_tick(kv_sim_node* node, uint64_t now_ms) {
  return live(node, [&] {
    node->at(now_ms);
    if (node->cann) node->cann->mover().tick();
    node->core->tick(now_ms);
  });
}

int32_t kv_sim_node_leave(kv_sim_node* node) {
  return live(node, [&] { node->core->leave(); });
}

int32_t kv_sim_node_end(kv_sim_node* node) {
  return live(node, [&] {
    node->core->ended();
    node->gate.settle(node->memory.data(), node->memory.size());
    if (!node->state->saySettled().ok()) throw std::logic_error("a bad disk");
  });
}

void kv_sim_cut_power(void* memory, void* disk, uint64_t bytes, uint64_t random) {
  std::mt19937_64 dice(random);
  diskOf({static_cast<uint8_t*>(memory), bytes}, disk).cutPower(dice);
}

int32_t kv_sim_may_set_back(const void* memory, uint64_t bytes, uint64_t boot) {
  const std::span segment(static_cast<const uint8_t*>(memory), bytes);
  return store::maySetBack(*store::newestState(segment), boot) ? 1 : 0;
}

int32_t kv_sim_node_next(kv_sim_node* node, kv_sim_action* out) {
  *out = kv_sim_action{};
  return live(node, [&] {
    while (!handOut(node, out)) {
      do {
        node->core->endTurn();
        node->take();
      } while (node->actions.empty() && node->core->busy());
      if (node->actions.empty()) return;
    }
  });
}
