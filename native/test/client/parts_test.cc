// SPDX-License-Identifier: Apache-2.0
// The small parts of the client: staging ring, registered memory, what is sent and how it is cut.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <thread>

#include "base/crc32c.h"
#include "client/memory_registry.h"
#include "client/out_queue.h"
#include "client/staging_memory.h"
#include "client/staging_ring.h"
#include "seed.h"

namespace kvpool::test {
namespace {

using client::Memory;
using client::MemoryRegistry;
using client::OutQueue;
using client::StagingRing;

TEST(StagingRing, WrapsAroundAndWaitsForTheOldest) {
  StagingRing ring(1024);
  EXPECT_EQ(ring.take(512), 0u);
  EXPECT_EQ(ring.take(400), 512u);
  EXPECT_FALSE(ring.take(200)) << "64 bytes are left at the end, none at the start";
  ring.release(0);
  EXPECT_EQ(ring.take(200), 0u);
  EXPECT_EQ(ring.take(256), 256u);
  EXPECT_FALSE(ring.take(1)) << "exactly full";
  ring.release(0);
  EXPECT_FALSE(ring.take(64)) << "the block at 512 is older and still held";
  ring.release(512);
  EXPECT_EQ(ring.take(64), 512u);
}

TEST(StagingRing, RefusesWhatCanNeverFit) {
  StagingRing ring(1024);
  EXPECT_FALSE(ring.take(1025));
  EXPECT_FALSE(ring.take(UINT64_MAX));
  EXPECT_EQ(ring.take(1024), 0u);
}

TEST(StagingRing, NeverHandsOutOverlappingBlocks) {
  const uint64_t value = seed(5);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  StagingRing ring(8192);
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (int i = 0; i < 20000; ++i) {
    if (dice.oneIn(2) && !held.empty()) {
      const size_t which = dice.below(held.size());
      ring.release(held[which].first);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const uint64_t length = dice.below(1500);
    const auto offset = ring.take(length);
    if (!offset) continue;
    ASSERT_LE(*offset + length, 8192u);
    for (const auto& [begin, end] : held)
      ASSERT_TRUE(*offset >= end || *offset + length <= begin);
    held.emplace_back(*offset, *offset + std::max<uint64_t>(length, 1));
  }
}

TEST(StagingMemory, CannotBeResizedByTheOtherSide) {
  auto memory = client::StagingMemory::create(1 << 16);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 1 << 20), 0);
  std::memset(memory.value()->at(0), 1, 1 << 16);
}

TEST(MemoryRegistry, KnowsRangesInsideOneRegionOnly) {
  MemoryRegistry registry;
  char memory[300] = {};
  ASSERT_TRUE(registry.add(memory, 100).ok());
  ASSERT_TRUE(registry.add(memory + 100, 100).ok());
  EXPECT_TRUE(registry.covers(memory, 100));
  EXPECT_TRUE(registry.covers(memory + 99, 1));
  EXPECT_TRUE(registry.covers(memory + 100, 100));
  EXPECT_FALSE(registry.covers(memory + 50, 100)) << "two regions may be unregistered apart";
  EXPECT_FALSE(registry.covers(memory + 200, 1));
  EXPECT_FALSE(registry.covers(memory, UINT64_MAX));
  EXPECT_TRUE(registry.covers(nullptr, 0));
}

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
  queue.addPayload(11, Memory(large.data(), large.size()), large.size());
  queue.addFrame({4});
  queue.addPayload(12, Memory(small.data(), small.size()), small.size());
  queue.addPayload(13, Memory(), 0);

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
  std::vector<client::TransferId> sent;
  OutQueue::Outcome outcome = OutQueue::Outcome::Blocked;
  while (outcome == OutQueue::Outcome::Blocked) {
    outcome = queue.flush(ends[0], [&](client::TransferId transfer) { sent.push_back(transfer); });
  }
  reader.join();
  EXPECT_EQ(outcome, OutQueue::Outcome::Empty);
  EXPECT_EQ(sent, (std::vector<client::TransferId>{11, 12, 13}));
  EXPECT_TRUE(received == expected);
  EXPECT_EQ(queue.sentBytes(), expected.size());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(OutQueue, SaysWhenThePeerIsGone) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ::close(ends[1]);
  OutQueue queue;
  queue.addFrame({1});
  EXPECT_EQ(queue.flush(ends[0], [](client::TransferId) {}), OutQueue::Outcome::Failed);
  ::close(ends[0]);
}

}  // namespace
}  // namespace kvpool::test
