// SPDX-License-Identifier: Apache-2.0
// Streams with TLS between them, over sockets of the machine.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "certificate_authority.h"
#include "net/clock.h"
#include "net/socket.h"
#include "net/streams.h"
#include "seed.h"
#include "wire/frame.h"
#include "wire/given_up.h"
#include "wire/handshake.h"

namespace kvpool::net {
namespace {

using How = Stream::Ending::How;
using Side = secure::Session::Side;
using test::CertificateAuthority;

/// One end: what was told, in order.
class End : public Stream::Listener {
 public:
  explicit End(EventLoop& loop, const Stream::Limits& limits = {})
      : streams(loop, *this), stream(streams.add(1, limits)) {}

  void streamOpened(Stream::Id) override {
    ++opened;
    if (stream->principal() != nullptr) peer = toString(*stream->principal());
  }
  void streamEnded(Stream::Id id, const Stream::Ending& ending) override {
    ended = ending;
    streams.drop(id);
  }
  void streamMalformed(Stream::Id, const std::string& what) override { malformed = what; }
  void frameArrived(Stream::Id, wire::Body body) override {
    EXPECT_EQ(opened, 1) << "a frame before its sender was known";
    frames.emplace_back(body.begin(), body.end());
    if (holds) stream->hold();
    if (hasPayloads || !expected.empty())
      stream->expectPayload(7, Pieces(expected.data(), expected.size()), expected.size());
  }
  void bytesSent(Stream::Id, uint64_t bytes) override {
    EXPECT_EQ(opened, 1) << "progress of a connection that was not told of";
    frameBytesSent += bytes;
  }
  void bytesReceived(Stream::Id) override { EXPECT_EQ(opened, 1); }
  void payloadSent(Stream::Id, uint64_t) override { ++payloadsSent; }
  void payloadReceived(Stream::Id, uint64_t, uint32_t computed, uint32_t sent) override {
    EXPECT_TRUE(dropped || sent == (givenUp ? wire::givenUp(computed) : computed));
    ++payloads;
  }

