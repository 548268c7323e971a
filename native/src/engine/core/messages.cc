// SPDX-License-Identifier: Apache-2.0
#include "engine/core/messages.h"

#include "base/checked.h"
#include "base/host_port.h"
#include "dev_kvpool_wire/EngineDescribe.h"
#include "dev_kvpool_wire/EngineMayRead.h"
#include "dev_kvpool_wire/EngineNeighbor.h"
#include "dev_kvpool_wire/EngineNotify.h"
#include "dev_kvpool_wire/EnginePull.h"
#include "dev_kvpool_wire/EngineRead.h"
#include "dev_kvpool_wire/EngineRegions.h"
#include "dev_kvpool_wire/EngineReply.h"
#include "dev_kvpool_wire/EngineWrite.h"
#include "engine/core/limits.h"
#include "wire/frame.h"

namespace kvpool::engine {
namespace {

namespace sbe = wire::sbe;
using wire::frameOf;
using wire::groupRoom;
using wire::Malformed;
using wire::Reader;
using wire::text;
using wire::textRoom;

template <typename Message>
wire::Bytes piecesFrame(uint64_t id, std::span<const RemotePiece> pieces) {
  return frameOf<Message>(groupRoom(pieces.size(), Message::Pieces::sbeBlockLength()), [&](Message& message) {
    message.requestId(id);
    auto& group = message.piecesCount(static_cast<uint16_t>(pieces.size()));
    for (const RemotePiece& piece : pieces)
      group.next().region(piece.region).address(piece.address).length(piece.length);
  });
}

/// `also` sees each entry.
template <typename Message, typename Also>
PiecesRequest readPieces(wire::Body body, Also also) {
  Reader<Message> reader(body);
  PiecesRequest request;
  request.id = reader->requestId();
  request.pieces = reader.list(&Message::pieces, kPiecesPerRequest, [&](auto& entry) {
    if (entry.length() == 0) throw Malformed("a piece of no bytes");
    request.bytes += entry.length();
    also(entry);
    return RemotePiece{entry.region(), entry.address(), entry.length()};
  });
  if (request.pieces.empty()) throw Malformed("a request of no pieces");
  if (request.bytes > kRequestBytes)
    throw Malformed("a request of more than " + std::to_string(kRequestBytes) + " bytes");
  return request;
}

template <typename Message>
PiecesRequest readPieces(wire::Body body) {
  return readPieces<Message>(body, [](const auto&) {});
}

}  // namespace

wire::Bytes describeFrame(uint64_t id) {
  return frameOf<sbe::EngineDescribe>(0, [&](sbe::EngineDescribe& message) { message.requestId(id); });
}

wire::Bytes regionsFrame(uint64_t id, std::span<const Region> regions, const std::string& ascend) {
  using Message = sbe::EngineRegions;
  const size_t room = groupRoom(regions.size(), Message::Regions::sbeBlockLength()) + textRoom(ascend.size());
  return frameOf<Message>(room, [&](Message& message) {
    message.requestId(id);
    auto& group = message.regionsCount(static_cast<uint16_t>(regions.size()));
    for (const Region& region : regions) {
      group.next().region(region.id).address(region.base).length(region.length).medium(sbe::Medium::DRAM);
    }
    message.putAscend(ascend);
  });
}

wire::Bytes writeFrame(uint64_t id, std::span<const RemotePiece> pieces) {
  return piecesFrame<sbe::EngineWrite>(id, pieces);
}

wire::Bytes readFrame(uint64_t id, std::span<const RemotePiece> pieces) {
  return piecesFrame<sbe::EngineRead>(id, pieces);
}

wire::Bytes mayReadFrame(uint64_t id, std::span<const RemotePiece> pieces) {
  return piecesFrame<sbe::EngineMayRead>(id, pieces);
}

wire::Bytes pullFrame(uint64_t id, std::span<const RemotePiece> pieces, std::span<const kv_piece> sources) {
  using Message = sbe::EnginePull;
  return frameOf<Message>(groupRoom(pieces.size(), Message::Pieces::sbeBlockLength()), [&](Message& message) {
    message.requestId(id);
    auto& group = message.piecesCount(static_cast<uint16_t>(pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i) {
      group.next().region(pieces[i].region).address(pieces[i].address).length(pieces[i].length);
      group.source(reinterpret_cast<uintptr_t>(sources[i].data));
    }
  });
}

wire::Bytes neighborFrame(const NeighborClaim& claim) {
  return frameOf<sbe::EngineNeighbor>(0, [&](sbe::EngineNeighbor& message) {
    message.boot(claim.process.boot).pidNamespace(claim.process.pidNamespace).pid(claim.process.pid);
    message.descriptor(claim.descriptor).proof(claim.proof);
    message.challenge().first(claim.challenge[0]).second(claim.challenge[1]);
  });
}

wire::Bytes notifyFrame(uint64_t id, const Notification& notification) {
  const size_t room = textRoom(notification.name.size()) + textRoom(notification.message.size());
  return frameOf<sbe::EngineNotify>(room, [&](sbe::EngineNotify& message) {
    message.requestId(id).putName(notification.name);
    message.putMessage(notification.message.data(), static_cast<uint32_t>(notification.message.size()));
  });
}

wire::Bytes replyFrame(const Reply& reply) {
  return frameOf<sbe::EngineReply>(textRoom(reply.message.size()), [&](sbe::EngineReply& message) {
    message.requestId(reply.id).status(reply.status).payloadLength(reply.payloadLength).withdrawn(reply.withdrawn);
    message.putMessage(reply.message);
  });
}

uint64_t readDescribe(wire::Body body) {
  return Reader<sbe::EngineDescribe>(body)->requestId();
}

Regions readRegions(wire::Body body) {
  Reader<sbe::EngineRegions> reader(body);
  Regions regions;
  regions.id = reader->requestId();
  regions.regions = reader.list(&sbe::EngineRegions::regions, KV_ENGINE_REGIONS_MAX, [](auto& entry) {
    return Region{entry.region(), entry.address(), entry.length()};
  });
  regions.ascend = text(reader.bytes(kEndpointBytesMax));
  if (!regions.ascend.empty() && !parseHostPort(regions.ascend).ok())
    throw Malformed("an endpoint that is no HOST:PORT");
  return regions;
}

PiecesRequest readWrite(wire::Body body) {
  return readPieces<sbe::EngineWrite>(body);
}

PiecesRequest readRead(wire::Body body) {
  return readPieces<sbe::EngineRead>(body);
}

PiecesRequest readMayRead(wire::Body body) {
  return readPieces<sbe::EngineMayRead>(body);
}

PullRequest readPull(wire::Body body) {
  PullRequest request;
  request.to = readPieces<sbe::EnginePull>(body, [&](auto& entry) {
    if (entry.source() == 0 || !checkedAdd(entry.source(), uint64_t{entry.length()}))
      throw Malformed("a source that is no memory");
    request.sources.push_back(entry.source());
  });
  return request;
}

NeighborClaim readNeighbor(wire::Body body) {
  Reader<sbe::EngineNeighbor> reader(body);
  NeighborClaim claim;
  claim.process = {reader->boot(), reader->pidNamespace(), reader->pid()};
  claim.descriptor = reader->descriptor();
  claim.proof = reader->proof();
  auto& challenge = reader->challenge();
  claim.challenge = {challenge.first(), challenge.second()};
  // Numbers of other types in the kernel, and a place of 24 bytes.
  if (claim.process.pid > INT32_MAX || claim.descriptor > INT32_MAX || !checkedAdd(claim.proof, sizeof(ShownProof)))
    throw Malformed("a process that cannot be");
  return claim;
}

NotifyRequest readNotify(wire::Body body) {
  Reader<sbe::EngineNotify> reader(body);
  NotifyRequest request;
  request.id = reader->requestId();
  request.notification.name = text(reader.bytes(KV_NOTIFY_NAME_BYTES_MAX));
  request.notification.message = std::string(reader.bytes(KV_NOTIFY_BYTES_MAX));
  return request;
}

Reply readReply(wire::Body body) {
  Reader<sbe::EngineReply> reader(body);
  Reply reply{reader->requestId(), reader->status(), reader->payloadLength(), {}, reader->withdrawn()};
  reply.message = text(reader.bytes());
  return reply;
}

}  // namespace kvpool::engine
