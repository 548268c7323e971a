// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "engine/shell/engine_fixture.h"

// Memory stands before the engines in each test, as it outlives them.

namespace kvpool::test {
namespace {

uint64_t at(const Buffer& memory, uint64_t offset = 0) {
  return TestEngine::addressOf(memory) + offset;
}

TEST(Transfer, WritesAndReadsWhatIsRegistered) {
  TestEngine here;
  TestEngine there;
  for (const size_t size : {size_t{1}, size_t{4096}, size_t{1} << 20, (size_t{9} << 20) + 17}) {
    Buffer remote(size + 100);
    ASSERT_EQ(there.add(remote), KV_OK);
    Buffer sent = pattern(size, 1);
    ASSERT_EQ(here.write(there.address(), sent, at(remote, 50)), KV_OK) << here.explain();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), remote.begin() + 50));
    EXPECT_EQ(remote[49], 0);
    EXPECT_EQ(remote[50 + size], 0);
    Buffer got(size);
    ASSERT_EQ(here.read(there.address(), got, at(remote, 50)), KV_OK) << here.explain();
    EXPECT_EQ(got, sent);
    ASSERT_EQ(there.remove(remote), KV_OK);
  }
  EXPECT_EQ(there.stats().served_write_bytes, there.stats().served_read_bytes);
  EXPECT_EQ(here.stats().write_bytes, there.stats().served_write_bytes);
  EXPECT_EQ(here.stats().batches, 8u);
}

TEST(Transfer, ManyPiecesTravelTogether) {
  Buffer remote(32 * 65536);
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(remote), KV_OK);
  Buffer local = pattern(remote.size(), 9);
  const std::string peer = there.address();
  std::vector<kv_transfer> lines;
  for (size_t i = 0; i < 32; ++i)
    lines.push_back({peer.c_str(), local.data() + i * 65536, at(remote, (31 - i) * 65536), 65536, KV_INTERNAL, 0});
  here.run(KV_TRANSFER_WRITE, lines);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(lines[i].status, KV_OK);
    EXPECT_EQ(std::memcmp(local.data() + i * 65536, remote.data() + (31 - i) * 65536, 65536), 0) << i;
  }
  EXPECT_EQ(there.stats().served_writes, 1u) << "one request for all of them";
}

TEST(Transfer, OneBatchMayGoToManyPeers) {
  std::vector<Buffer> memories;
  TestEngine here;
  std::vector<std::unique_ptr<TestEngine>> peers;
  std::vector<std::string> addresses;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(std::make_unique<TestEngine>());
    memories.emplace_back(100000);
    ASSERT_EQ(peers.back()->add(memories.back()), KV_OK);
    addresses.push_back(peers.back()->address());
  }
  Buffer local = pattern(100000, 3);
  std::vector<kv_transfer> lines;
  for (size_t i = 0; i < 4; ++i)
    lines.push_back({addresses[i].c_str(), local.data(), at(memories[i]), local.size(), KV_INTERNAL, 0});
  const std::string nobody = "127.0.0.1:1";
  lines.push_back({nobody.c_str(), local.data(), at(memories[0]), 1, KV_INTERNAL, 0});
  lines.push_back({"no address", local.data(), at(memories[0]), 1, KV_INTERNAL, 0});
  here.run(KV_TRANSFER_WRITE, lines);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(lines[i].status, KV_OK);
    EXPECT_EQ(memories[i], local);
  }
  EXPECT_EQ(lines[4].status, KV_CONNECT_FAILED) << "each line has its own answer";
  EXPECT_EQ(lines[5].status, KV_INVALID_ARGUMENT);
}

