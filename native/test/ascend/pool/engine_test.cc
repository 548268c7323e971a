// SPDX-License-Identifier: Apache-2.0
// Transfer engines whose transfers CANN makes, which is the fake of test/ascend/fake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ascend/fake_cann.h"
#include "ascend/pool/npu_memory.h"
#include "kvpool/engine.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr size_t kBytes = 65536;

/// An engine with memory of the host as ACL gives it.
class AscendEngine {
 public:
  AscendEngine() {
    void* memory = nullptr;
    EXPECT_EQ(ascend::runtime().acl.mallocHost(&memory, kBytes), ascend::kAclOk);
    memory_ = static_cast<uint8_t*>(memory);
    kv_engine_params params{};
    params.struct_size = sizeof params;
    params.protocols = "ascend";
    params.listen_host = "127.0.0.1";
    char err[2048] = "";
    EXPECT_EQ(kv_engine_create(&params, &engine_, err, sizeof err), KV_OK) << err;
    add(memory_);
  }
  ~AscendEngine() {
    kv_engine_destroy(engine_);
    EXPECT_EQ(ascend::runtime().acl.freeHost(memory_), ascend::kAclOk);
  }
  AscendEngine(const AscendEngine&) = delete;
  AscendEngine& operator=(const AscendEngine&) = delete;

  [[nodiscard]] uint8_t* memory() const { return memory_; }
  [[nodiscard]] kv_engine_stats stats() const {
    kv_engine_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(kv_engine_get_stats(engine_, &stats), KV_OK);
    return stats;
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(stats().listen_port); }
  void add(uint8_t* memory) {
    const kv_region region{reinterpret_cast<uintptr_t>(memory), kBytes};
    EXPECT_EQ(kv_engine_register(engine_, &region, 1, nullptr), KV_OK) << explanation();
  }
  int32_t registers(const kv_region& region) { return kv_engine_register(engine_, &region, 1, nullptr); }
  void remove(uint8_t* memory) {
    const kv_region region{reinterpret_cast<uintptr_t>(memory), kBytes};
    EXPECT_EQ(kv_engine_unregister(engine_, &region, 1), KV_OK);
  }
  void run(kv_transfer_op op, std::vector<kv_transfer>& lines) {
    uint64_t batch = 0;
    EXPECT_EQ(kv_engine_submit(engine_, op, lines.data(), static_cast<uint32_t>(lines.size()), nullptr, &batch), KV_OK);
    EXPECT_EQ(kv_engine_wait(engine_, batch, 60000), KV_OK);
  }
  int32_t move(kv_transfer_op op, const std::string& peer, uint8_t* local, const uint8_t* remote) {
    std::vector<kv_transfer> lines{lineTo(peer, local, remote)};
    run(op, lines);
    return lines[0].status;
  }
  int32_t writeTo(const AscendEngine& peer) { return move(KV_TRANSFER_WRITE, peer.address(), memory_, peer.memory_); }
  static kv_transfer lineTo(const std::string& peer, uint8_t* local, const uint8_t* remote) {
    return {peer.c_str(), local, reinterpret_cast<uintptr_t>(remote), kBytes, KV_INTERNAL, 0};
  }
  [[nodiscard]] std::string explanation() const {
    std::string text(1024, '\0');
    EXPECT_EQ(kv_engine_explain(engine_, text.data(), static_cast<uint32_t>(text.size())), KV_OK);
    return text.c_str();
  }

 private:
  uint8_t* memory_ = nullptr;
  kv_engine* engine_ = nullptr;
};

