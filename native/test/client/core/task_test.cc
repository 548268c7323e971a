// SPDX-License-Identifier: Apache-2.0
// Copies that are asked for by name.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"
#include "client/core/key_flow.h"

namespace kvpool::test {
namespace {

uint64_t copy(CoreHarness& h, std::string source, std::vector<std::string> targets) {
  client::Submission submission;
  submission.op = OpCode::Copy;
  submission.lines.resize(1);
  submission.lines[0].key = "k";
  submission.copy = {std::move(source), std::move(targets)};
  return h.submit(std::move(submission));
}

uint64_t ask(CoreHarness& h, uint64_t task) {
  client::Submission submission;
  submission.op = OpCode::AskTask;
  submission.lines.resize(1);
  submission.task = task;
  return h.submit(std::move(submission));
}

TEST(CoreTasks, AreAskedForByTheNamesOfNodes) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = copy(h, "a", {"b", "c"});
  const master::CopyRequest request = master::readCopyRequest(h.expectBody(leader));
  EXPECT_EQ(request.key, "k");
  EXPECT_EQ(request.wish.source, "a");
  EXPECT_EQ(request.wish.targets, (std::vector<std::string>{"b", "c"}));
  h.deliver(leader, master::taskReply({request.request, KV_OK, 77, true, KV_TASK_PENDING, KV_OK, 0, 0}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.result(batch)->front().length, 77u);
}

TEST(CoreTasks, TellHowFarTheyAre) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = ask(h, 77);
  const auto [request, task] = master::readTaskQuery(h.expectBody(leader));
  EXPECT_EQ(task, 77u);
  h.deliver(leader, master::taskReply({request, KV_OK, 77, true, KV_TASK_FAILED, KV_NO_SPACE, 300, 200}));
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  const client::LineResult result = h.result(batch)->front();
  const client::TaskReply told = client::TaskResult::of(result.length, result.object);
  EXPECT_TRUE(told.moves);
  EXPECT_EQ(told.state, KV_TASK_FAILED);
  EXPECT_EQ(told.why, KV_NO_SPACE);
  EXPECT_EQ(told.ageMs, 300u);
  EXPECT_EQ(told.restMs, 200u);
}

TEST(CoreTasks, ThatCannotBeOrAreNotKnownSaySo) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t copying = copy(h, "", {"nobody"});
  const uint64_t request = master::readCopyRequest(h.expectBody(leader)).request;
  h.deliver(leader, master::taskReply({request, KV_INVALID_ARGUMENT, 0, false, KV_TASK_PENDING, KV_OK, 0, 0}));
  EXPECT_EQ(h.expectStatus(copying), KV_INVALID_ARGUMENT);
  const uint64_t asking = ask(h, 1);
  const uint64_t query = master::readTaskQuery(h.expectBody(leader)).first;
  h.deliver(leader, master::taskReply({query, KV_NOT_FOUND, 0, false, KV_TASK_PENDING, KV_OK, 0, 0}));
  EXPECT_EQ(h.expectStatus(asking), KV_NOT_FOUND);
}

}  // namespace
}  // namespace kvpool::test
