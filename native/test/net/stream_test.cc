// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "net/socket.h"
#include "net/streams.h"
#include "wire/frame.h"

namespace kvpool::net {
namespace {

/// Answers nothing of its own accord.
class StreamTest : public testing::Test, protected Stream::Listener {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_.reset(ends[1]);
    stream_ = streams_.add(1, {4096, 2, uint64_t{16} << 20, uint64_t{1} << 20});
    stream_->adopt(Fd(ends[0]), true);
  }

  void streamEnded(Stream::Id id, const Stream::Ending& ending) override {
    ended_ = ending;
    streams_.drop(id);
  }
  void streamMalformed(Stream::Id, const std::string& what) override { malformed_ = what; }
  void frameArrived(Stream::Id, wire::Body body) override {
    frames_.emplace_back(body.begin(), body.end());
    if (holds_) stream_->hold();
    if (payload_ > 0) stream_->expectPayload(7, std::nullopt, payload_);
  }
  void payloadReceived(Stream::Id, uint64_t payload, uint32_t, uint32_t) override { payloads_.push_back(payload); }
  void bytesSent(Stream::Id, uint64_t frameBytes) override { frameBytesSent_ += frameBytes; }

  static wire::Bytes frame(size_t bodyBytes) {
    wire::Bytes out(wire::kFrameHeaderBytes + bodyBytes);
    wire::sealFrame(out, 0);
    return out;
  }
  /// More than a socket takes.
  static wire::Bytes much() { return wire::Bytes(size_t{8} << 20); }
  void send(const wire::Bytes& bytes) const {
    ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void receiveAll() const {
    std::array<uint8_t, 65536> scratch;
    while (::recv(peer_.get(), scratch.data(), scratch.size(), 0) > 0) {
    }
  }

  EventLoop loop_;
  Streams streams_{loop_, *this};
  std::shared_ptr<Stream> stream_;
  Fd peer_;
  bool holds_ = false;
  uint64_t payload_ = 0;
  std::vector<wire::Bytes> frames_;
  std::vector<uint64_t> payloads_;
  uint64_t frameBytesSent_ = 0;
  std::string malformed_;
  std::optional<Stream::Ending> ended_;
};

TEST_F(StreamTest, AnAnswerAfterALongSilenceIsNotStalledBeforeThePeerCouldTakeIt) {
  EXPECT_FALSE(stream_->stalled(0, 1000));
  stream_->out().addFrame(wire::Bytes(10));
  stream_->flush();
  EXPECT_FALSE(stream_->stalled(5, 1000)) << "all was sent";

  stream_->out().addFrame(much());
  stream_->flush();
  EXPECT_FALSE(stream_->stalled(100'000, 1000)) << "it began to wait just now";
  EXPECT_FALSE(stream_->stalled(101'000, 1000));
  stream_->out().addFrame(wire::Bytes(10));
  EXPECT_TRUE(stream_->stalled(101'001, 1000)) << "more output does not excuse what waits already";
  receiveAll();
  stream_->flush();
  EXPECT_FALSE(stream_->stalled(101'002, 1000));
}

TEST_F(StreamTest, HalfAFrameAndHalfAPayloadAreStalledButNotWhatIsHeld) {
  payload_ = 100;
  const wire::Bytes whole = frame(50);
  send({whole.begin(), whole.begin() + 20});
  loop_.runOnce(0);
  EXPECT_FALSE(stream_->stalled(0, 1000));
  EXPECT_TRUE(stream_->stalled(1001, 1000));
  send({whole.begin() + 20, whole.end()});
  loop_.runOnce(0);
  EXPECT_EQ(frames_.size(), 1u);
  EXPECT_FALSE(stream_->stalled(1002, 1000));
  EXPECT_TRUE(stream_->stalled(2003, 1000)) << "its payload does not come";
  stream_->hold();
  EXPECT_FALSE(stream_->stalled(2004, 1000)) << "it waits for us";
}

TEST_F(StreamTest, NoFrameIsToldWhileItHolds) {
  holds_ = true;
  wire::Bytes two = frame(1);
  const wire::Bytes second = frame(2);
  two.insert(two.end(), second.begin(), second.end());
  send(two);
  loop_.runOnce(0);
  EXPECT_EQ(frames_.size(), 1u);
  holds_ = false;
  stream_->release();
  EXPECT_EQ(frames_.size(), 2u);
}

TEST_F(StreamTest, OfThoseThatTogetherHaveTooMuchUnsentTheOneWithMostEnds) {
  Stream::UnsentMemory unsent{size_t{20} << 20};
  std::vector<Fd> peers;
  std::vector<std::shared_ptr<Stream>> streams;
  for (Stream::Id id = 2; id <= 5; ++id) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    peers.emplace_back(ends[1]);
    streams.push_back(streams_.add(id, {4096, 2, UINT64_MAX, UINT64_MAX, &unsent}));
    streams.back()->adopt(Fd(ends[0]), true);
  }
  const auto settle = [&] {
    streams_.settle([] {});
    streams_.keepTo(unsent);
  };
  streams_.outOf(1)->addFrame(much());  // counts nowhere
  for (const Stream::Id id : {2U, 3U, 4U})
    streams_.outOf(id)->addFrame(wire::Bytes((size_t{4} << 20) + id));
  settle();
  EXPECT_FALSE(ended_);
  EXPECT_GT(unsent.bytes, uint64_t{12} << 20);
  streams_.outOf(4)->addFrame(much());
  settle();
  ASSERT_TRUE(ended_);
  EXPECT_NE(ended_->why.find("more answers unread than any other"), std::string::npos) << ended_->why;
  EXPECT_EQ(streams_.find(4), nullptr);
  for (const Stream::Id id : {1U, 2U, 3U, 5U})
    EXPECT_NE(streams_.find(id), nullptr) << id;
  streams_.drop(2);
  streams_.drop(3);
  EXPECT_EQ(unsent.bytes, 0u) << "what is gone has nothing unsent";
  streams_.drop(5);  // before what they count in
}

TEST_F(StreamTest, APeerThatTakesNoAnswersGetsNoMoreOfThem) {
  std::vector<uint8_t> value(size_t{4} << 20);
  stream_->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  stream_->out().addPayload(2, Pieces(value.data(), value.size()), value.size());
  stream_->flush();
  send(frame(1));
  loop_.runOnce(0);
  EXPECT_TRUE(frames_.empty()) << "two payloads wait, the most there may be";
  for (int i = 0; i < 1000 && frames_.empty(); ++i) {
    receiveAll();
    loop_.runOnce(0);
  }
  EXPECT_EQ(frames_.size(), 1u);
}

TEST_F(StreamTest, WhatIsNobodysGoesNowhereAndIsNotTold) {
  send(frame(1));
  loop_.runOnce(0);
  stream_->expectPayload(7, std::nullopt, 10, false);
  wire::Bytes rest(10 + wire::kPayloadTrailerBytes);
  const wire::Bytes next = frame(2);
  rest.insert(rest.end(), next.begin(), next.end());
  send(rest);
  loop_.runOnce(0);
  EXPECT_EQ(frames_.size(), 2u);
  EXPECT_TRUE(payloads_.empty());
}

TEST_F(StreamTest, ADescriptorTravelsWithItsOwnFrames) {
  std::array<int, 2> file{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, file.data()), 0);
  const Fd one(file[0]);
  const Fd other(file[1]);
  stream_->out().addFrame(frame(1));
  stream_->out().addFrames(std::make_shared<const wire::Bytes>(frame(2)), one.get());
  stream_->out().addFrame(frame(3));
  stream_->flush();
  EXPECT_EQ(frameBytesSent_, 3 * wire::kFrameHeaderBytes + 6);

  std::vector<Fd> descriptors;
  std::array<uint8_t, 64> room{};
  EXPECT_EQ(receiveWithDescriptors(peer_.get(), room, &descriptors).count, 2 * wire::kFrameHeaderBytes + 3)
      << "what is before it, but nothing behind";
  EXPECT_EQ(descriptors.size(), 1u);
}

TEST_F(StreamTest, SaysHowItEnded) {
  peer_.reset();
  loop_.runOnce(0);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->how, Stream::Ending::How::Closed);
}

TEST_F(StreamTest, AFrameCutShortIsALoss) {
  send({1, 0, 0});
  peer_.reset();
  loop_.runOnce(0);
  loop_.runOnce(0);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->how, Stream::Ending::How::Lost);
  EXPECT_NE(ended_->why.find("in the middle of a frame"), std::string::npos) << ended_->why;
}

TEST_F(StreamTest, WhatIsMalformedIsToldOnceAndNothingBehindIt) {
  wire::Bytes broken = frame(8);
  broken.back() ^= 1;
  const wire::Bytes next = frame(1);
  broken.insert(broken.end(), next.begin(), next.end());
  send(broken);
  loop_.runOnce(0);
  EXPECT_FALSE(malformed_.empty());
  EXPECT_TRUE(frames_.empty());
}

TEST_F(StreamTest, LingersUntilThePeerHasTakenWhatIsQueued) {
  stream_->out().addFrame(much());
  streams_.dropAfterOutput(1, 0);
  streams_.settle([] {});
  for (int64_t now = 100; now < 5000; now += 100) {
    std::array<uint8_t, 65536> scratch;
    ASSERT_GT(::recv(peer_.get(), scratch.data(), scratch.size(), 0), 0) << now;
    loop_.runOnce(0);
    streams_.tick(now);
    ASSERT_FALSE(ended_) << now;
  }
  streams_.tick(5000 + Streams::kLingerMs);
  streams_.tick(5002 + 2 * Streams::kLingerMs);
  EXPECT_TRUE(ended_) << "it takes no more";
}

}  // namespace
}  // namespace kvpool::net
