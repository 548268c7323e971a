// SPDX-License-Identifier: Apache-2.0
// An agent's clients without sockets: what each may hold, and what ends it.
#include "agent/core/agent_clients.h"

#include <gtest/gtest.h>

#include "agent/core/identity.h"
#include "frames.h"

namespace kvpool::agent {
namespace {

using client::OpCode;
using test::bodyOf;
using test::identity;

Request ask(uint64_t id, OpCode op, uint64_t offset = 0, uint64_t length = 0) {
  Request request;
  request.id = id;
  request.op = op;
  request.timeoutMs = 1000;
  request.lines.push_back({"key", offset, length, 0});
  return request;
}

class AgentClientsTest : public testing::Test {
 protected:
  static constexpr uint64_t kAll = 1000;

  void say(ConnectionId id, const wire::Bytes& frame) {
    try {
      agentClients_.frame(id, bodyOf(frame));
    } catch (const wire::Malformed& malformed) {
      agentClients_.malformed(id, malformed.what());
    }
    take();
  }
  void hello(ConnectionId id, const wire::Identity& who = identity(wire::Role::Client)) {
    agentClients_.accepted(now_, id);
    wire::Bytes frame;
    wire::appendHello(frame, {who, 0, wire::kMagic});
    say(id, frame);
  }
  void attach(ConnectionId id, uint64_t bytes) {
    hello(id);
    say(id, attachFrame(bytes));
    agentClients_.mapped(id, Status());
    take();
  }

  void take() {
    for (Action& action : agentClients_.takeActions()) {
      if (auto* send = std::get_if<SendFrame>(&action)) sent_[send->connection].push_back(std::move(send->frame));
      if (auto* execute = std::get_if<Execute>(&action)) executed_.push_back(std::move(*execute));
      if (auto* cancel = std::get_if<Cancel>(&action)) cancelled_.push_back(cancel->token);
      if (auto* close = std::get_if<Close>(&action)) closed_[close->connection] = close->reason;
      if (auto* map = std::get_if<MapStaging>(&action)) mapped_.push_back(map->bytes);
    }
  }
  wire::Body last(ConnectionId id) { return bodyOf(sent_[id].back()); }

