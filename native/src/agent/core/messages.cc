// SPDX-License-Identifier: Apache-2.0
#include "agent/core/messages.h"

#include <stdexcept>

#include "agent/core/limits.h"
#include "base/utf8.h"
#include "dev_kvpool_wire/AgentAttach.h"
#include "dev_kvpool_wire/AgentAttached.h"
#include "dev_kvpool_wire/AgentReply.h"
#include "dev_kvpool_wire/AgentRequest.h"
#include "dev_kvpool_wire/AgentState.h"
#include "wire/frame.h"

namespace kvpool::agent {
namespace {

namespace sbe = wire::sbe;
using client::OpCode;
using wire::flag;
using wire::frameOf;
using wire::groupRoom;
using wire::Malformed;
using wire::Reader;
using wire::text;
using wire::textRoom;

/// As much of a sentence as a message takes, whole characters.
std::string_view shortened(std::string_view text) {
  text = text.substr(0, wire::kTextBytesMax);
  while (!isUtf8(text))
    text.remove_suffix(1);
  return text;
}

sbe::AgentOp::Value toWire(OpCode op) {
  switch (op) {
    case OpCode::Put:
      return sbe::AgentOp::PUT;
    case OpCode::Get:
      return sbe::AgentOp::GET;
    case OpCode::Exists:
      return sbe::AgentOp::EXISTS;
    case OpCode::Remove:
      return sbe::AgentOp::REMOVE;
    case OpCode::Retain:
      return sbe::AgentOp::RETAIN;
    case OpCode::Release:
      return sbe::AgentOp::RELEASE;
    case OpCode::Prefetch:
      return sbe::AgentOp::PREFETCH;
    case OpCode::RemoveAll:
      break;
    case OpCode::PutStart:  // not through an agent
    case OpCode::PutParts:
    case OpCode::PutEnd:
    case OpCode::PutRevoke:
    case OpCode::Copy:
    case OpCode::AskTask:
    case OpCode::Locate:
      throw std::logic_error("an agent was asked for what it does not do");
  }
  return sbe::AgentOp::REMOVE_ALL;
}

OpCode opCodeOf(uint8_t op) {
  switch (op) {
    case sbe::AgentOp::PUT:
      return OpCode::Put;
    case sbe::AgentOp::GET:
      return OpCode::Get;
    case sbe::AgentOp::EXISTS:
      return OpCode::Exists;
    case sbe::AgentOp::REMOVE:
      return OpCode::Remove;
    case sbe::AgentOp::REMOVE_ALL:
      return OpCode::RemoveAll;
    case sbe::AgentOp::RETAIN:
      return OpCode::Retain;
    case sbe::AgentOp::RELEASE:
      return OpCode::Release;
    case sbe::AgentOp::PREFETCH:
      return OpCode::Prefetch;
    default:
      throw Malformed("unknown operation " + std::to_string(op));
  }
}

}  // namespace

size_t lineRoom(std::string_view key) {
  return sbe::AgentRequest::Lines::sbeBlockLength() + textRoom(key.size());
}

wire::Bytes attachFrame(uint64_t stagingBytes) {
  return frameOf<sbe::AgentAttach>(0, [&](sbe::AgentAttach& message) { message.stagingBytes(stagingBytes); });
}

wire::Bytes attachedFrame(const Attached& attached) {
  const std::string_view why = shortened(attached.message);
  return frameOf<sbe::AgentAttached>(
      textRoom(why.size()), [&](sbe::AgentAttached& message) { message.status(attached.status).putMessage(why); });
}

wire::Bytes stateFrame(const State& state) {
  const std::string_view why = shortened(state.message);
  return frameOf<sbe::AgentState>(textRoom(why.size()), [&](sbe::AgentState& message) {
    message.leaderKnown(flag(state.leaderKnown)).epoch(state.epoch).putMessage(why);
  });
}

wire::Bytes requestFrame(const Request& request) {
  size_t room = groupRoom(0, 0) + textRoom(request.nodes.size());
  for (const RequestLine& line : request.lines)
    room += lineRoom(line.key);
  return frameOf<sbe::AgentRequest>(room, [&](sbe::AgentRequest& message) {
    message.requestId(request.id).timeoutMs(request.timeoutMs).op(toWire(request.op));
    message.force(flag(request.force)).replace(flag(request.upsert)).reuse(flag(request.reuse));
    message.replicas(request.replicas).softPinMs(request.softPinMs);
    message.ofGroups(flag(request.ofGroups)).retainMs(request.retainMs);
    message.pins().rawValue(request.pins);
    auto& lines = message.linesCount(static_cast<uint16_t>(request.lines.size()));
    for (const RequestLine& line : request.lines) {
      lines.next().offset(line.offset).length(line.length).group(line.group);
      lines.putKey(line.key.data(), static_cast<uint32_t>(line.key.size()));
    }
    message.putNodes(request.nodes);
  });
}

wire::Bytes replyFrame(const Reply& reply) {
  const std::string_view why = shortened(reply.message);
  const size_t room = groupRoom(reply.lines.size(), sbe::AgentReply::Lines::sbeBlockLength()) + textRoom(why.size());
  return frameOf<sbe::AgentReply>(room, [&](sbe::AgentReply& message) {
    message.requestId(reply.id);
    auto& lines = message.linesCount(static_cast<uint16_t>(reply.lines.size()));
    for (const client::LineResult& line : reply.lines)
      lines.next().status(line.status).length(line.length);
    message.putMessage(why);
  });
}

uint64_t readAttach(wire::Body body) {
  return Reader<sbe::AgentAttach>(body)->stagingBytes();
}

Attached readAttached(wire::Body body) {
  Reader<sbe::AgentAttached> reader(body);
  Attached attached;
  attached.status = reader->status();
  attached.message = text(reader.bytes());
  return attached;
}

State readState(wire::Body body) {
  Reader<sbe::AgentState> reader(body);
  State state;
  state.leaderKnown = reader->leaderKnown() == sbe::Flag::YES;
  state.epoch = reader->epoch();
  state.message = text(reader.bytes());
  return state;
}

Request readRequest(wire::Body body) {
  Reader<sbe::AgentRequest> reader(body);
  Request request;
  request.id = reader->requestId();
  request.timeoutMs = reader->timeoutMs();
  request.op = opCodeOf(reader->opRaw());
  request.force = reader->force() == sbe::Flag::YES;
  request.upsert = reader->replace() == sbe::Flag::YES;
  request.reuse = reader->reuse() == sbe::Flag::YES;
  request.replicas = reader->replicas();
  request.pins = static_cast<uint8_t>(reader->pins().rawValue() & kPinsAsked);
  request.softPinMs = reader->softPinMs();
  request.ofGroups = reader->ofGroups() == sbe::Flag::YES;
  request.retainMs = reader->retainMs();
  request.lines = reader.list(&sbe::AgentRequest::lines, kLinesPerRequest, [&](auto& entry) {
    return RequestLine{reader.bytes(entry, wire::kKeyBytesOnWireMax), entry.offset(), entry.length(), entry.group()};
  });
  request.nodes = text(reader.bytes(wire::kTextBytesMax));
  if (request.lines.empty()) throw Malformed("a request of no lines");
  if (request.op == OpCode::RemoveAll && request.lines.size() != 1) throw Malformed("remove all has one line");
  return request;
}

Reply readReply(wire::Body body) {
  Reader<sbe::AgentReply> reader(body);
  Reply reply;
  reply.id = reader->requestId();
  reply.lines = reader.list(&sbe::AgentReply::lines, kLinesPerRequest, [](auto& entry) {
    return client::LineResult{entry.status(), entry.length()};
  });
  reply.message = text(reader.bytes());
  return reply;
}

}  // namespace kvpool::agent
