// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/action_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace kvpool::ascend {
namespace {

/// What is given to the next thread that comes: the kind and the endpoint's number.
std::string next(ActionQueue& queue, bool onlyEnds = false) {
  const std::optional<Action> action = queue.next(onlyEnds);
  if (!action) return "none";
  if (const auto* connect = std::get_if<Connect>(&*action)) return "connect " + connect->endpoint;
  if (const auto* end = std::get_if<Disconnect>(&*action)) return "end " + end->endpoint;
  return "transfer " + std::get<Transfer>(*action).endpoint;
}
Transfer transferWith(const std::string& endpoint) {
  return {1, endpoint, Direction::Read, {}, 1000, 1000};
}

TEST(ActionQueue, EndsOfManyChannelsLeaveThreadsToTransfers) {
  ActionQueue queue(4);
  for (const char* hanging : {"1", "2", "3", "4", "5"})
    queue.push(Disconnect{hanging});
  EXPECT_EQ(next(queue), "end 1");
  EXPECT_EQ(next(queue), "end 2");
  EXPECT_EQ(next(queue), "none");
  queue.push(transferWith("6"));
  queue.push(Connect{"7", 1000});
  EXPECT_EQ(next(queue), "transfer 6");
  EXPECT_EQ(next(queue), "connect 7");
  queue.ended();
  EXPECT_EQ(next(queue), "end 3");
  EXPECT_EQ(next(queue), "none");
}

TEST(ActionQueue, AnEndThatMayBeginComesFirst) {
  ActionQueue queue(8);
  queue.push(transferWith("1"));
  queue.push(Disconnect{"2"});
  EXPECT_EQ(next(queue), "end 2") << "what failed waits for it";
}

TEST(ActionQueue, WhereNoTransferIsToBeginAllThreadsEndChannels) {
  ActionQueue queue(2);
  for (const char* peer : {"1", "2", "3"})
    queue.push(Disconnect{peer});
  EXPECT_EQ(next(queue, true), "end 1");
  EXPECT_EQ(next(queue, true), "end 2");
  EXPECT_EQ(next(queue), "none");
  EXPECT_EQ(next(queue, true), "end 3");
}

TEST(ActionQueue, OneThreadEndsChannelsToo) {
  ActionQueue queue(1);
  queue.push(Disconnect{"1"});
  EXPECT_EQ(next(queue), "end 1");
}

TEST(ActionQueue, OneThreadEndsChannelsAndMakesTransfersInTurn) {
  ActionQueue queue(1);
  for (const char* hanging : {"1", "2", "3"})
    queue.push(Disconnect{hanging});
  for (const char* peer : {"4", "5"})
    queue.push(transferWith(peer));
  for (const char* expected : {"end 1", "transfer 4", "end 2", "transfer 5", "end 3", "none"}) {
    EXPECT_EQ(next(queue), expected);
    if (std::string(expected).starts_with("end")) queue.ended();
  }
}

TEST(ActionQueue, WhatMakesRoomComesBeforeEndsOfPeersThatMayHang) {
  ActionQueue queue(2);
  for (const char* hanging : {"1", "2"})
    queue.push(Disconnect{hanging});
  queue.push(Disconnect{"3", false, true});
  EXPECT_EQ(next(queue), "end 3");
  EXPECT_EQ(next(queue), "none") << "it is bounded as others are";
  queue.ended();
  EXPECT_EQ(next(queue), "end 1");
}

TEST(ActionQueue, AnEndThatYieldsComesLastUntilItIsAwaited) {
  ActionQueue queue(2);
  EXPECT_EQ(queue.yielding(), nullptr);
  queue.push(Disconnect{"1", true});
  queue.push(Disconnect{"2", true});
  queue.push(transferWith("3"));
  ASSERT_NE(queue.yielding(), nullptr);
  EXPECT_EQ(queue.yielding()->endpoint, "1");
  EXPECT_EQ(next(queue), "transfer 3");
  queue.push(transferWith("4"));
  queue.promote();
  EXPECT_EQ(next(queue), "end 1");
  EXPECT_EQ(next(queue), "transfer 4");
  EXPECT_EQ(next(queue), "none") << "the one that yields is bounded as others are";
  queue.ended();
  EXPECT_EQ(next(queue), "end 2");
}

}  // namespace
}  // namespace kvpool::ascend
