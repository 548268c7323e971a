// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "dev_kvpool_wire/SnapshotBegin.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "seed.h"

namespace kvpool::wire {
namespace {

Bytes snapshotBegin(uint64_t sequence) {
  Bytes out;
  appendFrame<sbe::SnapshotBegin>(out, 0, [&](sbe::SnapshotBegin& m) { m.sequence(sequence); });
  return out;
}

Bytes writeRequest(const std::string& key) {
  Bytes out;
  appendFrame<sbe::WriteRequest>(out, textRoom(key.size()), [&](sbe::WriteRequest& m) {
    m.requestId(7).payloadLength(3).source(sbe::WriteSource::INLINE).stagingOffset(0).payloadCrc(0).putKey(key);
    put(m.authority(), Authority{1, 2});
    put(m.objectId(), ObjectId{1, 3});
  });
  return out;
}

void give(FrameDecoder& decoder, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::span<uint8_t> room = decoder.writable();
    const size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    decoder.received(count);
    bytes = bytes.subspan(count);
  }
}

TEST(Frame, GivesBackWhatWasAppended) {
  FrameDecoder decoder;
  give(decoder, writeRequest("some key"));
  const std::optional<Body> body = decoder.next();
  ASSERT_TRUE(body);
  Reader<sbe::WriteRequest> reader(*body);
  EXPECT_EQ(reader->requestId(), 7u);
  EXPECT_EQ(toObjectId(reader->objectId()), (ObjectId{1, 3}));
  EXPECT_EQ(reader.bytes(), "some key");
  EXPECT_FALSE(decoder.next());
  EXPECT_FALSE(decoder.pending());
}

TEST(Frame, AnyCutOfTheStreamGivesTheSameFrames) {
  Bytes stream;
  for (uint64_t i = 0; i < 20; ++i) {
    const Bytes one = i % 2 == 0 ? snapshotBegin(i) : writeRequest(std::string(i * 40, 'k'));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  const uint64_t seed = test::seed(3);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (uint64_t round = 0; round < 50; ++round) {
    FrameDecoder decoder;
    size_t frames = 0;
    for (size_t at = 0; at < stream.size();) {
      const size_t count = std::min<size_t>(1 + dice.below(round + 1) * 7, stream.size() - at);
      give(decoder, std::span(stream).subspan(at, count));
      at += count;
      while (decoder.next())
        ++frames;
    }
    EXPECT_EQ(frames, 20u);
  }
}

TEST(Frame, RawBytesBehindAFrameAreHandedOver) {
  FrameDecoder decoder;
  Bytes stream = writeRequest("k");
  const std::string payload = "payload";
  stream.insert(stream.end(), payload.begin(), payload.end());
  give(decoder, stream);
  ASSERT_TRUE(decoder.next());
  const std::span<const uint8_t> first = decoder.takeRaw(3);
  EXPECT_EQ(std::string(first.begin(), first.end()), "pay");
  const std::span<const uint8_t> rest = decoder.takeRaw(100);
  EXPECT_EQ(std::string(rest.begin(), rest.end()), "load");
}

TEST(Frame, RefusesWrongLengthAndWrongChecksum) {
  Bytes oversized = snapshotBegin(1);
  oversized[2] = 0xFF;  // 0xFF0000 bytes and more
  FrameDecoder first;
  give(first, oversized);
  EXPECT_THROW((void)first.next(), Malformed);

  for (size_t at = 4; at < snapshotBegin(1).size(); ++at) {
    Bytes damaged = snapshotBegin(1);
    damaged[at] ^= 0x10;
    FrameDecoder decoder;
    give(decoder, damaged);
    EXPECT_THROW((void)decoder.next(), Malformed) << "byte " << at;
  }
}

TEST(Frame, TheBoundBeforeTheWelcomeIsSmaller) {
  const Bytes large = writeRequest(std::string(60000, 'k'));
  FrameDecoder decoder(1000);
  give(decoder, std::span(large).first(kFrameHeaderBytes));
  EXPECT_THROW((void)decoder.next(), Malformed);
  FrameDecoder welcomed(1000);
  welcomed.allowBodies(kFrameBodyBytesMax);
  give(welcomed, large);
  EXPECT_TRUE(welcomed.next());
}

TEST(Frame, EncoderRefusesWhatDoesNotFit) {
  Bytes out;
  EXPECT_THROW(appendFrame<sbe::SnapshotBegin>(out, kFrameBodyBytesMax, [](sbe::SnapshotBegin&) {}), std::length_error);
  EXPECT_THROW(appendFrame<sbe::WriteRequest>(out, 0, [](sbe::WriteRequest& m) { m.putKey(std::string("no room")); }),
               std::length_error)
      << "a defect of ours is no Malformed";
}

TEST(Reader, NeverReadsBehindACutOrLyingBody) {
  const Bytes frame = writeRequest("a key of some length");
  const Bytes whole(frame.begin() + kFrameHeaderBytes, frame.end());
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of exact size, so that the address sanitizer sees one byte too far.
    const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(length));
    EXPECT_THROW(
        {
          Reader<sbe::WriteRequest> reader(cut);
          (void)reader.bytes();
        },
        Malformed)
        << length;
  }
  Bytes shortBlock = whole;
  shortBlock[0] = 4;
  shortBlock[1] = 0;
  EXPECT_THROW(Reader<sbe::WriteRequest> reader(shortBlock), Malformed);
  Bytes otherSchema = whole;
  otherSchema[4] ^= 1;
  EXPECT_THROW(Reader<sbe::WriteRequest> reader(otherSchema), Malformed);
  EXPECT_THROW(Reader<sbe::SnapshotBegin> reader(whole), Malformed);
  Bytes otherSource = whole;
  otherSource[sbe::MessageHeader::encodedLength() + sbe::WriteRequest::sourceEncodingOffset()] = 99;
  Reader<sbe::WriteRequest> reader(otherSource);
  EXPECT_THROW((void)reader->source(), Malformed);
}

TEST(Reader, TextLongerThanItsBoundIsRefused) {
  const Bytes frame = writeRequest(std::string(100, 'k'));
  const Bytes body(frame.begin() + kFrameHeaderBytes, frame.end());
  Reader<sbe::WriteRequest> reader(body);
  EXPECT_THROW((void)reader.bytes(99), Malformed);
}

}  // namespace
}  // namespace kvpool::wire
