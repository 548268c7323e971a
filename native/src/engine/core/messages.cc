// SPDX-License-Identifier: Apache-2.0
#include "engine/core/messages.h"

#include "base/host_port.h"
#include "dev_kvpool_wire/EngineDescribe.h"
#include "dev_kvpool_wire/EngineNotify.h"
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

template <typename Message>
PiecesRequest readPieces(wire::Body body) {
  Reader<Message> reader(body);
  PiecesRequest request;
  request.id = reader->requestId();
  request.pieces = reader.list(&Message::pieces, kPiecesPerRequest, [&](auto& entry) {
    if (entry.length() == 0) throw Malformed("a piece of no bytes");
    request.bytes += entry.length();
    return RemotePiece{entry.region(), entry.address(), entry.length()};
  });
  if (request.pieces.empty()) throw Malformed("a request of no pieces");
  if (request.bytes > kRequestBytes)
    throw Malformed("a request of more than " + std::to_string(kRequestBytes) + " bytes");
  return request;
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

wire::Bytes notifyFrame(uint64_t id, const Notification& notification) {
  const size_t room = textRoom(notification.name.size()) + textRoom(notification.message.size());
  return frameOf<sbe::EngineNotify>(room, [&](sbe::EngineNotify& message) {
    message.requestId(id).putName(notification.name);
    message.putMessage(notification.message.data(), static_cast<uint32_t>(notification.message.size()));
  });
}

wire::Bytes replyFrame(const Reply& reply) {
  return frameOf<sbe::EngineReply>(textRoom(reply.message.size()), [&](sbe::EngineReply& message) {
    message.requestId(reply.id).status(reply.status).payloadLength(reply.payloadLength).putMessage(reply.message);
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
  Reply reply{reader->requestId(), reader->status(), reader->payloadLength(), {}};
  reply.message = text(reader.bytes());
  return reply;
}

}  // namespace kvpool::engine
