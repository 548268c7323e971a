// SPDX-License-Identifier: Apache-2.0
// Since when a connection counts as stalled. Times are the test's own.
#include "node/shell/connection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kvpool::node {
namespace {

/// Answers nothing of its own accord.
class Silent : public ConnectionEvents {
 public:
  void onFrame(Connection&, wire::Body) override {}
  void onMalformed(Connection& connection, const std::string& what) override { connection.abandon(what); }
  void onPayload(Connection&, uint32_t, uint32_t) override {}
  void onFramesSent(Connection&, uint64_t) override { ++framesSent_; }
  void onPayloadSent(Connection&) override {}

  int framesSent_ = 0;
};

class ConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_.reset(ends[1]);
    connection_.emplace(ConnectionId{1}, Fd(ends[0]), true, "client", Connection::Limits{4096, 2},
                        std::span<uint8_t>(segment_), 0);
  }

  static Frames frames(size_t bytes) { return std::make_shared<const wire::Bytes>(bytes); }
  /// More than a socket takes.
  static Frames many() { return frames(size_t{8} << 20); }
  void receiveAll() const {
    std::array<uint8_t, 65536> scratch;
    while (::recv(peer_.get(), scratch.data(), scratch.size(), 0) > 0) {
    }
  }

  std::array<uint8_t, 4096> segment_{};
  Fd peer_;
  Silent events_;
  std::optional<Connection> connection_;
};

TEST_F(ConnectionTest, AnAnswerAfterALongSilenceIsNotStalledBeforeItCouldBeSent) {
  connection_->queueFrames(frames(10));
  connection_->flush(events_, 5);
  EXPECT_EQ(connection_->stalledSinceMs(), 0u) << "all was sent";

  connection_->work(events_, 100'000);
  connection_->queueFrames(many());
  EXPECT_EQ(connection_->stalledSinceMs(), 0u) << "it waits for us, not for the peer";
  connection_->flush(events_, 100'050);
  EXPECT_EQ(connection_->stalledSinceMs(), 100'050u);
  connection_->flush(events_, 120'000);
  EXPECT_EQ(connection_->stalledSinceMs(), 100'050u) << "nothing was taken meanwhile";
  connection_->queueFrames(frames(10));
  EXPECT_EQ(connection_->stalledSinceMs(), 100'050u) << "more output does not excuse what waits already";
  receiveAll();
  connection_->flush(events_, 121'000);
  EXPECT_EQ(connection_->stalledSinceMs(), 121'000u);
}

TEST_F(ConnectionTest, SegmentsAndPayloadsBeginToWaitAsFramesDo) {
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  connection_->queueSegments(frames(10), file.get());
  EXPECT_EQ(connection_->stalledSinceMs(), 0u);
  connection_->flush(events_, 50'000);
  EXPECT_EQ(connection_->stalledSinceMs(), 0u);

  connection_->queuePayload(0, segment_.size(), 0);
  EXPECT_EQ(connection_->stalledSinceMs(), 0u);
  connection_->flush(events_, 100'000);
  EXPECT_EQ(connection_->stalledSinceMs(), 0u);

  // What follows a piece that waits since long ago, and is alone by the time it is sent, has waited no longer than
  // itself.
  connection_->queueFrames(many());
  connection_->flush(events_, 150'000);
  connection_->queueSegments(frames(10), file.get());
  while (events_.framesSent_ < 2) {
    receiveAll();
    connection_->flush(events_, 190'000);
  }
  receiveAll();
  connection_->flush(events_, 190'000);
  EXPECT_EQ(connection_->stalledSinceMs(), 0u);
}

}  // namespace
}  // namespace kvpool::node
