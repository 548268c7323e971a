// SPDX-License-Identifier: Apache-2.0
// The client core against an agent that the test plays, in simulated time.
#include "agent/core/agent_client_core.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "agent/core/identity.h"
#include "frames.h"

namespace kvpool::agent {
namespace {

using client::OpCode;
using test::bodyOf;
using test::identity;

constexpr uint64_t kStaging = 4096;

class AgentClientCoreTest : public testing::Test {
 protected:
  void attach() {
    staging_ = std::vector<uint8_t>(kStaging);
    core_.connected(now_, staging_);
    take();
    wire::Bytes welcome;
    wire::appendWelcome(welcome, {identity(wire::Role::Agent), 1});
    core_.frame(now_, bodyOf(welcome));
    const AgentClientCore::Actions asked = take();
    ASSERT_EQ(asked.frames.size(), 1u);
    EXPECT_TRUE(asked.handOver);
    EXPECT_EQ(readAttach(bodyOf(asked.frames[0])), kStaging);
    core_.frame(now_, bodyOf(attachedFrame({})));
    core_.frame(now_, bodyOf(stateFrame({true, 3, ""})));
    take();
  }

  /// What the core did; its requests are noted.
  AgentClientCore::Actions take() {
    AgentClientCore::Actions actions = core_.takeActions();
    for (const wire::Bytes& frame : actions.frames) {
      if (wire::templateOf(bodyOf(frame)) != 83) continue;
      frames_.push_back(std::make_unique<wire::Bytes>(frame));
      requests_.push_back(readRequest(bodyOf(*frames_.back())));
    }
    for (client::FinishBatch& batch : actions.finished)
      finished_.push_back(batch);
    closed_ = closed_ || actions.close;
    return actions;
  }

  void submit(client::BatchId id, OpCode op, std::vector<client::Operation> lines, Time timeoutMs = 10000) {
    client::Submission submission;
    submission.id = id;
    submission.op = op;
    submission.lines = std::move(lines);
    submission.deadline = now_ + timeoutMs;
    core_.submit(now_, std::move(submission));
    take();
  }

  static client::Operation line(std::string_view key, std::string& value) {
    client::Operation op;
    op.key = key;
    op.memory = Pieces(value.data(), value.size());
    op.length = value.size();
    return op;
  }
  static client::Operation line(std::string_view key) {
    client::Operation op;
    op.key = key;
    return op;
  }

  void answer(const Request& request, std::vector<client::LineResult> lines) {
    core_.frame(now_, bodyOf(replyFrame({request.id, std::move(lines), ""})));
    take();
  }
  void lose() {
    core_.lost(now_, "reset");
    staging_.clear();
  }
  void pass(Time ms) {
    now_ += ms;
    core_.tick(now_);
    take();
  }

  std::string staged(const RequestLine& line) const {
    return {reinterpret_cast<const char*>(staging_.data()) + line.offset, line.length};
  }
  void stage(const RequestLine& line, std::string_view bytes) {
    std::copy(bytes.begin(), bytes.end(), staging_.begin() + static_cast<std::ptrdiff_t>(line.offset));
  }

  AgentClientCore core_{{identity(wire::Role::Client), "/run/agent.sock", kStaging}};
  Time now_ = 1000;
  std::vector<uint8_t> staging_;
  std::vector<std::unique_ptr<wire::Bytes>> frames_;
  std::vector<Request> requests_;
  std::vector<client::FinishBatch> finished_;
  bool closed_ = false;
};

TEST_F(AgentClientCoreTest, AValueTravelsThroughStagingMemoryBothWays) {
  attach();
  EXPECT_TRUE(core_.readiness().ok());
  std::string value = "value";
  submit(1, OpCode::Put, {line("k", value)});
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].op, OpCode::Put);
  EXPECT_EQ(requests_[0].lines[0].key, "k");
  EXPECT_EQ(staged(requests_[0].lines[0]), "value");
  value = "later";  // the caller's memory does not matter any more
  EXPECT_EQ(staged(requests_[0].lines[0]), "value");
  answer(requests_[0], {{KV_OK, 0}});
  ASSERT_EQ(finished_.size(), 1u);

