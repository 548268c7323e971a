// SPDX-License-Identifier: Apache-2.0
#include "client/core/replies.h"

#include "dev_kvpool_wire/ExistsReply.h"
#include "dev_kvpool_wire/GrantReply.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/HintReply.h"
#include "dev_kvpool_wire/LookupReply.h"
#include "dev_kvpool_wire/PublishReply.h"
#include "dev_kvpool_wire/ReadReply.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/RemoveAllReply.h"
#include "dev_kvpool_wire/RemoveReply.h"
#include "dev_kvpool_wire/ShmAttached.h"
#include "dev_kvpool_wire/TaskReply.h"
#include "dev_kvpool_wire/UcxAttached.h"
#include "dev_kvpool_wire/Welcome.h"
#include "dev_kvpool_wire/WriteReply.h"

namespace kvpool::client {
namespace {

namespace sbe = wire::sbe;
using wire::Malformed;
using wire::Reader;
using wire::text;

template <typename Message>
std::vector<NodeAddress> readNodes(Reader<Message>& reader) {
  return reader.list(&Message::nodes, wire::kGroupEntriesMax, [&](auto& entry) {
    NodeAddress node;
    node.incarnation = entry.incarnation();
    node.isTransient = entry.isTransient() == sbe::Flag::YES;  // before what varies in length
    node.id = text(reader.bytes(entry, wire::kNameBytesMax));
    node.tcp = text(reader.bytes(entry, wire::kTextBytesMax));
    node.shm = text(reader.bytes(entry, wire::kTextBytesMax));
    return node;
  });
}

uint16_t nodeIndex(uint16_t index, size_t count) {
  if (index >= count) throw Malformed("a reply names a node that is not in its table");
  return index;
}

GrantReply readGrantReply(wire::Body body) {
  Reader<sbe::GrantReply> reader(body);
  GrantReply reply{reader->requestId(), reader->status(), wire::toAuthority(reader->authority()), {}, {}};
  reply.nodes = readNodes(reader);
  using Grants = sbe::GrantReply::Grants;
  reply.grants = reader.list(&sbe::GrantReply::grants, wire::kRequestKeysMax, [&](Grants& entry) {
    Grant grant{entry.status(), wire::toObjectId(entry.objectId()), {}, entry.roomMs()};
    grant.pins = static_cast<uint8_t>(entry.pins().rawValue() & kPinsKnown);
    grant.softPinMs = entry.softPinMs();
    grant.targets = reader.listIn(entry, &Grants::targets, wire::kRequestKeysMax, [&](auto& target) {
      return GrantTarget{nodeIndex(target.node(), reply.nodes.size()), wire::toGrantMac(target.mac())};
    });
    if (grant.status == KV_OK && grant.targets.empty()) throw Malformed("a grant names no node");
    return grant;
  });
  reply.unknownNodes = text(reader.bytes());
  return reply;
}

LookupReply readLookupReply(wire::Body body) {
  Reader<sbe::LookupReply> reader(body);
  LookupReply reply{
      reader->requestId(), reader->status(), wire::toAuthority(reader->authority()), reader->leaseMs(), {}, {}};
  reply.nodes = readNodes(reader);
  using Objects = sbe::LookupReply::Objects;
  reply.objects = reader.list(&sbe::LookupReply::objects, wire::kRequestKeysMax, [&](Objects& entry) {
    Located object{entry.status(), wire::toObjectId(entry.objectId()), entry.payloadLength(), entry.payloadCrc(), {}};
    object.replicas = reader.listIn(entry, &Objects::replicas, wire::kRequestKeysMax, [&](auto& replica) {
      return Replica{nodeIndex(replica.node(), reply.nodes.size()), wire::toExtentRef(replica.extent()),
                     replica.offset()};
    });
    if (object.status == KV_OK && object.replicas.empty()) throw Malformed("an object has no replica");
    return object;
  });
  return reply;
}

template <typename Message>
KeysReply readKeysReply(wire::Body body, auto lengthOf) {
  Reader<Message> reader(body);
  KeysReply reply{reader->requestId(), reader->status(), {}};
  reply.results = reader.list(&Message::results, wire::kRequestKeysMax, [&](auto& entry) {
    return KeyStatus{entry.status(), lengthOf(entry)};
  });
  return reply;
}

TaskReply readTaskReply(wire::Body body) {
  Reader<sbe::TaskReply> reader(body);
  const uint8_t state = reader->stateRaw();
  if (state < KV_TASK_PENDING || state > KV_TASK_SUCCESS) throw Malformed("unknown state of a task");
  return {reader->requestId(), reader->status(), reader->task(),  reader->movesRaw() != 0, state,
          reader->why(),       reader->ageMs(),  reader->restMs()};
}

ShmAttached readShmAttached(wire::Body body) {
  Reader<sbe::ShmAttached> reader(body);
  ShmAttached reply{reader->requestId(), reader->status(), {}};
  reply.segments = reader.list(&sbe::ShmAttached::segments, wire::kRequestKeysMax, [](auto& entry) {
    return AttachedSegment{entry.segment(), entry.fileBytes()};
  });
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
    case sbe::HintReply::sbeTemplateId():
      return readKeysReply<sbe::HintReply>(body, [](auto& result) { return result.objects(); });
    case sbe::RemoveAllReply::sbeTemplateId(): {
      Reader<sbe::RemoveAllReply> reader(body);
      return RemoveAllReply{reader->requestId(), reader->status(), reader->removed()};
    }
    case sbe::TaskReply::sbeTemplateId():
      return readTaskReply(body);
    case sbe::WriteReply::sbeTemplateId(): {
      Reader<sbe::WriteReply> reader(body);
      return WriteReply{reader->requestId(), reader->status(), wire::toExtentRef(reader->extent())};
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
