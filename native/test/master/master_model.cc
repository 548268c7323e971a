// SPDX-License-Identifier: Apache-2.0
#include "master/master_model.h"

#include <algorithm>
#include <cstring>

#include "dev_kvpool_wire/CommandAck.h"
#include "dev_kvpool_wire/DirectoryRecords.h"
#include "dev_kvpool_wire/FenceAck.h"
#include "dev_kvpool_wire/NodeInfo.h"
#include "dev_kvpool_wire/SnapshotEnd.h"

namespace kvpool::test {

namespace sbe = wire::sbe;

MasterModel::MasterModel(Settings settings) : settings_(std::move(settings)), random_(settings_.seed) {
  self_.role = wire::Role::Master;
  self_.poolId = settings_.pool;
  self_.incarnation = random_();
  self_.wire = settings_.wire;
  self_.name = settings_.name;
  self_.product = KVPOOL_PRODUCT_VERSION;
  authority_ = {1, random_()};
}

void MasterModel::setRole(MasterRole role) {
  const bool takesOver = role == MasterRole::Leader && role_ == MasterRole::Standby;
  role_ = role;
  if (!takesOver) return;
  // Whatever another leader did meanwhile, the nodes' directories say what there is.
  published_.clear();
  for (auto& [connection, node] : nodes_) {
    node.fenced = false;
    for (const auto& [slot, record] : node.slots)
      publishHighest(record);
  }
  raiseEpoch(authority_.epoch);
}

size_t MasterModel::readyNodes() const {
  return static_cast<size_t>(std::count_if(
      nodes_.begin(), nodes_.end(), [](const auto& entry) { return entry.second.caughtUp && entry.second.fenced; }));
}

void MasterModel::closed(uint64_t connection) {
  keys_.erase(connection);
  if (const auto node = nodes_.find(connection); node != nodes_.end()) {
    for (const auto& [slot, record] : node->second.slots)
      forget(connection, record);
    nodes_.erase(node);
  }
  clients_.erase(connection);
  // A node that is gone will not answer: its removals are over, its publishes are judged without it.
  for (PendingRemove& pending : removes_) {
    std::erase_if(pending.acksMissing, [connection](const auto& ack) { return ack.second == connection; });
  }
  settleRemoves();
  settlePublishes();
}

void MasterModel::frame(Time now, uint64_t connection, wire::Body body) {
  now_ = now;
  try {
    if (const auto node = nodes_.find(connection); node != nodes_.end()) {
      nodeFrame(connection, node->second, body);
    } else if (clients_.contains(connection)) {
      clientFrame(connection, body);
    } else {
      greet(connection, body);
    }
  } catch (const wire::Malformed&) {
    outgoing_.push_back({connection, {}, true});
    closed(connection);
  }
  settlePublishes();
}

void MasterModel::tick(Time now) {
  now_ = now;
  settlePublishes();
  if (now - lastHeartbeat_ < static_cast<Time>(wire::kHeartbeatMs)) return;
  lastHeartbeat_ = now;
  wire::Bytes frame;
  wire::appendHeartbeat(frame);
  for (const auto& [connection, node] : nodes_)
    send(connection, frame);
  for (uint64_t connection : clients_)
    send(connection, frame);
}

void MasterModel::refuse(uint64_t connection, wire::Refused refused) {
  wire::Bytes frame;
  wire::appendRefused(frame, refused);
  outgoing_.push_back({connection, std::move(frame), true});
}

void MasterModel::greet(uint64_t connection, wire::Body body) {
  const wire::Hello hello = wire::readHello(body);
  const bool isNode = hello.self.role == wire::Role::Node;
  const wire::Admission admission{isNode ? wire::Role::Node : wire::Role::Client, true, false};
  auto judged = wire::judgeHello(hello, self_, admission);
  if (auto* refused = std::get_if<wire::Refused>(&judged)) return refuse(connection, std::move(*refused));
  wire::Bytes frame;
  wire::appendWelcome(frame, std::get<wire::Welcome>(judged));
  send(connection, std::move(frame));
  if (!isNode) {
    clients_.insert(connection);
    return;
  }
  Node& node = nodes_[connection];
  node.id = hello.self.name;
  node.incarnation = hello.self.incarnation;
}

void MasterModel::nodeFrame(uint64_t connection, Node& node, wire::Body body) {
  switch (wire::templateOf(body)) {
    case sbe::NodeInfo::sbeTemplateId():
      node.info = readNodeInfo(body);
      ++directories_;
      if (node.info.seen.epoch >= authority_.epoch && node.info.seen != authority_) raiseEpoch(node.info.seen.epoch);
      break;
    case sbe::DirectoryRecords::sbeTemplateId():
      apply(connection, node, readDirectoryRecords(body));
      break;
    case sbe::SnapshotEnd::sbeTemplateId():
      node.caughtUp = true;
      if (role_ == MasterRole::Leader) fenceNode(connection, node);
      break;
    case sbe::FenceAck::sbeTemplateId():
      fenceAcked(connection, node, readFenceAck(body));
      break;
    case sbe::CommandAck::sbeTemplateId():
      commandAcked(readCommandAck(body).request);
      break;
    default:
      break;  // snapshot begin, stats, heartbeat
  }
}

void MasterModel::apply(uint64_t connection, Node& node, const DirectoryRecords& records) {
  for (const DirectoryRecord& record : records.records) {
    const std::pair<uint16_t, uint32_t> slot{record.extent.segment, record.extent.slot};
    if (const auto known = node.slots.find(slot); known != node.slots.end()) {
      if (known->second.extent.generation > record.extent.generation) continue;
      forget(connection, known->second);
      node.slots.erase(known);
    }
    if (!record.committed) continue;
    node.slots[slot] = record;
    held_[record.object][connection] = record;
    if (record.extent.segment == kTierSegment) freeDemoted(connection, node, record.object);
    if (!node.fenced) publishHighest(record);
  }
}

/// Committed before this leader's fence: counts as published, the highest id wins.
void MasterModel::publishHighest(const DirectoryRecord& record) {
  ObjectId& object = published_[record.key];
  object = std::max(object, record.object);
}

/// What a node brought back of keys that have a newer object meanwhile.
void MasterModel::freeSuperseded(uint64_t connection, const Node& node) {
  std::vector<FreedExtent> old;
  for (const auto& [slot, record] : node.slots) {
    const auto object = published_.find(record.key);
    if (object != published_.end() && record.object < object->second) old.push_back({record.extent, record.object});
  }
  if (!old.empty()) send(connection, free(++lastRequest_, authority_, old));
}

void MasterModel::demote(const std::string& key) {
  for (const auto& [connection, record] : copies(key))
    send(connection, copyToSsd(++lastRequest_, authority_, nodes_.at(connection).incarnation, record));
}

void MasterModel::spreadAll() {
  for (const auto& [object, all] : held_) {
    const auto& [source, record] = *all.begin();
    const Node& from = nodes_.at(source);
    for (const auto& [connection, node] : nodes_) {
      if (all.contains(connection)) continue;
      send(connection, copyFrom(++lastRequest_, authority_, from.incarnation, from.info.tcp, from.id, record));
    }
  }
}

bool MasterModel::isOnSsd(const std::string& key) const {
  const Copies all = copies(key);
  return !all.empty() &&
         std::ranges::all_of(all, [](const auto& copy) { return copy.second.extent.segment == kTierSegment; });
}

void MasterModel::freeDemoted(uint64_t connection, const Node& node, const ObjectId& object) {
  std::vector<FreedExtent> inMemory;
  for (const auto& [slot, record] : node.slots) {
    if (record.object == object && record.extent.segment == kMemorySegment) inMemory.push_back({record.extent, object});
  }
  if (!inMemory.empty()) send(connection, free(++lastRequest_, authority_, inMemory));
}

void MasterModel::forget(uint64_t connection, const DirectoryRecord& record) {
  const auto held = held_.find(record.object);
  if (held == held_.end()) return;
  const auto copy = held->second.find(connection);
  if (copy == held->second.end() || copy->second.extent != record.extent) return;  // it lies elsewhere on the node now
  held->second.erase(copy);
  if (held->second.empty()) held_.erase(held);
}

void MasterModel::fenceNode(uint64_t connection, Node& node) {
  node.fenced = false;
  node.fenceRequest = ++lastRequest_;
  send(connection, fence(node.fenceRequest, authority_, settings_.objectLeaseMs, secretOf(node)));
}

GrantSecret MasterModel::secretOf(const Node& node) const {
  GrantSecret secret{};
  std::memcpy(secret.data(), &authority_.nonce, sizeof authority_.nonce);
  const size_t length = std::min(node.id.size(), secret.size() - sizeof authority_.nonce);
  std::copy_n(node.id.begin(), length, secret.begin() + sizeof authority_.nonce);
  return secret;
}

void MasterModel::raiseEpoch(uint64_t above) {
  authority_ = {above + 1, random_()};
  lastCounter_ = 0;
  grants_.clear();
  for (auto& [connection, node] : nodes_) {
    if (node.caughtUp) fenceNode(connection, node);
  }
}

void MasterModel::fenceAcked(uint64_t connection, Node& node, const Ack& ack) {
  if (ack.request != node.fenceRequest || role_ == MasterRole::Standby) return;
  node.fenced = ack.accepted && ack.seen == authority_;
  if (node.fenced) return freeSuperseded(connection, node);
  raiseEpoch(std::max(ack.seen.epoch, authority_.epoch));
}

MasterModel::Copies MasterModel::copies(const std::string& key) const {
  const auto object = published_.find(key);
  if (object == published_.end()) return {};
  const auto held = held_.find(object->second);
  return held == held_.end() ? Copies() : held->second;
}

}  // namespace kvpool::test
