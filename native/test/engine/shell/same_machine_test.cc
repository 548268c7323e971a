// SPDX-License-Identifier: Apache-2.0
// Engines in two processes of this machine: bytes that no socket sees, and peers that end, come back, or are not who
// they say.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "engine/core/messages.h"
#include "engine/shell/hostile_dialer.h"
#include "engine/shell/other_process.h"

namespace kvpool::test {
namespace {

// The thread sanitizer ends a process that forks beside threads and starts others.
#ifndef __SANITIZE_THREAD__

constexpr uint64_t kMemoryBytes = uint64_t{32} << 20;

uint8_t memoryByte(uint64_t index, uint8_t seed) {
  return static_cast<uint8_t>(index * 31 + index / 251 + seed);
}

/// Another process with an engine, and memory that is registered there.
class OtherEngine {
 public:
  struct Wishes {
    uint16_t port = 0;  // 0: any
    uint8_t seed = 1;
    bool asAnotherUser = false;
    bool socketsOnly = false;
  };
  struct Facts {
    uint32_t port = 0;
    uint64_t memory = 0;
    uint64_t secret = 0;  // address of a page that is not registered
  };

  explicit OtherEngine(const Wishes& wishes) {
    int up[2];
    int down[2];
    EXPECT_EQ(::pipe(up), 0);
    EXPECT_EQ(::pipe(down), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(up[0]);
      ::close(down[1]);
      serve(wishes, down[0], up[1]);
    }
    ::close(up[1]);
    ::close(down[0]);
    answers_.reset(up[0]);
    questions_.reset(down[1]);
    EXPECT_EQ(::read(up[0], &facts_, sizeof facts_), static_cast<ssize_t>(sizeof facts_)) << "it did not begin";
  }
  OtherEngine() : OtherEngine(Wishes{}) {}
  ~OtherEngine() { kill(); }
  OtherEngine(const OtherEngine&) = delete;
  OtherEngine& operator=(const OtherEngine&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(facts_.port); }
  /// Whether the memory there has these bytes.
  [[nodiscard]] bool holds(uint8_t seed) const {
    uint8_t answer = 0;
    EXPECT_EQ(::write(questions_.get(), &seed, 1), 1);
    EXPECT_EQ(::read(answers_.get(), &answer, 1), 1);
    return answer == 1;
  }

