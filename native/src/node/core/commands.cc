// SPDX-License-Identifier: Apache-2.0
#include "node/core/commands.h"

#include "dev_kvpool_wire/Activate.h"
#include "dev_kvpool_wire/CommandAck.h"
#include "dev_kvpool_wire/Copy.h"
#include "dev_kvpool_wire/Fence.h"
#include "dev_kvpool_wire/FenceAck.h"
#include "dev_kvpool_wire/Free.h"
#include "dev_kvpool_wire/KeepTombstones.h"
#include "dev_kvpool_wire/Purge.h"
#include "wire/frame.h"

namespace kvpool::node {

using wire::appendFrame;
using wire::flag;
using wire::put;
namespace sbe = wire::sbe;

Fence readFence(wire::Body body) {
  wire::Reader<sbe::Fence> reader(body);
  return {reader->requestId(), wire::toAuthority(reader->authority()), reader->objectLeaseMs(),
          wire::toObjectId(reader->purgeId()), wire::toGrantSecret(reader->grantSecret())};
}

void appendFenceAck(wire::Bytes& out, const FenceAck& ack) {
  appendFrame<sbe::FenceAck>(out, 0, [&](sbe::FenceAck& m) {
    m.requestId(ack.requestId)
        .accepted(flag(ack.accepted))
        .incarnation(ack.incarnation)
        .sequence(ack.sequence)
        .objectLeaseMaxMs(ack.objectLeaseMaxMs);
    put(m.seen(), ack.seen);
    put(m.purgeId(), ack.purgeId);
  });
}

FreeRequest readFree(wire::Body body) {
  wire::Reader<sbe::Free> reader(body);
  FreeRequest request;
  request.requestId = reader->requestId();
  request.authority = wire::toAuthority(reader->authority());
  request.entries = reader.list(&sbe::Free::extents, wire::kGroupEntriesMax, [](auto& entry) {
    return FreeRequest::Entry{wire::toExtentRef(entry.extent()), wire::toObjectId(entry.objectId())};
  });
  return request;
}

Purge readPurge(wire::Body body) {
  wire::Reader<sbe::Purge> reader(body);
  return {reader->requestId(), wire::toAuthority(reader->authority()), wire::toObjectId(reader->purgeId())};
}

KeepTombstones readKeepTombstones(wire::Body body) {
  wire::Reader<sbe::KeepTombstones> reader(body);
  KeepTombstones keep;
  keep.requestId = reader->requestId();
  keep.authority = wire::toAuthority(reader->authority());
  keep.tombstones = reader.list(&sbe::KeepTombstones::tombstones, kTombstonesMax, [&](auto& entry) {
    return store::Tombstone{wire::toObjectId(entry.objectId()), reader.bytes(entry, wire::kKeyBytesOnWireMax)};
  });
  return keep;
}

Copy readCopy(wire::Body body) {
  wire::Reader<sbe::Copy> reader(body);
  Copy copy;
  copy.requestId = reader->requestId();
  copy.authority = wire::toAuthority(reader->authority());
  copy.objectId = wire::toObjectId(reader->objectId());
  copy.payloadLength = reader->payloadLength();
  copy.payloadCrc = reader->payloadCrc();
  copy.retention = wire::toRetention(*reader);
  copy.sourceIncarnation = reader->sourceIncarnation();
  copy.sourceExtent = wire::toExtentRef(reader->sourceExtent());
  copy.toTier = reader->medium() == sbe::Medium::SSD;
  copy.sourceIsTransient = reader->sourceIsTransient() == sbe::Flag::YES;
  copy.key = reader.bytes(wire::kKeyBytesOnWireMax);
  copy.sourceTcp = reader.bytes();
  copy.sourceNode = reader.bytes(wire::kNameBytesMax);
  return copy;
}

Activate readActivate(wire::Body body) {
  wire::Reader<sbe::Activate> reader(body);
  return {reader->requestId(), wire::toAuthority(reader->authority()), {reader->wire(), reader->layout()}};
}

void appendCommandAck(wire::Bytes& out, const CommandAck& ack) {
  appendFrame<sbe::CommandAck>(out, 0, [&](sbe::CommandAck& m) {
    m.requestId(ack.requestId).accepted(flag(ack.accepted)).status(ack.status);
    put(m.seen(), ack.seen);
  });
}

}  // namespace kvpool::node
