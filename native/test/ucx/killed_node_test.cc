// SPDX-License-Identifier: Apache-2.0
// A node in a process of its own that dies with transfers through UCX under way.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "pool/pool.h"

extern char** environ;

namespace kvpool::test {
namespace {

constexpr uint32_t kUcxOrTcp = KV_PROTOCOL_UCX | KV_PROTOCOL_TCP;
constexpr size_t kObjects = 40;
constexpr size_t kBytes = 1 << 20;
constexpr uint32_t kPatienceMs = 120000;

class NodeProcess {
 public:
  NodeProcess(const std::string& masters, const std::string& directory) {
    std::string protocols = std::to_string(kUcxOrTcp);
    std::string name = KVPOOL_TEST_NODE;
    std::string pool = kPoolText;
    std::string first = masters;
    std::string second = directory;
    char* arguments[] = {name.data(), first.data(), pool.data(), second.data(), protocols.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, KVPOOL_TEST_NODE, nullptr, nullptr, arguments, environ), 0);
  }
  ~NodeProcess() { kill(); }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  /// From when it returns the process does nothing.
  void freeze() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

class KilledNode : public testing::Test {
 protected:
  void SetUp() override {
    node_ = std::make_unique<NodeProcess>(master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
    kv_client_params params{};
    params.struct_size = sizeof params;
    params.protocols = kUcxOrTcp;
    const std::string masters = master_.address();
    params.masters = masters.c_str();
    params.connect_timeout_ms = 30000;
    kv_client* client = nullptr;
    ASSERT_EQ(kv_client_create(&params, &client, nullptr, 0), KV_OK);
    client_.reset(client);
    for (size_t i = 0; i < kObjects; ++i) {
      keys_.push_back("key-" + std::to_string(i));
      values_.push_back(pattern(i, kBytes));
      memory_.emplace_back(kBytes, '\0');
    }
  }

  uint64_t submit(int32_t op, std::vector<std::string>& values) {
    table_.clear();
    for (size_t i = 0; i < kObjects; ++i)
      table_.push_back(line(keys_[i], values[i].data(), values[i].size()));
    // This is about what comes out, on a machine that may be slow and busy.
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.timeout_ms = kPatienceMs;
    uint64_t batch = 0;
    EXPECT_EQ(kv_client_submit(client_.get(), op, table_.data(), kObjects, &options, &batch), KV_OK);
    return batch;
  }
  bool runs(uint64_t batch) { return kv_client_wait(client_.get(), batch, 0) == KV_TIMEOUT; }

  /// Freezes the node with a batch in the middle if it can be caught there, else with one that has just begun.
  uint64_t submitAndFreeze(int32_t op, std::vector<std::string>& values) {
    const uint64_t before = statsOf(client_.get()).ucx_bytes;
    const uint64_t batch = submit(op, values);
    bool ended = false;
    EXPECT_TRUE(eventually([&] {
      ended = !runs(batch);
      return ended || statsOf(client_.get()).ucx_bytes > before;
    }));
    node_->freeze();
    ended = ended || !runs(batch);
    return ended ? submit(op, values) : batch;
  }
  void restart() {
    node_->kill();
    node_ = std::make_unique<NodeProcess>(master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
  }
  void wait(uint64_t batch) { ASSERT_EQ(kv_client_wait(client_.get(), batch, kPatienceMs), KV_OK); }

  TemporaryDirectory directory_;
  TestMaster master_;
  std::unique_ptr<NodeProcess> node_;
  ClientHandle client_;
  std::vector<std::string> keys_, values_, memory_;
  std::vector<kv_op> table_;
};

TEST_F(KilledNode, ReadsGiveTheRightBytesOrAReasonAndLaterAllOfThem) {
  wait(submit(KV_OP_PUT, values_));
  for (const kv_op& op : table_)
    ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
  EXPECT_EQ(statsOf(client_.get()).ucx_bytes, kObjects * kBytes);

  const uint64_t batch = submitAndFreeze(KV_OP_GET, memory_);
  ASSERT_NO_FATAL_FAILURE(restart());
  ASSERT_NO_FATAL_FAILURE(wait(batch));
  for (size_t i = 0; i < kObjects; ++i) {
    EXPECT_TRUE(table_[i].status != KV_OK || memory_[i] == values_[i]) << keys_[i];
  }
  ASSERT_NO_FATAL_FAILURE(wait(submit(KV_OP_GET, memory_)));
  for (size_t i = 0; i < kObjects; ++i) {
    EXPECT_EQ(table_[i].status, KV_OK) << explain(client_.get());
    EXPECT_TRUE(memory_[i] == values_[i]) << keys_[i];
  }
  EXPECT_GE(statsOf(client_.get()).ucx_lanes, 2u) << "the node's next life is reached by UCX too";
}

TEST_F(KilledNode, PutsThatWereAcknowledgedAreThereAndTheOthersCanBePutAgain) {
  const uint64_t batch = submitAndFreeze(KV_OP_PUT, values_);
  ASSERT_NO_FATAL_FAILURE(restart());
  ASSERT_NO_FATAL_FAILURE(wait(batch));
  std::vector<bool> acknowledged;
  for (const kv_op& op : table_)
    acknowledged.push_back(op.status == KV_OK);
  ASSERT_NO_FATAL_FAILURE(wait(submit(KV_OP_GET, memory_)));
  for (size_t i = 0; i < kObjects; ++i) {
    if (acknowledged[i]) {
      EXPECT_EQ(table_[i].status, KV_OK) << keys_[i] << ": " << explain(client_.get());
    }
    EXPECT_TRUE(table_[i].status != KV_OK || memory_[i] == values_[i]) << keys_[i];
  }
  ASSERT_NO_FATAL_FAILURE(wait(submit(KV_OP_PUT, values_)));
  ASSERT_NO_FATAL_FAILURE(wait(submit(KV_OP_GET, memory_)));
  for (size_t i = 0; i < kObjects; ++i)
    EXPECT_TRUE(table_[i].status == KV_OK && memory_[i] == values_[i]) << keys_[i] << explain(client_.get());
}

}  // namespace
}  // namespace kvpool::test
