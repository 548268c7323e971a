// SPDX-License-Identifier: Apache-2.0
// The messages of a node as its peers see them: what masters and clients send, and what they read.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "client/core/requests.h"
#include "dev_kvpool_wire/Activate.h"
#include "dev_kvpool_wire/CommandAck.h"
#include "dev_kvpool_wire/Copy.h"
#include "dev_kvpool_wire/DirectoryRecords.h"
#include "dev_kvpool_wire/Fence.h"
#include "dev_kvpool_wire/FenceAck.h"
#include "dev_kvpool_wire/Free.h"
#include "dev_kvpool_wire/KeepTombstones.h"
#include "dev_kvpool_wire/LeaderGone.h"
#include "dev_kvpool_wire/LeaderLeaves.h"
#include "dev_kvpool_wire/NodeInfo.h"
#include "dev_kvpool_wire/NodeLeaves.h"
#include "dev_kvpool_wire/NodeStats.h"
#include "dev_kvpool_wire/Purge.h"
#include "dev_kvpool_wire/ReadReply.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/ShmAttached.h"
#include "dev_kvpool_wire/SnapshotBegin.h"
#include "dev_kvpool_wire/SnapshotEnd.h"
#include "dev_kvpool_wire/WriteReply.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "node/core/commands.h"
#include "node/core/messages.h"
#include "secure/grant_seal.h"
#include "wire/frame.h"
#include "wire/handshake.h"

