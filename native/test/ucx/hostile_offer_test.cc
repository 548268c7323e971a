// SPDX-License-Identifier: Apache-2.0
// Offers of memory that no UCX made, to the real UCX: an address or key of random bytes, or cut off, is refused or
// leads nowhere, and the node goes on. Forged ones that differ from a real one in a few bytes are not among them: UCX
// ends the process over some of those (docs/internals/native.md, *UCX*).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "base/ids.h"
#include "client/core/replies.h"
#include "client/core/requests.h"
#include "peer.h"
#include "peer_messages.h"
#include "pool/pool.h"
#include "seed.h"
#include "ucx/exposed_memory.h"
#include "ucx/library.h"
#include "ucx/remote_memory.h"

namespace kvpool::ucx {
namespace {

std::string noise(test::Dice& dice, size_t most) {
  std::string bytes(1 + dice.below(most), '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(dice.next());
  return bytes;
}

class HostileOffer : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 1 << 20;
  static constexpr int kRounds = 100;

  void SetUp() override {
    const auto api = load();
    ASSERT_TRUE(api.ok()) << api.status().text();
    node_ = std::move(Worker::create(*api.value()).value());
    client_ = std::move(Worker::create(*api.value()).value());
    memory_ = std::move(ExposedMemory::create(*client_, kBytes).value());
    offer_ = memory_->offer();
  }
  /// What the node makes of it; what it opens is closed again.
  Status open(const StagingOffer& offer) {
    auto opened = RemoteMemory::open(*node_, offer);
    if (!opened.ok()) return opened.status();
    opened.value()->close();
    for (int round = 0; round < 10000 && !opened.value()->closed(); ++round) {
      (void)node_->settle();
      (void)client_->settle();
      (void)opened.value()->advance();
    }
    EXPECT_TRUE(opened.value()->closed());
    return {};
  }

  std::unique_ptr<Worker> node_;
  std::unique_ptr<Worker> client_;
  std::unique_ptr<ExposedMemory> memory_;
  StagingOffer offer_;
};

TEST_F(HostileOffer, AddressesOfRandomBytesLeadNowhere) {
  const uint64_t seed = test::seed(4711);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < kRounds; ++round) {
    StagingOffer offer = offer_;
    offer.worker = noise(dice, 512);
    (void)open(offer);
    offer.worker[0] = static_cast<char>(offer.worker[0] & 0xf0);  // of the form that UCX goes on to read
    (void)open(offer);
  }
  EXPECT_TRUE(open(offer_).ok());
}

TEST_F(HostileOffer, AnAddressOfAFormThatUcxDoesNotKnowIsNotGivenToIt) {
  StagingOffer offer = offer_;
  offer.worker[0] = static_cast<char>(offer.worker[0] | 0x0f);
  const Status refused = open(offer);
  EXPECT_EQ(refused.code(), KV_IO);
  EXPECT_NE(refused.text().find("address has form 15"), std::string::npos) << refused.text();
}

TEST_F(HostileOffer, WhatIsCutOffIsNotReadBeyond) {
  for (size_t length = 0; length < offer_.worker.size(); ++length) {
    StagingOffer offer = offer_;
    offer.worker.resize(length);
    (void)open(offer);
  }
  for (size_t length = 0; length < offer_.key.size(); ++length) {
    StagingOffer offer = offer_;
    offer.key.resize(length);
    EXPECT_EQ(open(offer).ok(), length > 0);
  }
  EXPECT_TRUE(open(offer_).ok());
}

TEST_F(HostileOffer, KeysOfRandomBytesHarmNobody) {
  const uint64_t seed = test::seed(4712);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < kRounds; ++round) {
    StagingOffer offer = offer_;
    offer.key = noise(dice, 128);
    (void)open(offer);
  }
}

TEST(HostileOfferToANode, IsRefusedWithAReasonAndOthersAreServed) {
  test::TemporaryDirectory directory;
  test::TestMaster master;
  const std::string masters = master.address();
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.pool_id = test::kPoolText;
  params.node_id = "node-0";
  params.masters = masters.c_str();
  params.listen_host = params.advertise_host = "127.0.0.1";
  params.data_dir = directory.path().c_str();
  params.segment_bytes = 32 << 20;
  params.protocols = KV_PROTOCOL_UCX | KV_PROTOCOL_TCP;
  params.connect_timeout_ms = 500;
  char err[512] = "";
  kv_node* started = nullptr;
  ASSERT_EQ(kv_node_start(&params, &started, err, sizeof err), KV_OK) << err;
  const test::NodeHandle node(started);
  ASSERT_TRUE(master.awaitNodes(1));
  const auto port = static_cast<uint16_t>(test::statsOf(node.get()).listen_port);

  test::Dice dice(test::seed(4713));
  constexpr int kOffers = 20;
  for (int i = 0; i < kOffers; ++i) {
    test::Peer peer = test::Peer::tcp(port);
    peer.sendFrames(
        [](wire::Bytes& out) { wire::appendHello(out, test::clientHello(0, *parsePoolId(test::kPoolText))); });
    (void)wire::readWelcome(*peer.receive());
    peer.send(
        client::stagingAttach(7, {1 + dice.below(1 << 26), dice.next() >> 1, noise(dice, 600), noise(dice, 100)}));
    const auto reply = client::decodeReply(*peer.receive());
    const auto* attached = std::get_if<client::UcxAttached>(&reply);
    ASSERT_NE(attached, nullptr);
    EXPECT_NE(attached->status, KV_OK);
    EXPECT_FALSE(attached->reason.empty());
  }
  EXPECT_TRUE(test::eventually([&] { return test::statsOf(node.get()).ucx_refusals == kOffers; }));
  const test::ClientHandle honest = test::connect(masters, KV_PROTOCOL_UCX | KV_PROTOCOL_TCP);
  ASSERT_TRUE(honest);
  const std::string value = test::pattern(1, 100'000);
  EXPECT_EQ(test::put(honest.get(), "key", value), KV_OK);
  EXPECT_EQ(test::get(honest.get(), "key").value, value);
}

}  // namespace
}  // namespace kvpool::ucx
