// SPDX-License-Identifier: Apache-2.0
// Memory of NPUs of a process that goes through an agent and has no engine of CANN: ACL alone, which is the fake's. The
// processor cannot read that memory, as with an NPU.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include "ascend/fake_cann.h"
#include "ascend/pool/npu_memory.h"
#include "kvpool/engine.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

constexpr const char* kHidden = "set hidden_memory 1";

class NpuThroughAgent : public testing::Test {
 protected:
  void SetUp() override {
    (void)ascend::runtime();
    ascend::functionOf<void (*)()>("fake_ascend_reset")();
    ascend::control(kHidden);
    node_ = startNode("node-0", master_.address(), directory_.path(), 160 << 20);
    ASSERT_TRUE(master_.awaitNodes(1));
    startAgent();
    client_ = attach(socket_);
    ASSERT_TRUE(client_);
    device_.emplace();
    memory_.emplace(value_);
  }
  void TearDown() override {
    EXPECT_EQ(ascend::live("engine"), 0U) << "no port, and no channel";
    client_.reset();
    memory_.reset();
    device_.reset();
    for (const char* kind : {"stream", "host_memory", "device_memory", "context"})
      EXPECT_EQ(ascend::live(kind), 0U) << kind;
  }
  void startAgent() {
    agent_ = test::startAgent(master_.address(), socket_);
    ASSERT_TRUE(agent_);
  }
  [[nodiscard]] int32_t registerMemory() const {
    return kv_client_register(client_.get(), memory_->at(), value_.size());
  }
  /// The status of one line, from or to registered memory.
  int32_t move(int32_t op, const std::string& key, const void* memory, uint64_t length) const {
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.flags = KV_BATCH_REGISTERED;
    std::vector<kv_op> lines{line(key, memory, length)};
    run(client_.get(), op, lines, &options);
    return lines[0].status;
  }

  /// In a thread that uses that NPU.
  static void withNpu(int32_t device, const std::function<void()>& work) {
    std::thread([&] {
      EXPECT_EQ(ascend::runtime().acl.setDevice(device), ascend::kAclOk);
      work();
      EXPECT_EQ(ascend::runtime().acl.resetDevice(device), ascend::kAclOk);
    }).join();
  }

  const std::string value_ = pattern(3, 300000);
  TemporaryDirectory directory_;
  const std::string socket_ = directory_.path() + "/agent.sock";
  TestMaster master_;
  NodeHandle node_;
  AgentHandle agent_;
  ClientHandle client_;
  std::optional<ascend::Device> device_;
  std::optional<NpuMemory> memory_;
};

TEST_F(NpuThroughAgent, IsPutAndRead) {
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
  EXPECT_GT(statsOf(client_.get()).shm_bytes, 600000u);
  EXPECT_EQ(statsOf(client_.get()).checksum_failures, 0u);
  // As of an NPU whose memory the processor reads, which it is not asked to.
  ascend::control("");
  ASSERT_EQ(remove(client_.get(), "whole", true), KV_OK);
  ASSERT_EQ(remove(client_.get(), "pieces", true), KV_OK);
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
}

