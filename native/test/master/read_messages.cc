// SPDX-License-Identifier: Apache-2.0
#include "dev_kvpool_wire/CommandAck.h"
#include "dev_kvpool_wire/DirectoryRecords.h"
#include "dev_kvpool_wire/ExistsRequest.h"
#include "dev_kvpool_wire/FenceAck.h"
#include "dev_kvpool_wire/GrantRequest.h"
#include "dev_kvpool_wire/LookupRequest.h"
#include "dev_kvpool_wire/NodeInfo.h"
#include "dev_kvpool_wire/PublishRequest.h"
#include "dev_kvpool_wire/RemoveAllRequest.h"
#include "dev_kvpool_wire/RemoveRequest.h"
#include "kvpool/kvpool.h"
#include "master/master_messages.h"

namespace kvpool::test::master {
namespace {

namespace sbe = wire::sbe;
using wire::Reader;

constexpr auto kKeys = [](auto& message) -> auto& {
  return message.keys();
};

template <typename Message>
KeysRequest readKeys(wire::Body body) {
  Reader<Message> reader(body);
  KeysRequest request{reader->requestId(), false, {}};
  if constexpr (requires { reader->forceRaw(); }) request.force = reader->forceRaw() != 0;
  auto& keys = reader.group(kKeys, wire::kRequestKeysMax);
  while (keys.hasNext()) {
    keys.next();
    request.keys.emplace_back(reader.bytes(keys, wire::kTextBytesMax));
  }
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
  auto& segments = reader.group([](auto& message) -> auto& { return message.segments(); });
  while (segments.hasNext())
    info.capacityBytes += segments.next().capacityBytes();
  info.tcp = reader.bytes();
  info.shm = reader.bytes();
  return info;
}

DirectoryRecords readDirectoryRecords(wire::Body body) {
  Reader<sbe::DirectoryRecords> reader(body);
  DirectoryRecords records{reader->kind() == sbe::RecordKind::SNAPSHOT, reader->sequence(), {}};
  auto& group = reader.group([](auto& message) -> auto& { return message.records(); });
  while (group.hasNext()) {
    group.next();
    DirectoryRecord& record = records.records.emplace_back();
    record.committed = group.state() == sbe::RecordState::COMMITTED;
    record.extent = wire::toExtentRef(group.extent());
    record.object = wire::toObjectId(group.objectId());
    record.offset = group.offset();
    record.payloadLength = group.payloadLength();
    record.payloadCrc = group.payloadCrc();
    record.key = reader.bytes(group, wire::kTextBytesMax);
  }
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
  auto& keys = reader.group(kKeys, wire::kRequestKeysMax);
  while (keys.hasNext()) {
    keys.next();
    const uint64_t length = keys.payloadLength();
    request.keys.push_back({std::string(reader.bytes(keys, wire::kTextBytesMax)), length});
  }
  request.preferredNode = reader.bytes();
  return request;
}

PublishRequest readPublishRequest(wire::Body body) {
  Reader<sbe::PublishRequest> reader(body);
  PublishRequest request{reader->requestId(), {}};
  auto& objects = reader.group(
      [](auto& message) -> auto& { return message.objects(); }, wire::kRequestKeysMax);
  while (objects.hasNext()) {
    objects.next();
    PublishedObject& object = request.objects.emplace_back();
    object.object = wire::toObjectId(objects.objectId());
    object.written = objects.outcome() == sbe::PutOutcome::WRITTEN;
    auto& replicas = reader.groupIn(
        objects, [](auto& entry) -> auto& { return entry.replicas(); });
    while (replicas.hasNext())
      object.committed.push_back(replicas.next().incarnation());
    object.key = reader.bytes(objects, wire::kTextBytesMax);
  }
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
  return {reader->requestId(), reader->forceRaw() != 0, {}};
}

}  // namespace kvpool::test::master
