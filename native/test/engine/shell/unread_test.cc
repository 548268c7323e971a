// SPDX-License-Identifier: Apache-2.0
// Peers that ask and never read: what waits for them is bounded, and so is the time.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "engine/core/limits.h"
#include "engine/shell/hostile_dialer.h"

namespace kvpool::test {
namespace {

using namespace engine;

/// Memory of this process that is there, in bytes.
uint64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Sends until the other side takes no more for a while, or ends the connection; how many frames went out whole.
size_t flood(const Peer& peer, const wire::Bytes& frame, size_t frames) {
  for (size_t i = 0; i < frames; ++i) {
    for (size_t sent = 0; sent < frame.size();) {
      pollfd writable{peer.fd(), POLLOUT, 0};
      if (::poll(&writable, 1, 300) <= 0) return i;
      const ssize_t count = ::send(peer.fd(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN) return i;
      sent += count < 0 ? 0 : static_cast<size_t>(count);
    }
  }
  return frames;
}

/// Answers to descriptions are made, unlike payloads: 16384 regions are half a megabyte each time.
TEST(HostileDialer, AsksForeverForDescriptionsAndReadsNothing) {
  Buffer memory(size_t{KV_ENGINE_REGIONS_MAX} * 2);
  std::vector<kv_region> regions;
  for (size_t i = 0; i < KV_ENGINE_REGIONS_MAX; ++i)
    regions.push_back({TestEngine::addressOf(memory) + 2 * i, 1});
  kv_engine_params params{};
  params.transfer_timeout_ms = 1000;
  TestEngine engine(params);
  ASSERT_EQ(kv_engine_register(engine.get(), regions.data(), KV_ENGINE_REGIONS_MAX, nullptr), KV_OK);
  const uint64_t before = residentBytes();
  Peer peer = dial(engine);
  sayHello(peer);
  flood(peer, describeFrame(1), 1'000'000);
  // A million answers would be 500 GB. The thread sanitizer keeps several bytes of its own for each one of these.
  EXPECT_LT(residentBytes() - before, 16 * kUnsentBytesMax);
  for (int i = 0; i < 100 && engine.stats().clients_connected > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(engine.stats().clients_connected, 0u) << "output that is not taken is a stall, not an idle connection";
}

TEST(HostileDialer, AsksForeverAndReadsNothing) {
  Buffer memory(4 << 20);
  TestEngine engine;
  ASSERT_EQ(engine.add(memory), KV_OK);
  Peer peer = dial(engine);
  sayHello(peer);
  const Region region = onlyRegion(peer);
  const auto all = static_cast<uint32_t>(memory.size());
  const uint64_t before = residentBytes();
  // More answers than any socket buffers: the engine stops reading from this peer instead of queueing them.
  for (uint64_t i = 0; i < 1000; ++i)
    peer.send(readFrame(i, std::vector<RemotePiece>{{region.id, region.base, all}}));
  Buffer local = pattern(4096, 1);
  TestEngine friendly;
  EXPECT_EQ(friendly.write(engine.address(), local, region.base), KV_OK) << friendly.explain();
  EXPECT_LE(engine.stats().served_reads, 2 * kRepliesUnsent);
  EXPECT_LT(residentBytes() - before, 4 * kUnsentBytesMax);
}

}  // namespace
}  // namespace kvpool::test
