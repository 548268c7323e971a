// SPDX-License-Identifier: Apache-2.0
// The client's C functions given wrong arguments.
#include "pool/pool.h"

namespace kvpool::test {
namespace {

class Border : public testing::Test {
 protected:
  static void SetUpTestSuite() { client_ = connect(master().address()); }
  static void TearDownTestSuite() { client_.reset(); }
  static TestMaster& master() {
    static TestMaster master;
    return master;
  }
  static kv_client* client() { return client_.get(); }

  static ClientHandle client_;
};
ClientHandle Border::client_;

int32_t create(kv_client_params params, std::string* why) {
  kv_client* client = nullptr;
  char err[512] = "";
  const int32_t status = kv_client_create(&params, &client, err, sizeof err);
  *why = err;
  EXPECT_EQ(client, nullptr);
  return status;
}

kv_client_params goodParams() {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.masters = "127.0.0.1:1";
  params.ready_timeout_ms = 10;
  return params;
}

TEST_F(Border, CreateRefusesWhatItCannotUseWithASentence) {
  std::string why;
  kv_client_params params = goodParams();
  params.struct_size = sizeof params + 8;
  EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("struct_size"), std::string::npos) << why;
  for (const char* masters : {"", "host", "host:", "host:0", "host:65536", "host:1,", "host:1,,host:2", "[::1:5"}) {
    params = goodParams();
    params.masters = masters;
    EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT) << masters;
    EXPECT_FALSE(why.empty());
  }
  params = goodParams();
  params.masters = nullptr;
  EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT);
  params = goodParams();
  params.protocols = 4;
  EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT);
  const std::string longName(300, 'n');
  params = goodParams();
  params.name = longName.c_str();
  EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT);
  params = goodParams();
  params.name = "\xff";
  EXPECT_EQ(create(params, &why), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_create(nullptr, nullptr, nullptr, 0), KV_INVALID_ARGUMENT);
}

TEST_F(Border, AnOlderCallersStructGetsDefaults) {
  kv_client_params params = goodParams();
  const std::string masters = master().address();
  params.masters = masters.c_str();
  params.struct_size = offsetof(kv_client_params, name);
  kv_client* created = nullptr;
  char err[512] = "";
  EXPECT_EQ(kv_client_create(&params, &created, err, sizeof err), KV_OK) << err;
  kv_client_destroy(created);
}

TEST_F(Border, OptionsOfEveryEarlierSizeAreReadAndHalvesOfFieldsAreNot) {
  kv_op op = line("k", "v", 1);
  const uint64_t groups[1] = {7};
  kv_batch_options options{};
  options.timeout_ms = 100;
  options.pins = ~0u;  // what lies behind the caller's struct must not be looked at
  options.groups = groups;
  for (uint32_t size = 0; size <= sizeof options + 8; ++size) {
    uint64_t batch = 0;
    options.struct_size = size;
    const bool wholeFields = size == 8 || size == 16 || size == offsetof(kv_batch_options, pins);
    const int32_t status = kv_client_submit(client(), KV_OP_EXISTS, &op, 1, &options, &batch);
    EXPECT_EQ(status, wholeFields ? KV_OK : KV_INVALID_ARGUMENT) << "struct_size " << size;
    if (status == KV_OK) {
      EXPECT_EQ(kv_client_wait(client(), batch, 5000), KV_OK);
    }
  }
}

