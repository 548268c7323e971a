// SPDX-License-Identifier: Apache-2.0
#include "dev_kvpool_wire/CommandAck.h"
#include "dev_kvpool_wire/CopyRequest.h"
#include "dev_kvpool_wire/DirectoryRecords.h"
#include "dev_kvpool_wire/ExistsRequest.h"
#include "dev_kvpool_wire/FenceAck.h"
#include "dev_kvpool_wire/GrantRequest.h"
#include "dev_kvpool_wire/HintRequest.h"
#include "dev_kvpool_wire/LookupRequest.h"
#include "dev_kvpool_wire/NodeInfo.h"
#include "dev_kvpool_wire/PublishRequest.h"
#include "dev_kvpool_wire/RemoveAllRequest.h"
#include "dev_kvpool_wire/RemoveRequest.h"
#include "dev_kvpool_wire/TaskQuery.h"
#include "kvpool/kvpool.h"
#include "master/master_messages.h"

namespace kvpool::test::master {
namespace {

namespace sbe = wire::sbe;
using wire::Reader;

template <typename Message>
KeysRequest readKeys(wire::Body body) {
  Reader<Message> reader(body);
  KeysRequest request{reader->requestId(), false, {}};
  if constexpr (requires { reader->forceRaw(); }) request.force = reader->forceRaw() != 0;
  if constexpr (requires { reader->ofGroupRaw(); }) request.ofGroup = reader->ofGroupRaw() != 0;
  request.keys = reader.list(&Message::keys, wire::kRequestKeysMax,
                             [&](auto& entry) { return std::string(reader.bytes(entry, wire::kTextBytesMax)); });
  if constexpr (std::is_same_v<Message, sbe::RemoveRequest>) request.node = reader.bytes(wire::kNameBytesMax);
  return request;
}

template <typename Message>
Ack readAck(wire::Body body) {
  Reader<Message> reader(body);
  return {reader->requestId(), reader->acceptedRaw() != 0, wire::toAuthority(reader->seen())};
}

}  // namespace

NodeInfo readNodeInfo(wire::Body body) {
  Reader<sbe::NodeInfo> reader(body);
  NodeInfo info;
  info.seen = wire::toAuthority(reader->seen());
  info.isTransient = reader->isTransient() == sbe::Flag::YES;
  for (const uint64_t bytes :
       reader.list(&sbe::NodeInfo::segments, wire::kGroupEntriesMax, [](auto& entry) { return entry.capacityBytes(); }))
    info.capacityBytes += bytes;
  info.tcp = reader.bytes();
  info.shm = reader.bytes();
  return info;
}

DirectoryRecords readDirectoryRecords(wire::Body body) {
  Reader<sbe::DirectoryRecords> reader(body);
  DirectoryRecords records{reader->kind() == sbe::RecordKind::SNAPSHOT, reader->sequence(), {}};
  records.records = reader.list(&sbe::DirectoryRecords::records, wire::kGroupEntriesMax, [&](auto& group) {
    DirectoryRecord record;
    record.committed = group.state() == sbe::RecordState::COMMITTED;
    record.extent = wire::toExtentRef(group.extent());
    record.object = wire::toObjectId(group.objectId());
    record.offset = group.offset();
    record.payloadLength = group.payloadLength();
    record.payloadCrc = group.payloadCrc();
    record.key = reader.bytes(group, wire::kTextBytesMax);
    return record;
  });
  return records;
}

Ack readFenceAck(wire::Body body) {
  return readAck<sbe::FenceAck>(body);
}

Ack readCommandAck(wire::Body body) {
  return readAck<sbe::CommandAck>(body);
}

GrantRequest readGrantRequest(wire::Body body) {
  Reader<sbe::GrantRequest> reader(body);
  GrantRequest request;
  request.request = reader->requestId();
  request.replicas = reader->replicas();
  request.deadlineMs = reader->deadlineMs();
  request.replace = reader->replace() == sbe::Flag::YES;
  request.keys = reader.list(&sbe::GrantRequest::keys, wire::kRequestKeysMax, [&](auto& entry) {
    const uint64_t payloadLength = entry.payloadLength();
    const Retention retention = wire::toRetention(entry);
    const bool keepsSoftPin = entry.pins().keepSoft();
    return WantedGrant{std::string(reader.bytes(entry, wire::kTextBytesMax)), payloadLength, retention, keepsSoftPin};
  });
  request.preferredNodes = reader.bytes();
  return request;
}

PublishRequest readPublishRequest(wire::Body body) {
  Reader<sbe::PublishRequest> reader(body);
  PublishRequest request{reader->requestId(), {}};
  using Objects = sbe::PublishRequest::Objects;
  request.objects = reader.list(&sbe::PublishRequest::objects, wire::kRequestKeysMax, [&](Objects& objects) {
    PublishedObject object;
    object.object = wire::toObjectId(objects.objectId());
    object.written = objects.outcome() == sbe::PutOutcome::WRITTEN;
    object.committed = reader.listIn(objects, &Objects::replicas, wire::kRequestKeysMax,
                                     [](auto& replica) { return replica.incarnation(); });
    object.key = reader.bytes(objects, wire::kTextBytesMax);
    return object;
  });
  return request;
}

KeysRequest readLookupRequest(wire::Body body) {
  return readKeys<sbe::LookupRequest>(body);
}

KeysRequest readExistsRequest(wire::Body body) {
  return readKeys<sbe::ExistsRequest>(body);
}

KeysRequest readRemoveRequest(wire::Body body) {
  return readKeys<sbe::RemoveRequest>(body);
}

KeysRequest readRemoveAllRequest(wire::Body body) {
  Reader<sbe::RemoveAllRequest> reader(body);
  const uint64_t request = reader->requestId();
  const bool force = reader->forceRaw() != 0;
  return {request, force, {std::string(reader.bytes(wire::kKeyBytesOnWireMax))}};
}

CopyRequest readCopyRequest(wire::Body body) {
  Reader<sbe::CopyRequest> reader(body);
  CopyRequest copy;
  copy.request = reader->requestId();
  copy.wish.targets = reader.list(&sbe::CopyRequest::targets, KV_COPY_TARGETS_MAX,
                                  [&](auto& target) { return std::string(reader.bytes(target, wire::kNameBytesMax)); });
  copy.key = reader.bytes(wire::kKeyBytesOnWireMax);
  copy.wish.source = reader.bytes(wire::kNameBytesMax);
  return copy;
}

std::pair<uint64_t, uint64_t> readTaskQuery(wire::Body body) {
  Reader<sbe::TaskQuery> reader(body);
  return {reader->requestId(), reader->task()};
}

HintRequest readHintRequest(wire::Body body) {
  Reader<sbe::HintRequest> reader(body);
  constexpr client::Hint kHints[] = {client::Hint::Retain, client::Hint::Release, client::Hint::Prefetch};
  HintRequest hint;
  hint.wish = {kHints[reader->hintRaw() - 1], reader->forMs(), reader->ofGroup() == sbe::Flag::YES};
  hint.keys = readKeys<sbe::HintRequest>(body);
  return hint;
}

}  // namespace kvpool::test::master