TEST_F(NpuThroughAgent, GoesInCallsForAtMost4096Pieces) {
  ASSERT_EQ(registerMemory(), KV_OK) << explain(client_.get());
  std::vector<kv_piece> pieces;
  for (size_t i = 0; i < 4097; ++i)
    pieces.push_back({memory_->at(i * 73), 73});
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REGISTERED | KV_BATCH_PIECES;
  std::vector<kv_op> lines{line("k", pieces.data(), pieces.size())};
  run(client_.get(), KV_OP_PUT, lines, &options);
  ASSERT_EQ(lines[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(ascend::calls("aclrtMemcpyBatchAsync"), 2u);
  EXPECT_TRUE(get(client_.get(), "k").value == value_.substr(0, 4097 * 73));
}

TEST_F(NpuThroughAgent, IsAskedForWhereThisThreadUsesAnNpuOrTheProcessorCannotReadIt) {
  std::string host(1000, '\0');
  ASSERT_EQ(kv_client_register(client_.get(), host.data(), host.size()), KV_OK);
  const uint64_t contexts = ascend::live("context");
  std::thread([&] {
    std::string other(1000, '\0');
    EXPECT_EQ(kv_client_register(client_.get(), other.data(), other.size()), KV_OK);
    EXPECT_EQ(ascend::live("context"), contexts) << "no NPU is opened for memory of the host";
    EXPECT_EQ(registerMemory(), KV_OK) << explain(client_.get());
    EXPECT_EQ(ascend::live("context"), contexts + 1) << "this thread had none";
    EXPECT_EQ(kv_client_unregister(client_.get(), other.data()), KV_OK);
  }).join();
  EXPECT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_OK) << explain(client_.get());
  EXPECT_TRUE(get(client_.get(), "k").value == value_);
}

TEST_F(NpuThroughAgent, OfAnotherNpuIsRefusedByItsNumber) {
  ascend::control("set hidden_memory 1\nset devices 2");
  ASSERT_EQ(registerMemory(), KV_OK) << explain(client_.get());
  withNpu(1, [&] {
    const NpuMemory other(value_);
    EXPECT_EQ(kv_client_register(client_.get(), other.at(), value_.size()), KV_INVALID_ARGUMENT);
    EXPECT_NE(explain(client_.get()).find("it is memory of NPU 1, and here NPU 0 is used: make a client"),
              std::string::npos)
        << explain(client_.get());
    std::vector<kv_op> lines{line("k", other.at(), value_.size())};
    run(client_.get(), KV_OP_PUT, lines);
    EXPECT_EQ(lines[0].status, KV_INVALID_ARGUMENT);
    const kv_memory_copy copy{memory_->at(), other.at(), 10};
    EXPECT_EQ(kv_client_copy_memory(client_.get(), &copy, 1), KV_INVALID_ARGUMENT);
  });
}

TEST_F(NpuThroughAgent, OfTheSecondNpuIsCopiedByThatForAThreadThatUsesNone) {
  ascend::control("set hidden_memory 1\nset devices 2");
  withNpu(1, [&] {
    const NpuMemory second(value_);
    std::thread([&] {
      EXPECT_EQ(kv_client_register(client_.get(), second.at(), value_.size()), KV_OK) << explain(client_.get());
      EXPECT_EQ(move(KV_OP_PUT, "k", second.at(), value_.size()), KV_OK) << explain(client_.get());
    }).join();
    EXPECT_EQ(registerMemory(), KV_INVALID_ARGUMENT) << "of NPU 0";
    EXPECT_TRUE(get(client_.get(), "k").value == value_);
    EXPECT_EQ(kv_client_unregister(client_.get(), second.at()), KV_OK);
  });
}

TEST_F(NpuThroughAgent, OfOneOfManyIsRefusedWhereCannTellsNoNumbersToAThreadThatUsesNone) {
  const std::string unnumbered = "set hidden_memory 1\nfail aclrtGetLogicDevIdByUserDevId * 107000\n";
  ascend::control(unnumbered + "set devices 2");
  withNpu(1, [&] {
    const NpuMemory second(value_);
    const auto registers = [&] { return kv_client_register(client_.get(), second.at(), value_.size()); };
    std::thread([&] { EXPECT_EQ(registers(), KV_INVALID_ARGUMENT) << "it may be of either"; }).join();
    EXPECT_NE(explain(client_.get()).find("of any of the 2 NPUs that this process sees: register it from a thread"),
              std::string::npos)
        << explain(client_.get());
    EXPECT_EQ(registers(), KV_OK) << explain(client_.get());
    EXPECT_EQ(move(KV_OP_PUT, "k", second.at(), value_.size()), KV_OK) << explain(client_.get());
    EXPECT_TRUE(get(client_.get(), "k").value == value_);
    client_ = attach(socket_);  // it uses that NPU no more
  });
  ascend::control(unnumbered);
  std::thread([&] { EXPECT_EQ(registerMemory(), KV_OK) << "there is one: " << explain(client_.get()); }).join();
}

TEST_F(NpuThroughAgent, IsKnownByTheNumberOfTheDriver) {
  ascend::control("set hidden_memory 1\nset devices 2");
  const Environment visible("ASCEND_RT_VISIBLE_DEVICES", "1");
  const NpuMemory second(value_);  // of the first device that is visible
  ASSERT_EQ(kv_client_register(client_.get(), second.at(), value_.size()), KV_OK) << explain(client_.get());
  EXPECT_EQ(move(KV_OP_PUT, "k", second.at(), value_.size()), KV_OK) << explain(client_.get());
  EXPECT_EQ(registerMemory(), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client_.get()).find("memory of an NPU that this process does not see"), std::string::npos)
      << explain(client_.get());
  EXPECT_EQ(kv_client_unregister(client_.get(), second.at()), KV_OK);
}