TEST_F(Border, PinsAreCheckedAndEachRefusalNamesTheWayOut) {
  struct Case {
    uint32_t pins;
    uint32_t softPinMs;
    const char* word;  // NULL: accepted
  };
  const Case cases[] = {{0, 0, nullptr},
                        {KV_PIN_SOFT, 0, nullptr},
                        {KV_PIN_SOFT | KV_PIN_HARD, KV_SOFT_PIN_MS_MAX, nullptr},
                        {KV_PIN_HARD, 0, nullptr},
                        {KV_PIN_KEEP_SOFT, 0, nullptr},
                        {8, 0, "KV_PIN_SOFT, KV_PIN_HARD and KV_PIN_KEEP_SOFT"},
                        {KV_PIN_SOFT, KV_SOFT_PIN_MS_MAX + 1, "24 h"},
                        {KV_PIN_HARD, 1, "without KV_PIN_SOFT"}};
  for (const Case& it : cases) {
    kv_op op = line("k", "v", 1);
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.timeout_ms = 100;
    options.pins = it.pins;
    options.soft_pin_ms = it.softPinMs;
    uint64_t batch = 0;
    const int32_t status = kv_client_submit(client(), KV_OP_PUT, &op, 1, &options, &batch);
    EXPECT_EQ(status, it.word == nullptr ? KV_OK : KV_INVALID_ARGUMENT);
    if (it.word != nullptr) {
      EXPECT_NE(explain(client()).find(it.word), std::string::npos) << explain(client());
    }
    if (status == KV_OK) {
      EXPECT_EQ(kv_client_wait(client(), batch, 5000), KV_OK);
    }
  }
}

TEST(GroupId, IsFnv1aAndNoneForNoName) {
  EXPECT_EQ(kv_group_id("a", 1), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(kv_group_id("foobar", 6), 0x85944171f73967e8ull);
  EXPECT_EQ(kv_group_id("", 0), 0u);
  EXPECT_EQ(kv_group_id(nullptr, 0), 0u);
}

TEST_F(Border, SubmitRefusesWhatItCannotDo) {
  kv_op op = line("k", "v", 1);
  uint64_t batch = 0;
  EXPECT_EQ(kv_client_submit(nullptr, KV_OP_PUT, &op, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, 1, nullptr, nullptr), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, nullptr, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_submit(client(), 99, &op, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client()).find("99"), std::string::npos);
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, KV_BATCH_MAX + 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  kv_batch_options options{};
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  options.struct_size = sizeof options;
  options.flags = 1u << 20;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  options.flags = 0;
  options.replicas = 256;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  options.replicas = 0;
  options.flags = KV_BATCH_GROUPS;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_GET, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client()).find("KV_BATCH_GROUPS"), std::string::npos);
  options.nodes = "n";
  EXPECT_EQ(kv_client_submit(client(), KV_OP_REMOVE, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client()).find("nodes is one node"), std::string::npos);
  options.flags = 0;
  options.nodes = "n,m";
  EXPECT_EQ(kv_client_submit(client(), KV_OP_REMOVE, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  const std::string many(2 * KV_PREFERRED_MAX - 1, ',');
  options.nodes = many.c_str();
  EXPECT_EQ(kv_client_submit(client(), KV_OP_PUT, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client()).find("KV_PREFERRED_MAX"), std::string::npos);
  options.nodes = nullptr;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_RETAIN, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  options.retain_ms = KV_RETAIN_MS_MAX + 1;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_RETAIN, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_NE(explain(client()).find("1 h"), std::string::npos);
  options.retain_ms = 1;
  EXPECT_EQ(kv_client_submit(client(), KV_OP_RELEASE, &op, 1, &options, &batch), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_wait(client(), 123456, 0), KV_INVALID_ARGUMENT);
}

TEST_F(Border, LinesThatCannotBeRightGetTheirOwnStatus) {
  const std::string tooLong(10240, 'k');
  std::vector<kv_op> table{line(""), line(tooLong), line("\xc3\x28"), line("k", nullptr, 5)};
  table.push_back(kv_op{});
  run(client(), KV_OP_PUT, table);
  EXPECT_EQ(table[0].status, KV_INVALID_KEY);
  EXPECT_EQ(table[1].status, KV_INVALID_KEY);
  EXPECT_EQ(table[2].status, KV_INVALID_KEY);
  EXPECT_EQ(table[3].status, KV_INVALID_ARGUMENT);
  EXPECT_EQ(table[4].status, KV_INVALID_KEY);
}

TEST_F(Border, AnEmptyBatchIsDone) {
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client(), KV_OP_GET, nullptr, 0, nullptr, &batch), KV_OK);
  EXPECT_EQ(kv_client_wait(client(), batch, 5000), KV_OK);
  EXPECT_EQ(kv_client_wait(client(), batch, 0), KV_INVALID_ARGUMENT) << "a batch that is done is forgotten";
}

