// SPDX-License-Identifier: Apache-2.0
// Transfer engines whose transfers CANN makes, which is the fake of test/ascend/fake.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "ascend/fake_cann.h"
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
    const kv_region region{reinterpret_cast<uintptr_t>(memory_), kBytes};
    EXPECT_EQ(kv_engine_register(engine_, &region, 1, nullptr), KV_OK);
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
  int32_t writeTo(const AscendEngine& peer) {
    const std::string address = "127.0.0.1:" + std::to_string(peer.stats().listen_port);
    kv_transfer line{address.c_str(), memory_, reinterpret_cast<uintptr_t>(peer.memory_), kBytes, KV_INTERNAL, 0};
    uint64_t batch = 0;
    EXPECT_EQ(kv_engine_submit(engine_, KV_TRANSFER_WRITE, &line, 1, nullptr, &batch), KV_OK);
    EXPECT_EQ(kv_engine_wait(engine_, batch, 60000), KV_OK);
    return line.status;
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

}  // namespace
}  // namespace kvpool::test