namespace kvpool::test {

namespace sbe = wire::sbe;

inline constexpr PoolId kPool{0x11, 0x22};

inline wire::Hello clientHello(uint64_t nodeIncarnation = 0, PoolId pool = kPool) {
  wire::Hello hello;
  hello.self.role = wire::Role::Client;
  hello.self.poolId = pool;
  hello.self.incarnation = 99;
  hello.self.name = "test-client";
  hello.self.product = "0.1.0";
  hello.expectedPeer = nodeIncarnation;
  return hello;
}

inline wire::Welcome masterWelcome(PoolId pool = kPool, uint64_t incarnation = 7) {
  wire::Welcome welcome;
  welcome.self.role = wire::Role::Master;
  welcome.self.poolId = pool;
  welcome.self.incarnation = incarnation;
  welcome.self.name = "master-0";
  welcome.self.product = "0.1.0";
  welcome.wireChosen = 1;
  return welcome;
}

/// What the leaders of these tests share with every node.
inline constexpr GrantSecret kGrantSecret = {'a', ' ', 's', 'e', 'c', 'r', 'e', 't'};

template <typename Composite>
void putSecret(Composite& c, const GrantSecret& secret) {
  const auto words = std::bit_cast<std::array<uint64_t, 4>>(secret);
  c.first(words[0]).second(words[1]).third(words[2]).fourth(words[3]);
}

inline void appendFence(wire::Bytes& out, uint64_t requestId, const Authority& authority, uint64_t leaseMs,
                        const ObjectId& purgeId = {}, const GrantSecret& secret = kGrantSecret) {
  wire::appendFrame<sbe::Fence>(out, 0, [&](sbe::Fence& m) {
    m.requestId(requestId).objectLeaseMs(leaseMs);
    wire::put(m.authority(), authority);
    wire::put(m.purgeId(), purgeId);
    putSecret(m.grantSecret(), secret);
  });
}

inline void appendPurge(wire::Bytes& out, const node::Purge& purge) {
  wire::appendFrame<sbe::Purge>(out, 0, [&](sbe::Purge& m) {
    m.requestId(purge.requestId);
    wire::put(m.authority(), purge.authority);
    wire::put(m.purgeId(), purge.purgeId);
  });
}

inline void appendActivate(wire::Bytes& out, const node::Activate& activate) {
  wire::appendFrame<sbe::Activate>(out, 0, [&](sbe::Activate& m) {
    m.requestId(activate.requestId).wire(activate.versions.wire).layout(activate.versions.layout);
    wire::put(m.authority(), activate.authority);
  });
}

inline void appendKeepTombstones(wire::Bytes& out, const node::KeepTombstones& keep) {
  size_t room = wire::groupRoom(keep.tombstones.size(), sbe::KeepTombstones::Tombstones::sbeBlockLength());
  for (const store::Tombstone& tombstone : keep.tombstones)
    room += wire::textRoom(tombstone.key.size());
  wire::appendFrame<sbe::KeepTombstones>(out, room, [&](sbe::KeepTombstones& m) {
    m.requestId(keep.requestId);
    wire::put(m.authority(), keep.authority);
    auto& group = m.tombstonesCount(static_cast<uint16_t>(keep.tombstones.size()));
    for (const store::Tombstone& tombstone : keep.tombstones) {
      wire::put(group.next().objectId(), tombstone.objectId);
      group.putKey(tombstone.key);
    }
  });
}

inline void appendCopy(wire::Bytes& out, const node::Copy& copy) {
  const size_t room =
      wire::textRoom(copy.key.size()) + wire::textRoom(copy.sourceTcp.size()) + wire::textRoom(copy.sourceNode.size());
  wire::appendFrame<sbe::Copy>(out, room, [&](sbe::Copy& m) {
    m.requestId(copy.requestId)
        .payloadLength(copy.payloadLength)
        .payloadCrc(copy.payloadCrc)
        .sourceIncarnation(copy.sourceIncarnation)
        .medium(copy.toTier ? sbe::Medium::SSD : sbe::Medium::DRAM);
    wire::put(m.authority(), copy.authority);
    wire::put(m.objectId(), copy.objectId);
    wire::put(m.sourceExtent(), copy.sourceExtent);
    wire::putRetention(m, copy.retention);
    m.sourceIsTransient(wire::flag(copy.sourceIsTransient));
    m.putKey(copy.key).putSourceTcp(copy.sourceTcp).putSourceNode(copy.sourceNode);
  });
}

inline void appendFree(wire::Bytes& out, uint64_t requestId, const Authority& authority,
                       const std::vector<node::FreeRequest::Entry>& entries) {
  wire::appendFrame<sbe::Free>(out, wire::groupRoom(entries.size(), sbe::Free::Extents::sbeBlockLength()),
                               [&](sbe::Free& m) {
                                 m.requestId(requestId);
                                 wire::put(m.authority(), authority);
                                 auto& group = m.extentsCount(static_cast<uint16_t>(entries.size()));
                                 for (const node::FreeRequest::Entry& entry : entries) {
                                   group.next();
                                   wire::put(group.extent(), entry.extent);
                                   wire::put(group.objectId(), entry.objectId);
                                 }
                               });
}

/// The grant that a leader of these tests would give for it to a client of the tenant that `prefix` stands for.
inline GrantMac grantFor(const node::WriteRequest& request, const std::string& prefix = {}) {
  const std::string key = prefix + std::string(request.key);
  return secure::GrantSeal(kGrantSecret)
      .of({request.authority, request.objectId, request.payloadLength, request.retention, key});
}

/// The same for what a client of ours would write.
inline client::WriteLine granted(client::WriteLine line) {
  line.mac =
      secure::GrantSeal(kGrantSecret).of({line.authority, line.object, line.payloadLength, line.retention, line.key});
  return line;
}

/// With the grant that the request names, or else with a good one for the tenant `default`.
inline void appendWrite(wire::Bytes& out, const node::WriteRequest& request, const GrantMac& mac) {
  const auto source = request.staging   ? sbe::WriteSource::STAGING
                      : request.inParts ? sbe::WriteSource::PARTS
                                        : sbe::WriteSource::INLINE;
  wire::appendFrame<sbe::WriteRequest>(out, wire::textRoom(request.key.size()), [&](sbe::WriteRequest& m) {
    m.requestId(request.requestId)
        .payloadLength(request.payloadLength)
        .source(source)
        .stagingOffset(request.stagingOffset)
        .payloadCrc(request.payloadCrc);
    wire::put(m.authority(), request.authority);
    wire::put(m.objectId(), request.objectId);
    wire::putRetention(m, request.retention);
    wire::put(m.mac(), mac);
    m.putKey(request.key);
  });
}

/// With the MAC that the leader would give, where the request has none.
inline void appendWrite(wire::Bytes& out, const node::WriteRequest& request) {
  appendWrite(out, request, request.mac == GrantMac{} ? grantFor(request) : request.mac);
}

inline void appendRead(wire::Bytes& out, const node::ReadRequest& request) {
  node::appendReadRequest(out, request);
}

inline void appendShmAttach(wire::Bytes& out, uint64_t requestId, uint64_t stagingBytes) {
  wire::appendFrame<sbe::ShmAttach>(out, 0,
                                    [&](sbe::ShmAttach& m) { m.requestId(requestId).stagingBytes(stagingBytes); });
}

inline node::WriteReply readWriteReply(wire::Body body) {
  wire::Reader<sbe::WriteReply> reader(body);
  return {reader->requestId(), reader->status(), wire::toExtentRef(reader->extent()),
          wire::toAuthority(reader->seen())};
}

using ReadReply = node::ReadReply;
inline ReadReply readReadReply(wire::Body body) {
  return node::readReadReply(body);
}

inline node::FenceAck readFenceAck(wire::Body body) {
  wire::Reader<sbe::FenceAck> reader(body);
  return {reader->requestId(),
          reader->accepted() == sbe::Flag::YES,
          wire::toAuthority(reader->seen()),
          reader->incarnation(),
          reader->sequence(),
          reader->objectLeaseMaxMs(),
          wire::toObjectId(reader->purgeId())};
}

inline node::CommandAck readCommandAck(wire::Body body) {
  wire::Reader<sbe::CommandAck> reader(body);
  return {reader->requestId(), reader->accepted() == sbe::Flag::YES, wire::toAuthority(reader->seen()),
          reader->status()};
}

inline void appendLeaderLeaves(wire::Bytes& out, const Authority& authority) {
  wire::appendFrame<sbe::LeaderLeaves>(out, 0, [&](sbe::LeaderLeaves& m) { wire::put(m.authority(), authority); });
}

struct LeaderGone {
  Authority authority;
  node::Departure departure = node::Departure::Crashed;
  std::string address;
  uint32_t silentMs = 0;
  uint64_t beat = 0;
  friend bool operator==(const LeaderGone&, const LeaderGone&) = default;
};
inline LeaderGone readLeaderGone(wire::Body body) {
  wire::Reader<sbe::LeaderGone> reader(body);
  LeaderGone gone;
  gone.authority = wire::toAuthority(reader->authority());
  gone.departure = static_cast<node::Departure>(reader->departure());
  gone.silentMs = reader->silentMs();
  gone.beat = reader->beat();
  gone.address = std::string(reader.bytes());
  return gone;
}

inline node::NodeInfo readNodeInfo(wire::Body body) {
  wire::Reader<sbe::NodeInfo> reader(body);
  node::NodeInfo info;
  info.seen = wire::toAuthority(reader->seen());
  info.objectLeaseMaxMs = reader->objectLeaseMaxMs();
  info.highestObject = wire::toObjectId(reader->highestObject());
  info.purgeId = wire::toObjectId(reader->purgeId());
  info.isTransient = reader->isTransient() == sbe::Flag::YES;
  info.restored = reader->restored();
  info.restoredHash = reader->restoredHash();
  info.dropped = reader->dropped();
  info.tier = reader->tier();
  info.active = {reader->activeWire(), reader->activeLayout()};
  const auto segments = reader.list(&sbe::NodeInfo::segments, wire::kGroupEntriesMax, [](auto& entry) {
    return std::pair{entry.capacityBytes(), entry.slots()};
  });
  if (!segments.empty()) std::tie(info.capacityBytes, info.slots) = segments.back();
  info.tcp = reader.bytes();
  info.shm = reader.bytes();
  info.zone = reader.bytes();
  return info;
}

inline node::NodeStatsMessage readNodeStats(wire::Body body) {
  wire::Reader<sbe::NodeStats> reader(body);
  return {reader->sequence(),         reader->usedBytes(),
          reader->largestFreeBytes(), reader->slotsUsed(),
          reader->objects(),          reader->draining(),
          reader->idsHash(),          reader->damaged(),
          reader->scrubRounds(),      {reader->activeWire(), reader->activeLayout()},
          reader->ssdUsedBytes(),     reader->ssdObjects(),
          std::string(reader.bytes())};
}

struct Record {
  bool committed = false;
  bool tombstone = false;
  ExtentRef extent;
  ObjectId objectId;
  uint64_t offset = 0;
  uint64_t extentBytes = 0;
  uint64_t payloadLength = 0;
  uint32_t payloadCrc = 0;
  Retention retention;
  std::string key;
};
struct Records {
  bool snapshot = false;
  uint64_t sequence = 0;
  std::vector<Record> records;
};
inline Records readRecords(wire::Body body) {
  wire::Reader<sbe::DirectoryRecords> reader(body);
  Records out;
  out.snapshot = reader->kind() == sbe::RecordKind::SNAPSHOT;
  out.sequence = reader->sequence();
  out.records = reader.list(&sbe::DirectoryRecords::records, wire::kGroupEntriesMax, [&](auto& group) {
    Record record;
    record.committed = group.state() == sbe::RecordState::COMMITTED;
    record.tombstone = group.state() == sbe::RecordState::TOMBSTONE;
    record.extent = wire::toExtentRef(group.extent());
    record.objectId = wire::toObjectId(group.objectId());
    record.offset = group.offset();
    record.extentBytes = group.extentBytes();
    record.payloadLength = group.payloadLength();
    record.payloadCrc = group.payloadCrc();
    record.retention = wire::toRetention(group);
    record.key = reader.bytes(group, KV_KEY_BYTES_MAX);
    return record;
  });
  return out;
}

struct ShmAttached {
  uint64_t requestId = 0;
  int32_t status = 0;
  uint64_t fileBytes = 0;
};
inline ShmAttached readShmAttached(wire::Body body) {
  wire::Reader<sbe::ShmAttached> reader(body);
  ShmAttached out{reader->requestId(), reader->status(), 0};
  for (const uint64_t bytes :
       reader.list(&sbe::ShmAttached::segments, wire::kGroupEntriesMax, [](auto& entry) { return entry.fileBytes(); }))
    out.fileBytes = bytes;
  return out;
}

}  // namespace kvpool::test