  AgentClients agentClients_{{identity(wire::Role::Agent), kAll, 3}};
  Time now_ = 0;
  std::unordered_map<ConnectionId, std::vector<wire::Bytes>> sent_;
  std::unordered_map<ConnectionId, std::string> closed_;
  std::vector<Execute> executed_;
  std::vector<Token> cancelled_;
  std::vector<uint64_t> mapped_;
};

TEST_F(AgentClientsTest, ARequestIsExecutedAndAnswered) {
  agentClients_.stateIs({true, 4, ""});
  attach(1, 500);
  EXPECT_EQ(mapped_, std::vector<uint64_t>{500});
  EXPECT_EQ(readState(last(1)).epoch, 4u);
  say(1, requestFrame(ask(77, OpCode::Put, 100, 400)));
  ASSERT_EQ(executed_.size(), 1u);
  EXPECT_EQ(executed_[0].request.lines[0].key, "key");
  EXPECT_EQ(agentClients_.counters().running, 1u);
  agentClients_.finished(executed_[0].token, {{KV_NO_SPACE, 0}}, "full");
  take();
  const Reply reply = readReply(last(1));
  EXPECT_EQ(reply.id, 77u);
  EXPECT_EQ(reply.lines[0].status, KV_NO_SPACE);
  EXPECT_EQ(reply.message, "full");
  agentClients_.stateIs({false, 4, "no leader"});
  take();
  EXPECT_FALSE(readState(last(1)).leaderKnown);
}

TEST_F(AgentClientsTest, StagingMemoryIsBoundedOverAllClients) {
  attach(1, 600);
  hello(2);
  say(2, attachFrame(401));
  EXPECT_EQ(readAttached(last(2)).status, KV_NO_SPACE);
  EXPECT_NE(readAttached(last(2)).message.find("600 of the 1000"), std::string::npos) << readAttached(last(2)).message;
  EXPECT_TRUE(closed_.contains(2));
  agentClients_.closed(2);
  hello(3);
  say(3, attachFrame(1001));
  EXPECT_EQ(readAttached(last(3)).status, KV_TOO_LARGE);
  agentClients_.closed(3);
  hello(4);
  say(4, attachFrame(0));
  EXPECT_EQ(readAttached(last(4)).status, KV_INVALID_ARGUMENT);
  agentClients_.closed(4);
  hello(5);
  say(5, attachFrame(UINT64_MAX));
  EXPECT_EQ(readAttached(last(5)).status, KV_TOO_LARGE);
  agentClients_.closed(5);
  attach(6, 400);
  EXPECT_EQ(agentClients_.counters().stagingBytes, kAll);
  agentClients_.closed(1);
  EXPECT_EQ(agentClients_.counters().stagingBytes, 400u);
  EXPECT_EQ(agentClients_.counters().refusedClients, 4u);
}

TEST_F(AgentClientsTest, MemoryThatCannotBeMappedIsNotCounted) {
  hello(1);
  say(1, attachFrame(1000));
  agentClients_.mapped(1, Status(KV_INVALID_ARGUMENT, "no memfd"));
  take();
  EXPECT_EQ(readAttached(last(1)).message, "no memfd");
  EXPECT_EQ(agentClients_.counters().stagingBytes, 0u);
  EXPECT_TRUE(closed_.contains(1));
}

TEST_F(AgentClientsTest, TheMemoryOfADeadClientStaysUntilItsRequestsHaveEnded) {
  attach(1, 1000);
  say(1, requestFrame(ask(1, OpCode::Get, 0, 1000)));
  agentClients_.closed(1);
  take();
  ASSERT_EQ(cancelled_, std::vector<Token>{executed_[0].token});
  EXPECT_EQ(agentClients_.counters().stagingBytes, 1000u);
  EXPECT_EQ(agentClients_.counters().agentClients, 0u);
  const size_t before = sent_[1].size();
  agentClients_.finished(executed_[0].token, {{KV_CLOSED, 0}}, "");
  take();
  EXPECT_EQ(sent_[1].size(), before) << "nobody is there to be answered";
  EXPECT_EQ(agentClients_.counters().stagingBytes, 0u);
  attach(2, 1000);
  EXPECT_FALSE(closed_.contains(2));
}

TEST_F(AgentClientsTest, NothingOutsideOfTheStagingMemoryIsNamed) {
  const std::vector<std::pair<uint64_t, uint64_t>> outside{{0, 501},        {500, 1},        {501, 0},
                                                           {UINT64_MAX, 2}, {2, UINT64_MAX}, {400, 101}};
  ConnectionId id = 0;
  for (const auto& [offset, length] : outside) {
    for (const OpCode op : {OpCode::Put, OpCode::Get}) {
      attach(++id, 500);
      say(id, requestFrame(ask(1, op, offset, length)));
      EXPECT_TRUE(closed_.contains(id)) << offset << "+" << length;
      EXPECT_EQ(wire::readRefused(last(id)).code, wire::Refusal::Protocol);
      agentClients_.closed(id);
    }
  }
  EXPECT_TRUE(executed_.empty());
  EXPECT_EQ(agentClients_.counters().protocolErrors, 2 * outside.size());
  attach(100, 500);
  say(100, requestFrame(ask(1, OpCode::Put, 500, 0)));
  say(100, requestFrame(ask(2, OpCode::Exists, UINT64_MAX, UINT64_MAX)));  // has no memory
  EXPECT_EQ(executed_.size(), 2u);
}

TEST_F(AgentClientsTest, RequestsWithoutAnAnswerAreBounded) {
  attach(1, 500);
  for (uint64_t i = 0; i < kRequestsInFlight; ++i)
    say(1, requestFrame(ask(i, OpCode::Exists)));
  EXPECT_FALSE(closed_.contains(1));
  say(1, requestFrame(ask(99, OpCode::Exists)));
  EXPECT_TRUE(closed_.contains(1));
  EXPECT_EQ(executed_.size(), kRequestsInFlight);
  say(1, requestFrame(ask(100, OpCode::Exists)));
  EXPECT_EQ(executed_.size(), kRequestsInFlight) << "nothing is taken from whom the agent is closing";
}

TEST_F(AgentClientsTest, TheOrderOfFramesIsKept) {
  const wire::Bytes request = requestFrame(ask(1, OpCode::Exists));
  agentClients_.accepted(now_, 1);
  say(1, request);
  EXPECT_TRUE(closed_.contains(1)) << "no Hello";
  agentClients_.closed(1);
  hello(2);
  say(2, request);
  EXPECT_TRUE(closed_.contains(2)) << "no AgentAttach";
  agentClients_.closed(2);
  attach(3, 10);
  say(3, attachFrame(10));
  EXPECT_TRUE(closed_.contains(3)) << "attached twice";
  agentClients_.closed(3);
  EXPECT_TRUE(executed_.empty());
}

TEST_F(AgentClientsTest, OthersThanClientsAndOtherVersionsAreRefused) {
  hello(1, identity(wire::Role::Node));
  EXPECT_EQ(wire::readRefused(last(1)).code, wire::Refusal::WrongRole);
  agentClients_.closed(1);
  hello(2, identity(wire::Role::Client, {7, 9}));
  EXPECT_EQ(wire::readRefused(last(2)).code, wire::Refusal::WireVersion);
}

TEST_F(AgentClientsTest, ClientsAreBoundedAndThoseThatSayNothingGo) {
  for (ConnectionId id = 1; id <= 3; ++id)
    agentClients_.accepted(now_, id);
  agentClients_.accepted(now_, 4);
  take();
  EXPECT_EQ(wire::readRefused(last(4)).code, wire::Refusal::Limit);
  agentClients_.closed(4);
  now_ += kAttachMs;
  agentClients_.tick(now_);
  take();
  for (ConnectionId id = 1; id <= 3; ++id) {
    EXPECT_TRUE(closed_.contains(id));
    agentClients_.closed(id);
  }
  attach(5, 10);
  now_ += 10 * kAttachMs;
  agentClients_.tick(now_);
  take();
  EXPECT_FALSE(closed_.contains(5)) << "who has attached may be silent";
}

}  // namespace
}  // namespace kvpool::agent
