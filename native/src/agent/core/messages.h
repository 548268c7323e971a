// SPDX-License-Identifier: Apache-2.0
// The messages between an agent and its clients. Writing bounds nothing: callers keep to limits.h. Reading throws as
// everything in wire/sbe.h does, also when a bound of limits.h is passed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/core/batch.h"
#include "wire/sbe.h"

namespace kvpool::agent {

struct Attached {
  int32_t status = KV_OK;
  std::string message;
};

struct State {
  bool leaderKnown = false;
  uint64_t epoch = 0;
  std::string message;  // why none is
  friend bool operator==(const State&, const State&) = default;
};

/// One line of a request: a key, and where in the staging memory its value lies or may lie.
struct RequestLine {
  std::string_view key;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t group = 0;
};

struct Request {
  uint64_t id = 0;
  uint32_t timeoutMs = 0;
  client::OpCode op = client::OpCode::Get;
  bool force = false;
  bool upsert = false;
  bool reuse = false;
  uint8_t replicas = 0;
  uint8_t pins = 0;
  uint32_t softPinMs = 0;
  bool ofGroups = false;
  uint32_t retainMs = 0;
  std::string nodes;
  std::vector<RequestLine> lines;  // their keys are views into the body that was read
};

struct Reply {
  uint64_t id = 0;
  std::vector<client::LineResult> lines;
  std::string message;
};

wire::Bytes attachFrame(uint64_t stagingBytes);
wire::Bytes attachedFrame(const Attached& attached);
wire::Bytes stateFrame(const State& state);
wire::Bytes requestFrame(const Request& request);
wire::Bytes replyFrame(const Reply& reply);
/// What a line takes in a request, beside the request itself.
size_t lineRoom(std::string_view key);

/// The bytes of an AgentAttach.
uint64_t readAttach(wire::Body body);
Attached readAttached(wire::Body body);
State readState(wire::Body body);
Request readRequest(wire::Body body);
Reply readReply(wire::Body body);

}  // namespace kvpool::agent
