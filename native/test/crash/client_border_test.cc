// SPDX-License-Identifier: Apache-2.0
// The C functions around the client core that simulations in other languages use.
#include <gtest/gtest.h>

#include <string>

#include "master/master_messages.h"
#include "sim/kvpool_sim_client.h"
#include "wire/handshake.h"

namespace kvpool::test {
namespace {

class SimClientBorder : public testing::Test {
 protected:
  void SetUp() override {
    kv_sim_client_params params{};
    params.struct_size = sizeof params;
    params.protocols = KV_PROTOCOL_TCP;
    params.masters = "m0,m1";
    params.name = "client";
    params.boot_id = "";
    params.incarnation = 5;
    params.random_seed = 1;
    ASSERT_EQ(kv_sim_client_create(&params, &client_), KV_OK);
  }
  void TearDown() override { kv_sim_client_destroy(client_); }

  kv_sim_client_action next() {
    kv_sim_client_action action{};
    EXPECT_EQ(kv_sim_client_next(client_, &action), KV_OK);
    return action;
  }
  static std::string text(const kv_sim_client_action& action) {
    return {static_cast<const char*>(action.data), action.data_length};
  }
  void frame(uint64_t connection, const wire::Bytes& whole) {
    ASSERT_EQ(kv_sim_client_frame(client_, now_, connection, whole.data() + wire::kFrameHeaderBytes,
                                  static_cast<uint32_t>(whole.size() - wire::kFrameHeaderBytes)),
              KV_OK);
  }

  kv_sim_client* client_ = nullptr;
  int64_t now_ = 100;
};

TEST_F(SimClientBorder, ABatchGoesInAndComesBackFinished) {
  ASSERT_EQ(kv_sim_client_tick(client_, now_), KV_OK);
  const auto dial = next();
  EXPECT_EQ(dial.kind, KV_SIM_CLIENT_DIAL);
  EXPECT_EQ(text(dial), "m0");
  EXPECT_EQ(text(next()), "m1");
  ASSERT_EQ(kv_sim_client_opened(client_, now_, dial.connection), KV_OK);
  EXPECT_EQ(next().kind, KV_SIM_CLIENT_SEND_FRAMES);

  wire::Welcome welcome;
  welcome.self = {wire::Role::Master, {1, 2}, 9,      wire::kWireVersions, wire::kLayoutVersions,
                  wire::kAbiVersions, "m0",   "0.1.0"};
  welcome.wireChosen = 1;
  wire::Bytes bytes;
  wire::appendWelcome(bytes, welcome);
  frame(dial.connection, bytes);
  const auto probe = next();
  ASSERT_EQ(probe.kind, KV_SIM_CLIENT_SEND_FRAMES);
  const auto* begin = static_cast<const uint8_t*>(probe.data);
  const auto question = readExistsRequest(wire::Body(begin, probe.data_length).subspan(wire::kFrameHeaderBytes));
  frame(dial.connection, existsReply({question.request, KV_OK, {}}));
  EXPECT_EQ(next().kind, KV_SIM_CLIENT_CLOSE);  // the other master is not needed

  kv_op line{};
  line.key = "k";
  line.key_length = 1;
  kv_sim_batch batch{};
  batch.struct_size = sizeof batch;
  batch.op_code = KV_OP_EXISTS;
  batch.batch = 7;
  batch.count = 1;
  batch.timeout_ms = 1000;
  batch.table = &line;
  ASSERT_EQ(kv_sim_client_submit(client_, now_, &batch), KV_OK);
  const auto request = next();
  const auto* body = static_cast<const uint8_t*>(request.data);
  const auto exists = readExistsRequest(wire::Body(body, request.data_length).subspan(wire::kFrameHeaderBytes));
  frame(dial.connection, existsReply({exists.request, KV_OK, {{KV_OK, 33}}}));
  const auto finished = next();
  EXPECT_EQ(finished.kind, KV_SIM_CLIENT_FINISH_BATCH);
  EXPECT_EQ(finished.transfer, 7u);
  EXPECT_EQ(line.status, KV_OK);
  EXPECT_EQ(line.result_length, 33u);
  EXPECT_EQ(next().kind, KV_SIM_CLIENT_NONE);
}

TEST_F(SimClientBorder, ShutDownFinishesWhatRuns) {
  kv_op line{};
  line.key = "k";
  line.key_length = 1;
  kv_sim_batch batch{};
  batch.struct_size = sizeof batch;
  batch.op_code = KV_OP_GET;
  batch.batch = 1;
  batch.count = 1;
  batch.timeout_ms = 1000;
  batch.table = &line;
  ASSERT_EQ(kv_sim_client_submit(client_, now_, &batch), KV_OK);
  EXPECT_EQ(kv_sim_client_submit(client_, now_, &batch), KV_INVALID_ARGUMENT) << "the number is in use";
  ASSERT_EQ(kv_sim_client_shut_down(client_, now_), KV_OK);
  EXPECT_EQ(next().kind, KV_SIM_CLIENT_FINISH_BATCH);
  EXPECT_EQ(line.status, KV_CLOSED);
}

}  // namespace
}  // namespace kvpool::test