TEST(AscendEngines, SayWhatCannDoesAndLetTheChannelOfAPeerThatEndsGo) {
  (void)ascend::runtime();
  ascend::functionOf<void (*)()>("fake_ascend_reset")();
  const ascend::Device device;
  AscendEngine here;
  std::optional<AscendEngine> there(std::in_place);
  EXPECT_EQ(here.stats().ascend_channels, 0U);
  for (const int fill : {1, 2}) {
    std::memset(here.memory(), fill, kBytes);
    ASSERT_EQ(here.writeTo(*there), KV_OK);
    EXPECT_EQ(there->memory()[kBytes - 1], fill);
  }
  kv_engine_stats stats = here.stats();
  EXPECT_EQ(stats.ascend_transfers, 2U);
  EXPECT_GT(stats.ascend_transfer_us, 0U);
  EXPECT_EQ(stats.ascend_transfers_in_100us + stats.ascend_transfers_in_1ms + stats.ascend_transfers_in_10ms +
                stats.ascend_transfers_in_100ms + stats.ascend_transfers_in_1s + stats.ascend_transfers_longer,
            2U);
  EXPECT_EQ(stats.ascend_connects, 1U);
  EXPECT_EQ(stats.ascend_channels, 1U);
  EXPECT_EQ(stats.ascend_channels_max, 128U);
  EXPECT_EQ(stats.ascend_transfer_failures + stats.ascend_disconnects + stats.ascend_channels_kept, 0U);
  there.reset();
  EXPECT_TRUE(eventually([&] {
    stats = here.stats();
    // Where the peer's engine of CANN is gone already, it cannot be told of the end, and CANN keeps the channel.
    return stats.ascend_disconnects >= 1 && stats.ascend_channels == stats.ascend_channels_kept;
  }));
}

class AscendEngineTest : public testing::Test {
 protected:
  AscendEngineTest() {
    (void)ascend::runtime();
    ascend::functionOf<void (*)()>("fake_ascend_reset")();
    device_.emplace();
  }
  static std::string bytes(const uint8_t* memory) { return {reinterpret_cast<const char*>(memory), kBytes}; }

  std::optional<ascend::Device> device_;
};

TEST_F(AscendEngineTest, WhatGoesToItsOwnMemoryIsCopiedWithoutAChannel) {
  const NpuMemory first(pattern(1, kBytes));
  const NpuMemory second(pattern(2, kBytes));
  AscendEngine engine;
  // CANN registers memory of the host that is not ACL's from such an address on.
  const std::unique_ptr<uint8_t, decltype(&std::free)> host(static_cast<uint8_t*>(std::aligned_alloc(65536, kBytes)),
                                                            &std::free);
  for (uint8_t* memory : {first.at(), second.at(), host.get()})
    engine.add(memory);
  const std::string here = engine.address();

  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, here, first.at(), host.get()), KV_OK) << engine.explanation();
  EXPECT_TRUE(bytes(host.get()) == pattern(1, kBytes)) << "NPU to host";
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, here, host.get(), engine.memory()), KV_OK) << engine.explanation();
  EXPECT_TRUE(bytes(engine.memory()) == pattern(1, kBytes)) << "host to host";
  EXPECT_EQ(engine.move(KV_TRANSFER_READ, here, host.get(), second.at()), KV_OK) << engine.explanation();
  EXPECT_TRUE(bytes(host.get()) == pattern(2, kBytes)) << "NPU to host, as a read";
  EXPECT_EQ(engine.move(KV_TRANSFER_READ, here, second.at(), engine.memory()), KV_OK) << engine.explanation();
  EXPECT_TRUE(second.bytes() == pattern(1, kBytes)) << "host to NPU, as a read";
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, here, host.get(), first.at()), KV_OK) << engine.explanation();
  EXPECT_TRUE(first.bytes() == pattern(2, kBytes)) << "host to NPU";
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, here, first.at(), second.at()), KV_OK) << engine.explanation();
  EXPECT_TRUE(second.bytes() == pattern(2, kBytes)) << "within the NPU";

  EXPECT_EQ(ascend::calls("Connect"), 0U);
  EXPECT_EQ(ascend::calls("TransferSync"), 0U);
  for (uint8_t* memory : {first.at(), second.at(), host.get()})
    engine.remove(memory);
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, here, engine.memory(), host.get()), KV_NOT_REGISTERED);
}