  std::string room = ".........";
  submit(2, OpCode::Get, {line("k", room)});
  stage(requests_[1].lines[0], "value!!!");
  EXPECT_EQ(room, ".........");
  answer(requests_[1], {{KV_OK, 5}});
  EXPECT_EQ(room, "value....");
  EXPECT_EQ(finished_[1].lines[0].length, 5u);
}

TEST_F(AgentClientCoreTest, PiecesAreGatheredAndScattered) {
  attach();
  std::string one = "ab";
  std::string two = "cdef";
  const kv_piece pieces[] = {{one.data(), 2}, {nullptr, 0}, {two.data(), 4}};
  client::Operation op;
  op.key = "k";
  op.memory = Pieces(std::span<const kv_piece>(pieces));
  op.length = 6;
  submit(1, OpCode::Put, {op});
  EXPECT_EQ(staged(requests_[0].lines[0]), "abcdef");
  answer(requests_[0], {{KV_OK, 0}});
  submit(2, OpCode::Get, {op});
  stage(requests_[1].lines[0], "uvwxyz");
  answer(requests_[1], {{KV_OK, 3}});
  EXPECT_EQ(one, "uv");
  EXPECT_EQ(two, "wdef");
}

TEST_F(AgentClientCoreTest, ABatchLargerThanTheStagingMemoryGoesInParts) {
  attach();
  std::vector<std::string> keys, values;
  for (int i = 0; i < 40; ++i) {
    keys.push_back("k" + std::to_string(i));
    values.push_back(std::string(500, static_cast<char>('a' + i % 26)));
  }
  std::vector<client::Operation> lines;
  for (size_t i = 0; i < keys.size(); ++i)
    lines.push_back(line(keys[i], values[i]));
  submit(1, OpCode::Put, lines);
  size_t seen = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {  // grows while it is answered
    std::vector<client::LineResult> results;
    for (const RequestLine& asked : requests_[i].lines) {
      EXPECT_EQ(asked.key, keys[seen]);
      EXPECT_EQ(staged(asked), values[seen]);
      results.push_back({static_cast<int32_t>(seen % 2 == 0 ? KV_OK : KV_NO_SPACE), 0});
      ++seen;
    }
    answer(requests_[i], results);
  }
  EXPECT_EQ(seen, keys.size());
  ASSERT_EQ(finished_.size(), 1u);
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(finished_[0].lines[i].status, i % 2 == 0 ? KV_OK : KV_NO_SPACE);
}

TEST_F(AgentClientCoreTest, RequestsInFlightAndTheirLinesAreBounded) {
  attach();
  std::vector<std::string> keys;
  std::vector<client::Operation> lines;
  for (size_t i = 0; i < kRequestsInFlight * kLinesPerRequest * 2; ++i)
    keys.push_back("key/" + std::to_string(i));
  for (const std::string& key : keys)
    lines.push_back(line(key));
  submit(1, OpCode::Exists, lines);
  EXPECT_EQ(requests_.size(), kRequestsInFlight);
  for (const auto& frame : frames_)
    EXPECT_LE(frame->size(), kRequestBytes + wire::kFrameHeaderBytes);
  const std::string longest(KV_KEY_BYTES_MAX, 'x');
  std::vector<client::Operation> heavy(100, line(longest));
  for (size_t i = 0; i < requests_.size(); ++i)
    answer(requests_[i], std::vector<client::LineResult>(requests_[i].lines.size(), {KV_OK, 1}));
  EXPECT_EQ(finished_.size(), 1u);
  submit(2, OpCode::Exists, heavy);
  EXPECT_LE(frames_.back()->size(), kRequestBytes + wire::kFrameHeaderBytes);
}

