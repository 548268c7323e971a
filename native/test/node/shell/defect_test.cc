// SPDX-License-Identifier: Apache-2.0
// What is wrong with this process itself costs the node, and nothing of what it has committed.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>

#include "node/shell/shell_fixture.h"
#include "wire/frame.h"

namespace {

/// The next allocation of exactly so many bytes fails, in whatever thread; 0: none does.
std::atomic<size_t> failingBytes{0};

}  // namespace

[[gnu::noinline, gnu::visibility("default")]] void* operator new(size_t bytes) {
  size_t wanted = bytes;
  if (bytes > 0 && failingBytes.compare_exchange_strong(wanted, 0)) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline, gnu::visibility("default")]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline, gnu::visibility("default")]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace kvpool::node {
namespace {

class DefectTest : public ShellTest {
 protected:
  Peer client(const Node& node) { return greeted(Peer::tcp(static_cast<uint16_t>(node.stats().listen_port))); }

  /// Has memory run out for the copy of the key that goes to the masters: behind the commit, before the stream.
  void failBetweenCommitAndStream(Node& node) {
    Peer master = master_.accept();
    FakeMaster::fence(master, kLeader);
    Peer writer = client(node);
    writer.sendFrames([&](wire::Bytes& out) {
      test::appendWrite(out, {1, kLeader, {kLeader.epoch, 1}, value_.size(), false, 0, 0, key_});
    });
    failingBytes = key_.size() + 1;
    writer.sendPayload(value_);
    EXPECT_TRUE(writer.closedByOther());
    while (master.receive()) {
    }
    eventually([&] { return !node.running(); });
    EXPECT_EQ(failingBytes, 0u);
  }

  /// The memory of an embedded node.
  static bool isMapped() {
    std::ifstream maps("/proc/self/maps");
    const std::string all((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
    return all.find("memfd:kvpool-segment") != std::string::npos;
  }

  const std::string key_ = std::string(777, 'k');
  const std::string value_ = std::string(9999, 'v');
};

TEST_F(DefectTest, BetweenCommitAndStreamEndsTheNodeAndTheNextHasTheObject) {
  std::unique_ptr<Node> node = start(settings());
  ASSERT_TRUE(node);
  failBetweenCommitAndStream(*node);
  node.reset();
  node = start(settings());
  ASSERT_TRUE(node);
  Peer master = master_.accept();
  ASSERT_EQ(master_.snapshot_.size(), 1u);
  const test::Record& record = master_.snapshot_.front();
  EXPECT_EQ(record.key, key_);
  Peer reader = client(*node);
  EXPECT_EQ(get(reader, record.extent, record.objectId, value_.size()), value_);
}

TEST_F(DefectTest, OfAnEmbeddedNodeGivesItsMemoryBackAndTheProcessGoesOn) {
  const std::unique_ptr<Node> node = start(settings(true));
  ASSERT_TRUE(node);
  EXPECT_TRUE(isMapped());
  failBetweenCommitAndStream(*node);
  eventually([] { return !isMapped(); });
}

TEST_F(DefectTest, AFrameThereIsNoMemoryForCostsItsConnection) {
  const std::unique_ptr<Node> node = start(settings());
  ASSERT_TRUE(node);
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  constexpr uint32_t kBody = 1'000'000;
  failingBytes = wire::kFrameHeaderBytes + kBody;
  const std::array<uint32_t, 2> header{kBody, 0};
  wire::Bytes beginning(size_t{100} << 10);
  std::memcpy(beginning.data(), header.data(), sizeof header);
  master.send(beginning);
  EXPECT_TRUE(master.closedByOther());
  EXPECT_EQ(failingBytes, 0u);
  const Peer again = master_.accept();
  Peer writer = client(*node);
  EXPECT_EQ(put(writer, 1, "key", value_).status, KV_OK);
}

}  // namespace
}  // namespace kvpool::node