TEST_F(NpuThroughAgent, TakenBackItIsNotUsedAnyMore) {
  ASSERT_EQ(registerMemory(), KV_OK);
  ASSERT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_OK);
  ASSERT_EQ(kv_client_unregister(client_.get(), memory_->at()), KV_OK);
  EXPECT_EQ(move(KV_OP_GET, "k", memory_->at(), value_.size()), KV_NOT_REGISTERED);
  EXPECT_EQ(kv_client_unregister(client_.get(), memory_->at()), KV_NOT_REGISTERED);
  const uint64_t copies = ascend::calls("aclrtMemcpyBatchAsync");
  EXPECT_EQ(move(KV_OP_PUT, "l", memory_->at(), value_.size()), KV_NOT_REGISTERED);
  EXPECT_EQ(ascend::calls("aclrtMemcpyBatchAsync"), copies);
}

TEST_F(NpuThroughAgent, StaysRegisteredWhenTheAgentIsAnother) {
  std::string host = pattern(4, 70000);
  ASSERT_EQ(registerMemory(), KV_OK);
  ASSERT_EQ(kv_client_register(client_.get(), host.data(), host.size()), KV_OK);
  ASSERT_EQ(move(KV_OP_PUT, "npu", memory_->at(), value_.size()), KV_OK);
  ASSERT_EQ(move(KV_OP_PUT, "host", host.data(), host.size()), KV_OK);
  agent_.reset();
  ASSERT_NO_FATAL_FAILURE(startAgent());
  const NpuMemory empty(std::string(value_.size(), 'x'));
  ASSERT_EQ(kv_client_copy_memory(
                client_.get(), std::array<kv_memory_copy, 1>{{{memory_->at(), empty.at(), value_.size()}}}.data(), 1),
            KV_OK);
  EXPECT_EQ(move(KV_OP_GET, "npu", memory_->at(), value_.size()), KV_OK) << explain(client_.get());
  EXPECT_TRUE(memory_->bytes() == value_);
  std::fill(host.begin(), host.end(), 'x');
  EXPECT_EQ(move(KV_OP_GET, "host", host.data(), host.size()), KV_OK) << explain(client_.get());
  EXPECT_TRUE(host == pattern(4, 70000));

  // One that was under way.
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Recovering); });
  std::vector<kv_op> lines{line("late", memory_->at(), value_.size())};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client_.get(), KV_OP_PUT, lines.data(), 1, nullptr, &batch), KV_OK);
  ASSERT_TRUE(eventually([&] { return statsOf(agent_.get()).running == 1; }));
  agent_.reset();
  ASSERT_NO_FATAL_FAILURE(startAgent());
  master_.in([](MasterServer& server) { server.model().setRole(MasterRole::Leader); });
  ASSERT_EQ(kv_client_wait(client_.get(), batch, 60000), KV_OK);
  EXPECT_EQ(lines[0].status, KV_OK) << explain(client_.get());
  EXPECT_TRUE(get(client_.get(), "late").value == value_);
}