TEST_F(AscendEngineTest, WithABufferPoolBytesMoveAndABatchIsOfOneKindOfMemory) {
  const Environment buffers("ASCEND_BUFFER_POOL", "4:8");
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine here;
  AscendEngine there;
  here.add(npu.at());
  EXPECT_EQ(here.move(KV_TRANSFER_WRITE, there.address(), npu.at(), there.memory()), KV_OK) << here.explanation();
  EXPECT_TRUE(bytes(there.memory()) == pattern(1, kBytes));
  EXPECT_EQ(here.move(KV_TRANSFER_READ, there.address(), here.memory(), there.memory()), KV_OK) << here.explanation();
  EXPECT_TRUE(bytes(here.memory()) == pattern(1, kBytes));
  const std::string peer = there.address();
  std::vector<kv_transfer> lines{AscendEngine::lineTo(peer, npu.at(), there.memory()),
                                 AscendEngine::lineTo(peer, here.memory(), there.memory())};
  here.run(KV_TRANSFER_WRITE, lines);
  for (const kv_transfer& line : lines)
    EXPECT_EQ(line.status, KV_TRANSFER_FAILED);
  EXPECT_NE(here.explanation().find("103900 (invalid parameter)"), std::string::npos) << here.explanation();
  here.remove(npu.at());
}

TEST_F(AscendEngineTest, ACopyWithinItThatFailsSaysWhy) {
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine engine;
  engine.add(npu.at());
  ascend::control("fail aclrtMemcpyBatchAsync * 507000\nfail aclrtMemcpyAsync * 507000");
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, engine.address(), npu.at(), engine.memory()), KV_TRANSFER_FAILED);
  EXPECT_NE(engine.explanation().find("bytes from an NPU to the host: aclrtMemcpyAsync: ACL error 507000"),
            std::string::npos)
      << engine.explanation();
  ascend::control("");
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, engine.address(), npu.at(), engine.memory()), KV_OK);
  engine.remove(npu.at());
}

TEST_F(AscendEngineTest, ACopyWithinItThatHangsEndsWithItsTime) {
  const Environment timeout("ASCEND_TRANSFER_TIMEOUT", "1000");
  const NpuMemory npu(pattern(1, kBytes));
  const std::unique_ptr<uint8_t, decltype(&std::free)> host(static_cast<uint8_t*>(std::aligned_alloc(65536, kBytes)),
                                                            &std::free);
  std::memset(host.get(), 7, kBytes);
  AscendEngine engine;
  engine.add(npu.at());
  engine.add(host.get());
  for (const bool toHost : {true, false}) {
    ascend::control("hang stream *");
    EXPECT_EQ(engine.move(toHost ? KV_TRANSFER_WRITE : KV_TRANSFER_READ, engine.address(), npu.at(), host.get()),
              KV_TIMEOUT);
    EXPECT_NE(engine.explanation().find("not done within"), std::string::npos) << engine.explanation();
    ascend::control("");
  }
  EXPECT_TRUE(npu.bytes() == pattern(1, kBytes));
  EXPECT_TRUE(eventually([&] {
    return engine.move(KV_TRANSFER_WRITE, engine.address(), npu.at(), host.get()) == KV_OK;
  })) << engine.explanation();
  engine.remove(host.get());
  engine.remove(npu.at());
}

TEST_F(AscendEngineTest, ACopyWithinItThatCannotBeAbortedLeavesMemoryOfTheHostAlone) {
  const Environment timeout("ASCEND_TRANSFER_TIMEOUT", "200");
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine engine;
  engine.add(npu.at());
  std::memset(engine.memory(), 7, kBytes);
  ascend::control("hang stream *\nfail aclrtStreamAbort * 507000");
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, engine.address(), npu.at(), engine.memory()), KV_TIMEOUT);
  EXPECT_NE(engine.explanation().find("its stream may still copy"), std::string::npos) << engine.explanation();
  EXPECT_EQ(engine.move(KV_TRANSFER_WRITE, engine.address(), npu.at(), engine.memory()), KV_TIMEOUT) << "none begins";
  ascend::control("");
  EXPECT_TRUE(eventually([&] {
    return engine.move(KV_TRANSFER_READ, engine.address(), npu.at(), engine.memory()) == KV_OK;
  })) << engine.explanation();
  EXPECT_TRUE(npu.bytes() == std::string(kBytes, 7)) << "what the hung copy wrote is not in the caller's memory";
  engine.remove(npu.at());
}