TEST(Transfer, MemoryThatCannotBeReadIsRefusedAlsoWhenItIsUsedNevertheless) {
  constexpr uint64_t kBytes = 1 << 20;
  void* const device = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(device, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(device);
  TestEngine here;
  TestEngine there;
  Buffer memory = pattern(kBytes, 5);
  ASSERT_EQ(there.add(memory), KV_OK);
  const kv_region both[] = {{at(memory), 4096}, {address + 4096, 4096}};
  EXPECT_EQ(kv_engine_register(here.get(), both, 2, nullptr), KV_INVALID_ARGUMENT);
  EXPECT_NE(here.explain().find("not that of an accelerator"), std::string::npos) << here.explain();
  EXPECT_EQ(here.stats().regions, 0u) << "all or none";
  const std::string peer = there.address();
  uint64_t batch = 0;
  for (const uint64_t touched : {address + 4095, address + 8191}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    kv_transfer line{peer.c_str(), reinterpret_cast<void*>(touched), at(memory), 2, KV_INTERNAL, 0};
    EXPECT_EQ(kv_engine_submit(here.get(), KV_TRANSFER_WRITE, &line, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
    EXPECT_NE(here.explain().find("could not be registered"), std::string::npos) << here.explain();
  }
  ASSERT_EQ(::mprotect(device, kBytes, PROT_READ | PROT_WRITE), 0);
  const kv_region whole{address, kBytes};
  ASSERT_EQ(kv_engine_register(here.get(), &whole, 1, nullptr), KV_OK);
  std::vector<kv_transfer> lines{{peer.c_str(), device, at(memory), kBytes, KV_INTERNAL, 0}};
  here.run(KV_TRANSFER_READ, lines);
  EXPECT_EQ(lines[0].status, KV_OK);
  EXPECT_EQ(std::memcmp(device, memory.data(), kBytes), 0);
  EXPECT_EQ(kv_engine_unregister(here.get(), &whole, 1), KV_OK);
  ::munmap(device, kBytes);
}

TEST(Transfer, AddressesOutsideOfRegionsAreRefusedAndNothingIsTouched) {
  Buffer memory(3 * 4096);
  TestEngine here;
  TestEngine there;
  const kv_region middle{at(memory, 4096), 4096};
  ASSERT_EQ(kv_engine_register(there.get(), &middle, 1, "cpu:0"), KV_OK);
  Buffer local = pattern(4096, 1);
  for (const uint64_t wrong : {at(memory), at(memory, 4095), at(memory, 4097), at(memory, 8192), uint64_t{8}}) {
    EXPECT_EQ(here.write(there.address(), local, wrong), KV_NOT_REGISTERED) << wrong;
    EXPECT_EQ(here.read(there.address(), local, wrong), KV_NOT_REGISTERED) << wrong;
  }
  EXPECT_NE(here.explain().find("no region registered at"), std::string::npos) << here.explain();
  EXPECT_EQ(memory, Buffer(memory.size()));
  // In one batch the good lines are done all the same.
  const std::string peer = there.address();
  std::vector<kv_transfer> lines{{peer.c_str(), local.data(), at(memory), 4096, KV_INTERNAL, 0},
                                 {peer.c_str(), local.data(), at(memory, 4096), 4096, KV_INTERNAL, 0}};
  here.run(KV_TRANSFER_WRITE, lines);
  EXPECT_EQ(lines[0].status, KV_NOT_REGISTERED);
  EXPECT_EQ(lines[1].status, KV_OK);
}

TEST(Transfer, LengthsOfNothingAndOfEverything) {
  Buffer memory(4096);
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(memory), KV_OK);
  const std::string peer = there.address();
  Buffer local(4096);
  std::vector<kv_transfer> lines{
      {peer.c_str(), nullptr, 0, 0, KV_INTERNAL, 0},
      {peer.c_str(), local.data(), at(memory), uint64_t{1} << 62, KV_INTERNAL, 0},
      {peer.c_str(), local.data(), at(memory), UINT64_MAX, KV_INTERNAL, 0},
      {peer.c_str(), nullptr, at(memory), 1, KV_INTERNAL, 0},
      {nullptr, local.data(), at(memory), 1, KV_INTERNAL, 0},
  };
  here.run(KV_TRANSFER_WRITE, lines);
  EXPECT_EQ(lines[0].status, KV_OK);
  EXPECT_EQ(lines[1].status, KV_NOT_REGISTERED);
  EXPECT_EQ(lines[2].status, KV_INVALID_ARGUMENT);
  EXPECT_EQ(lines[3].status, KV_INVALID_ARGUMENT);
  EXPECT_EQ(lines[4].status, KV_INVALID_ARGUMENT);
  std::vector<kv_transfer> none;
  here.run(KV_TRANSFER_READ, none);
}

TEST(Transfer, MemoryRegisteredAfterTheFirstTransferIsFound) {
  Buffer first(4096);
  Buffer second(4096);
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(first), KV_OK);
  Buffer local = pattern(4096, 2);
  ASSERT_EQ(here.write(there.address(), local, at(first)), KV_OK);
  EXPECT_EQ(here.write(there.address(), local, at(second)), KV_NOT_REGISTERED);
  ASSERT_EQ(there.add(second), KV_OK);
  EXPECT_EQ(here.write(there.address(), local, at(second)), KV_OK) << here.explain();
  EXPECT_EQ(second, local);
  // Registered anew: what is known of the peer names the old registration, so this takes the second attempt.
  ASSERT_EQ(there.remove(first), KV_OK);
  ASSERT_EQ(there.add(first), KV_OK);
  Buffer other = pattern(4096, 77);
  EXPECT_EQ(here.write(there.address(), other, at(first)), KV_OK) << here.explain();
  EXPECT_EQ(first, other);
  EXPECT_EQ(here.stats().retries, 1u);
  EXPECT_EQ(here.stats().peers_connected, 1u);
}

TEST(Transfer, APeerThatStartedAnewIsFoundAgain) {
  kv_engine_params fixed{};
  Buffer memory(1 << 20);
  TestEngine here;
  auto there = std::make_unique<TestEngine>();
  const std::string peer = there->address();
  fixed.port_min = fixed.port_max = there->port();
  ASSERT_EQ(there->add(memory), KV_OK);
  Buffer local = pattern(1 << 20, 5);
  ASSERT_EQ(here.write(peer, local, at(memory)), KV_OK);
  there.reset();
  EXPECT_EQ(here.one(KV_TRANSFER_WRITE, peer, local, at(memory), 30000), KV_CONNECT_FAILED)
      << "long before its deadline";
  EXPECT_NE(here.explain().find("cannot reach the transfer engine at " + peer), std::string::npos) << here.explain();
  std::vector<kv_transfer> probe{{peer.c_str(), nullptr, 0, 0, KV_INTERNAL, 0}};
  here.run(KV_TRANSFER_PROBE, probe);
  EXPECT_EQ(probe[0].status, KV_CONNECT_FAILED) << "nobody is there now";
  here.run(KV_TRANSFER_CONNECT, probe);
  EXPECT_EQ(probe[0].status, KV_CONNECT_FAILED);
  there = std::make_unique<TestEngine>(fixed);
  ASSERT_EQ(there->add(memory), KV_OK);
  Buffer other = pattern(1 << 20, 6);
  EXPECT_EQ(here.write(peer, other, at(memory)), KV_OK) << here.explain();
  EXPECT_EQ(memory, other);
  EXPECT_EQ(here.stats().peer_restarts, 1u);
}

TEST(Transfer, NotificationsComeAfterTheBytes) {
  Buffer memory(1 << 20);
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(memory), KV_OK);
  Buffer local = pattern(1 << 20, 8);
  const std::string peer = there.address();
  char name[256];
  char message[KV_NOTIFY_BYTES_MAX];
  uint32_t length = 0;
  const auto next = [&](uint32_t nameSize, uint32_t messageSize) {
    return kv_engine_next_notify(there.get(), name, nameSize, message, messageSize, &length);
  };
  EXPECT_EQ(next(sizeof name, sizeof message), KV_NOT_FOUND);
  std::vector<kv_transfer> lines{{peer.c_str(), local.data(), at(memory), local.size(), KV_INTERNAL, 0}};
  here.run(KV_TRANSFER_WRITE, lines, 10000, "layer-7");
  ASSERT_EQ(lines[0].status, KV_OK) << here.explain();
  EXPECT_EQ(next(3, sizeof message), KV_BUFFER_TOO_SMALL);
  EXPECT_EQ(next(sizeof name, 1), KV_BUFFER_TOO_SMALL);
  ASSERT_EQ(next(sizeof name, sizeof message), KV_OK);
  EXPECT_STREQ(name, "layer-7");
  EXPECT_EQ(std::string(message, length), "done");
  EXPECT_EQ(next(sizeof name, sizeof message), KV_NOT_FOUND);
  lines[0].remote = 8;
  here.run(KV_TRANSFER_WRITE, lines, 10000, "never");
  EXPECT_EQ(lines[0].status, KV_NOT_REGISTERED);
  EXPECT_EQ(next(sizeof name, sizeof message), KV_NOT_FOUND) << "a batch that failed tells nothing";
}