TEST_F(NpuThroughAgent, ACopyThatFailsIsAFailureOfItsLine) {
  ASSERT_EQ(registerMemory(), KV_OK);
  ASSERT_EQ(put(client_.get(), "there", value_), KV_OK);
  ascend::control("partial aclrtMemcpyBatchAsync * 0 507011");
  std::string host = pattern(4, 1000);
  std::vector<kv_op> lines{line("k", memory_->at(), value_.size()), line("of the host", host.data(), host.size())};
  run(client_.get(), KV_OP_PUT, lines);
  EXPECT_EQ(lines[0].status, KV_TRANSFER_FAILED);
  EXPECT_NE(explain(client_.get()).find("aclrtMemcpyBatchAsync"), std::string::npos) << explain(client_.get());
  EXPECT_EQ(lines[1].status, KV_OK);
  EXPECT_EQ(move(KV_OP_GET, "there", memory_->at(), value_.size()), KV_TRANSFER_FAILED);
  ascend::control("");
  EXPECT_EQ(exists(client_.get(), "k"), KV_NOT_FOUND);
}

class NpuThroughAgentWithLittleTime : public NpuThroughAgent {
  const Environment timeout_{"ASCEND_TRANSFER_TIMEOUT", "200"};
};

TEST_F(NpuThroughAgentWithLittleTime, ACopyThatHangsIsAFailureOfItsLine) {
  ASSERT_EQ(registerMemory(), KV_OK);
  ascend::control("hang stream *");
  EXPECT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_TIMEOUT);
  EXPECT_NE(explain(client_.get()).find("not done within "), std::string::npos) << explain(client_.get());
  std::string host(1000, '\0');
  const kv_memory_copy copy{host.data(), memory_->at(), host.size()};
  EXPECT_EQ(kv_client_copy_memory(client_.get(), &copy, 1), KV_TIMEOUT);
  ascend::control("");
  EXPECT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_OK) << explain(client_.get());
}

TEST_F(NpuThroughAgent, WhatIsWrongIsToldWhereItIsRegistered) {
  {
    const Environment wrong("ASCEND_TRANSFER_TIMEOUT", "soon");
    EXPECT_EQ(registerMemory(), KV_INVALID_ARGUMENT);
    EXPECT_NE(explain(client_.get()).find("ASCEND_TRANSFER_TIMEOUT is 'soon'"), std::string::npos)
        << explain(client_.get());
  }
  const auto refusalWithoutContext = [&] {
    std::thread([&] { EXPECT_EQ(registerMemory(), KV_INVALID_ARGUMENT); }).join();
    return explain(client_.get());
  };
  ascend::control("set closed_devices 0");
  EXPECT_NE(refusalWithoutContext().find("an NPU's: NPU 0 cannot be used"), std::string::npos)
      << explain(client_.get());
  ascend::control("set unknown_pointer error\nfail aclrtPointerGetAttributes * 107000");
  EXPECT_NE(refusalWithoutContext().find("ACL does not know it"), std::string::npos) << explain(client_.get());
  ascend::control("");
  EXPECT_EQ(registerMemory(), KV_OK) << explain(client_.get());
}

TEST_F(NpuThroughAgent, IsCopiedForCallersThatPutValuesTogether) {
  std::string host(3000, 'x');
  const kv_memory_copy unregistered{host.data(), memory_->at(), 1000};
  EXPECT_EQ(kv_client_copy_memory(client_.get(), &unregistered, 1), KV_NOT_REGISTERED);
  EXPECT_EQ(host, std::string(3000, 'x'));
  ASSERT_EQ(registerMemory(), KV_OK);
  const NpuMemory other(std::string(value_.size(), 'y'));
  const std::string from = pattern(5, 500);
  const std::array<kv_memory_copy, 5> copies{{{host.data() + 1000, memory_->at(500), 1000},
                                              {memory_->at(200000), from.data(), from.size()},
                                              {memory_->at(250000), other.at(), 100},
                                              {host.data(), memory_->at(7), 9},
                                              {host.data(), memory_->at(), 0}}};
  ASSERT_EQ(kv_client_copy_memory(client_.get(), copies.data(), copies.size()), KV_OK) << explain(client_.get());
  EXPECT_TRUE(host == value_.substr(7, 9) + std::string(991, 'x') + value_.substr(500, 1000) + std::string(1000, 'x'));
  const std::string expected =
      value_.substr(0, 200000) + from + value_.substr(200500, 49500) + std::string(100, 'y') + value_.substr(250100);
  EXPECT_TRUE(memory_->bytes() == expected);
  const kv_memory_copy nowhere{nullptr, memory_->at(), 1};
  EXPECT_EQ(kv_client_copy_memory(client_.get(), &nowhere, 1), KV_INVALID_ARGUMENT);
}