TEST_F(Border, OnlyRegisteredMemoryIsTakenWhenAskedFor) {
  std::string memory(4096, 'm');
  ASSERT_EQ(kv_client_register(client(), memory.data(), memory.size()), KV_OK);
  EXPECT_EQ(kv_client_register(client(), memory.data() + 100, 10), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_register(client(), memory.data() - 1, 2), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_register(client(), memory.data() + 4095, 2), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_register(client(), nullptr, 2), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_register(client(), &memory, 0), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_register(client(), &memory, UINT64_MAX), KV_INVALID_ARGUMENT);

  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REGISTERED;
  options.timeout_ms = 200;  // no node: what is not refused runs out of time
  std::vector<kv_op> table{line("inside", memory.data() + 4000, 96), line("outside", memory.data() + 4000, 97),
                           line("nowhere", &options, 8)};
  run(client(), KV_OP_PUT, table, &options);
  EXPECT_EQ(table[0].status, KV_NO_SPACE);
  EXPECT_EQ(table[1].status, KV_NOT_REGISTERED);
  EXPECT_EQ(table[2].status, KV_NOT_REGISTERED);

  EXPECT_EQ(kv_client_unregister(client(), memory.data() + 1), KV_NOT_REGISTERED);
  EXPECT_EQ(kv_client_unregister(client(), memory.data()), KV_OK);
  EXPECT_EQ(kv_client_unregister(client(), memory.data()), KV_NOT_REGISTERED);
}

TEST_F(Border, TheBoundOfOperationsInFlightIsNamed) {
  kv_client_params params = goodParams();
  const std::string masters = master().address();
  params.masters = masters.c_str();
  params.queue_ops_max = 2;
  params.ready_timeout_ms = 5000;
  kv_client* small = nullptr;
  ASSERT_EQ(kv_client_create(&params, &small, nullptr, 0), KV_OK);
  const ClientHandle keeper(small);
  std::vector<kv_op> table{line("a"), line("b"), line("c")};
  uint64_t batch = 0;
  EXPECT_EQ(kv_client_submit(small, KV_OP_EXISTS, table.data(), 3, nullptr, &batch), KV_QUEUE_FULL);
  EXPECT_NE(explain(small).find("queue_ops_max = 2"), std::string::npos) << explain(small);
  ASSERT_EQ(kv_client_submit(small, KV_OP_EXISTS, table.data(), 2, nullptr, &batch), KV_OK);
  uint64_t other = 0;
  EXPECT_EQ(kv_client_submit(small, KV_OP_EXISTS, table.data() + 2, 1, nullptr, &other), KV_QUEUE_FULL);
  EXPECT_EQ(kv_client_wait(small, batch, 5000), KV_OK);
  EXPECT_EQ(kv_client_submit(small, KV_OP_EXISTS, table.data() + 2, 1, nullptr, &other), KV_OK);
  EXPECT_EQ(kv_client_wait(small, other, 5000), KV_OK);
}

TEST_F(Border, ALongSentenceIsCutToFit) {
  uint64_t batch = 0;
  kv_op op = line("k");
  EXPECT_EQ(kv_client_submit(client(), 99, &op, 1, nullptr, &batch), KV_INVALID_ARGUMENT);
  char text[8];
  std::fill(std::begin(text), std::end(text), 'x');
  EXPECT_EQ(kv_client_explain(client(), text, sizeof text), KV_OK);
  EXPECT_EQ(std::string(text), "op_code");
  EXPECT_EQ(kv_client_explain(client(), text, 0), KV_INVALID_ARGUMENT);
  EXPECT_EQ(kv_client_explain(client(), nullptr, 8), KV_INVALID_ARGUMENT);
}

TEST_F(Border, DestroyingNothingDoesNothing) {
  kv_client_destroy(nullptr);
}

}  // namespace
}  // namespace kvpool::test