  int opened = 0;
  std::string peer;
  bool holds = false;
  bool hasPayloads = false;
  bool givenUp = false;           // the payload, by its sender
  bool dropped = false;           // likewise, by us
  std::vector<uint8_t> expected;  // where the payload behind each frame goes
  std::vector<wire::Bytes> frames;
  int payloads = 0;
  int payloadsSent = 0;
  uint64_t frameBytesSent = 0;
  std::string malformed;
  std::optional<Stream::Ending> ended;
  Streams streams;
  std::shared_ptr<Stream> stream;
};

wire::Bytes frame(size_t bodyBytes) {
  wire::Bytes out(wire::kFrameHeaderBytes + bodyBytes, 0x5A);
  wire::sealFrame(out, 0);
  return out;
}

class SecuredStreamTest : public testing::Test {
 protected:
  /// Two ends of a TCP connection of this machine.
  static std::pair<Fd, Fd> sockets() {
    auto listener = listenTcp("127.0.0.1", 0);
    const auto addresses = resolve({"127.0.0.1", boundPort(listener.value().get())});
    auto dialled = startConnect(addresses.value().front());
    SocketAddress peer;
    for (int i = 0; i < 1000; ++i) {
      auto accepted = acceptOne(listener.value().get(), &peer);
      if (accepted.ok() && accepted.value().valid()) return {std::move(dialled.value()), std::move(accepted.value())};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

  Stream::Securing dialing(const std::string& path = "node/a", const secure::Expected& expected = {}) const {
    return {authority_.credentials(path), Side::Dialer, expected, false};
  }
  Stream::Securing listening(bool plainToo = false) const {
    return {authority_.credentials("master/m"), Side::Listener, {}, plainToo};
  }

  void pair(std::optional<Stream::Securing> dialing, std::optional<Stream::Securing> listening) {
    auto [dialled, accepted] = sockets();
    if (listening) listener_.stream->secure(*listening);
    listener_.stream->adopt(std::move(accepted));
    if (dialing) dialer_.stream->secure(*dialing);
    dialer_.stream->adopt(std::move(dialled));
  }
  /// A listener whose peer is the test.
  Fd rawDialer(const Stream::Securing& listening) {
    auto [dialled, accepted] = sockets();
    listener_.stream->secure(listening);
    listener_.stream->adopt(std::move(accepted));
    return std::move(dialled);
  }

  bool until(const std::function<bool()>& done) {
    for (const int64_t end = steadyMs() + 20'000; steadyMs() < end && !done();) {
      loop_.runOnce(10);
      dialer_.streams.settle([] {});
      listener_.streams.settle([] {});
    }
    return done();
  }
  bool untilOpened() {
    return until([this] { return dialer_.opened == 1 && listener_.opened == 1; });
  }
  bool untilEnded() {
    return until([this] { return dialer_.ended && listener_.ended; });
  }
  void expectEnding(const End& end, How how, const std::string& why) {
    ASSERT_TRUE(end.ended) << why;
    EXPECT_EQ(end.ended->how, how) << end.ended->why;
    EXPECT_NE(end.ended->why.find(why), std::string::npos) << end.ended->why;
  }

  /// Two ends that are open, of which one gives a payload up while the other takes nothing.
  void giveUpInTheMiddle() {
    listener_.givenUp = true;
    std::vector<uint8_t> value(size_t{16} << 20, 7);
    listener_.expected.assign(value.size(), 1);
    dialer_.stream->out().addFrame(frame(1));
    dialer_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
    dialer_.stream->out().addFrame(frame(2));
    for (int i = 0; i < 50; ++i)
      dialer_.stream->flush();
    ASSERT_EQ(dialer_.stream->out().unsentPayloads(), 1u);
    dialer_.stream->givePayloadUp(1);
    value.assign(value.size(), 9);  // its owner has it again
    dialer_.stream->givePayloadUp(1);

    ASSERT_TRUE(until([this] { return listener_.payloads == 1; }));
    const std::vector<uint8_t>& came = listener_.expected;
    const auto filler = std::find(came.begin(), came.end(), 0);
    EXPECT_GT(filler - came.begin(), 0);
    EXPECT_EQ(std::count(came.begin(), filler, 7), filler - came.begin());
    EXPECT_EQ(std::count(filler, came.end(), 0), came.end() - filler);
    listener_.expected.clear();
    EXPECT_TRUE(until([this] { return listener_.frames.size() == 2; })) << "what follows is not harmed";
    EXPECT_EQ(dialer_.payloadsSent, 1);
  }

  const CertificateAuthority authority_;
  EventLoop loop_;
  End dialer_{loop_};
  Stream::UnsentMemory unsent_{size_t{1} << 30};
  End listener_{loop_, {wire::kHelloBodyBytesMax, 2, uint64_t{16} << 20, UINT64_MAX, &unsent_}};
};

TEST_F(SecuredStreamTest, BothSidesAreToldWhoIsThereBeforeAnyFrame) {
  dialer_.stream->out().addFrame(frame(10));
  pair(dialing(), listening());
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  EXPECT_EQ(listener_.peer, "node/a");
  EXPECT_EQ(dialer_.peer, "master/m");
}

TEST_F(SecuredStreamTest, LargePayloadsArriveInPiecesAndInOrder) {
  const uint64_t seed = test::seed(3);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  listener_.hasPayloads = true;
  pair(dialing(), listening());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{40'000}, size_t{1} << 20, (size_t{8} << 20) + 13}) {
    std::vector<uint8_t> value(size);
    for (uint8_t& byte : value)
      byte = static_cast<uint8_t>(dice.next());
    std::vector<kv_piece> pieces;
    for (size_t at = 0; at < size;) {
      const size_t part = std::min<size_t>(size - at, 1 + dice.below(200'000));
      pieces.push_back({value.data() + at, part});
      at += part;
    }
    if (pieces.empty()) pieces.push_back({value.data(), 0});
    const int before = listener_.payloads;
    listener_.expected.assign(size, 0);
    dialer_.stream->out().addFrame(frame(60));
    dialer_.stream->out().addPayload(1, Pieces(std::span<const kv_piece>(pieces)), size);
    dialer_.stream->flush();
    ASSERT_TRUE(until([&] { return listener_.payloads > before; })) << size;
    EXPECT_TRUE(listener_.expected == value) << size;
    EXPECT_TRUE(until([this] { return dialer_.stream->out().empty(); }));
  }
  EXPECT_EQ(dialer_.payloadsSent, 5);
  EXPECT_EQ(dialer_.frameBytesSent, 5 * (60 + wire::kFrameHeaderBytes));
}

TEST_F(SecuredStreamTest, OfAPayloadThatIsGivenUpNoMoreIsReadAndWhatFollowsComes) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  giveUpInTheMiddle();
}

TEST_F(SecuredStreamTest, OfAPayloadThatIsGivenUpWithoutTlsNoMoreIsReadAndWhatFollowsComes) {
  pair({}, {});
  dialer_.opened = listener_.opened = 1;  // not told of sockets that are adopted and not secured
  giveUpInTheMiddle();
}

TEST_F(SecuredStreamTest, OfAPayloadThatIsGivenUpWhenItIsSealedTheTableOfPiecesIsReadNoMore) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  constexpr size_t kPieces = 3;
  constexpr size_t kPieceBytes = size_t{64} << 10;  // sealed together
  std::vector<uint8_t> value(kPieces * kPieceBytes, 7);
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const std::span<kv_piece> table(static_cast<kv_piece*>(page), kPieces);
  for (size_t i = 0; i < kPieces; ++i)
    table[i] = {value.data() + i * kPieceBytes, kPieceBytes};
  listener_.expected.assign(value.size(), 1);
  int added = 0;
  // The listener takes nothing while the loop does not run.
  for (; dialer_.stream->out().unsentPayloads() == 0; ++added) {
    ASSERT_LT(added, 1000);
    dialer_.stream->out().addFrame(frame(1));
    dialer_.stream->out().addPayload(1, Pieces(std::span<const kv_piece>(table)), value.size());
    for (int i = 0; i < 50; ++i)
      dialer_.stream->flush();
  }
  dialer_.stream->givePayloadUp(1);
  value.assign(value.size(), 9);  // its owner has it again, and its table is gone
  ASSERT_EQ(::munmap(page, 4096), 0);

  EXPECT_TRUE(until([&] { return listener_.payloads == added; }));
  EXPECT_EQ(std::count(listener_.expected.begin(), listener_.expected.end(), 7), kPieces * kPieceBytes);
  EXPECT_TRUE(until([&] { return dialer_.payloadsSent == added; }));
}

TEST_F(SecuredStreamTest, APayloadThatIsNotWantedAnyMoreIsReceivedAndDropped) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  std::vector<uint8_t> value(size_t{16} << 20, 7);
  listener_.expected.assign(value.size(), 1);
  dialer_.stream->out().addFrame(frame(1));
  dialer_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  dialer_.stream->out().addFrame(frame(2));
  dialer_.stream->flush();
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  listener_.stream->givePayloadUp(8);  // another one
  listener_.stream->givePayloadUp(7);
  const std::vector<uint8_t> before = listener_.expected;
  EXPECT_EQ(before.back(), 1) << "it came whole";
  listener_.dropped = true;
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 2; }));
  EXPECT_TRUE(listener_.expected == before);
  EXPECT_EQ(listener_.payloads, 1);
}

