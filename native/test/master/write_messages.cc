// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "dev_kvpool_wire/Copy.h"
#include "dev_kvpool_wire/ExistsReply.h"
#include "dev_kvpool_wire/Fence.h"
#include "dev_kvpool_wire/Free.h"
#include "dev_kvpool_wire/GrantReply.h"
#include "dev_kvpool_wire/HintReply.h"
#include "dev_kvpool_wire/LookupReply.h"
#include "dev_kvpool_wire/PublishReply.h"
#include "dev_kvpool_wire/RemoveAllReply.h"
#include "dev_kvpool_wire/RemoveReply.h"
#include "dev_kvpool_wire/TaskReply.h"
#include "master/master_messages.h"
#include "wire/frame.h"

namespace kvpool::test::master {
namespace {

namespace sbe = wire::sbe;
using wire::groupRoom;
using wire::put;
using wire::textRoom;

template <typename Message, typename Fill>
wire::Bytes frameOf(size_t variableRoom, Fill fill) {
  wire::Bytes out;
  wire::appendFrame<Message>(out, variableRoom, fill);
  return out;
}

template <typename Message>
size_t nodesRoom(const std::vector<client::NodeAddress>& nodes) {
  size_t room = groupRoom(nodes.size(), Message::Nodes::sbeBlockLength());
  for (const auto& node : nodes)
    room += textRoom(node.id.size()) + textRoom(node.tcp.size()) + textRoom(node.shm.size());
  return room;
}

template <typename Message>
void putNodes(Message& message, const std::vector<client::NodeAddress>& nodes) {
  auto& group = message.nodesCount(static_cast<uint16_t>(nodes.size()));
  for (const auto& node : nodes) {
    group.next()
        .incarnation(node.incarnation)
        .isTransient(wire::flag(node.isTransient))
        .putNodeId(node.id)
        .putTcp(node.tcp)
        .putShm(node.shm);
  }
}

template <typename Message>
wire::Bytes keysReply(const client::KeysReply& reply) {
  return frameOf<Message>(groupRoom(reply.results.size(), Message::Results::sbeBlockLength()), [&](Message& message) {
    message.requestId(reply.request).status(reply.status);
    auto& results = message.resultsCount(static_cast<uint16_t>(reply.results.size()));
    for (const client::KeyStatus& result : reply.results) {
      results.next().status(result.status);
      if constexpr (requires { results.payloadLength(uint64_t{0}); }) results.payloadLength(result.length);
      if constexpr (requires { results.objects(uint64_t{0}); }) results.objects(result.length);
    }
  });
}

}  // namespace

wire::Bytes fence(uint64_t request, const Authority& authority, uint64_t objectLeaseMs, const GrantSecret& secret) {
  return frameOf<sbe::Fence>(0, [&](sbe::Fence& message) {
    message.requestId(request).objectLeaseMs(objectLeaseMs);
    put(message.authority(), authority);
    const auto words = std::bit_cast<std::array<uint64_t, 4>>(secret);
    message.grantSecret().first(words[0]).second(words[1]).third(words[2]).fourth(words[3]);
  });
}

wire::Bytes free(uint64_t request, const Authority& authority, std::span<const FreedExtent> extents) {
  return frameOf<sbe::Free>(groupRoom(extents.size(), sbe::Free::Extents::sbeBlockLength()), [&](sbe::Free& message) {
    message.requestId(request);
    put(message.authority(), authority);
    auto& group = message.extentsCount(static_cast<uint16_t>(extents.size()));
    for (const FreedExtent& freed : extents) {
      group.next();
      put(group.extent(), freed.extent);
      put(group.objectId(), freed.object);
    }
  });
}

namespace {

wire::Bytes copy(uint64_t request, const Authority& authority, uint64_t incarnation, const DirectoryRecord& record,
                 sbe::Medium::Value medium, const std::string& address, const std::string& node) {
  const size_t room = textRoom(record.key.size()) + textRoom(address.size()) + textRoom(node.size());
  return frameOf<sbe::Copy>(room, [&](sbe::Copy& message) {
    message.requestId(request).payloadLength(record.payloadLength).payloadCrc(record.payloadCrc);
    message.sourceIncarnation(incarnation).medium(medium).sourceIsTransient(wire::flag(false));
    put(message.authority(), authority);
    put(message.objectId(), record.object);
    put(message.sourceExtent(), record.extent);
    wire::putRetention(message, {});
    message.putKey(record.key).putSourceTcp(address).putSourceNode(node);
  });
}

}  // namespace

wire::Bytes copyToSsd(uint64_t request, const Authority& authority, uint64_t incarnation,
                      const DirectoryRecord& record) {
  return copy(request, authority, incarnation, record, sbe::Medium::SSD, "", "");
}

wire::Bytes copyFrom(uint64_t request, const Authority& authority, uint64_t incarnation, const std::string& address,
                     const std::string& node, const DirectoryRecord& record) {
  return copy(request, authority, incarnation, record, sbe::Medium::DRAM, address, node);
}

wire::Bytes grantReply(const client::GrantReply& reply, uint32_t deadlineMs) {
  using Grants = sbe::GrantReply::Grants;
  size_t room = nodesRoom<sbe::GrantReply>(reply.nodes) + groupRoom(reply.grants.size(), Grants::sbeBlockLength());
  room += textRoom(reply.unknownNodes.size());
  for (const auto& grant : reply.grants)
    room += groupRoom(grant.targets.size(), Grants::Targets::sbeBlockLength());
  return frameOf<sbe::GrantReply>(room, [&](sbe::GrantReply& message) {
    message.requestId(reply.request).status(reply.status).deadlineMs(deadlineMs);
    put(message.authority(), reply.authority);
    putNodes(message, reply.nodes);
    auto& grants = message.grantsCount(static_cast<uint16_t>(reply.grants.size()));
    for (const client::Grant& grant : reply.grants) {
      grants.next().status(grant.status).roomMs(grant.roomMs).softPinMs(grant.softPinMs);
      grants.pins().rawValue(grant.pins);
      put(grants.objectId(), grant.object);
      auto& targets = grants.targetsCount(static_cast<uint16_t>(grant.targets.size()));
      for (const client::GrantTarget& target : grant.targets) {
        targets.next().node(target.node);
        put(targets.mac(), target.mac);
      }
    }
    message.putUnknownNodes(reply.unknownNodes);
  });
}

wire::Bytes lookupReply(const client::LookupReply& reply) {
  using Objects = sbe::LookupReply::Objects;
  size_t room = nodesRoom<sbe::LookupReply>(reply.nodes) + groupRoom(reply.objects.size(), Objects::sbeBlockLength());
  for (const auto& object : reply.objects) {
    room += groupRoom(object.replicas.size(), Objects::Replicas::sbeBlockLength());
  }
  return frameOf<sbe::LookupReply>(room, [&](sbe::LookupReply& message) {
    message.requestId(reply.request).status(reply.status).leaseMs(reply.leaseMs);
    put(message.authority(), reply.authority);
    putNodes(message, reply.nodes);
    auto& objects = message.objectsCount(static_cast<uint16_t>(reply.objects.size()));
    for (const client::Located& object : reply.objects) {
      objects.next().status(object.status).payloadLength(object.payloadLength).payloadCrc(object.payloadCrc);
      put(objects.objectId(), object.object);
      auto& replicas = objects.replicasCount(static_cast<uint16_t>(object.replicas.size()));
      for (const client::Replica& replica : object.replicas) {
        replicas.next().node(replica.node).offset(replica.offset);
        put(replicas.extent(), replica.extent);
      }
    }
  });
}

wire::Bytes publishReply(const client::KeysReply& reply) {
  return keysReply<sbe::PublishReply>(reply);
}

wire::Bytes existsReply(const client::KeysReply& reply) {
  return keysReply<sbe::ExistsReply>(reply);
}

wire::Bytes removeReply(const client::KeysReply& reply) {
  return keysReply<sbe::RemoveReply>(reply);
}

wire::Bytes hintReply(const client::KeysReply& reply) {
  return keysReply<sbe::HintReply>(reply);
}

wire::Bytes removeAllReply(const client::RemoveAllReply& reply) {
  return frameOf<sbe::RemoveAllReply>(0, [&](sbe::RemoveAllReply& message) {
    message.requestId(reply.request).status(reply.status).removed(reply.removed);
  });
}

wire::Bytes taskReply(const client::TaskReply& reply) {
  return frameOf<sbe::TaskReply>(0, [&](sbe::TaskReply& message) {
    message.requestId(reply.request).status(reply.status).task(reply.task).moves(wire::flag(reply.moves));
    message.state(static_cast<sbe::TaskState::Value>(reply.state)).why(reply.why);
    message.ageMs(reply.ageMs).restMs(reply.restMs);
  });
}

}  // namespace kvpool::test::master