TEST_F(NpuThroughAgent, HasAnEnd) {
  for (const bool byThisThread : {true, false}) {
    const auto registers = [&](uint64_t length) { return kv_client_register(client_.get(), memory_->at(), length); };
    const auto judge = [&] {
      EXPECT_EQ(registers(uint64_t{1} << 60), KV_INVALID_ARGUMENT);
      EXPECT_NE(explain(client_.get()).find("ends behind memory of the NPU"), std::string::npos)
          << explain(client_.get());
      EXPECT_EQ(registers(value_.size() + 1), KV_INVALID_ARGUMENT);
    };
    if (byThisThread) {
      judge();
    } else {
      client_ = attach(socket_);
      std::thread(judge).join();
    }
  }
  // Memory that was not registered, beside some that is copied: their sum is no number.
  ASSERT_EQ(registerMemory(), KV_OK) << explain(client_.get());
  std::vector<kv_op> lines{line("k", memory_->at(), value_.size()), line("l", memory_->at(), -value_.size())};
  run(client_.get(), KV_OP_PUT, lines);
  EXPECT_EQ(lines[0].status, KV_OK) << explain(client_.get());
  EXPECT_EQ(lines[1].status, KV_QUEUE_FULL);
}

// The thread sanitizer ends a process that forks beside threads and starts others.
#ifndef __SANITIZE_THREAD__
TEST_F(NpuThroughAgent, IsNoneOfAForkedChild) {
  ASSERT_EQ(registerMemory(), KV_OK) << explain(client_.get());
  const pid_t child = ::fork();
  if (child == 0) {
    const uint64_t asked = ascend::calls("aclrtPointerGetAttributes");
    std::string host(1000, '\0');
    const ClientHandle own = attach(socket_);
    int failed = 0;
    failed |= own ? 0 : 1;
    failed |= kv_client_register(own.get(), host.data(), host.size()) == KV_OK ? 0 : 2;
    failed |= ascend::calls("aclrtPointerGetAttributes") == asked ? 0 : 4;
    failed |= kv_client_register(own.get(), memory_->at(), value_.size()) == KV_INVALID_ARGUMENT ? 0 : 8;
    failed |= explain(own.get()).find("does not work after a fork") != std::string::npos ? 0 : 16;
    ::_exit(failed);
  }
  int status = -1;
  if (!eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; })) {
    ADD_FAILURE() << "the child hangs";
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_OK) << "of the parent: " << explain(client_.get());
}
#endif

TEST_F(NpuThroughAgent, OfATransferEngineIsUsedToo) {
  kv_engine_params params{};
  params.struct_size = sizeof params;
  params.protocols = "ascend";
  params.listen_host = "127.0.0.1";
  char err[2048] = "";
  kv_engine* engine = nullptr;
  ASSERT_EQ(kv_engine_create(&params, &engine, err, sizeof err), KV_OK) << err;
  const kv_region region{reinterpret_cast<uintptr_t>(memory_->at()), value_.size()};
  EXPECT_EQ(kv_engine_register(engine, &region, 1, nullptr), KV_OK);
  EXPECT_EQ(kv_client_use_engine_memory(client_.get(), engine), KV_OK);
  std::thread([&] {
    EXPECT_EQ(move(KV_OP_PUT, "first", memory_->at(), value_.size()), KV_OK)
        << "in a thread that uses no NPU: " << explain(client_.get());
  }).join();
  EXPECT_EQ(move(KV_OP_PUT, "k", memory_->at(), value_.size()), KV_OK) << explain(client_.get());
  kv_engine_destroy(engine);
  EXPECT_EQ(move(KV_OP_PUT, "l", memory_->at(), value_.size()), KV_NOT_REGISTERED);
  EXPECT_TRUE(get(client_.get(), "k").value == value_);
}

}  // namespace
}  // namespace kvpool::test