TEST_F(SecuredStreamTest, ManySmallFramesGoBothWays) {
  pair(dialing(), listening());
  for (size_t i = 0; i < 2000; ++i) {
    dialer_.stream->out().addFrame(frame(i % 300));
    listener_.stream->out().addFrame(frame(i % 200));
  }
  dialer_.stream->flush();
  listener_.stream->flush();
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 2000 && dialer_.frames.size() == 2000; }));
  for (size_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(listener_.frames[i].size(), i % 300);
    ASSERT_EQ(dialer_.frames[i].size(), i % 200);
  }
}

TEST_F(SecuredStreamTest, WhatIsHeldOrHasNoRoomGoesOnWithoutMoreBytes) {
  listener_.holds = true;
  pair(dialing(), listening());
  for (size_t i = 0; i < 3000; ++i)
    dialer_.stream->out().addFrame(frame(100));
  dialer_.stream->flush();
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  until([this] { return dialer_.stream->out().empty(); });
  for (int i = 0; i < 20; ++i)
    loop_.runOnce(1);
  EXPECT_EQ(listener_.frames.size(), 1u);

  // Two payloads wait for the peer to take them, the most there may be.
  listener_.holds = false;
  std::vector<uint8_t> value(size_t{8} << 20);
  dialer_.expected.resize(value.size());
  for (int i = 0; i < 2; ++i) {
    listener_.stream->out().addFrame(frame(1));
    listener_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  }
  listener_.stream->release();
  EXPECT_EQ(listener_.frames.size(), 1u) << "there is no room for answers";
  listener_.stream->flush();
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 3000; }));
  EXPECT_TRUE(until([this] { return dialer_.payloads == 2; }));
}

TEST_F(SecuredStreamTest, WhatIsSealedCountsAsUnsentAndIsOneRecordWhereMemoryIsScarce) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  unsent_.bytes += 100;  // of another one
  const uint64_t before = unsent_.bytes;
  std::vector<uint8_t> value(size_t{64} << 20);
  dialer_.expected.resize(value.size());
  listener_.stream->out().addFrame(frame(1));
  listener_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  // The dialer takes nothing while the loop does not run.
  const auto unsentWhenBlocked = [&] {
    for (int i = 0; i < 50; ++i)
      listener_.stream->flush();
    EXPECT_EQ(listener_.stream->out().unsentPayloads(), 1u);
    return unsent_.bytes - before;
  };
  EXPECT_GT(unsentWhenBlocked(), OutQueue::kSendBytes);
  EXPECT_LT(unsentWhenBlocked(), 3 * OutQueue::kSendBytes / 2) << "a buffer twice as large as what is in it";

  unsent_.bytesMax = 100;  // scarce
  for (int i = 0; i < 10; ++i)
    loop_.runOnce(1);
  EXPECT_GT(unsentWhenBlocked(), 0u);
  EXPECT_LT(unsentWhenBlocked(), OutQueue::kSendBytes / 4);

  ASSERT_TRUE(until([&] { return dialer_.payloads == 1; }));
  EXPECT_EQ(unsent_.bytes, before) << "an idle connection has no buffer that counts";
}

TEST_F(SecuredStreamTest, SaysHowItEnded) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  dialer_.streams.drop(1);
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Closed, "the peer closed the connection");
}

TEST_F(SecuredStreamTest, LingersUntilThePeerHasTakenWhatIsQueued) {
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  std::vector<uint8_t> value(size_t{4} << 20, 9);
  dialer_.expected.resize(value.size());
  listener_.stream->out().addFrame(frame(1));
  listener_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  listener_.streams.dropAfterOutput(1, steadyMs());
  ASSERT_TRUE(until([this] { return dialer_.ended.has_value(); }));
  EXPECT_EQ(dialer_.payloads, 1);
  EXPECT_TRUE(dialer_.expected == value);
  expectEnding(dialer_, How::Closed, "the peer closed the connection");
}

/// Carries bytes from one socket to the other until `most` have gone, or none are there; they are added to `seen`.
void carry(int from, int to, size_t most, std::vector<uint8_t>* seen = nullptr) {
  std::array<uint8_t, 4096> block;
  for (size_t gone = 0; gone < most;) {
    const ssize_t count = ::recv(from, block.data(), std::min(block.size(), most - gone), MSG_DONTWAIT);
    if (count <= 0) return;
    ASSERT_EQ(::send(to, block.data(), static_cast<size_t>(count), MSG_NOSIGNAL), count);
    gone += static_cast<size_t>(count);
    if (seen != nullptr) seen->insert(seen->end(), block.begin(), block.begin() + count);
  }
}

