// SPDX-License-Identifier: Apache-2.0
#include "net/out_queue.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "wire/given_up.h"

namespace kvpool::test {
namespace {

using net::OutQueue;

std::string receiveAll(int fd, size_t bytes) {
  std::string received(bytes, '\0');
  size_t have = 0;
  while (have < bytes) {
    const ssize_t count = ::recv(fd, received.data() + have, bytes - have, 0);
    if (count <= 0) break;
    have += static_cast<size_t>(count);
  }
  received.resize(have);
  return received;
}

TEST(OutQueue, SendsFramesAndPayloadsInOrderWithTheirChecksums) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  std::string large(3 << 20, 'L');
  std::string small = "small";
  OutQueue queue;
  queue.addFrame({1, 2, 3});
  queue.addPayload(11, Pieces(large.data(), large.size()), large.size());
  queue.addFrame({4});
  queue.addPayload(12, Pieces(small.data(), small.size()), small.size());
  queue.addPayload(13, Pieces(), 0);

  std::string expected = "\x01\x02\x03" + large;
  const auto addCrc = [&](const std::string& of) {
    const uint32_t crc = crc32c(of);
    expected.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  };
  addCrc(large);
  expected += "\x04" + small;
  addCrc(small);
  addCrc("");

  std::string received;
  std::thread reader([&] { received = receiveAll(ends[1], expected.size()); });
  std::vector<uint64_t> sent;
  OutQueue::Outcome outcome = OutQueue::Outcome::Blocked;
  while (outcome == OutQueue::Outcome::Blocked) {
    outcome = queue.flush(ends[0], UINT64_MAX, [&](uint64_t payload) { sent.push_back(payload); });
  }
  reader.join();
  EXPECT_EQ(outcome, OutQueue::Outcome::Empty);
  EXPECT_EQ(sent, (std::vector<uint64_t>{11, 12, 13}));
  EXPECT_TRUE(received == expected);
  EXPECT_EQ(queue.sentBytes(), expected.size());
  ::close(ends[0]);
  ::close(ends[1]);
}

/// In pieces, so that what has gone out ends in the middle of one; with a checksum that is known, or comes with the
/// bytes.
TEST(OutQueue, OfAPayloadThatIsGivenUpZerosGoOutWithTheComplementOfTheirChecksum) {
  for (const bool isKnown : {false, true}) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    std::string bytes(3 << 20, 'L');
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(i * i >> 7);
    std::vector<kv_piece> pieces;
    for (size_t at = 0; at < bytes.size(); at += 12 << 10)
      pieces.push_back({&bytes[at], 12 << 10});
    OutQueue queue;
    queue.addPayload(11, Pieces(std::span<const kv_piece>(pieces)), bytes.size(),
                     isKnown ? std::optional(crc32c(bytes)) : std::nullopt);
    ASSERT_EQ(queue.flush(ends[0], UINT64_MAX, [](uint64_t) {}), OutQueue::Outcome::Blocked);
    const uint64_t gone = queue.sentBytes();
    ASSERT_TRUE(gone > 0 && gone < bytes.size()) << gone;

    queue.giveUp(11);

    std::string expected = bytes.substr(0, gone) + std::string(bytes.size() - gone, '\0');
    const uint32_t crc = wire::givenUp(crc32c(expected));
    expected.append(reinterpret_cast<const char*>(&crc), sizeof crc);
    bytes.assign(bytes.size(), 'X');
    pieces.clear();
    std::string received;
    std::thread reader([&] { received = receiveAll(ends[1], expected.size()); });
    while (queue.flush(ends[0], UINT64_MAX, [](uint64_t) {}) == OutQueue::Outcome::Blocked) {
    }
    reader.join();
    EXPECT_TRUE(received == expected) << isKnown;
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

TEST(OutQueue, CountsTheTablesOfPiecesThatItKeeps) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  char byte = 'b';
  const auto table = std::make_shared<std::vector<kv_piece>>(2048, kv_piece{&byte, 1});
  const Pieces pieces{std::span<const kv_piece>(*table)};
  OutQueue queue;
  queue.addPayload(1, pieces, table->size());
  EXPECT_EQ(queue.unsentMemory(), 0u) << "another's";
  queue.addPayload(2, pieces, table->size(), {}, table);
  EXPECT_EQ(queue.unsentMemory(), table->size() * sizeof(kv_piece));
  ASSERT_EQ(queue.flush(ends[0], UINT64_MAX, [](uint64_t) {}), OutQueue::Outcome::Empty);
  EXPECT_EQ(queue.unsentMemory(), 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(OutQueue, SaysWhenThePeerIsGone) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ::close(ends[1]);
  OutQueue queue;
  queue.addFrame({1});
  EXPECT_EQ(queue.flush(ends[0], UINT64_MAX, [](uint64_t) {}), OutQueue::Outcome::Failed);
  ::close(ends[0]);
}

}  // namespace
}  // namespace kvpool::test
