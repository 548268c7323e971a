// SPDX-License-Identifier: Apache-2.0
// What clients ask of the test master.
#include <algorithm>

#include "dev_kvpool_wire/ExistsRequest.h"
#include "dev_kvpool_wire/GrantRequest.h"
#include "dev_kvpool_wire/LookupRequest.h"
#include "dev_kvpool_wire/PublishRequest.h"
#include "dev_kvpool_wire/RemoveAllRequest.h"
#include "dev_kvpool_wire/RemoveRequest.h"
#include "kvpool/kvpool.h"
#include "master/master_model.h"
#include "secure/grant_seal.h"

namespace kvpool::test {

namespace sbe = wire::sbe;

namespace {

constexpr Time kPublishWaitMs = 2000;
constexpr uint32_t kGrantMsMax = 30000;
constexpr size_t kFreesPerRequest = 10000;

}  // namespace

int32_t MasterModel::servingStatus() const {
  if (role_ == MasterRole::Standby) return KV_NOT_LEADER;
  if (role_ == MasterRole::Recovering) return KV_RECOVERING;
  return KV_OK;
}

OwnKeys MasterModel::keysOf(uint64_t connection) const {
  const auto found = keys_.find(connection);
  return found == keys_.end() ? OwnKeys() : found->second;
}

void MasterModel::clientFrame(uint64_t connection, wire::Body body) {
  const OwnKeys own = keysOf(connection);
  const auto qualify = [&](std::string& key) {
    std::string room;
    key = std::string(own.qualify(key, room));
  };
  const auto qualified = [&](KeysRequest request) {
    for (std::string& key : request.keys)
      qualify(key);
    return request;
  };
  switch (wire::templateOf(body)) {
    case sbe::GrantRequest::sbeTemplateId(): {
      GrantRequest request = readGrantRequest(body);
      for (WantedGrant& wanted : request.keys)
        qualify(wanted.key);
      return grant(connection, request);
    }
    case sbe::PublishRequest::sbeTemplateId(): {
      PublishRequest request = readPublishRequest(body);
      for (PublishedObject& object : request.objects)
        qualify(object.key);
      return publish(connection, std::move(request));
    }
    case sbe::LookupRequest::sbeTemplateId():
      return lookup(connection, qualified(readLookupRequest(body)));
    case sbe::ExistsRequest::sbeTemplateId():
      return exists(connection, qualified(readExistsRequest(body)));
    case sbe::RemoveRequest::sbeTemplateId():
      return remove(connection, qualified(readRemoveRequest(body)));
    case sbe::RemoveAllRequest::sbeTemplateId():
      return removeAll(connection, readRemoveAllRequest(body));
    default:
      return;  // heartbeat
  }
}

std::vector<client::NodeAddress> MasterModel::nodeTable(std::map<uint64_t, uint16_t>& indexOf) const {
  std::vector<client::NodeAddress> table;
  for (const auto& [connection, node] : nodes_) {
    if (node.info.tcp.empty()) continue;  // said Hello and nothing more yet
    indexOf[connection] = static_cast<uint16_t>(table.size());
    table.push_back(
        {node.incarnation, node.id, node.info.tcp, node.info.shm, node.info.isTransient && !callsAllLasting_});
  }
  return table;
}

// ---- put ----

void MasterModel::grant(uint64_t connection, const GrantRequest& request) {
  client::GrantReply reply{request.request, servingStatus(), authority_, {}, {}};
  const uint32_t deadlineMs = std::min(request.deadlineMs, kGrantMsMax);
  if (reply.status == KV_OK) {
    std::map<uint64_t, uint16_t> indexOf;
    reply.nodes = nodeTable(indexOf);
    for (const WantedGrant& wanted : request.keys) {
      std::vector<uint64_t> order;
      for (const auto& [at, node] : nodes_) {
        if (node.caughtUp && node.fenced && node.info.capacityBytes >= wanted.payloadLength) order.push_back(at);
      }
      std::shuffle(order.begin(), order.end(), random_);
      std::stable_partition(order.begin(), order.end(),
                            [&](uint64_t at) { return nodes_.at(at).id == request.preferredNodes; });
      client::Grant given = grantOne(request, wanted, order);
      given.pins = wanted.retention.pins;
      given.softPinMs = wanted.retention.softPinMs;
      const size_t copies = std::min<size_t>(std::max(request.replicas, 1u), order.size());
      if (given.status == KV_OK) {
        for (size_t i = 0; i < copies; ++i)
          given.targets.push_back(target(order[i], indexOf.at(order[i]), given.object, wanted));
      }
      reply.grants.push_back(std::move(given));
    }
  }
  send(connection, grantReply(reply, deadlineMs));
}

client::GrantTarget MasterModel::target(uint64_t at, uint16_t index, const ObjectId& object,
                                        const WantedGrant& wanted) const {
  secure::GrantSeal seal(secretOf(nodes_.at(at)));
  return {index, seal.of({authority_, object, wanted.payloadLength, wanted.retention, wanted.key})};
}

client::Grant MasterModel::grantOne(const GrantRequest& request, const WantedGrant& wanted,
                                    const std::vector<uint64_t>& order) {
  if (!request.replace && !copies(wanted.key).empty()) return {KV_EXISTS, {}, {}};
  const auto given = grants_.find(wanted.key);
  if (given != grants_.end() && given->second.deadline > now_) return {KV_BUSY, {}, {}, 0};
  if (order.empty()) {
    const bool anyReady = readyNodes() > 0;
    return {anyReady ? KV_TOO_LARGE : KV_NO_SPACE, {}, {}, 0};
  }
  const ObjectId object{authority_.epoch, ++lastCounter_};
  grants_[wanted.key] = {object, now_ + std::min(request.deadlineMs, kGrantMsMax)};
  return {KV_OK, object, {}};
}

void MasterModel::publish(uint64_t connection, PublishRequest request) {
  if (servingStatus() != KV_OK) return send(connection, publishReply({request.request, servingStatus(), {}}));
  publishes_.push_back({connection, std::move(request), now_ + kPublishWaitMs});
}

std::optional<int32_t> MasterModel::judgePublish(const PendingPublish& pending, const PublishedObject& object) {
  const auto published = published_.find(object.key);
  if (published != published_.end() && published->second == object.object) return KV_OK;
  const auto given = grants_.find(object.key);
  const bool isGranted = given != grants_.end() && given->second.object == object.object;
  if (!isGranted) {
    const bool hasNewer = published != published_.end() && published->second > object.object;
    return hasNewer ? KV_EXISTS : KV_STALE_EPOCH;
  }
  if (!object.written) return KV_OK;
  bool anySeen = false;
  for (const auto& [connection, node] : nodes_) {
    const auto& named = object.committed;
    if (std::find(named.begin(), named.end(), node.incarnation) == named.end()) continue;
    const bool seen = held_.contains(object.object) && held_.at(object.object).contains(connection);
    if (!seen && now_ < pending.deadline) return std::nullopt;
    anySeen = anySeen || seen;
  }
  return anySeen ? KV_OK : KV_UNAVAILABLE;
}

void MasterModel::settlePublishes() {
  std::erase_if(publishes_, [&](const PendingPublish& pending) {
    client::KeysReply reply{pending.request.request, KV_OK, {}};
    for (const PublishedObject& object : pending.request.objects) {
      const std::optional<int32_t> status = judgePublish(pending, object);
      if (!status) return false;
      reply.results.push_back({*status, 0});
    }
    for (size_t i = 0; i < pending.request.objects.size(); ++i) {
      const PublishedObject& object = pending.request.objects[i];
      const auto given = grants_.find(object.key);
      if (given != grants_.end() && given->second.object == object.object) grants_.erase(given);
      if (object.written && reply.results[i].status == KV_OK) published_[object.key] = object.object;
    }
    send(pending.connection, publishReply(reply));
    return true;
  });
}

// ---- get, exists ----

void MasterModel::lookup(uint64_t connection, const KeysRequest& request) {
  client::LookupReply reply{request.request, servingStatus(), authority_, settings_.objectLeaseMs, {}, {}};
  if (reply.status == KV_OK) {
    std::map<uint64_t, uint16_t> indexOf;
    reply.nodes = nodeTable(indexOf);
    for (const std::string& key : request.keys) {
      client::Located& located = reply.objects.emplace_back();
      const Copies held = copies(key);
      located.status = !held.empty() ? KV_OK : published_.contains(key) ? KV_UNAVAILABLE : KV_NOT_FOUND;
      if (held.empty()) continue;
      lease(key);
      const DirectoryRecord& any = held.begin()->second;
      located.object = any.object;
      located.payloadLength = any.payloadLength;
      located.payloadCrc = any.payloadCrc;
      for (const auto& [at, record] : held) {
        located.replicas.push_back({indexOf.at(at), record.extent, record.offset});
      }
    }
  }
  send(connection, lookupReply(reply));
}

void MasterModel::exists(uint64_t connection, const KeysRequest& request) {
  client::KeysReply reply{request.request, servingStatus(), {}};
  if (reply.status == KV_OK) {
    for (const std::string& key : request.keys) {
      const Copies held = copies(key);
      if (!held.empty()) lease(key);
      reply.results.push_back(held.empty() ? client::KeyStatus{KV_NOT_FOUND, 0}
                                           : client::KeyStatus{KV_OK, held.begin()->second.payloadLength});
    }
  }
  send(connection, existsReply(reply));
}

// ---- remove ----

bool MasterModel::isLeased(const std::string& key) const {
  const auto until = leasedUntil_.find(key);
  return until != leasedUntil_.end() && until->second > now_;
}

int32_t MasterModel::removeOne(const std::string& key, bool force,
                               std::map<uint64_t, std::vector<FreedExtent>>& freed) {
  if (!published_.contains(key)) return grants_.contains(key) ? KV_BUSY : KV_NOT_FOUND;
  const Copies held = copies(key);
  if (held.empty()) return KV_UNAVAILABLE;
  if (isLeased(key) && !force) return KV_HAS_LEASE;
  for (const auto& [at, record] : held)
    freed[at].push_back({record.extent, record.object});
  published_.erase(key);
  return KV_OK;
}

void MasterModel::remove(uint64_t connection, const KeysRequest& request) {
  PendingRemove pending{connection, {request.request, servingStatus(), {}}, false, 0, {}};
  std::map<uint64_t, std::vector<FreedExtent>> freed;
  if (pending.reply.status == KV_OK) {
    for (const std::string& key : request.keys) {
      pending.reply.results.push_back({removeOne(key, request.force, freed), 0});
    }
  }
  awaitFrees(std::move(pending), freed);
}

void MasterModel::removeAll(uint64_t connection, const KeysRequest& request) {
  PendingRemove pending{connection, {request.request, servingStatus(), {}}, true, 0, {}};
  std::map<uint64_t, std::vector<FreedExtent>> freed;
  if (pending.reply.status == KV_OK) {
    std::vector<std::string> keys;
    const OwnKeys own = keysOf(connection);
    for (const auto& [key, object] : published_) {
      if (own.see(key)) keys.push_back(key);
    }
    for (const std::string& key : keys) {
      if (removeOne(key, request.force, freed) == KV_OK) ++pending.removed;
    }
  }
  awaitFrees(std::move(pending), freed);
}

void MasterModel::awaitFrees(PendingRemove pending, const std::map<uint64_t, std::vector<FreedExtent>>& freed) {
  for (const auto& [connection, extents] : freed) {
    for (size_t begin = 0; begin < extents.size(); begin += kFreesPerRequest) {
      const size_t count = std::min(kFreesPerRequest, extents.size() - begin);
      const uint64_t request = ++lastRequest_;
      pending.acksMissing[request] = connection;
      send(connection, free(request, authority_, std::span(extents).subspan(begin, count)));
    }
  }
  removes_.push_back(std::move(pending));
  settleRemoves();
}

void MasterModel::commandAcked(uint64_t request) {
  for (PendingRemove& pending : removes_)
    pending.acksMissing.erase(request);
  settleRemoves();
}

void MasterModel::settleRemoves() {
  std::erase_if(removes_, [&](const PendingRemove& pending) {
    if (pending.acksMissing.empty()) finishRemove(pending);
    return pending.acksMissing.empty();
  });
}

void MasterModel::finishRemove(const PendingRemove& pending) {
  if (pending.all) {
    send(pending.connection, removeAllReply({pending.reply.request, pending.reply.status, pending.removed}));
  } else {
    send(pending.connection, removeReply(pending.reply));
  }
}

}  // namespace kvpool::test