TEST(Transfer, NotificationsThatNobodyTakesAreBounded) {
  TestEngine here;
  TestEngine there;
  const std::string peer = there.address();
  std::vector<kv_transfer> lines{{peer.c_str(), nullptr, 0, 0, KV_INTERNAL, 0}};
  for (int i = 0; i < KV_ENGINE_NOTIFIES_MAX; ++i) {
    here.run(KV_TRANSFER_WRITE, lines, 10000, "n");
    ASSERT_EQ(lines[0].status, KV_OK) << i;
  }
  here.run(KV_TRANSFER_WRITE, lines, 10000, "n");
  EXPECT_EQ(lines[0].status, KV_QUEUE_FULL);
  EXPECT_NE(here.explain().find("4096 notifications wait"), std::string::npos) << here.explain();
}

TEST(Transfer, DescribesAndProbesPeers) {
  Buffer one(100);
  Buffer two(200);
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(two), KV_OK);
  ASSERT_EQ(there.add(one), KV_OK);
  kv_region regions[2];
  uint32_t count = 0;
  const std::string peer = there.address();
  EXPECT_EQ(kv_engine_describe(here.get(), peer.c_str(), regions, 1, &count, 5000), KV_BUFFER_TOO_SMALL);
  EXPECT_EQ(count, 2u);
  ASSERT_EQ(kv_engine_describe(here.get(), peer.c_str(), regions, 2, &count, 5000), KV_OK);
  EXPECT_EQ(regions[0].address, at(two));
  EXPECT_EQ(regions[1].length, 100u);
  EXPECT_EQ(kv_engine_describe(here.get(), "127.0.0.1:1", regions, 2, &count, 5000), KV_CONNECT_FAILED);
  std::vector<kv_transfer> lines{{peer.c_str(), nullptr, 0, 0, KV_INTERNAL, 0},
                                 {"127.0.0.1:1", nullptr, 0, 0, KV_INTERNAL, 0}};
  here.run(KV_TRANSFER_PROBE, lines);
  EXPECT_EQ(lines[0].status, KV_OK);
  EXPECT_EQ(lines[1].status, KV_CONNECT_FAILED);
}