bool has(const std::vector<uint8_t>& all, const std::vector<uint8_t>& part) {
  return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

TEST_F(SecuredStreamTest, ACutInTheMiddleOfARecordIsALoss) {
  auto [dialled, middleIn] = sockets();
  auto [middleOut, accepted] = sockets();
  listener_.stream->secure(listening());
  listener_.stream->adopt(std::move(accepted));
  dialer_.stream->secure(dialing());
  dialer_.stream->adopt(std::move(dialled));
  ASSERT_TRUE(until([&, in = middleIn.get(), out = middleOut.get()] {
    carry(in, out, SIZE_MAX);
    carry(out, in, SIZE_MAX);
    return dialer_.opened == 1 && listener_.opened == 1;
  }));
  std::vector<uint8_t> value(100'000, 1);
  listener_.expected.resize(value.size());
  dialer_.stream->out().addFrame(frame(10));
  dialer_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  dialer_.stream->flush();
  carry(middleIn.get(), middleOut.get(), 20'000);
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  EXPECT_FALSE(listener_.stream->stalled(0, 1000));
  EXPECT_TRUE(listener_.stream->stalled(1001, 1000));
  middleOut.reset();
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Lost, "in the middle of a payload");
  EXPECT_EQ(listener_.payloads, 0);
}

TEST_F(SecuredStreamTest, AnEndWithoutGoodbyeIsALossEvenBehindAWholeFrame) {
  auto [dialled, middleIn] = sockets();
  auto [middleOut, accepted] = sockets();
  listener_.stream->secure(listening());
  listener_.stream->adopt(std::move(accepted));
  dialer_.stream->secure(dialing());
  dialer_.stream->adopt(std::move(dialled));
  ASSERT_TRUE(until([&, in = middleIn.get(), out = middleOut.get()] {
    carry(in, out, SIZE_MAX);
    carry(out, in, SIZE_MAX);
    return dialer_.opened == 1 && listener_.opened == 1;
  }));
  middleOut.reset();
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Lost, "without the end of TLS");
}

TEST_F(SecuredStreamTest, ABrokenRecordIsALoss) {
  Fd raw = rawDialer(listening());
  secure::Session session(authority_.credentials("node/a"), Side::Dialer, {});
  std::array<uint8_t, 65536> block;
  ASSERT_TRUE(until([&] {
    const auto out = session.outgoing();
    if (!out.empty()) {
      EXPECT_EQ(::send(raw.get(), out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
      session.sent(out.size());
    }
    const ssize_t count = ::recv(raw.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (count > 0) session.received(std::span(block).first(static_cast<size_t>(count)));
    session.advance();
    session.keepRest();
    return listener_.opened == 1;
  }));
  std::array<uint8_t, 32> record{0x17, 0x03, 0x03, 0, 27};
  ASSERT_EQ(::send(raw.get(), record.data(), record.size(), 0), 32);
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Lost, "failed in TLS");
}

TEST_F(SecuredStreamTest, AHalfOpenAndASlowHandshakeEndInTime) {
  const Fd silent = rawDialer(listening());
  for (int i = 0; i < 5; ++i)
    loop_.runOnce(1);
  const int64_t now = steadyMs();
  listener_.streams.endUnauthenticated(now);
  EXPECT_FALSE(listener_.ended);
  const std::array<uint8_t, 5> slow{0x16, 0x03, 0x01, 0x01, 0x00};
  ASSERT_EQ(::send(silent.get(), slow.data(), slow.size(), 0), 5);
  for (int i = 0; i < 5; ++i)
    loop_.runOnce(1);
  listener_.streams.endUnauthenticated(now + secure::Session::kHandshakeMsMax);
  expectEnding(listener_, How::Unauthenticated, "not over within 3000 ms");
  EXPECT_FALSE(listener_.ended->byPeer);
  EXPECT_EQ(listener_.opened, 0);
}

TEST_F(SecuredStreamTest, APeerThatClosesWithoutAWordIsToldFromOneThatIsRefused) {
  Fd closing = rawDialer(listening());
  for (int i = 0; i < 5; ++i)
    loop_.runOnce(1);
  closing.reset();
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Unauthenticated, "closed the connection in the middle of the TLS handshake");
  EXPECT_TRUE(listener_.ended->byPeer);
}

TEST_F(SecuredStreamTest, AnOversizedHandshakeEndsIt) {
  const Fd raw = rawDialer(listening());
  // Records of a first message that never ends.
  std::vector<uint8_t> record(5 + 4000, 0);
  record[0] = 0x16;
  record[1] = 0x03;
  record[2] = 0x01;
  record[3] = static_cast<uint8_t>(4000 >> 8);
  record[4] = static_cast<uint8_t>(4000 & 0xFF);
  std::vector<uint8_t> all;
  for (int i = 0; i < 10; ++i) {
    if (i == 0) {
      record[5] = 1;  // ClientHello
      record[7] = 0xFF;
    }
    all.insert(all.end(), record.begin(), record.end());
    if (i == 0) record[5] = record[7] = 0;
  }
  ASSERT_EQ(::send(raw.get(), all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  EXPECT_EQ(listener_.ended->how, How::Unauthenticated) << listener_.ended->why;
  EXPECT_EQ(listener_.opened, 0);
}

TEST_F(SecuredStreamTest, ACloseInTheMiddleOfTheHandshakeSaysWhatToLookAt) {
  Fd raw = rawDialer(listening());
  const std::array<uint8_t, 5> some{0x16, 0x03, 0x01, 0x01, 0x00};
  ASSERT_EQ(::send(raw.get(), some.data(), some.size(), 0), 5);
  raw.reset();
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Unauthenticated, "has it TLS on? Its log says why");
}

TEST_F(SecuredStreamTest, AWrongRootIsToldOnBothSides) {
  const CertificateAuthority other("another root");
  pair(Stream::Securing{other.credentials("node/a"), Side::Dialer, {}, false}, listening());
  ASSERT_TRUE(untilEnded());
  expectEnding(dialer_, How::Unauthenticated, "signed by none of the roots in ca.crt");
  expectEnding(listener_, How::Unauthenticated, "no root that signed it");
  EXPECT_EQ(dialer_.opened + listener_.opened, 0);
}

TEST_F(SecuredStreamTest, AnExpiredCertificateIsToldOnBothSides) {
  CertificateAuthority::Wish brief{{test::named("node/a")}};
  brief.endsInSeconds = 1;
  const auto credentials = authority_.credentials(brief);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  dialer_.stream->out().addFrame(frame(1000));
  pair(Stream::Securing{credentials, Side::Dialer, {}, false}, listening());
  ASSERT_TRUE(untilEnded());
  expectEnding(listener_, How::Unauthenticated, "has expired; renew it");
  EXPECT_NE(dialer_.ended->why.find("it has expired; renew it"), std::string::npos) << dialer_.ended->why;
  EXPECT_TRUE(listener_.frames.empty());
}

TEST_F(SecuredStreamTest, IsToBeReplacedOnceWhenThisProcessIsAnotherOneByItsCertificate) {
  pair(dialing("tenant/a/rw/x"), listening());
  const auto same = authority_.credentials("tenant/a/rw/x");
  EXPECT_FALSE(dialer_.stream->isToBeRenewed(unixMs(), *authority_.credentials("tenant/b/rw/x")))
      << "it is not there yet";
  ASSERT_TRUE(untilOpened());
  EXPECT_FALSE(dialer_.stream->isToBeRenewed(unixMs(), *same));
  for (const char* other : {"tenant/b/rw/x", "tenant/a/ro/x", "agent/x"}) {
    End dialer(loop_);
    End listener(loop_);
    auto [dialled, accepted] = sockets();
    listener.stream->secure(listening());
    listener.stream->adopt(std::move(accepted));
    dialer.stream->secure(dialing("tenant/a/rw/x"));
    dialer.stream->adopt(std::move(dialled));
    ASSERT_TRUE(until([&] { return dialer.opened == 1; }));
    const auto self = authority_.credentials(other);
    EXPECT_TRUE(dialer.stream->isToBeRenewed(unixMs(), *self)) << other;
    EXPECT_FALSE(dialer.stream->isToBeRenewed(unixMs(), *self)) << "once";
  }
}

/// Credentials of an authority that believes these roots besides its own.
std::shared_ptr<const secure::Credentials> believing(const CertificateAuthority& by, const std::string& path,
                                                     const std::string& roots) {
  secure::PemTriple triple = by.issue(path);
  triple.roots = roots;
  return secure::Credentials::parse(triple, "DIR").value();
}

TEST_F(SecuredStreamTest, IsReplacedWhenEitherRootIsOnItsWayOutAndEndsWithTheRootOfItsPeer) {
  const CertificateAuthority next("next root");
  const std::string both = authority_.roots() + next.roots();
  const auto before = believing(authority_, "node/a", both);
  const auto renewed = believing(next, "node/a", both);
  const auto after = believing(next, "node/a", next.roots());
  const auto here = std::vector{authority_.credentials("master/m"), believing(next, "master/m", both)};
  for (const bool peerIsOfTheNext : {false, true}) {
    End dialer(loop_);
    End listener(loop_);
    auto [dialled, accepted] = sockets();
    auto listening = here[0];
    if (peerIsOfTheNext) listening = here[1];
    listener.stream->secure({listening, Side::Listener, {}, false});
    listener.stream->adopt(std::move(accepted));
    dialer.stream->secure({before, Side::Dialer, {}, false});
    dialer.stream->adopt(std::move(dialled));
    ASSERT_TRUE(until([&] { return dialer.opened == 1 && listener.opened == 1; }));
    const int64_t now = unixMs();
    EXPECT_FALSE(dialer.stream->isToBeRenewed(now, *before));
    EXPECT_TRUE(dialer.stream->isToBeRenewed(now, *renewed)) << "its own certificate is of the next authority";
    EXPECT_TRUE(listener.stream->isToBeRenewed(now, *after)) << "the root of its peer is gone";
    for (const int64_t later : {int64_t{0}, Stream::kDistrustedMs - 1}) {
      dialer.stream->endExpired(now + later, *after);
      EXPECT_FALSE(dialer.ended);
    }
    dialer.stream->endExpired(now + Stream::kDistrustedMs, *after);
    if (peerIsOfTheNext) {
      EXPECT_FALSE(dialer.ended) << "its peer's root is trusted";
      continue;
    }
    ASSERT_TRUE(dialer.ended);
    EXPECT_NE(dialer.ended->why.find("a root that is not in ca.crt any more"), std::string::npos) << dialer.ended->why;
  }
}

TEST_F(SecuredStreamTest, ARootThatComesBackInTimeEndsNothing) {
  const CertificateAuthority next("next root");
  const auto without = believing(next, "node/a", next.roots());
  pair(dialing(), listening());
  ASSERT_TRUE(untilOpened());
  const int64_t now = unixMs();
  dialer_.stream->endExpired(now, *without);
  dialer_.stream->endExpired(now + 1, *authority_.credentials("node/a"));
  dialer_.stream->endExpired(now + Stream::kDistrustedMs, *without);
  EXPECT_FALSE(dialer_.ended);
}

TEST_F(SecuredStreamTest, LastsByTheRootOfTheCertificateThatItsPeerHasProven) {
  const CertificateAuthority next("next root");
  const std::string both = authority_.roots() + next.roots();
  const auto after = believing(next, "node/a", next.roots());
  End dialer(loop_);
  End listener(loop_);
  auto [dialled, accepted] = sockets();
  listener.stream->secure({authority_.credentials("master/m"), Side::Listener, {}, false});
  listener.stream->adopt(std::move(accepted));
  EXPECT_EQ(dialer.stream->session(), nullptr) << "it has proven nothing yet";
  dialer.stream->secure({believing(authority_, "node/a", both), Side::Dialer, {}, false});
  dialer.stream->adopt(std::move(dialled));
  ASSERT_TRUE(until([&] { return dialer.opened == 1 && listener.opened == 1; }));
  const int64_t now = unixMs();
  dialer.stream->endExpired(now, *after);
  const auto proof = listener.stream->session()->proof(*believing(next, "master/m", both));
  ASSERT_TRUE(dialer.stream->session()->prove(proof.value(), *after).ok());
  dialer.stream->endExpired(now + Stream::kDistrustedMs, *after);
  EXPECT_FALSE(dialer.ended) << "its peer has proven one of the next root in time";

  const CertificateAuthority third("third root");
  const auto last = believing(third, "node/a", third.roots());
  dialer.stream->endExpired(now, *last);
  EXPECT_FALSE(dialer.ended);
  dialer.stream->endExpired(now + Stream::kDistrustedMs, *last);
  ASSERT_TRUE(dialer.ended);
  EXPECT_NE(dialer.ended->why.find("a root that is not in ca.crt any more"), std::string::npos) << dialer.ended->why;
}

TEST_F(SecuredStreamTest, AnotherPoolIsRefused) {
  const CertificateAuthority::Wish stranger{{std::string("spiffe://") + test::kOtherPool + "/node/a"}};
  pair(Stream::Securing{authority_.credentials(stranger), Side::Dialer, {}, false}, listening());
  ASSERT_TRUE(untilEnded());
  expectEnding(dialer_, How::Unauthenticated, std::string("and this process is of pool ") + test::kOtherPool);
}

TEST_F(SecuredStreamTest, AnotherRoleIsRefused) {
  pair(dialing("node/a", secure::Expected::storageNode("b", false)), listening());
  ASSERT_TRUE(untilEnded());
  expectEnding(dialer_, How::Unauthenticated, "it is master/m by its certificate, where node/b is expected");
  expectEnding(listener_, How::Unauthenticated, "another role, name or pool is expected there");
}

TEST_F(SecuredStreamTest, APlainPeerIsRefusedWhereTlsIsRequiredAndHearsWhy) {
  wire::Bytes hello;
  wire::appendHello(hello, {});
  dialer_.stream->out().addFrame(std::move(hello));
  pair(std::nullopt, listening());
  dialer_.opened = 1;  // an adopted socket that is not secured is so from the beginning
  dialer_.stream->flush();
  ASSERT_TRUE(untilEnded());
  expectEnding(listener_, How::Unauthenticated, "does not speak TLS, which is required here");
  EXPECT_TRUE(listener_.ended->plain);
  ASSERT_EQ(dialer_.frames.size(), 1u);
  EXPECT_NE(wire::readRefused(dialer_.frames[0]).message.find("TLS is required here"), std::string::npos);
}

TEST_F(SecuredStreamTest, APermissiveListenerServesBoth) {
  pair(std::nullopt, listening(true));
  dialer_.opened = 1;
  std::vector<uint8_t> value(size_t{1} << 20, 7);
  listener_.expected.resize(value.size());
  dialer_.stream->out().addFrame(frame(10));
  dialer_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  dialer_.stream->flush();
  ASSERT_TRUE(until([this] { return listener_.payloads == 1; }));
  EXPECT_EQ(listener_.opened, 1);
  EXPECT_EQ(listener_.stream->principal(), nullptr);
  EXPECT_TRUE(listener_.expected == value);
}

TEST_F(SecuredStreamTest, APermissiveListenerTakesTls) {
  pair(dialing(), listening(true));
  ASSERT_TRUE(untilOpened());
  EXPECT_EQ(listener_.peer, "node/a");
}

TEST_F(SecuredStreamTest, TlsOnAPortThatHasItOffIsNamedOnBothSides) {
  listener_.opened = 1;
  pair(dialing(), std::nullopt);
  ASSERT_TRUE(until([this] { return !listener_.malformed.empty(); }));
  EXPECT_NE(listener_.malformed.find("TLS where it is off"), std::string::npos) << listener_.malformed;
  wire::Bytes refused;
  wire::appendRefused(refused, {wire::Refusal::Protocol, wire::kWireVersions, "malformed"});
  listener_.stream->out().addFrame(std::move(refused));
  listener_.streams.dropAfterOutput(1, steadyMs());
  ASSERT_TRUE(until([this] { return dialer_.ended.has_value(); }));
  expectEnding(dialer_, How::Unauthenticated, "does not speak TLS, or has it off");
  EXPECT_TRUE(dialer_.ended->plain);
}

// ---- leaving TLS ----

constexpr auto kEncrypted = secure::Payloads::Encrypted;
constexpr auto kAuthenticated = secure::Payloads::Authenticated;

class LeavingStreamTest : public SecuredStreamTest {
 protected:
  Stream::Securing with(Stream::Securing securing, secure::Payloads payloads) const {
    securing.payloads = payloads;
    return securing;
  }
  /// Two ends with a wire between them that is carried on by wired().
  void pairOverAWire(secure::Payloads dialers, secure::Payloads listeners) {
    auto [dialled, middleIn] = sockets();
    auto [middleOut, accepted] = sockets();
    in_ = std::move(middleIn);
    out_ = std::move(middleOut);
    listener_.stream->secure(with(listening(), listeners));
    listener_.stream->adopt(std::move(accepted));
    dialer_.stream->secure(with(dialing(), dialers));
    dialer_.stream->adopt(std::move(dialled));
  }
  bool wired(const std::function<bool()>& done) {
    return until([&] {
      carry(in_.get(), out_.get(), SIZE_MAX, &seen_);
      carry(out_.get(), in_.get(), SIZE_MAX, &seen_);
      return done();
    });
  }
  /// A dialer of the test that agrees to leave TLS, up to its last flight, which is returned and has its goodbye.
  std::vector<uint8_t> leave(int raw, secure::Session& session) {
    std::array<uint8_t, 65536> block;
    const auto say = [&] {
      const auto out = session.outgoing();
      std::vector<uint8_t> said(out.begin(), out.end());
      session.sent(said.size());
      return said;
    };
    const std::vector<uint8_t> hello = say();
    EXPECT_EQ(::send(raw, hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
    std::vector<uint8_t> flight;
    EXPECT_TRUE(until([&] {
      const ssize_t count = ::recv(raw, block.data(), block.size(), MSG_DONTWAIT);
      if (count > 0) session.received(std::span(block).first(static_cast<size_t>(count)));
      session.advance();
      session.keepRest();
      if (flight.empty()) flight = say();
      return !flight.empty();
    }));
    EXPECT_EQ(session.state(), secure::Session::State::Handshaking);
    return flight;
  }

  Fd in_;
  Fd out_;
  std::vector<uint8_t> seen_;
};

TEST_F(LeavingStreamTest, ValuesAreBareOnTheWireWhereBothWantThat) {
  for (const auto dialers : {kEncrypted, kAuthenticated}) {
    for (const auto listeners : {kEncrypted, kAuthenticated}) {
      const bool bare = dialers == kAuthenticated && listeners == kAuthenticated;
      SCOPED_TRACE(bare);
      End dialer(loop_);
      End listener(loop_, {wire::kHelloBodyBytesMax, 2, uint64_t{16} << 20});
      dialer_.stream = dialer.stream;
      listener_.stream = listener.stream;
      seen_.clear();
      std::vector<uint8_t> there(300'000);
      std::iota(there.begin(), there.end(), uint8_t{3});
      std::vector<uint8_t> back(200'000);
      std::iota(back.begin(), back.end(), uint8_t{9});
      listener.expected.resize(there.size());
      dialer.expected.resize(back.size());
      dialer.stream->out().addFrame(frame(10));  // before it is known who is there
      dialer.stream->out().addPayload(1, Pieces(there.data(), there.size()), there.size());
      pairOverAWire(dialers, listeners);
      ASSERT_TRUE(wired([&] { return listener.payloads == 1; }));
      listener.stream->out().addFrame(frame(20));
      listener.stream->out().addPayload(1, Pieces(back.data(), back.size()), back.size());
      listener.stream->flush();
      ASSERT_TRUE(wired([&] { return dialer.payloads == 1; }));
      EXPECT_TRUE(listener.expected == there);
      EXPECT_TRUE(dialer.expected == back);
      EXPECT_EQ(listener.peer, "node/a");
      EXPECT_EQ(dialer.peer, "master/m");
      ASSERT_NE(listener.stream->principal(), nullptr);
      EXPECT_EQ(toString(*listener.stream->principal()), "node/a");
      const std::vector<uint8_t> some(there.begin() + 5000, there.begin() + 5300);
      EXPECT_EQ(has(seen_, some), bare);
      EXPECT_EQ(listener.stream->stalled(0, 1), false);
      EXPECT_EQ(listener.stream->stalled(10, 1), false) << "nothing is under way";
    }
  }
}

TEST_F(LeavingStreamTest, EndsAsAPlainStreamDoes) {
  pairOverAWire(kAuthenticated, kAuthenticated);
  ASSERT_TRUE(wired([this] { return dialer_.opened == 1 && listener_.opened == 1; }));
  std::vector<uint8_t> value(100'000, 1);
  listener_.expected.resize(value.size());
  dialer_.stream->out().addFrame(frame(10));
  dialer_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  dialer_.stream->flush();
  carry(in_.get(), out_.get(), 20'000);
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  EXPECT_FALSE(listener_.stream->stalled(0, 1000));
  EXPECT_TRUE(listener_.stream->stalled(1001, 1000));
  out_.reset();
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Lost, "in the middle of a payload");
  EXPECT_EQ(listener_.payloads, 0);
}

TEST_F(LeavingStreamTest, AnEndBehindAWholeFrameIsTheEnd) {
  pair(with(dialing(), kAuthenticated), with(listening(), kAuthenticated));
  ASSERT_TRUE(untilOpened());
  dialer_.streams.drop(1);
  ASSERT_TRUE(until([this] { return listener_.ended.has_value(); }));
  expectEnding(listener_, How::Closed, "the peer closed the connection");
}

TEST_F(LeavingStreamTest, LingersUntilThePeerHasTakenWhatIsQueued) {
  pair(with(dialing(), kAuthenticated), with(listening(), kAuthenticated));
  ASSERT_TRUE(untilOpened());
  std::vector<uint8_t> value(size_t{4} << 20, 9);
  dialer_.expected.resize(value.size());
  listener_.stream->out().addFrame(frame(1));
  listener_.stream->out().addPayload(1, Pieces(value.data(), value.size()), value.size());
  listener_.streams.dropAfterOutput(1, steadyMs());
  ASSERT_TRUE(until([this] { return dialer_.ended.has_value(); }));
  EXPECT_EQ(dialer_.payloads, 1);
  EXPECT_TRUE(dialer_.expected == value);
  expectEnding(dialer_, How::Closed, "the peer closed the connection");
}

TEST_F(LeavingStreamTest, TheFirstFrameMayComeWithTheGoodbyeWhereverItIsCut) {
  const wire::Bytes first = frame(30);
  const size_t around = first.size() + 30;  // the goodbye has 24 bytes
  for (size_t cut = 0; cut < around; ++cut) {
    SCOPED_TRACE(cut);
    End listener(loop_);
    listener_.stream = listener.stream;
    const Fd raw = rawDialer(with(listening(), kAuthenticated));
    secure::Session session(authority_.credentials("node/a"), Side::Dialer, {}, kAuthenticated);
    std::vector<uint8_t> flight = leave(raw.get(), session);
    flight.insert(flight.end(), first.begin(), first.end());
    const size_t at = flight.size() - cut;
    ASSERT_EQ(::send(raw.get(), flight.data(), at, 0), static_cast<ssize_t>(at));
    until([&, end = steadyMs() + 3] { return listener.frames.size() == 1 || steadyMs() > end; });
    ASSERT_EQ(::send(raw.get(), flight.data() + at, cut, 0), static_cast<ssize_t>(cut));
    ASSERT_TRUE(until([&] { return listener.frames.size() == 1; }));
    EXPECT_EQ(listener.frames[0].size(), 30u);
    EXPECT_FALSE(listener.ended);
  }
}

TEST_F(LeavingStreamTest, WhatCameWithTheGoodbyeWaitsWhileTheStreamIsHeld) {
  listener_.holds = true;
  const Fd raw = rawDialer(with(listening(), kAuthenticated));
  secure::Session session(authority_.credentials("node/a"), Side::Dialer, {}, kAuthenticated);
  std::vector<uint8_t> flight = leave(raw.get(), session);
  for (size_t i = 0; i < 2000; ++i) {
    const wire::Bytes one = frame(i % 100);
    flight.insert(flight.end(), one.begin(), one.end());
  }
  ASSERT_EQ(::send(raw.get(), flight.data(), flight.size(), 0), static_cast<ssize_t>(flight.size()));
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 1; }));
  for (int i = 0; i < 20; ++i)
    loop_.runOnce(1);
  EXPECT_EQ(listener_.frames.size(), 1u);
  listener_.holds = false;
  listener_.stream->release();
  ASSERT_TRUE(until([this] { return listener_.frames.size() == 2000; }));
  for (size_t i = 0; i < 2000; ++i)
    ASSERT_EQ(listener_.frames[i].size(), i % 100);
}

TEST_F(LeavingStreamTest, APeerThatDoesNotLeaveAsAgreedEndsInTime) {
  const Fd raw = rawDialer(with(listening(), kAuthenticated));
  secure::Session session(authority_.credentials("node/a"), Side::Dialer, {}, kAuthenticated);
  std::vector<uint8_t> flight = leave(raw.get(), session);
  flight.resize(flight.size() - 1);  // of its goodbye
  ASSERT_EQ(::send(raw.get(), flight.data(), flight.size(), 0), static_cast<ssize_t>(flight.size()));
  for (int i = 0; i < 20; ++i)
    loop_.runOnce(1);
  const int64_t now = steadyMs();
  listener_.streams.endUnauthenticated(now);
  EXPECT_FALSE(listener_.ended);
  EXPECT_EQ(listener_.opened, 0);
  listener_.streams.endUnauthenticated(now + secure::Session::kHandshakeMsMax);
  expectEnding(listener_, How::Unauthenticated, "not over within 3000 ms");
}

TEST_F(LeavingStreamTest, ItEndsWithTheCertificateOfItsPeer) {
  pair(with(dialing(), kAuthenticated), with(listening(), kAuthenticated));
  ASSERT_TRUE(untilOpened());
  const auto own = authority_.credentials("node/a");
  listener_.streams.forEach([&](Stream& stream) { stream.endExpired(stream.principal()->notAfterMs - 1, *own); });
  EXPECT_FALSE(listener_.ended);
  EXPECT_TRUE(dialer_.stream->isToBeRenewed(dialer_.stream->principal()->notAfterMs, *own));
  listener_.streams.forEach([&](Stream& stream) { stream.endExpired(stream.principal()->notAfterMs, *own); });
  expectEnding(listener_, How::Lost, "the certificate of node/a has ended");
}

/// A side with many streams, of which it notes which ended.
class Several : public Stream::Listener {
 public:
  explicit Several(EventLoop& loop) : streams(loop, *this) {}

  void streamOpened(Stream::Id) override { ++opened; }
  void streamEnded(Stream::Id id, const Stream::Ending&) override {
    ended.push_back(id);
    streams.drop(id);
  }
  void streamMalformed(Stream::Id, const std::string&) override {}
  void frameArrived(Stream::Id, wire::Body) override {}

  int opened = 0;
  std::vector<Stream::Id> ended;
  Streams streams;
};

TEST_F(SecuredStreamTest, OfTenantsThatTogetherHaveTooMuchUnsentTheOneWithMostLosesItsLargest) {
  constexpr size_t kMiB = size_t{1} << 20;
  Stream::UnsentMemory unsent{UINT64_MAX};
  Several server(loop_);
  std::vector<std::unique_ptr<End>> clients;
  const auto add = [&](Stream::Id id, const std::string& path) {
    auto [dialled, accepted] = sockets();
    const auto stream = server.streams.add(id, {4096, 2, UINT64_MAX, UINT64_MAX, &unsent});
    stream->secure(listening());
    stream->adopt(std::move(accepted));
    clients.push_back(std::make_unique<End>(loop_));
    clients.back()->stream->secure(dialing(path));
    clients.back()->stream->adopt(std::move(dialled));
  };
  add(1, "tenant/busy/rw/engine");
  add(2, "tenant/many/rw/engine-1");
  add(3, "tenant/many/ro/engine-2");
  ASSERT_TRUE(until([&] {
    server.streams.settle([] {});
    for (const auto& client : clients)
      client->streams.settle([] {});
    return server.opened == 3;
  }));

  server.streams.outOf(1)->addFrame(wire::Bytes(16 * kMiB));
  server.streams.outOf(2)->addFrame(wire::Bytes(11 * kMiB));
  server.streams.outOf(3)->addFrame(wire::Bytes(12 * kMiB));
  server.streams.settle([] {});
  ASSERT_GT(server.streams.find(1)->unsentMemory(), server.streams.find(3)->unsentMemory()) << "alone it has most";
  unsent.bytesMax = unsent.bytes - 1;
  server.streams.keepTo(unsent);
  EXPECT_EQ(server.ended, std::vector<Stream::Id>{3});
  EXPECT_LE(unsent.bytes, unsent.bytesMax);
  server.streams.closeAll();  // before what they count in
}

}  // namespace
}  // namespace kvpool::net
