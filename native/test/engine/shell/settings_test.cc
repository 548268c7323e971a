// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "engine/shell/engine_fixture.h"

namespace kvpool::test {
namespace {

/// Why an engine cannot be made.
std::string refusal(kv_engine_params params, int32_t status) {
  params.struct_size = sizeof params;
  kv_engine* engine = nullptr;
  char err[512] = "";
  EXPECT_EQ(kv_engine_create(&params, &engine, err, sizeof err), status);
  EXPECT_EQ(engine, nullptr);
  kv_engine_destroy(engine);
  return err;
}

TEST(EngineSettings, ListensInItsRangeAndSaysWhenNoneIsFree) {
  TestEngine standard;
  EXPECT_GE(standard.port(), 15000u);
  EXPECT_LE(standard.port(), 17000u);
  kv_engine_params params{};
  params.port_min = params.port_max = standard.port();
  params.listen_host = "127.0.0.1";
  const std::string why = refusal(params, KV_IO);
  EXPECT_NE(why.find("none of the 1 ports from " + std::to_string(standard.port())), std::string::npos) << why;
  params.port_min = 20;
  params.port_max = 10;
  EXPECT_NE(refusal(params, KV_INVALID_ARGUMENT).find("no range"), std::string::npos);
  params.port_max = 70000;
  EXPECT_NE(refusal(params, KV_INVALID_ARGUMENT).find("65535"), std::string::npos);
  params.port_min = params.port_max = 0;
  params.listen_host = "192.0.2.1";
  EXPECT_NE(refusal(params, KV_IO).find("192.0.2.1"), std::string::npos) << "a host that is not ours, said once";
}

TEST(EngineSettings, ManyEnginesStartAtOnceWithoutAClash) {
  std::vector<std::unique_ptr<TestEngine>> engines(16);
  std::vector<std::thread> threads;
  for (auto& engine : engines)
    threads.emplace_back([&engine] { engine = std::make_unique<TestEngine>(); });
  for (std::thread& thread : threads)
    thread.join();
  std::vector<uint32_t> ports;
  for (const auto& engine : engines)
    ports.push_back(engine->port());
  std::sort(ports.begin(), ports.end());
  EXPECT_EQ(std::adjacent_find(ports.begin(), ports.end()), ports.end());
}

TEST(EngineSettings, ServesIpv6) {
  kv_engine_params params{};
  params.listen_host = "::";
  Buffer memory(4096);
  TestEngine here(params);
  TestEngine there(params);
  ASSERT_EQ(there.add(memory), KV_OK);
  Buffer local = pattern(4096, 1);
  const std::string v4 = there.address();
  EXPECT_EQ(here.write(v4, local, TestEngine::addressOf(memory)), KV_OK) << here.explain();
  const std::string v6 = "[::1]:" + std::to_string(there.port());
  Buffer got(4096);
  EXPECT_EQ(here.read(v6, got, TestEngine::addressOf(memory)), KV_OK) << here.explain();
  EXPECT_EQ(got, local);
}

TEST(EngineSettings, OtherMetadataServersAreRefusedWithTheWayOut) {
  for (const char* server : {"http://10.0.0.1:8080/metadata", "etcd://10.0.0.1:2379", "redis://x", "10.0.0.1:2379"}) {
    kv_engine_params params{};
    params.metadata = server;
    const std::string why = refusal(params, KV_INVALID_ARGUMENT);
    EXPECT_NE(why.find(server), std::string::npos) << why;
    EXPECT_NE(why.find("give P2PHANDSHAKE"), std::string::npos) << why;
  }
}

TEST(EngineSettings, TransportsSayWhatBecameOfEach) {
  kv_engine_params params{};
  params.protocols = "rdma";
  EXPECT_NE(refusal(params, KV_INVALID_ARGUMENT).find("rdma: not installed"), std::string::npos);
  params.protocols = "ascend,tcp";
  TestEngine engine(params);
  char text[4096] = "";
  ASSERT_EQ(kv_engine_transports(engine.get(), text, sizeof text), KV_OK);
  EXPECT_NE(std::string(text).find(
                "ascend: not installed, ACL, the runtime of CANN cannot be loaded. Tried: libascendcl.so: "),
            std::string::npos)
      << text;
  EXPECT_NE(std::string(text).find("tcp: used"), std::string::npos) << text;
}

TEST(EngineSettings, WrongArgumentsAreNamed) {
  kv_engine* engine = nullptr;
  EXPECT_EQ(kv_engine_create(nullptr, &engine, nullptr, 0), KV_INVALID_ARGUMENT);
  kv_engine_params future{};
  future.struct_size = sizeof future + 8;
  EXPECT_EQ(kv_engine_create(&future, &engine, nullptr, 0), KV_INVALID_ARGUMENT);
  const std::string longName(300, 'n');
  kv_engine_params named{};
  named.name = longName.c_str();
  EXPECT_NE(refusal(named, KV_INVALID_ARGUMENT).find("name must be"), std::string::npos);

  Buffer memory(4096);
  TestEngine good;
  const kv_region region{TestEngine::addressOf(memory), 4096};
  EXPECT_EQ(kv_engine_register(good.get(), &region, 1, "npu:0"), KV_INVALID_ARGUMENT);
  EXPECT_NE(good.explain().find("npu:0"), std::string::npos);
  EXPECT_EQ(kv_engine_register(good.get(), nullptr, 1, nullptr), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_engine_register(good.get(), &region, 0, nullptr), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_engine_register(nullptr, &region, 1, nullptr), KV_INVALID_ARGUMENT);
  kv_transfer line{"127.0.0.1:1", memory.data(), 1, 1, 0, 0};
  uint64_t batch = 0;
  EXPECT_EQ(kv_engine_submit(good.get(), 5, &line, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_engine_submit(good.get(), KV_TRANSFER_READ, nullptr, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_engine_submit(good.get(), KV_TRANSFER_READ, &line, KV_BATCH_MAX + 1, nullptr, &batch),
            KV_INVALID_ARGUMENT);
  kv_transfer_options options{};
  options.struct_size = sizeof options;
  options.notify_name = "n";
  options.notify_length = KV_NOTIFY_BYTES_MAX + 1;
  options.notify_message = memory.data();
  EXPECT_EQ(kv_engine_submit(good.get(), KV_TRANSFER_READ, &line, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(good.explain().find("KV_NOTIFY_BYTES_MAX = 4096"), std::string::npos) << good.explain();
  EXPECT_EQ(kv_engine_wait(good.get(), 77, 0), KV_INVALID_ARGUMENT);
}

TEST(EngineSettings, LinesInFlightAreBounded) {
  kv_engine_params params{};
  params.queue_lines_max = 2;
  std::vector<kv_transfer> lines(3, {"127.0.0.1:1", nullptr, 0, 0, 0, 0});  // one batch is not waited for
  TestEngine engine(params);
  uint64_t batch = 0;
  EXPECT_EQ(kv_engine_submit(engine.get(), KV_TRANSFER_WRITE, lines.data(), 3, nullptr, &batch), KV_QUEUE_FULL);
  EXPECT_NE(engine.explain().find("queue_lines_max = 2"), std::string::npos) << engine.explain();
  EXPECT_EQ(kv_engine_submit(engine.get(), KV_TRANSFER_WRITE, lines.data(), 2, nullptr, &batch), KV_OK);
  EXPECT_EQ(kv_engine_submit(engine.get(), KV_TRANSFER_WRITE, lines.data(), 1, nullptr, &batch), KV_QUEUE_FULL)
      << "also what is done, until somebody waited for it";
}

TEST(EngineSettings, AForkedChildHasNoEngine) {
  TestEngine engine;
  const pid_t child = ::fork();
  if (child == 0) {
    kv_engine_stats stats{};
    stats.struct_size = sizeof stats;
    const bool closed = kv_engine_get_stats(engine.get(), &stats) == KV_CLOSED;
    engine.end();
    ::_exit(closed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(engine.port(), 0u);
}

}  // namespace
}  // namespace kvpool::test
