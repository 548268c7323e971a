// SPDX-License-Identifier: Apache-2.0
// What masters and nodes that say anything answer to what a client's core asked: of the right kind, with any status,
// count, place and length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/replies.h"
#include "dev_kvpool_wire/CopyRequest.h"
#include "dev_kvpool_wire/ExistsRequest.h"
#include "dev_kvpool_wire/GrantRequest.h"
#include "dev_kvpool_wire/HintRequest.h"
#include "dev_kvpool_wire/LookupRequest.h"
#include "dev_kvpool_wire/PartsWrite.h"
#include "dev_kvpool_wire/PublishRequest.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/RemoveAllRequest.h"
#include "dev_kvpool_wire/RemoveRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/TaskQuery.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "fuzz/input.h"
#include "master/master_messages.h"
#include "node/core/messages.h"
#include "wire/frame.h"

namespace kvpool::test {

namespace sbe = wire::sbe;
using client::Grant;
using client::GrantReply;
using client::KeysReply;
using client::Located;
using client::LookupReply;
using client::NodeAddress;

inline constexpr uint64_t kLineBytes = 4096;
inline constexpr uint32_t kPromisedCrc = 7;
inline constexpr const char* kBootId = "boot";

/// Mostly small; every length a peer could name is possible.
inline uint64_t numberOf(Input& input) {
  const uint8_t first = input.byte();
  return first < 250 ? first : input.number(8);
}

/// Of a payload: what is expected, a little more or less than that, or anything.
inline uint64_t lengthNear(uint64_t expected, Input& input) {
  const uint8_t first = input.byte();
  if (first % 2 == 0) return expected;
  return first % 4 == 1 ? numberOf(input) : expected - 128 + input.byte();
}

inline int32_t statusOf(Input& input) {
  const uint8_t first = input.byte();
  return first % 4 != 0 ? KV_OK : -static_cast<int32_t>(first) * 4;
}

/// As many as were asked for, or now and then another number.
inline size_t lines(size_t asked, Input& input) {
  return input.byte() % 8 == 0 ? input.byte() % 5 : asked;
}

inline KeysReply statuses(uint64_t request, size_t asked, Input& input) {
  KeysReply reply{request, statusOf(input), {}};
  for (size_t i = 0; i < lines(asked, input); ++i)
    reply.results.push_back({statusOf(input), numberOf(input)});
  return reply;
}

inline std::vector<NodeAddress> nodes(Input& input) {
  std::vector<NodeAddress> found;
  for (uint64_t i = 1; i <= input.byte() % 4U; ++i) {
    const std::string name = "node-" + std::to_string(i);
    found.push_back({1 + input.byte() % 4U, name, name + ":1",
                     input.byte() % 2 == 0 ? std::string(kBootId) + ":/" + name : std::string(), false});
  }
  return found;
}

/// `node`: whether it is a node that is asked, or a master.
inline wire::Bytes answerTo(const wire::Bytes& body, bool node, Input& input) {
  wire::Bytes frame;
  switch (wire::templateOf(body)) {
    case sbe::GrantRequest::sbeTemplateId(): {
      const auto request = master::readGrantRequest(body);
      GrantReply reply{request.request, statusOf(input), {1, 5}, nodes(input), {}};
      for (size_t i = 0; i < lines(request.keys.size(), input); ++i) {
        Grant& grant = reply.grants.emplace_back();
        grant.status = statusOf(input);
        grant.object = {1, numberOf(input)};
        grant.roomMs = static_cast<uint32_t>(input.byte()) * 16;
        for (uint8_t count = input.byte() % 3; count > 0; --count)
          grant.targets.push_back({static_cast<uint16_t>(input.byte() % 4), {}});
      }
      return master::grantReply(reply, request.deadlineMs);
    }
    case sbe::LookupRequest::sbeTemplateId(): {
      const auto request = master::readLookupRequest(body);
      LookupReply reply{request.request, statusOf(input), {1, 5}, input.byte() * 64U, nodes(input), {}};
      for (size_t i = 0; i < lines(request.keys.size(), input); ++i) {
        Located& object = reply.objects.emplace_back();
        object.status = statusOf(input);
        object.object = {1, input.byte()};
        object.payloadLength = lengthNear(kLineBytes, input);
        object.payloadCrc = kPromisedCrc;
        for (uint8_t count = input.byte() % 3; count > 0; --count)
          object.replicas.push_back({static_cast<uint16_t>(input.byte() % 4), {0, 7, 9}, numberOf(input)});
      }
      return master::lookupReply(reply);
    }
    case sbe::PublishRequest::sbeTemplateId(): {
      const auto request = master::readPublishRequest(body);
      return master::publishReply(statuses(request.request, request.objects.size(), input));
    }
    case sbe::ExistsRequest::sbeTemplateId(): {
      const auto request = master::readExistsRequest(body);
      return master::existsReply(statuses(request.request, request.keys.size(), input));
    }
    case sbe::RemoveRequest::sbeTemplateId(): {
      const auto request = master::readRemoveRequest(body);
      return master::removeReply(statuses(request.request, request.keys.size(), input));
    }
    case sbe::HintRequest::sbeTemplateId(): {
      const auto request = master::readHintRequest(body).keys;
      return master::hintReply(statuses(request.request, request.keys.size(), input));
    }
    case sbe::RemoveAllRequest::sbeTemplateId():
      return master::removeAllReply({master::readRemoveAllRequest(body).request, statusOf(input), numberOf(input)});
    case sbe::CopyRequest::sbeTemplateId():
      return master::taskReply({master::readCopyRequest(body).request, statusOf(input), numberOf(input), false,
                                KV_TASK_PENDING, KV_OK, 0, 0});
    case sbe::TaskQuery::sbeTemplateId():
      return master::taskReply({master::readTaskQuery(body).first, statusOf(input), 1, true,
                                static_cast<uint8_t>(input.byte() % 6), -static_cast<int32_t>(input.byte()),
                                numberOf(input), numberOf(input)});
    case sbe::WriteRequest::sbeTemplateId():
      node::appendWriteReply(frame, {node::readWriteRequest(body).requestId, statusOf(input), {0, 1, 1}, {1, 5}});
      return frame;
    case sbe::PartsWrite::sbeTemplateId():
      node::appendWriteReply(frame, {node::readPartsWrite(body).requestId, statusOf(input), {0, 1, 1}, {1, 5}});
      return frame;
    case sbe::ReadRequest::sbeTemplateId(): {
      const node::ReadRequest request = node::readReadRequest(body);
      node::appendReadReply(frame, request.requestId, statusOf(input), lengthNear(request.payloadLength, input));
      return frame;
    }
    case sbe::ShmAttach::sbeTemplateId():
      node::appendShmAttached(frame, node::readShmAttach(body).requestId, statusOf(input), numberOf(input) * 4096);
      return frame;
    default:
      wire::Welcome welcome;
      welcome.self = {node ? wire::Role::Node : wire::Role::Master,
                      PoolId{1, 2},
                      1 + input.byte() % 4U,
                      wire::kWireVersions,
                      wire::kLayoutVersions,
                      wire::kAbiVersions,
                      "peer",
                      "0.1.0"};
      welcome.wireChosen = 1;
      wire::appendWelcome(frame, welcome);
      return frame;
  }
}

}  // namespace kvpool::test
