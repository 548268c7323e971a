// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "net/socket.h"

namespace kvpool::net {
namespace {

std::pair<Fd, Fd> socketPair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

TEST(EventLoop, RunsPostedTasksInOrderInItsThread) {
  EventLoop loop;
  std::vector<int> seen;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i)
      loop.post([&seen, i] { seen.push_back(i); });
  });
  while (seen.size() < 100)
    loop.runOnce(1000);
  other.join();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(EventLoop, AHandlerMayRemoveItselfAndItsNeighbour) {
  EventLoop loop;
  auto [a, a2] = socketPair();
  auto [b, b2] = socketPair();
  int runs = 0;
  const int fds[] = {a.get(), b.get()};
  for (const int fd : fds) {
    loop.add(fd, EPOLLIN, [&](uint32_t) {
      ++runs;
      loop.remove(fds[0]);
      loop.remove(fds[1]);
    });
  }
  ASSERT_EQ(::write(a2.get(), "x", 1), 1);
  ASSERT_EQ(::write(b2.get(), "x", 1), 1);
  loop.runOnce(1000);
  loop.runOnce(0);
  EXPECT_EQ(runs, 1) << "events of a removed descriptor must not be delivered";
}

TEST(EventLoop, InterestCanChange) {
  EventLoop loop;
  auto [a, b] = socketPair();
  int runs = 0;
  loop.add(a.get(), EPOLLIN | EPOLLOUT, [&](uint32_t) { ++runs; });
  loop.runOnce(0);
  EXPECT_EQ(runs, 1);
  loop.modify(a.get(), EPOLLIN);
  loop.runOnce(0);
  EXPECT_EQ(runs, 1);
  loop.remove(a.get());
}

TEST(Socket, ConnectsOverLoopbackAndReportsRefusal) {
  Result<Fd> listener = listenTcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.status().text();
  const uint16_t port = boundPort(listener.value().get());
  ASSERT_NE(port, 0);
  const auto addresses = resolve({"127.0.0.1", port});
  ASSERT_TRUE(addresses.ok());
  EventLoop loop;
  const auto outcomeOf = [&](Fd& fd) {
    bool done = false;
    loop.add(fd.get(), EPOLLOUT, [&](uint32_t) { done = true; });
    while (!done)
      loop.runOnce(1000);
    loop.remove(fd.get());
    return connectOutcome(fd.get());
  };
  Result<Fd> dialled = startConnect(addresses.value().front());
  ASSERT_TRUE(dialled.ok());
  EXPECT_EQ(outcomeOf(dialled.value()), 0);
  SocketAddress peer;
  Result<Fd> accepted = acceptOne(listener.value().get(), &peer);
  ASSERT_TRUE(accepted.ok());
  EXPECT_TRUE(accepted.value().valid());
  listener.value().reset();
  Result<Fd> refused = startConnect(addresses.value().front());
  ASSERT_TRUE(refused.ok()) << "a non-blocking connect only begins";
  EXPECT_EQ(outcomeOf(refused.value()), ECONNREFUSED);
}

TEST(Socket, AnOccupiedPortIsNamed) {
  Result<Fd> first = listenTcp("127.0.0.1", 0);
  ASSERT_TRUE(first.ok());
  const uint16_t port = boundPort(first.value().get());
  const Result<Fd> second = listenTcp("127.0.0.1", port);
  EXPECT_EQ(second.status().code(), KV_IO);
  EXPECT_NE(second.status().text().find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST(Socket, DescriptorsTravel) {
  auto [a, b] = socketPair();
  Fd carried(::dup(0));
  const std::array<uint8_t, 3> bytes{1, 2, 3};
  const std::array<int, 1> fds{carried.get()};
  ASSERT_EQ(sendWithDescriptors(a.get(), bytes, fds), 3);
  std::array<uint8_t, 8> into{};
  std::vector<Fd> received;
  EXPECT_EQ(receiveWithDescriptors(b.get(), into, &received).count, 3);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_TRUE(received.front().valid());
  EXPECT_EQ(receiveWithDescriptors(b.get(), into, &received).errorNumber, EAGAIN);
}

}  // namespace
}  // namespace kvpool::net
