// SPDX-License-Identifier: Apache-2.0
#include "client/core/node_links.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace kvpool::client {
namespace {

/// Path of the unix socket when "BOOTID:PATH" is on the machine with this boot id, else empty.
std::string localPath(std::string_view shm, const Context& context) {
  const Config& config = context.config;
  const size_t colon = shm.find(':');
  if (!config.shm || !context.sharesMemory || config.bootId.empty() || colon == std::string_view::npos) return {};
  return shm.substr(0, colon) == config.bootId ? std::string(shm.substr(colon + 1)) : std::string();
}

}  // namespace

void NodeLinks::learn(const std::vector<NodeAddress>& nodes) {
  for (const NodeAddress& node : nodes) {
    auto known = links_.find(node.incarnation);
    if (known == links_.end()) {
      makeRoom();
      known = links_.try_emplace(node.incarnation).first;
    }
    Link& link = known->second;
    link.lastUse = context_.now;
    const bool moved = link.address.tcp != node.tcp || link.address.shm != node.shm;
    if (moved && isUnused(link)) settle(link, node);
  }
}

/// Makes the connections to a node that is new or said another address; called when none is in use.
void NodeLinks::settle(Link& link, const NodeAddress& node) {
  closeConnections(link, Status(KV_CLOSED, "closed: the node has another address"));
  link.address = node;
  link.tcp.reset();
  link.shm.reset();
  if (context_.config.tcp && !node.tcp.empty()) {
    link.tcp = std::make_unique<NodeConnection>(context_, results_, Transport::Tcp, node.tcp, node);
  }
  const std::string path = localPath(node.shm, context_);
  if (!path.empty()) {
    link.shm = std::make_unique<NodeConnection>(context_, results_, Transport::Unix, path, node);
  }
}

void NodeLinks::closeConnections(Link& link, const Status& why) {
  if (link.tcp) link.tcp->fail(why);
  if (link.shm) link.shm->fail(why);
  for (const auto& former : link.former)
    former->fail(why);
}

void NodeLinks::makeRoom() {
  if (links_.size() < kNodeLinksMax) return;
  auto oldest = links_.end();
  for (auto it = links_.begin(); it != links_.end(); ++it) {
    const Link& link = it->second;
    if (isUnused(link) && (oldest == links_.end() || link.lastUse < oldest->second.lastUse)) oldest = it;
  }
  if (oldest == links_.end()) return;  // all busy: transfers and open puts are bounded, so these are too
  closeConnections(oldest->second, Status(KV_CLOSED, "closed: unused, and no more than " +
                                                         std::to_string(kNodeLinksMax) + " nodes are kept"));
  links_.erase(oldest);
}

bool NodeLinks::mayShare(const Link& link) const {
  return context_.sharesMemory && link.shm && link.shm->whyNot().ok();
}

void NodeLinks::endShared() {
  for (auto& [incarnation, link] : links_) {
    if (link.shm) link.shm->fail(Status(KV_CLOSED, "closed: the client's tenant does not share memory with nodes"));
  }
}

bool NodeLinks::isLocal(uint64_t incarnation) const {
  const auto found = links_.find(incarnation);
  return found != links_.end() && mayShare(found->second);
}

bool NodeLinks::isStalled(uint64_t incarnation) const {
  const auto found = links_.find(incarnation);
  if (found == links_.end()) return false;
  const Link& link = found->second;
  return (link.tcp && link.tcp->stalled()) || (link.shm && link.shm->stalled()) ||
         std::any_of(link.former.begin(), link.former.end(), [](const auto& one) { return one->stalled(); });
}

bool NodeLinks::prefersShm(const Link& link, const Transfer& transfer) const {
  if (!mayShare(link)) return false;
  // What lies on the SSD is nowhere to be mapped.
  if (transfer.direction == Direction::Read) return transfer.extent.segment == kMemorySegment;
  return transfer.length <= kStagingBytes;  // Open: nothing moves yet
}