TEST(Transfer, AnEngineMayTransferToItself) {
  Buffer memory(5 << 20);
  TestEngine here;
  ASSERT_EQ(here.add(memory), KV_OK);
  Buffer local = pattern(5 << 20, 4);
  ASSERT_EQ(here.write(here.address(), local, at(memory)), KV_OK) << here.explain();
  EXPECT_EQ(memory, local);
}

TEST(Transfer, ManyThreadsAtOnceBothWays) {
  constexpr size_t kThreads = 4;
  constexpr size_t kSize = 300000;
  std::vector<Buffer> memory(2 * kThreads, Buffer(kSize));
  TestEngine a;
  TestEngine b;
  for (size_t i = 0; i < kThreads; ++i) {
    ASSERT_EQ(a.add(memory[i]), KV_OK);
    ASSERT_EQ(b.add(memory[kThreads + i]), KV_OK);
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2 * kThreads; ++i) {
    threads.emplace_back([&, i] {
      TestEngine& mine = i < kThreads ? b : a;
      TestEngine& other = i < kThreads ? a : b;
      for (uint8_t round = 0; round < 10; ++round) {
        Buffer sent = pattern(kSize, static_cast<uint8_t>(round + i * 16));
        EXPECT_EQ(mine.write(other.address(), sent, at(memory[i])), KV_OK) << mine.explain();
        Buffer got(kSize);
        EXPECT_EQ(mine.read(other.address(), got, at(memory[i])), KV_OK) << mine.explain();
        EXPECT_EQ(got, sent);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(Transfer, PeersAreServedWhileACallerWaitsForAnotherAndAfterHeLeft) {
  const Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  ASSERT_EQ(::bind(silent.get(), address, length), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);  // connections are made, and nobody answers
  ASSERT_EQ(::getsockname(silent.get(), address, &length), 0);
  const std::string nobody = "127.0.0.1:" + std::to_string(ntohs(place.sin_port));

  Buffer memory(4096);
  TestEngine waiting;
  TestEngine peer;
  ASSERT_EQ(waiting.add(memory), KV_OK);
  std::thread caller([&] {
    Buffer local(16);
    EXPECT_NE(waiting.one(KV_TRANSFER_WRITE, nobody, local, 0, 500), KV_OK);
  });
  // For as long as he waits, and then by the engine's own thread.
  for (int round = 0; round < 100; ++round) {
    Buffer sent = pattern(4096, static_cast<uint8_t>(round));
    ASSERT_EQ(peer.write(waiting.address(), sent, at(memory)), KV_OK) << peer.explain();
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
  }
  caller.join();
}

TEST(Transfer, UnregisteringCutsWhatGoesOnThere) {
  TestEngine here;
  TestEngine there;
  const std::string peer = there.address();
  for (int round = 0; round < 20; ++round) {
    auto memory = std::make_unique<Buffer>(16 << 20);
    ASSERT_EQ(there.add(*memory), KV_OK);
    Buffer local = pattern(16 << 20, 1);
    const int32_t op = round % 2 == 0 ? KV_TRANSFER_WRITE : KV_TRANSFER_READ;
    std::thread transfer([&, remote = at(*memory)] {
      const int32_t status = here.one(op, peer, local, remote);
      // The connection's end, where learning the new region took the second attempt already.
      const bool expected = status == KV_OK || status == KV_NOT_REGISTERED || status == KV_TRANSFER_FAILED;
      EXPECT_TRUE(expected) << status << " " << here.explain();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
    ASSERT_EQ(there.remove(*memory), KV_OK);
    memory.reset();  // whoever still touches it ends this process
    transfer.join();
  }
}

}  // namespace
}  // namespace kvpool::test