 private:
  [[noreturn]] static void serve(const Wishes& wishes, int questions, int answers) {
    if (wishes.asAnotherUser && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
    const auto map = [](uint64_t length) {
      return static_cast<uint8_t*>(::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    };
    uint8_t* const memory = map(kMemoryBytes);
    uint8_t* const secret = map(4096);
    std::memset(secret, 's', 4096);
    for (uint64_t i = 0; i < kMemoryBytes; ++i)
      memory[i] = memoryByte(i, wishes.seed);
    kv_engine_params params{};
    params.struct_size = sizeof params;
    params.listen_host = "127.0.0.1";
    params.port_min = params.port_max = wishes.port;
    params.sockets_only = wishes.socketsOnly ? 1 : 0;
    kv_engine* engine = nullptr;
    char err[512] = "";
    if (kv_engine_create(&params, &engine, err, sizeof err) != KV_OK) ::_exit(2);
    const kv_region region{reinterpret_cast<uintptr_t>(memory), kMemoryBytes};
    if (kv_engine_register(engine, &region, 1, nullptr) != KV_OK) ::_exit(3);
    kv_engine_stats stats{};
    stats.struct_size = sizeof stats;
    kv_engine_get_stats(engine, &stats);
    const Facts facts{stats.listen_port, region.address, reinterpret_cast<uintptr_t>(secret)};
    if (::write(answers, &facts, sizeof facts) != static_cast<ssize_t>(sizeof facts)) ::_exit(4);
    uint8_t seed = 0;
    while (::read(questions, &seed, 1) == 1) {
      uint8_t same = 1;
      for (uint64_t i = 0; i < kMemoryBytes && same == 1; ++i)
        same = memory[i] == memoryByte(i, seed) ? 1 : 0;
      if (::write(answers, &same, 1) != 1) break;
    }
    ::_exit(0);
  }

  pid_t pid_ = 0;
  Facts facts_;
  Fd answers_;
  Fd questions_;
};

Buffer filled(uint8_t seed) {
  Buffer memory(kMemoryBytes);
  for (uint64_t i = 0; i < kMemoryBytes; ++i)
    memory[i] = memoryByte(i, seed);
  return memory;
}

std::string transportsOf(const TestEngine& engine) {
  char text[1024] = "";
  EXPECT_EQ(kv_engine_transports(engine.get(), text, sizeof text), KV_OK);
  return text;
}

TEST(SameMachine, BytesGoFromMemoryToMemory) {
  OtherEngine there;
  Buffer got(kMemoryBytes);
  TestEngine here;
  ASSERT_EQ(here.read(there.address(), got, there.facts().memory), KV_OK) << here.explain();
  EXPECT_EQ(got, filled(1));
  EXPECT_EQ(here.stats().same_machine_bytes, kMemoryBytes) << transportsOf(here);
  Buffer sent = filled(9);
  ASSERT_EQ(here.write(there.address(), sent, there.facts().memory), KV_OK) << here.explain();
  EXPECT_TRUE(there.holds(9));
  EXPECT_EQ(here.stats().same_machine_bytes, 2 * kMemoryBytes) << transportsOf(here);
  EXPECT_EQ(here.stats().same_machine_refusals, 0U);
  EXPECT_EQ(here.one(KV_TRANSFER_READ, there.address(), got, there.facts().secret), KV_NOT_REGISTERED);
}

TEST(SameMachine, EitherSideMaySwitchItOff) {
  OtherEngine off({0, 1, false, true});
  OtherEngine on;
  Buffer got(kMemoryBytes);
  TestEngine here;
  ASSERT_EQ(here.read(off.address(), got, off.facts().memory), KV_OK) << here.explain();
  EXPECT_EQ(got, filled(1));
  EXPECT_EQ(here.stats().same_machine_bytes, 0U);
  kv_engine_params params{};
  params.sockets_only = 1;
  TestEngine plain(params);
  ASSERT_EQ(plain.read(on.address(), got, on.facts().memory), KV_OK) << plain.explain();
  EXPECT_EQ(plain.stats().same_machine_bytes, 0U);
  EXPECT_EQ(here.stats().same_machine_refusals + plain.stats().same_machine_refusals, 0U);
  EXPECT_NE(transportsOf(plain).find("peers on this machine: by tcp too"), std::string::npos) << transportsOf(plain);
}

TEST(SameMachine, AProcessOfAnotherUserIsReachedByTcp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  OtherEngine there({0, 1, true, false});
  Buffer got(kMemoryBytes);
  TestEngine here;
  ASSERT_EQ(here.read(there.address(), got, there.facts().memory), KV_OK) << here.explain();
  EXPECT_EQ(got, filled(1));
  Buffer sent = filled(9);
  ASSERT_EQ(here.write(there.address(), sent, there.facts().memory), KV_OK) << here.explain();
  EXPECT_TRUE(there.holds(9));
  EXPECT_EQ(here.stats().same_machine_bytes, 0U);
  EXPECT_EQ(here.stats().same_machine_refusals, 2U) << "once for each direction";
  EXPECT_NE(transportsOf(here).find("by tcp the latest that could not: " + there.address()), std::string::npos)
      << transportsOf(here);
}

TEST(SameMachine, APeerThatIsKilledInTheMiddleEndsTheTransfer) {
  for (const int32_t op : {KV_TRANSFER_READ, KV_TRANSFER_WRITE}) {
    OtherEngine there;
    Buffer local = filled(3);
    TestEngine here;
    const std::string peer = there.address();
    std::vector<kv_transfer> lines(64,
                                   {peer.c_str(), local.data(), there.facts().memory, kMemoryBytes, KV_INTERNAL, 0});
    uint64_t batch = 0;
    ASSERT_EQ(kv_engine_submit(here.get(), op, lines.data(), static_cast<uint32_t>(lines.size()), nullptr, &batch),
              KV_OK);
    while (here.stats().same_machine_bytes == 0 && here.stats().batches == 0)
      std::this_thread::yield();
    there.kill();
    ASSERT_EQ(kv_engine_wait(here.get(), batch, 60000), KV_OK);
    EXPECT_NE(lines.back().status, KV_OK);
    EXPECT_EQ(here.stats().same_machine_refusals, 0U) << "a peer that ended is no refusal";
  }
}

TEST(SameMachine, ANewProcessAtThePortIsMetLikeTheFirst) {
  std::optional<OtherEngine> there(std::in_place);
  Buffer got(kMemoryBytes);
  TestEngine here;
  const std::string peer = there->address();
  ASSERT_EQ(here.read(peer, got, there->facts().memory), KV_OK) << here.explain();
  const auto port = static_cast<uint16_t>(there->facts().port);
  there.reset();
  there.emplace(OtherEngine::Wishes{port, 77, false, false});
  ASSERT_EQ(here.read(peer, got, there->facts().memory), KV_OK) << here.explain();
  EXPECT_EQ(got, filled(77));
  EXPECT_EQ(here.stats().same_machine_bytes, 2 * kMemoryBytes);
  EXPECT_EQ(here.stats().same_machine_refusals, 0U);
}

/// One that names another process, and has had that one show what is asked for: what a peer may write there it can.
TEST(SameMachine, AProcessThatIsNotAtTheOtherEndIsNotRead) {
  OtherEngine other;
  Buffer memory(4096);
  TestEngine victim;
  ASSERT_EQ(victim.add(memory), KV_OK);
  for (uint32_t descriptor = 0; descriptor < 16; ++descriptor) {
    Peer peer = dial(victim);
    sayHello(peer);
    engine::NeighborClaim claim;
    claim.process = engine::ownProcess();
    claim.process.pid = static_cast<uint32_t>(other.pid());
    claim.descriptor = descriptor;
    claim.proof = other.facts().memory;
    peer.send(engine::neighborFrame(claim));
    const engine::NeighborClaim answer = engine::readNeighbor(*peer.receive());
    ASSERT_EQ(answer.process.pid, static_cast<uint32_t>(::getpid()));
    {
      Buffer planted(24);
      std::memcpy(planted.data(), answer.challenge.data(), sizeof answer.challenge);
      TestEngine accomplice;
      ASSERT_EQ(accomplice.write(other.address(), planted, other.facts().memory), KV_OK) << accomplice.explain();
    }
    const engine::Region region = onlyRegion(peer);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
    const kv_piece secret{reinterpret_cast<void*>(static_cast<uintptr_t>(other.facts().secret)), 64};
    peer.send(engine::pullFrame(5, std::vector<engine::RemotePiece>{{region.id, region.base, 64}}, {&secret, 1}));
    EXPECT_EQ(engine::readReply(*peer.receive()).status, KV_UNAVAILABLE) << descriptor;
  }
  EXPECT_EQ(victim.remove(memory), KV_OK);
  EXPECT_EQ(memory, Buffer(4096)) << "nothing of the other process is here";
  EXPECT_EQ(victim.stats().same_machine_refusals, 16U);
}

#endif  // __SANITIZE_THREAD__

/// The application there changes its memory only while it is not registered.
TEST(SameMachine, AReadNeverHasBytesOfTwoRegistrations) {
  Buffer memory(size_t{8} << 20);
  Buffer got(memory.size());
  TestEngine here;
  TestEngine there;
  ASSERT_EQ(there.add(memory), KV_OK);
  std::atomic<bool> over = false;
  std::thread application([&] {
    for (uint8_t value = 1; !over; ++value) {
      EXPECT_EQ(there.remove(memory), KV_OK);
      std::memset(memory.data(), value, memory.size());
      EXPECT_EQ(there.add(memory), KV_OK);
      std::this_thread::sleep_for(std::chrono::milliseconds(value % 16));
    }
  });
  // The application's fill takes its time, under a sanitizer most of all: not tries alone are counted.
  int whole = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int i = 0; (i < 400 || whole < 10) && std::chrono::steady_clock::now() < end; ++i) {
    const int32_t status = here.read(there.address(), got, TestEngine::addressOf(memory));
    if (status != KV_OK) continue;
    ++whole;
    const bool uniform = std::all_of(got.begin(), got.end(), [&](uint8_t byte) { return byte == got[0]; });
    EXPECT_TRUE(uniform);
    if (!uniform) break;
  }
  over = true;
  application.join();
  EXPECT_GE(whole, 10) << here.explain();
  EXPECT_GT(here.stats().same_machine_requests, 0U);
}

/// One that is at the other end, and does not show what it is asked for.
TEST(SameMachine, AProcessThatDoesNotShowTheChallengeIsNotRead) {
  Buffer memory(4096);
  Buffer own(4096, 'x');
  TestEngine victim;
  ASSERT_EQ(victim.add(memory), KV_OK);
  Peer peer = dial(victim);
  sayHello(peer);
  engine::NeighborClaim claim;
  claim.process = engine::ownProcess();
  claim.descriptor = static_cast<uint32_t>(peer.fd());
  claim.proof = TestEngine::addressOf(own);
  peer.send(engine::neighborFrame(claim));
  const engine::NeighborClaim answer = engine::readNeighbor(*peer.receive());
  const engine::Region region = onlyRegion(peer);
  const kv_piece source{own.data() + 1024, 64};
  const auto pull = [&](uint64_t id) {
    peer.send(engine::pullFrame(id, std::vector<engine::RemotePiece>{{region.id, region.base, 64}}, {&source, 1}));
    return engine::readReply(*peer.receive()).status;
  };
  EXPECT_EQ(pull(5), KV_UNAVAILABLE);
  EXPECT_EQ(memory, Buffer(4096));
  std::memcpy(own.data(), answer.challenge.data(), sizeof answer.challenge);
  std::memset(own.data() + sizeof answer.challenge, 0, 8);
  EXPECT_EQ(pull(6), KV_OK);
  EXPECT_EQ(memory[63], 'x');
}

}  // namespace
}  // namespace kvpool::test
