// SPDX-License-Identifier: Apache-2.0
// Transfer engines through the C ABI, on loopback.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kvpool/engine.h"

namespace kvpool::test {

using Buffer = std::vector<uint8_t>;

inline Buffer pattern(size_t size, uint8_t seed) {
  Buffer buffer(size);
  for (size_t i = 0; i < size; ++i)
    buffer[i] = static_cast<uint8_t>(i * 31 + i / 251 + seed);
  return buffer;
}

/// An engine that ends with its scope.
class TestEngine {
 public:
  explicit TestEngine(kv_engine_params given = {}) {
    given.struct_size = sizeof given;
    if (given.listen_host == nullptr) given.listen_host = "127.0.0.1";
    char err[512] = "";
    EXPECT_EQ(kv_engine_create(&given, &engine_, err, sizeof err), KV_OK) << err;
  }
  ~TestEngine() { end(); }
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;

  void end() { kv_engine_destroy(std::exchange(engine_, nullptr)); }
  [[nodiscard]] kv_engine* get() const { return engine_; }
  [[nodiscard]] uint32_t port() const { return stats().listen_port; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port()); }

  [[nodiscard]] kv_engine_stats stats() const {
    kv_engine_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(kv_engine_get_stats(engine_, &stats), KV_OK);
    return stats;
  }
  [[nodiscard]] std::string explain() const {
    char text[512] = "";
    EXPECT_EQ(kv_engine_explain(engine_, text, sizeof text), KV_OK);
    return text;
  }

  int32_t add(Buffer& memory) {
    const kv_region region{addressOf(memory), memory.size()};
    return kv_engine_register(engine_, &region, 1, nullptr);
  }
  int32_t remove(Buffer& memory) {
    const kv_region region{addressOf(memory), 0};
    return kv_engine_unregister(engine_, &region, 1);
  }

  /// Runs a batch to its end; the statuses are in its lines.
  void run(int32_t op, std::vector<kv_transfer>& lines, uint32_t timeoutMs = 10000, const char* notify = nullptr) {
    kv_transfer_options options{};
    options.struct_size = sizeof options;
    options.timeout_ms = timeoutMs;
    options.notify_name = notify;
    options.notify_message = "done";
    options.notify_length = 4;
    uint64_t batch = 0;
    ASSERT_EQ(kv_engine_submit(engine_, op, lines.data(), static_cast<uint32_t>(lines.size()), &options, &batch), KV_OK)
        << explain();
    ASSERT_EQ(kv_engine_wait(engine_, batch, timeoutMs + 10000), KV_OK);
  }
  int32_t one(int32_t op, const std::string& peer, Buffer& local, uint64_t remote, uint32_t timeoutMs = 10000) {
    std::vector<kv_transfer> lines{{peer.c_str(), local.data(), remote, local.size(), KV_INTERNAL, 0}};
    run(op, lines, timeoutMs);
    return lines[0].status;
  }
  int32_t write(const std::string& peer, Buffer& local, uint64_t remote) {
    return one(KV_TRANSFER_WRITE, peer, local, remote);
  }
  int32_t read(const std::string& peer, Buffer& local, uint64_t remote) {
    return one(KV_TRANSFER_READ, peer, local, remote);
  }

  static uint64_t addressOf(const Buffer& memory) { return reinterpret_cast<uintptr_t>(memory.data()); }

 private:
  kv_engine* engine_ = nullptr;
};

}  // namespace kvpool::test
