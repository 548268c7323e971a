// SPDX-License-Identifier: Apache-2.0
// A peer of a transfer engine that is killed and comes back as another process. A program of its own: it forks.
#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/shell/engine_fixture.h"
#include "peer_process.h"

namespace kvpool::test {
namespace {

constexpr size_t kPiece = 1 << 20;
constexpr size_t kWrites = 4;
constexpr size_t kReads = 4;

/// One transfer of a piece, a batch of its own.
struct Piece {
  Buffer local = Buffer(kPiece);
  kv_transfer line{};
  uint64_t batch = 0;
};

TEST(Restart, TransfersThatWereOnTheirWaySucceedWhenThePeerIsBack) {
  const CommonMemory memory((kWrites + kReads) * kPiece);
  const Buffer read = pattern(kReads * kPiece, 3);
  std::copy(read.begin(), read.end(), memory.bytes() + kWrites * kPiece);
  const PeerProcess successor(memory);
  PeerProcess peer(memory);
  const uint16_t port = peer.listen(0);
  ASSERT_NE(port, 0);
  const std::string address = "127.0.0.1:" + std::to_string(port);

  std::vector<Piece> pieces(kWrites + kReads);  // outlive the engine
  TestEngine here;
  Buffer first(1);
  ASSERT_EQ(here.write(address, first, memory.address()), KV_OK) << here.explain();
  peer.freeze();
  for (size_t i = 0; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    const bool writes = i < kWrites;
    if (writes) piece.local = pattern(kPiece, static_cast<uint8_t>(10 + i));
    piece.line = {address.c_str(), piece.local.data(), memory.address() + i * kPiece, kPiece, KV_INTERNAL, 0};
    const int32_t op = writes ? KV_TRANSFER_WRITE : KV_TRANSFER_READ;
    ASSERT_EQ(kv_engine_submit(here.get(), op, &piece.line, 1, nullptr, &piece.batch), KV_OK) << here.explain();
  }
  peer.kill();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // dialled meanwhile, and refused
  ASSERT_EQ(successor.listen(port), port);

  for (size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_EQ(kv_engine_wait(here.get(), pieces[i].batch, 60000), KV_OK);
    EXPECT_EQ(pieces[i].line.status, KV_OK) << i << ": " << here.explain();
    EXPECT_TRUE(std::equal(pieces[i].local.begin(), pieces[i].local.end(), memory.bytes() + i * kPiece)) << i;
  }
  EXPECT_TRUE(std::equal(read.begin(), read.end(), memory.bytes() + kWrites * kPiece));
  EXPECT_EQ(here.stats().retries, pieces.size());
  EXPECT_EQ(here.stats().peer_restarts, 1u);
}

}  // namespace
}  // namespace kvpool::test
