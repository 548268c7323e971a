// SPDX-License-Identifier: Apache-2.0
#include "node/core/messages.h"

#include "base/host_port.h"
#include "dev_kvpool_wire/AscendAttach.h"
#include "dev_kvpool_wire/LeaderGone.h"
#include "dev_kvpool_wire/LeaderLeaves.h"
#include "dev_kvpool_wire/NodeInfo.h"
#include "dev_kvpool_wire/NodeLeaves.h"
#include "dev_kvpool_wire/NodeStats.h"
#include "dev_kvpool_wire/PartsRead.h"
#include "dev_kvpool_wire/PartsWrite.h"
#include "dev_kvpool_wire/ReadReply.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/ShmAttached.h"
#include "dev_kvpool_wire/SnapshotBegin.h"
#include "dev_kvpool_wire/SnapshotEnd.h"
#include "dev_kvpool_wire/StagedRead.h"
#include "dev_kvpool_wire/UcxAttach.h"
#include "dev_kvpool_wire/UcxAttached.h"
#include "dev_kvpool_wire/WriteReply.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "kvpool/kvpool.h"
#include "wire/frame.h"

namespace kvpool::node {

using wire::appendFrame;
using wire::flag;
using wire::groupRoom;
using wire::put;
using wire::textRoom;
namespace sbe = wire::sbe;

void appendNodeInfo(wire::Bytes& out, const NodeInfo& info) {
  const bool tier = info.tierBytes > 0;
  const size_t room = groupRoom(2, sbe::NodeInfo::Segments::sbeBlockLength()) + textRoom(info.tcp.size()) +
                      textRoom(info.shm.size()) + textRoom(info.zone.size());
  appendFrame<sbe::NodeInfo>(out, room, [&](sbe::NodeInfo& m) {
    m.objectLeaseMaxMs(info.objectLeaseMaxMs)
        .isTransient(flag(info.isTransient))
        .restored(info.restored)
        .restoredHash(info.restoredHash)
        .dropped(info.dropped)
        .memory(info.memory)
        .tier(info.tier)
        .activeWire(info.active.wire)
        .activeLayout(info.active.layout);
    put(m.seen(), info.seen);
    put(m.purgeId(), info.purgeId);
    put(m.highestObject(), info.highestObject);
    auto& segments = m.segmentsCount(tier ? 2 : 1);
    segments.next()
        .segment(kMemorySegment)
        .medium(sbe::Medium::DRAM)
        .capacityBytes(info.capacityBytes)
        .slots(info.slots);
    if (tier) {
      segments.next()
          .segment(kTierSegment)
          .medium(sbe::Medium::SSD)
          .capacityBytes(info.tierBytes)
          .slots(info.tierSlots);
    }
    m.putTcp(info.tcp).putShm(info.shm).putZone(info.zone);
  });
}

void appendSnapshotBegin(wire::Bytes& out, uint64_t sequence) {
  appendFrame<sbe::SnapshotBegin>(out, 0, [&](sbe::SnapshotBegin& m) { m.sequence(sequence); });
}

void appendSnapshotEnd(wire::Bytes& out, uint64_t count, uint64_t sequence) {
  appendFrame<sbe::SnapshotEnd>(out, 0, [&](sbe::SnapshotEnd& m) { m.count(count).sequence(sequence); });
}

void appendNodeStats(wire::Bytes& out, const NodeStatsMessage& stats) {
  appendFrame<sbe::NodeStats>(out, textRoom(stats.tierProblem.size()), [&](sbe::NodeStats& m) {
    m.sequence(stats.sequence)
        .usedBytes(stats.usedBytes)
        .largestFreeBytes(stats.largestFreeBytes)
        .slotsUsed(stats.slotsUsed)
        .objects(stats.objects)
        .draining(stats.drainingBytes)
        .idsHash(stats.idsHash)
        .damaged(stats.damaged)
        .scrubRounds(stats.scrubRounds)
        .activeWire(stats.active.wire)
        .activeLayout(stats.active.layout)
        .ssdUsedBytes(stats.tierUsedBytes)
        .ssdObjects(stats.tierObjects);
    m.putSsdProblem(stats.tierProblem);
  });
}

void appendLeaderGone(wire::Bytes& out, const LeaderGone& gone) {
  const auto departure = static_cast<sbe::Departure::Value>(gone.departure);
  appendFrame<sbe::LeaderGone>(out, textRoom(gone.address.size()), [&](sbe::LeaderGone& m) {
    m.departure(departure).silentMs(gone.silentMs).beat(gone.beat);
    put(m.authority(), gone.authority);
    m.putAddress(gone.address);
  });
}

void appendNodeLeaves(wire::Bytes& out) {
  appendFrame<sbe::NodeLeaves>(out, 0, [](sbe::NodeLeaves&) {});
}

Authority readLeaderLeaves(wire::Body body) {
  wire::Reader<sbe::LeaderLeaves> reader(body);
  return wire::toAuthority(reader->authority());
}

WriteRequest readWriteRequest(wire::Body body) {
  wire::Reader<sbe::WriteRequest> reader(body);
  WriteRequest request;
  request.requestId = reader->requestId();
  request.authority = wire::toAuthority(reader->authority());
  request.objectId = wire::toObjectId(reader->objectId());
  request.payloadLength = reader->payloadLength();
  request.staging = reader->source() == sbe::WriteSource::STAGING;
  request.inParts = reader->source() == sbe::WriteSource::PARTS;
  if (!request.staging && !request.inParts && reader->source() != sbe::WriteSource::INLINE) {
    throw wire::Malformed("unknown write source");
  }
  request.stagingOffset = reader->stagingOffset();
  request.payloadCrc = reader->payloadCrc();
  request.retention = wire::toRetention(*reader);
  request.mac = wire::toGrantMac(reader->mac());
  request.key = reader.bytes(wire::kKeyBytesOnWireMax);
  return request;
}

void appendWriteReply(wire::Bytes& out, const WriteReply& reply) {
  appendFrame<sbe::WriteReply>(out, 0, [&](sbe::WriteReply& m) {
    m.requestId(reply.requestId).status(reply.status);
    put(m.extent(), reply.extent);
    put(m.seen(), reply.seen);
  });
}

ReadRequest readReadRequest(wire::Body body) {
  wire::Reader<sbe::ReadRequest> reader(body);
  return {reader->requestId(), wire::toExtentRef(reader->extent()), wire::toObjectId(reader->objectId()),
          reader->payloadLength()};
}

void appendReadRequest(wire::Bytes& out, const ReadRequest& request) {
  appendFrame<sbe::ReadRequest>(out, 0, [&](sbe::ReadRequest& m) {
    m.requestId(request.requestId).payloadLength(request.payloadLength);
    put(m.extent(), request.extent);
    put(m.objectId(), request.objectId);
  });
}

StagedRead readStagedRead(wire::Body body) {
  wire::Reader<sbe::StagedRead> reader(body);
  return {{reader->requestId(), wire::toExtentRef(reader->extent()), wire::toObjectId(reader->objectId()),
           reader->payloadLength()},
          reader->stagingOffset()};
}

PartsRead readPartsRead(wire::Body body) {
  wire::Reader<sbe::PartsRead> reader(body);
  PartsRead parts{{reader->requestId(), wire::toExtentRef(reader->extent()), wire::toObjectId(reader->objectId()),
                   reader->payloadLength()},
                  reader->payloadCrc(),
                  {}};
  parts.parts = reader.list(&sbe::PartsRead::parts, KV_PARTS_MAX, [](auto& part) {
    return store::Range{part.offset(), part.length()};
  });
  return parts;
}

PartsWrite readPartsWrite(wire::Body body) {
  wire::Reader<sbe::PartsWrite> reader(body);
  PartsWrite request;
  request.requestId = reader->requestId();
  request.extent = wire::toExtentRef(reader->extent());
  request.objectId = wire::toObjectId(reader->objectId());
  switch (reader->step()) {
    case sbe::PartsStep::WRITE:
      break;
    case sbe::PartsStep::COMMIT:
      request.step = PartsWrite::Step::Commit;
      break;
    case sbe::PartsStep::ABORT:
      request.step = PartsWrite::Step::Abort;
      break;
    default:
      throw wire::Malformed("unknown step of a write in parts");
  }
  request.staging = reader->source() == sbe::WriteSource::STAGING;
  if (!request.staging && reader->source() != sbe::WriteSource::INLINE) throw wire::Malformed("unknown write source");
  request.stagingOffset = reader->stagingOffset();
  request.partsCrc = reader->partsCrc();
  request.parts = reader.list(&sbe::PartsWrite::parts, KV_PARTS_MAX, [](auto& part) {
    return store::Range{part.offset(), part.length()};
  });
  if (request.step != PartsWrite::Step::Write && !request.parts.empty()) {
    throw wire::Malformed("parts come with the end of a write");
  }
  return request;
}

ReadReply readReadReply(wire::Body body) {
  wire::Reader<sbe::ReadReply> reader(body);
  return {reader->requestId(), reader->status(), reader->payloadLength()};
}

void appendReadReply(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t payloadLength) {
  appendFrame<sbe::ReadReply>(
      out, 0, [&](sbe::ReadReply& m) { m.requestId(requestId).status(status).payloadLength(payloadLength); });
}

StagingAttach readUcxAttach(wire::Body body) {
  wire::Reader<sbe::UcxAttach> reader(body);
  StagingAttach attach{reader->requestId(), {reader->stagingBytes(), reader->stagingAddress(), {}, {}}};
  attach.offer.worker = reader.bytes(wire::kUcxBytesMax);
  attach.offer.key = reader.bytes(wire::kUcxBytesMax);
  return attach;
}

StagingAttach readAscendAttach(wire::Body body) {
  wire::Reader<sbe::AscendAttach> reader(body);
  StagingAttach attach{
      reader->requestId(),
      {reader->stagingBytes(), reader->stagingAddress(), {}, {}, RemoteProtocol::Ascend, reader->registrations()}};
  attach.offer.worker = reader.bytes(wire::kEndpointBytesMax);
  const std::optional<HostPort> endpoint = parseIpPort(attach.offer.worker);
  if (!endpoint) throw wire::Malformed("the endpoint of an engine of CANN is no IP:PORT");
  attach.offer.worker = toString(*endpoint);
  return attach;
}

void appendUcxAttached(wire::Bytes& out, uint64_t requestId, const Status& status) {
  const std::string_view reason = std::string_view(status.text()).substr(0, wire::kTextBytesMax);
  appendFrame<sbe::UcxAttached>(out, textRoom(reason.size()), [&](sbe::UcxAttached& m) {
    m.requestId(requestId).status(status.code());
    m.putReason(reason);
  });
}

ShmAttach readShmAttach(wire::Body body) {
  wire::Reader<sbe::ShmAttach> reader(body);
  return {reader->requestId(), reader->stagingBytes()};
}

void appendShmAttached(wire::Bytes& out, uint64_t requestId, int32_t status, uint64_t fileBytes) {
  const size_t segments = status == KV_OK ? 1 : 0;
  appendFrame<sbe::ShmAttached>(out, groupRoom(segments, sbe::ShmAttached::Segments::sbeBlockLength()),
                                [&](sbe::ShmAttached& m) {
                                  m.requestId(requestId).status(status);
                                  auto& group = m.segmentsCount(static_cast<uint16_t>(segments));
                                  if (segments > 0) group.next().segment(0).fileBytes(fileBytes);
                                });
}

}  // namespace kvpool::node