void NodeLinks::refuse(const Transfer& transfer, int32_t status, const std::string& sentence) {
  context_.explain(sentence);
  results_.push_back({transfer.id, transfer.batch, transfer.line, transfer.node, status, false});
}

void NodeLinks::start(const Transfer& transfer, const PoolId& pool) {
  if (transfer.isBound()) {
    if (NodeConnection* bound = nodeConnection(transfer.connection)) return bound->enqueue(transfer, pool);
    return refuse(transfer, KV_LEASE_EXPIRED, "the connection to a storage node ended, and what was written on it");
  }
  const auto found = links_.find(transfer.node);
  if (found == links_.end()) return refuse(transfer, KV_UNAVAILABLE, "a storage node is not known any more");
  Link& link = found->second;
  link.lastUse = context_.now;
  if (prefersShm(link, transfer)) return link.shm->enqueue(transfer, pool);
  startTcp(link, transfer, pool);
}

void NodeLinks::startTcp(Link& link, const Transfer& transfer, const PoolId& pool) {
  if (!link.tcp) {
    const Status shm = link.shm ? link.shm->whyNot() : Status();
    if (!shm.ok()) return refuse(transfer, shm.code(), shm.text());
    return refuse(
        transfer, KV_CONNECT_FAILED,
        "node " + link.address.id + " cannot be reached by the protocols this client may use" +
            (context_.sharesMemory ? "" : "; its tenant needs tcp, as shared memory is for the tenant default"));
  }
  const Status why = link.tcp->whyNot();
  if (!why.ok()) return refuse(transfer, why.code(), why.text());
  link.tcp->enqueue(transfer, pool);
}

void NodeLinks::rescueStranded(const PoolId& pool) {
  for (auto& [incarnation, link] : links_) {
    if (!link.shm) continue;
    for (const Transfer& transfer : link.shm->takeStranded())
      startTcp(link, transfer, pool);
  }
}

void NodeLinks::abandon(BatchId batch) {
  for (auto& [incarnation, link] : links_) {
    if (link.tcp) link.tcp->abandon(batch);
    if (link.shm) link.shm->abandon(batch);
    for (const auto& former : link.former)
      former->abandon(batch);
  }
  std::erase_if(results_, [batch](const TransferResult& result) { return result.batch == batch; });
}

NodeConnection* NodeLinks::nodeConnection(ConnectionId connection) {
  for (auto& [incarnation, link] : links_) {
    if (link.tcp && link.tcp->owns(connection)) return link.tcp.get();
    if (link.shm && link.shm->owns(connection)) return link.shm.get();
    for (const auto& former : link.former) {
      if (former->owns(connection)) return former.get();
    }
  }
  return nullptr;
}

void NodeLinks::renew(ConnectionId connection) {
  for (auto& [incarnation, link] : links_) {
    if (!link.tcp || !link.tcp->owns(connection)) continue;
    link.former.push_back(std::move(link.tcp));
    link.tcp = std::make_unique<NodeConnection>(context_, results_, Transport::Tcp, link.address.tcp, link.address);
    return closeUnused(link);
  }
}

void NodeLinks::closeUnused(Link& link) {
  std::erase_if(link.former, [](const auto& former) {
    if (!former->unused()) return false;
    former->fail(Status(KV_CLOSED, "closed: its certificate ends soon"));
    return true;
  });
}

void NodeLinks::tick() {
  for (auto& [incarnation, link] : links_) {
    for (const auto& former : link.former)
      former->tick();
    closeUnused(link);
    if (link.tcp) link.tcp->tick();
    if (link.shm) link.shm->tick();
  }
}

void NodeLinks::closeAll() {
  const Status why(KV_CLOSED, "the client is closed");
  for (auto& [incarnation, link] : links_)
    closeConnections(link, why);
}

}  // namespace kvpool::client
