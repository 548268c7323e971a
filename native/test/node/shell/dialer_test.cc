// SPDX-License-Identifier: Apache-2.0
// Dials real sockets of this machine, in the test's own thread, so that what happens between two turns is the test's
// choice.
#include "node/shell/dialer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/socket.h"

namespace kvpool::node {
namespace {

constexpr uint64_t kPeer = 7;
constexpr uint64_t kTimeoutMs = 1000;

Fd listenAt(uint16_t port) {
  auto listener = net::listenTcp("127.0.0.1", port);
  EXPECT_TRUE(listener.ok()) << listener.status().text();
  return std::move(listener.value());
}

uint16_t portOf(const Fd& listener) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

/// A connection that waits to be accepted.
void awaitPending(const Fd& listener) {
  pollfd pending{listener.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&pending, 1, 10000), 1);
}

class DialerTest : public ::testing::Test {
 protected:
  DialerTest()
      : listener_(listenAt(0)),
        port_(portOf(listener_)),
        dialer_(
            loop_, kTimeoutMs, [this](uint64_t peer, Fd, const std::string&) { connected_.push_back(peer); },
            [this](uint64_t, const net::Dial::Outcome& outcome) {
              refusals_.push_back(outcome.refused);
              unknown_ = outcome.unknown;
              why_ = outcome.why;
            }) {}

  void dial() { dialer_.dial(kPeer, {"127.0.0.1", port_}, 0); }
  /// The listener goes with a connection waiting, as when its process dies: that connection is reset.
  void resetsOne() {
    awaitPending(listener_);
    listener_.reset();
  }
  void await() {
    for (int turn = 0; turn < 100 && connected_.empty() && refusals_.empty(); ++turn)
      loop_.runOnce(1000);
  }

  Fd listener_;
  uint16_t port_;
  net::EventLoop loop_;
  std::vector<uint64_t> connected_;
  std::vector<bool> refusals_;
  bool unknown_ = false;
  std::string why_;
  Dialer dialer_;
};

TEST_F(DialerTest, Connects) {
  dial();
  await();
  EXPECT_EQ(connected_, std::vector<uint64_t>{kPeer});
  EXPECT_TRUE(refusals_.empty());
}

TEST_F(DialerTest, SaysThatNobodyListens) {
  listener_.reset();
  dial();
  await();
  EXPECT_EQ(refusals_, std::vector<bool>{true}) << why_;
  EXPECT_FALSE(unknown_);
}

TEST_F(DialerTest, SaysThatANameHasNoAddress) {
  dialer_.dial(kPeer, {"no such name", port_}, 0);
  await();
  EXPECT_EQ(refusals_, std::vector<bool>{false}) << why_;
  EXPECT_TRUE(unknown_) << why_;
}

TEST_F(DialerTest, AProcessThatDiesWhileItIsDialledIsFoundGone) {
  dial();
  loop_.runOnce(1000);  // the name's answer: the connection is on its way
  resetsOne();
  await();
  EXPECT_TRUE(connected_.empty());
  EXPECT_EQ(refusals_, std::vector<bool>{true}) << why_;
}

TEST_F(DialerTest, WhoeverTookThePortMeanwhileIsReached) {
  dial();
  loop_.runOnce(1000);
  resetsOne();
  const Fd next = listenAt(port_);
  await();
  EXPECT_EQ(connected_, std::vector<uint64_t>{kPeer}) << why_;
}

TEST_F(DialerTest, ResetsWithoutEndAreAFailureThatProvesNothing) {
  dial();
  loop_.runOnce(1000);
  int resets = 0;
  while (refusals_.empty() && connected_.empty()) {
    ASSERT_LE(resets, net::Dial::kResetsMax) << "and one more dial than these";
    resetsOne();
    ++resets;
    listener_ = listenAt(port_);
    loop_.runOnce(1000);
  }
  EXPECT_TRUE(connected_.empty());
  EXPECT_EQ(resets, net::Dial::kResetsMax + 1);
  EXPECT_EQ(refusals_, std::vector<bool>{false}) << why_;
}

}  // namespace
}  // namespace kvpool::node
