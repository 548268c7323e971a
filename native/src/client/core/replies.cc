// SPDX-License-Identifier: Apache-2.0
#include "client/core/replies.h"

#include <utility>

#include "dev_kvpool_wire/ExistsReply.h"
#include "dev_kvpool_wire/GrantReply.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/LookupReply.h"
#include "dev_kvpool_wire/PublishReply.h"
#include "dev_kvpool_wire/ReadReply.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/RemoveAllReply.h"
#include "dev_kvpool_wire/RemoveReply.h"
#include "dev_kvpool_wire/ShmAttached.h"
#include "dev_kvpool_wire/UcxAttached.h"
#include "dev_kvpool_wire/Welcome.h"
#include "dev_kvpool_wire/WriteReply.h"

namespace kvpool::client {
namespace {

namespace sbe = wire::sbe;
using wire::Malformed;
using wire::Reader;
using wire::text;

constexpr auto kNodes = [](auto& message) -> auto& {
  return message.nodes();
};
constexpr auto kObjects = [](auto& message) -> auto& {
  return message.objects();
};
constexpr auto kGrants = [](auto& message) -> auto& {
  return message.grants();
};
constexpr auto kResults = [](auto& message) -> auto& {
  return message.results();
};
constexpr auto kTargets = [](auto& entry) -> auto& {
  return entry.targets();
};
constexpr auto kReplicas = [](auto& entry) -> auto& {
  return entry.replicas();
};
constexpr auto kSegments = [](auto& message) -> auto& {
  return message.segments();
};

template <typename Message>
std::vector<NodeAddress> readNodes(Reader<Message>& reader) {
  std::vector<NodeAddress> nodes;
  auto& group = reader.group(kNodes);
  nodes.reserve(group.count());
  while (group.hasNext()) {
    group.next();
    NodeAddress& node = nodes.emplace_back();
    node.incarnation = group.incarnation();
    node.id = text(reader.bytes(group, wire::kNameBytesMax));
    node.tcp = text(reader.bytes(group, wire::kTextBytesMax));
    node.shm = text(reader.bytes(group, wire::kTextBytesMax));
  }
  return nodes;
}

uint16_t nodeIndex(uint16_t index, size_t count) {
  if (index >= count) throw Malformed("a reply names a node that is not in its table");
  return index;
}

GrantReply readGrantReply(wire::Body body) {
  Reader<sbe::GrantReply> reader(body);
  GrantReply reply{reader->requestId(), reader->status(), wire::toAuthority(reader->authority()), {}, {}};
  reply.nodes = readNodes(reader);
  auto& group = reader.group(kGrants, wire::kRequestKeysMax);
  reply.grants.reserve(group.count());
  while (group.hasNext()) {
    group.next();
    Grant& grant = reply.grants.emplace_back();
    grant.status = group.status();
    grant.object = wire::toObjectId(group.objectId());
    grant.roomMs = group.roomMs();
    auto& targets = reader.groupIn(group, kTargets, wire::kRequestKeysMax);
    while (targets.hasNext())
      grant.targets.push_back(nodeIndex(targets.next().node(), reply.nodes.size()));
    if (grant.status == KV_OK && grant.targets.empty()) throw Malformed("a grant names no node");
  }
  return reply;
}

LookupReply readLookupReply(wire::Body body) {
  Reader<sbe::LookupReply> reader(body);
  LookupReply reply{
      reader->requestId(), reader->status(), wire::toAuthority(reader->authority()), reader->leaseMs(), {}, {}};
  reply.nodes = readNodes(reader);
  auto& group = reader.group(kObjects, wire::kRequestKeysMax);
  reply.objects.reserve(group.count());
  while (group.hasNext()) {
    group.next();
    Located& object = reply.objects.emplace_back();
    object.status = group.status();
    object.object = wire::toObjectId(group.objectId());
    object.payloadLength = group.payloadLength();
    object.payloadCrc = group.payloadCrc();
    auto& replicas = reader.groupIn(group, kReplicas, wire::kRequestKeysMax);
    while (replicas.hasNext()) {
      replicas.next();
      object.replicas.push_back(
          {nodeIndex(replicas.node(), reply.nodes.size()), wire::toExtentRef(replicas.extent()), replicas.offset()});
    }
    if (object.status == KV_OK && object.replicas.empty()) throw Malformed("an object has no replica");
  }
  return reply;
}

template <typename Message>
KeysReply readKeysReply(wire::Body body, auto lengthOf) {
  Reader<Message> reader(body);
  KeysReply reply{reader->requestId(), reader->status(), {}};
  auto& group = reader.group(kResults, wire::kRequestKeysMax);
  reply.results.reserve(group.count());
  while (group.hasNext()) {
    group.next();
    reply.results.push_back({group.status(), lengthOf(group)});
  }
  return reply;
}

ShmAttached readShmAttached(wire::Body body) {
  Reader<sbe::ShmAttached> reader(body);
  ShmAttached reply{reader->requestId(), reader->status(), {}};
  auto& group = reader.group(kSegments, wire::kRequestKeysMax);
  while (group.hasNext()) {
    group.next();
    reply.segments.push_back({group.segment(), group.fileBytes()});
  }
  return reply;
}

}  // namespace

Reply decodeReply(wire::Body body) {
  constexpr auto kNoLength = [](auto&) { return uint64_t{0}; };
  switch (const uint16_t id = wire::templateOf(body)) {
    case sbe::Heartbeat::sbeTemplateId():
      return Heartbeat{};
    case sbe::Welcome::sbeTemplateId():
      return wire::readWelcome(body);
    case sbe::Refused::sbeTemplateId():
      return wire::readRefused(body);
    case sbe::GrantReply::sbeTemplateId():
      return readGrantReply(body);
    case sbe::LookupReply::sbeTemplateId():
      return readLookupReply(body);
    case sbe::PublishReply::sbeTemplateId():
      return readKeysReply<sbe::PublishReply>(body, kNoLength);
    case sbe::ExistsReply::sbeTemplateId():
      return readKeysReply<sbe::ExistsReply>(body, [](auto& result) { return result.payloadLength(); });
    case sbe::RemoveReply::sbeTemplateId():
      return readKeysReply<sbe::RemoveReply>(body, kNoLength);
    case sbe::RemoveAllReply::sbeTemplateId(): {
      Reader<sbe::RemoveAllReply> reader(body);
      return RemoveAllReply{reader->requestId(), reader->status(), reader->removed()};
    }
    case sbe::WriteReply::sbeTemplateId(): {
      Reader<sbe::WriteReply> reader(body);
      return WriteReply{reader->requestId(), reader->status()};
    }
    case sbe::ReadReply::sbeTemplateId(): {
      Reader<sbe::ReadReply> reader(body);
      return ReadReply{reader->requestId(), reader->status(), reader->payloadLength()};
    }
    case sbe::ShmAttached::sbeTemplateId():
      return readShmAttached(body);
    case sbe::UcxAttached::sbeTemplateId(): {
      Reader<sbe::UcxAttached> reader(body);
      return UcxAttached{reader->requestId(), reader->status(), text(reader.bytes())};
    }
    default:
      throw Malformed("message " + std::to_string(id) + " is not for a client");
  }
}

}  // namespace kvpool::client