TEST_F(AgentClientCoreTest, AKeyThatChangesTwiceChangesInOrder) {
  attach();
  std::string one(900, '1');
  std::string two(900, '2');
  std::string three(900, '3');
  submit(1, OpCode::Put, {line("a", one), line("b", two), line("a", three)});
  ASSERT_EQ(requests_.size(), 1u) << "no second request while the first may change the key";
  EXPECT_EQ(requests_[0].lines.size(), 1u);
  answer(requests_[0], {{KV_OK, 0}});
  ASSERT_EQ(requests_.size(), 2u);
  answer(requests_[1], {{KV_OK, 0}});
  ASSERT_EQ(requests_.size(), 3u);
  EXPECT_EQ(requests_[2].lines[0].key, "a");
}

TEST_F(AgentClientCoreTest, WhatNeverFitsIsRefusedWithTheBound) {
  attach();
  std::string large(kStaging + 1, 'x');
  std::string small = "x";
  submit(1, OpCode::Put, {line("l", large), line("s", small), line("", small)});
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].lines.size(), 1u);
  answer(requests_[0], {{KV_OK, 0}});
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].lines[0].status, KV_TOO_LARGE);
  EXPECT_EQ(finished_[0].lines[1].status, KV_OK);
  EXPECT_EQ(finished_[0].lines[2].status, KV_INVALID_KEY);

  submit(2, OpCode::Get,
         {line("l", large)});  // more room than there is staging memory: fine, until the value is as large
  EXPECT_EQ(requests_[1].lines[0].length, kStaging);
  answer(requests_[1], {{KV_BUFFER_TOO_SMALL, kStaging + 1}});
  EXPECT_EQ(finished_[1].lines[0].status, KV_TOO_LARGE);
  EXPECT_NE(core_.explanation().find("4096 bytes of staging memory"), std::string::npos) << core_.explanation();
  submit(3, OpCode::Get, {line("l", small)});
  answer(requests_[2], {{KV_BUFFER_TOO_SMALL, 100}});
  EXPECT_EQ(finished_[2].lines[0].status, KV_BUFFER_TOO_SMALL) << "that is the caller's own";
}

TEST_F(AgentClientCoreTest, TheNextAgentIsAskedAgain) {
  attach();
  std::string value = "value";
  submit(1, OpCode::Put, {line("k", value)});
  submit(2, OpCode::Remove, {line("gone")});
  submit(3, OpCode::Remove, {line("never")});
  answer(requests_[2], {{KV_NOT_FOUND, 0}});
  EXPECT_EQ(finished_[0].lines[0].status, KV_NOT_FOUND);
  lose();
  EXPECT_FALSE(core_.readiness().ok());
  EXPECT_TRUE(core_.dialAt().has_value());
  pass(500);
  requests_.clear();
  attach();
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(staged(requests_[0].lines[0]), "value") << "copied into the memory of the new one";
  EXPECT_LT(requests_[0].timeoutMs, 10000u);
  answer(requests_[0], {{KV_OK, 0}});
  answer(requests_[1], {{KV_NOT_FOUND, 0}});
  ASSERT_EQ(finished_.size(), 3u);
  EXPECT_EQ(finished_[1].lines[0].status, KV_OK);
  EXPECT_EQ(finished_[2].lines[0].status, KV_OK) << "the agent that is gone may have removed it";
}

TEST_F(AgentClientCoreTest, WithoutAnAgentABatchEndsAtItsDeadlineAndNamesTheSocket) {
  core_.lost(now_, "connection refused");
  std::string value = "value";
  submit(1, OpCode::Put, {line("k", value)}, 300);
  pass(299);
  EXPECT_TRUE(finished_.empty());
  pass(1);
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].lines[0].status, KV_CONNECT_FAILED);
  EXPECT_NE(core_.explanation().find("/run/agent.sock"), std::string::npos) << core_.explanation();
  EXPECT_NE(core_.explanation().find("connection refused"), std::string::npos) << core_.explanation();
}

