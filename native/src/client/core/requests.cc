// SPDX-License-Identifier: Apache-2.0
#include "client/core/requests.h"

#include "dev_kvpool_wire/AscendAttach.h"
#include "dev_kvpool_wire/CopyRequest.h"
#include "dev_kvpool_wire/ExistsRequest.h"
#include "dev_kvpool_wire/GrantRequest.h"
#include "dev_kvpool_wire/HintRequest.h"
#include "dev_kvpool_wire/LookupRequest.h"
#include "dev_kvpool_wire/PartsRead.h"
#include "dev_kvpool_wire/PartsWrite.h"
#include "dev_kvpool_wire/PublishRequest.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/RemoveAllRequest.h"
#include "dev_kvpool_wire/RemoveRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/StagedRead.h"
#include "dev_kvpool_wire/TaskQuery.h"
#include "dev_kvpool_wire/UcxAttach.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "wire/frame.h"

namespace kvpool::client {
namespace {

namespace sbe = wire::sbe;
using wire::flag;
using wire::frameOf;
using wire::groupRoom;
using wire::put;
using wire::textRoom;

sbe::PutOutcome::Value toWire(PutOutcome outcome) {
  switch (outcome) {
    case PutOutcome::Written:
      return sbe::PutOutcome::WRITTEN;
    case PutOutcome::NoSpace:
      return sbe::PutOutcome::NO_SPACE;
    case PutOutcome::Failed:
      break;
  }
  return sbe::PutOutcome::FAILED;
}

sbe::Hint::Value toWire(Hint hint) {
  switch (hint) {
    case Hint::Retain:
      return sbe::Hint::RETAIN;
    case Hint::Release:
      return sbe::Hint::RELEASE;
    case Hint::Prefetch:
      break;
  }
  return sbe::Hint::PREFETCH;
}

/// The messages whose only variable part is a group of keys, or also what `end` puts behind them.
template <typename Message>
wire::Bytes keysRequest(std::span<const std::string_view> keys, auto fill, size_t roomBehind, auto end) {
  size_t room = groupRoom(keys.size(), Message::Keys::sbeBlockLength()) + roomBehind;
  for (std::string_view key : keys)
    room += textRoom(key.size());
  return frameOf<Message>(room, [&](Message& message) {
    fill(message);
    auto& group = message.keysCount(static_cast<uint16_t>(keys.size()));
    for (std::string_view key : keys)
      group.next().putKey(key.data(), static_cast<uint32_t>(key.size()));
    end(message);
  });
}

template <typename Message>
wire::Bytes keysRequest(std::span<const std::string_view> keys, auto fill) {
  return keysRequest<Message>(keys, fill, 0, [](Message&) {});
}

wire::Bytes write(uint64_t request, const WriteLine& line, sbe::WriteSource::Value source, const Staged& staged) {
  return frameOf<sbe::WriteRequest>(textRoom(line.key.size()), [&](sbe::WriteRequest& message) {
    message.requestId(request).payloadLength(line.payloadLength).source(source);
    message.stagingOffset(staged.offset).payloadCrc(staged.crc);
    put(message.authority(), line.authority);
    put(message.objectId(), line.object);
    wire::putRetention(message, line.retention);
    put(message.mac(), line.mac);
    message.putKey(line.key.data(), static_cast<uint32_t>(line.key.size()));
  });
}

wire::Bytes parts(uint64_t request, const PartsLine& line, sbe::PartsStep::Value step, sbe::WriteSource::Value source,
                  const Staged& staged) {
  const size_t room = groupRoom(line.pieces.size(), sbe::PartsWrite::Parts::sbeBlockLength());
  return frameOf<sbe::PartsWrite>(room, [&](sbe::PartsWrite& message) {
    message.requestId(request).step(step).source(source).stagingOffset(staged.offset).partsCrc(staged.crc);
    put(message.extent(), line.extent);
    put(message.objectId(), line.object);
    auto& group = message.partsCount(static_cast<uint16_t>(line.pieces.size()));
    for (size_t i = 0; i < line.pieces.size(); ++i)
      group.next().offset(line.offsets[i]).length(line.pieces[i].length);
  });
}

}  // namespace

wire::Bytes grantRequest(uint64_t request, const GrantWish& wish, std::span<const GrantLine> lines) {
  size_t room =
      groupRoom(lines.size(), sbe::GrantRequest::Keys::sbeBlockLength()) + textRoom(wish.preferredNodes.size());
  for (const GrantLine& line : lines)
    room += textRoom(line.key.size());
  return frameOf<sbe::GrantRequest>(room, [&](sbe::GrantRequest& message) {
    message.requestId(request).replicas(static_cast<uint8_t>(wish.replicas)).deadlineMs(wish.deadlineMs);
    message.replace(flag(wish.replace));
    auto& keys = message.keysCount(static_cast<uint16_t>(lines.size()));
    for (const GrantLine& line : lines) {
      keys.next().payloadLength(line.payloadLength);
      wire::putRetention(keys, line.retention);
      keys.putKey(line.key.data(), static_cast<uint32_t>(line.key.size()));
    }
    message.putPreferredNodes(wish.preferredNodes);
  });
}

wire::Bytes publishRequest(uint64_t request, std::span<const PublishLine> lines) {
  using Objects = sbe::PublishRequest::Objects;
  size_t room = groupRoom(lines.size(), Objects::sbeBlockLength());
  for (const PublishLine& line : lines) {
    room += groupRoom(line.committed.size(), Objects::Replicas::sbeBlockLength()) + textRoom(line.key.size());
  }
  return frameOf<sbe::PublishRequest>(room, [&](sbe::PublishRequest& message) {
    message.requestId(request);
    auto& objects = message.objectsCount(static_cast<uint16_t>(lines.size()));
    for (const PublishLine& line : lines) {
      auto& object = objects.next();
      put(object.objectId(), line.object);
      object.outcome(toWire(line.outcome));
      auto& replicas = object.replicasCount(static_cast<uint16_t>(line.committed.size()));
      for (uint64_t incarnation : line.committed)
        replicas.next().incarnation(incarnation);
      object.putKey(line.key.data(), static_cast<uint32_t>(line.key.size()));
    }
  });
}

wire::Bytes lookupRequest(uint64_t request, std::span<const std::string_view> keys) {
  return keysRequest<sbe::LookupRequest>(keys, [&](auto& message) { message.requestId(request); });
}

wire::Bytes existsRequest(uint64_t request, std::span<const std::string_view> keys) {
  return keysRequest<sbe::ExistsRequest>(keys, [&](auto& message) { message.requestId(request); });
}

wire::Bytes removeRequest(uint64_t request, const Removal& removal, std::span<const std::string_view> keys) {
  const auto fill = [&](auto& message) {
    message.requestId(request).force(flag(removal.force)).ofGroup(flag(removal.ofGroup));
  };
  return keysRequest<sbe::RemoveRequest>(keys, fill, textRoom(removal.node.size()),
                                         [&](auto& message) { message.putNode(removal.node); });
}

wire::Bytes hintRequest(uint64_t request, const HintWish& wish, std::span<const std::string_view> keys) {
  return keysRequest<sbe::HintRequest>(keys, [&](auto& message) {
    message.requestId(request).hint(toWire(wish.hint)).forMs(wish.forMs).ofGroup(flag(wish.ofGroup));
  });
}

wire::Bytes removeAllRequest(uint64_t request, bool force, std::string_view pattern) {
  return frameOf<sbe::RemoveAllRequest>(textRoom(pattern.size()), [&](sbe::RemoveAllRequest& message) {
    message.requestId(request).force(flag(force)).putPattern(pattern.data(), static_cast<uint32_t>(pattern.size()));
  });
}

wire::Bytes copyRequest(uint64_t request, std::string_view key, const CopyWish& wish) {
  size_t room = groupRoom(wish.targets.size(), sbe::CopyRequest::Targets::sbeBlockLength()) + textRoom(key.size()) +
                textRoom(wish.source.size());
  for (const std::string& target : wish.targets)
    room += textRoom(target.size());
  return frameOf<sbe::CopyRequest>(room, [&](sbe::CopyRequest& message) {
    message.requestId(request);
    auto& targets = message.targetsCount(static_cast<uint16_t>(wish.targets.size()));
    for (const std::string& target : wish.targets)
      targets.next().putNodeId(target);
    message.putKey(key.data(), static_cast<uint32_t>(key.size())).putSource(wish.source);
  });
}

wire::Bytes taskQuery(uint64_t request, uint64_t task) {
  return frameOf<sbe::TaskQuery>(0, [&](sbe::TaskQuery& message) { message.requestId(request).task(task); });
}

wire::Bytes inlineWrite(uint64_t request, const WriteLine& line) {
  return write(request, line, sbe::WriteSource::INLINE, {});
}

wire::Bytes stagedWrite(uint64_t request, const WriteLine& line, const Staged& staged) {
  return write(request, line, sbe::WriteSource::STAGING, staged);
}

wire::Bytes openWrite(uint64_t request, const WriteLine& line) {
  return write(request, line, sbe::WriteSource::PARTS, {});
}

wire::Bytes inlineParts(uint64_t request, const PartsLine& line) {
  return parts(request, line, sbe::PartsStep::WRITE, sbe::WriteSource::INLINE, {});
}

wire::Bytes stagedParts(uint64_t request, const PartsLine& line, const Staged& staged) {
  return parts(request, line, sbe::PartsStep::WRITE, sbe::WriteSource::STAGING, staged);
}

wire::Bytes endParts(uint64_t request, const ExtentRef& extent, const ObjectId& object, PartsEnd end) {
  const auto step = end == PartsEnd::Commit ? sbe::PartsStep::COMMIT : sbe::PartsStep::ABORT;
  return parts(request, {extent, object, {}, nullptr}, step, sbe::WriteSource::INLINE, {});
}

wire::Bytes readRequest(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength) {
  return frameOf<sbe::ReadRequest>(0, [&](sbe::ReadRequest& message) {
    message.requestId(request).payloadLength(payloadLength);
    put(message.extent(), extent);
    put(message.objectId(), object);
  });
}

wire::Bytes stagedRead(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength,
                       uint64_t stagingOffset) {
  return frameOf<sbe::StagedRead>(0, [&](sbe::StagedRead& message) {
    message.requestId(request).payloadLength(payloadLength).stagingOffset(stagingOffset);
    put(message.extent(), extent);
    put(message.objectId(), object);
  });
}

wire::Bytes partsRead(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength,
                      uint32_t payloadCrc, std::span<const kv_piece> pieces, const uint64_t* offsets) {
  const size_t room = groupRoom(pieces.size(), sbe::PartsRead::Parts::sbeBlockLength());
  return frameOf<sbe::PartsRead>(room, [&](sbe::PartsRead& message) {
    message.requestId(request).payloadLength(payloadLength).payloadCrc(payloadCrc);
    put(message.extent(), extent);
    put(message.objectId(), object);
    auto& parts = message.partsCount(static_cast<uint16_t>(pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i)
      parts.next().offset(offsets[i]).length(pieces[i].length);
  });
}

wire::Bytes stagingAttach(uint64_t request, const StagingOffer& offer) {
  if (offer.protocol == RemoteProtocol::Ascend) {
    return frameOf<sbe::AscendAttach>(textRoom(offer.worker.size()), [&](sbe::AscendAttach& message) {
      message.requestId(request).stagingBytes(offer.bytes).stagingAddress(offer.address);
      message.registrations(offer.registrations).putEndpoint(offer.worker);
    });
  }
  const size_t room = textRoom(offer.worker.size()) + textRoom(offer.key.size());
  return frameOf<sbe::UcxAttach>(room, [&](sbe::UcxAttach& message) {
    message.requestId(request).stagingBytes(offer.bytes).stagingAddress(offer.address);
    message.putWorker(offer.worker.data(), static_cast<uint32_t>(offer.worker.size()));
    message.putKey(offer.key.data(), static_cast<uint32_t>(offer.key.size()));
  });
}

wire::Bytes shmAttach(uint64_t request, uint64_t stagingBytes) {
  return frameOf<sbe::ShmAttach>(
      0, [&](sbe::ShmAttach& message) { message.requestId(request).stagingBytes(stagingBytes); });
}

}  // namespace kvpool::client