TEST_F(AscendEngineTest, AnUnregisterTakesNoLaterRegistrationBack) {
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine here;
  AscendEngine there;
  here.add(npu.at());
  ASSERT_EQ(here.move(KV_TRANSFER_WRITE, there.address(), npu.at(), there.memory()), KV_OK) << here.explanation();
  ascend::control("delay Disconnect * 300000");
  std::thread leaving([&] { here.remove(npu.at()); });
  const kv_region region{reinterpret_cast<uintptr_t>(npu.at()), kBytes};
  EXPECT_TRUE(eventually([&] { return here.registers(region) == KV_OK; })) << here.explanation();
  leaving.join();
  ascend::control("");
  EXPECT_EQ(here.move(KV_TRANSFER_WRITE, there.address(), npu.at(), there.memory()), KV_OK) << here.explanation();
  here.remove(npu.at());
}

TEST_F(AscendEngineTest, MemoryThatCannIsSlowToRegisterHoldsNoPeerUp) {
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine slow;
  AscendEngine peer;
  ascend::control("hang RegisterMem *");
  std::atomic<bool> registered = false;
  std::thread registering([&] {
    slow.add(npu.at());
    registered = true;
  });
  const std::string address = slow.address();
  for (int i = 0; i < 50; ++i) {  // it stands in CANN during most of them
    std::vector<kv_transfer> lines{AscendEngine::lineTo(address, nullptr, nullptr)};
    peer.run(KV_TRANSFER_PROBE, lines);
    EXPECT_EQ(lines[0].status, KV_OK) << peer.explanation();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(registered);
  ascend::control("");
  registering.join();
  slow.remove(npu.at());
}

TEST_F(AscendEngineTest, ByHccsWhatCannotBeReachedIsSaidWithItsRemedy) {
  const Environment hccs("HCCL_INTRA_ROCE_ENABLE", "0");
  AscendEngine here;
  AscendEngine there;
  EXPECT_EQ(here.writeTo(there), KV_TRANSFER_FAILED);
  EXPECT_NE(here.explanation().find("503900 (failed). If its link is HCCS"), std::string::npos) << here.explanation();
  EXPECT_NE(here.explanation().find("HCCL_INTRA_ROCE_ENABLE=1"), std::string::npos) << here.explanation();
}

TEST_F(AscendEngineTest, MemoryThatCannRefusesIsSaidWithWhatItTakes) {
  const NpuMemory npu(pattern(1, kBytes));
  AscendEngine engine;
  ascend::control("fail RegisterMem * 503900");
  EXPECT_EQ(engine.registers({reinterpret_cast<uintptr_t>(npu.at()), kBytes}), KV_IO);
  EXPECT_NE(engine.explanation().find("503900 (failed)"), std::string::npos) << engine.explanation();
  EXPECT_NE(engine.explanation().find("multiple of 2 MiB"), std::string::npos) << engine.explanation();
  ascend::control("");
}

TEST_F(AscendEngineTest, OfABatchWithTwoPeersTheLinesOfTheOneThatIsGoneFail) {
  AscendEngine here;
  AscendEngine stays;
  std::optional<AscendEngine> goes(std::in_place);
  const std::string staying = stays.address();
  const std::string going = goes->address();
  const uint8_t* const gone = goes->memory();
  for (const bool both : {true, false}) {
    if (!both) goes.reset();
    std::memset(here.memory(), both ? 1 : 2, kBytes);
    std::vector<kv_transfer> lines{AscendEngine::lineTo(going, here.memory(), gone),
                                   AscendEngine::lineTo(staying, here.memory(), stays.memory())};
    here.run(KV_TRANSFER_WRITE, lines);
    if (both) {
      EXPECT_EQ(lines[0].status, KV_OK) << here.explanation();
      EXPECT_EQ(goes->memory()[kBytes - 1], 1);
    } else {
      EXPECT_EQ(lines[0].status, KV_CONNECT_FAILED) << here.explanation();
      EXPECT_NE(here.explanation().find(going), std::string::npos) << here.explanation();
    }
    EXPECT_EQ(lines[1].status, KV_OK) << here.explanation();
    EXPECT_EQ(stays.memory()[kBytes - 1], both ? 1 : 2);
  }
  EXPECT_EQ(here.stats().ascend_transfers, 3U);
}

}  // namespace
}  // namespace kvpool::test