TEST_F(AgentClientCoreTest, AnAgentThatSleepsNeverTouchesTheCallersMemory) {
  attach();
  std::string room(kStaging, '.');
  submit(1, OpCode::Get, {line("k", room)}, 300);
  pass(300 + kGraceMs - 1);
  EXPECT_TRUE(finished_.empty());
  pass(1);
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].lines[0].status, KV_TIMEOUT);

  std::string other(kStaging, ',');
  submit(2, OpCode::Get, {line("o", other)});
  EXPECT_EQ(requests_.size(), 1u) << "its staging memory is not used again yet";
  stage(requests_[0].lines[0], std::string(kStaging, '!'));
  answer(requests_[0], {{KV_OK, kStaging}});
  EXPECT_EQ(room, std::string(kStaging, '.'));
  EXPECT_EQ(requests_.size(), 2u) << "now it is";
}

TEST_F(AgentClientCoreTest, WrongAnswersEndTheConnectionAndHarmNothing) {
  const auto attempt = [&](const std::function<wire::Bytes(const Request&)>& answerOf) {
    requests_.clear();
    closed_ = false;
    std::string room = "....";
    attach();
    submit(9, OpCode::Get, {line("k", room)}, 100);
    core_.frame(now_, bodyOf(answerOf(requests_.at(0))));
    take();
    EXPECT_TRUE(closed_);
    core_.lost(now_, "closed");
    pass(100);
    ASSERT_FALSE(finished_.empty());
    EXPECT_EQ(finished_.back().lines[0].status, KV_PROTOCOL);
    EXPECT_EQ(room, "....");
  };
  attempt([](const Request& request) { return replyFrame({request.id, {{KV_OK, 5}}, ""}); });
  attempt([](const Request& request) { return replyFrame({request.id + 1, {{KV_OK, 1}}, ""}); });
  attempt([](const Request& request) { return replyFrame({request.id, {{KV_OK, 1}, {KV_OK, 1}}, ""}); });
  attempt([](const Request& request) { return replyFrame({request.id, {}, ""}); });
  attempt([](const Request& request) { return replyFrame({request.id, {{1, 1}}, ""}); });
  attempt([](const Request&) { return attachFrame(1); });
}

TEST_F(AgentClientCoreTest, SomethingElseAtTheSocketIsNamed) {
  staging_ = std::vector<uint8_t>(kStaging);
  core_.connected(now_, staging_);
  wire::Bytes welcome;
  wire::appendWelcome(welcome, {identity(wire::Role::Node), 1});
  core_.frame(now_, bodyOf(welcome));
  EXPECT_TRUE(take().close);
  EXPECT_NE(core_.readiness().text().find("expected an agent"), std::string::npos) << core_.readiness().text();
}

TEST_F(AgentClientCoreTest, TooMuchMemoryForeverIsHopeless) {
  staging_ = std::vector<uint8_t>(kStaging);
  core_.connected(now_, staging_);
  wire::Bytes welcome;
  wire::appendWelcome(welcome, {identity(wire::Role::Agent), 1});
  core_.frame(now_, bodyOf(welcome));
  core_.frame(now_, bodyOf(attachedFrame({KV_NO_SPACE, "others hold it"})));
  EXPECT_FALSE(core_.hopeless());
  core_.lost(now_, "closed");
  EXPECT_EQ(core_.readiness().code(), KV_NO_SPACE);
  core_.connected(now_, staging_);
  core_.frame(now_, bodyOf(welcome));
  core_.frame(now_, bodyOf(attachedFrame({KV_TOO_LARGE, "at most 1 byte"})));
  EXPECT_TRUE(core_.hopeless());
}

TEST_F(AgentClientCoreTest, ShutDownEndsEverything) {
  attach();
  std::string value = "value";
  submit(1, OpCode::Put, {line("k", value)});
  core_.shutDown();
  take();
  ASSERT_EQ(finished_.size(), 1u);
  EXPECT_EQ(finished_[0].lines[0].status, KV_CLOSED);
}

}  // namespace
}  // namespace kvpool::agent
