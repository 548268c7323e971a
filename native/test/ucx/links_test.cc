// SPDX-License-Identifier: Apache-2.0
// What the node's shell does through UCX, over a UCX that does as it is told.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "node/shell/ucx_links.h"
#include "ucx/fake_ucx.h"

namespace kvpool::node {
namespace {

constexpr ConnectionId kClient = 3;
constexpr uint64_t kConnectTimeoutMs = 1000;

class LinksTest : public testing::Test, private RemoteEvents {
 protected:
  LinksTest() {
    auto worker = ucx::Worker::create(test::FakeUcx::api());
    UcxSource source;
    source.worker = std::move(worker.value());
    source.segment = source.worker->map(segment_.data(), segment_.size()).value();
    source.ofTier = ssd::BlockBuffer(1 << 20);
    source.tier = source.worker->map(source.ofTier.bytes().data(), 1 << 20).value();
    tier_ = source.tierBytes();
    links_.emplace(std::move(source), std::span<uint8_t>(segment_), static_cast<RemoteEvents&>(*this),
                   kConnectTimeoutMs);
  }
  ~LinksTest() override { links_.reset(); }

  StagingOffer offer() { return {staging_.size(), reinterpret_cast<uintptr_t>(staging_.data()), "worker", "key"}; }
  void connect() {
    links_->connect({kClient, offer()}, nowMs_);
    settle();
    ASSERT_EQ(take(), "3 connected; ");
  }
  void settle() {
    for (int turn = 0; turn < 100; ++turn) {
      links_->work(nowMs_);
      if (links_->settled()) return;
    }
  }
  std::string take() { return std::exchange(told_, {}); }

  void onRemoteConnected(ConnectionId connection, const Status& outcome) override {
    told_ += std::to_string(connection) + (outcome.ok() ? " connected; " : " not connected: " + outcome.text() + "; ");
  }
  void onPulled(uint64_t transfer, bool good, uint32_t computed) override {
    told_ += std::to_string(transfer) + (good ? " pulled " + std::to_string(computed) : " not pulled") + "; ";
  }
  void onPushed(uint64_t transfer, bool good) override {
    told_ += std::to_string(transfer) + (good ? " pushed; " : " not pushed; ");
  }
  void onRemoteLost(ConnectionId connection, const std::string& why) override {
    told_ += std::to_string(connection) + " lost: " + why + "; ";
  }

  test::FakeUcx fake_;
  std::span<uint8_t> tier_;
  std::vector<uint8_t> segment_ = std::vector<uint8_t>(8 << 20, 's');
  std::vector<uint8_t> staging_ = std::vector<uint8_t>(4 << 20, 'c');
  uint64_t nowMs_ = 5000;
  std::string told_;
  std::optional<UcxLinks> links_;
};

TEST_F(LinksTest, PayloadsGoBothWaysAndAreSummedHere) {
  ASSERT_NO_FATAL_FAILURE(connect());
  staging_[100] = 'x';
  links_->pull({kClient, 1, 100, 64, 3});
  links_->push({kClient, 2, 8, 64, 2});
  settle();
  EXPECT_EQ(take(), "1 pulled " + std::to_string(crc32c("xcc", 3)) + "; 2 pushed; ");
  EXPECT_EQ(std::string(segment_.begin() + 63, segment_.begin() + 68), "sxccs");
}

TEST_F(LinksTest, ALargePayloadIsSummedInTurns) {
  ASSERT_NO_FATAL_FAILURE(connect());
  links_->pull({kClient, 1, 0, 0, 3 << 20});
  links_->work(nowMs_);
  links_->work(nowMs_);
  EXPECT_EQ(take(), "");
  EXPECT_FALSE(links_->settled());
  settle();
  EXPECT_EQ(take(), "1 pulled " + std::to_string(crc32c(staging_.data(), 3 << 20)) + "; ");
}

TEST_F(LinksTest, WhatTheSsdReadIsMovedFromWhereItLies) {
  ASSERT_NO_FATAL_FAILURE(connect());
  std::ranges::fill(tier_, uint8_t{'d'});
  links_->pushStaged({kClient, 1, 8, 5}, tier_.subspan(4096, 5));
  links_->pushStaged({kClient, 2, 0, 0}, tier_.first(0));
  links_->pushStaged({kClient + 1, 3, 0, 5}, tier_.first(5));
  settle();
  EXPECT_EQ(take(), "2 pushed; 3 not pushed; 1 pushed; ");
  EXPECT_EQ(std::string(staging_.begin() + 7, staging_.begin() + 14), "cdddddc");
}

TEST_F(LinksTest, NothingIsMovedForAnEmptyPayload) {
  ASSERT_NO_FATAL_FAILURE(connect());
  fake_.hangs = true;
  links_->pull({kClient, 1, 0, 0, 0});
  links_->push({kClient, 2, 0, 0, 0});
  settle();
  EXPECT_EQ(take(), "2 pushed; 1 pulled 0; ");
}

TEST_F(LinksTest, AClientThatIsNotReachedInTimeIsToldSo) {
  fake_.hangs = true;
  links_->connect({kClient, offer()}, nowMs_);
  nowMs_ += kConnectTimeoutMs - 1;
  settle();
  EXPECT_EQ(take(), "");
  nowMs_ += 1;
  settle();
  EXPECT_EQ(take(), "3 not connected: UCX does not reach the client: no answer within 1000 ms; ");
  settle();
  EXPECT_TRUE(links_->idle());
  EXPECT_EQ(fake_.endpointsAlive, 0);
}

TEST_F(LinksTest, AClientWithoutACommonTransportIsToldSo) {
  fake_.noTransport = true;
  links_->connect({kClient, offer()}, nowMs_);
  settle();
  EXPECT_NE(take().find("3 not connected: UCX has no transport"), std::string::npos);
  EXPECT_TRUE(links_->idle());
}

TEST_F(LinksTest, ALostClientEndsItsTransfersBadly) {
  ASSERT_NO_FATAL_FAILURE(connect());
  fake_.hangs = true;
  links_->pull({kClient, 1, 0, 0, 100});
  links_->push({kClient, 2, 0, 0, 100});
  fake_.losePeer();
  settle();
  EXPECT_EQ(take(), "3 lost: what the fake was told to say; 1 not pulled; 2 not pushed; ");
  links_->pull({kClient, 3, 0, 0, 100});
  settle();
  EXPECT_EQ(take(), "3 not pulled; ") << "a connection that is gone moves nothing";
}

TEST_F(LinksTest, TransfersOfAConnectionThatLeftEndWhenUcxIsThroughWithThem) {
  ASSERT_NO_FATAL_FAILURE(connect());
  fake_.hangs = true;
  fake_.closingTakes = 2;
  links_->pull({kClient, 1, 0, 0, 100});
  links_->disconnect(kClient);
  settle();
  EXPECT_EQ(take(), "1 not pulled; ");
  for (int turn = 0; turn < 4; ++turn)
    links_->work(nowMs_);
  EXPECT_TRUE(links_->idle());
  EXPECT_EQ(fake_.keysAlive, 0);
  EXPECT_EQ(fake_.requestsAlive, 0);
}

TEST_F(LinksTest, TheEndOfTheNodeEndsEverything) {
  ASSERT_NO_FATAL_FAILURE(connect());
  fake_.hangs = true;
  links_->pull({kClient, 1, 0, 0, 100});
  links_->push({kClient, 2, 0, 0, 100});
  links_.reset();
  EXPECT_EQ(take(), "1 not pulled; 2 not pushed; ");
  EXPECT_EQ(fake_.requestsAlive, 0);
  EXPECT_EQ(fake_.endpointsAlive, 0);
  EXPECT_EQ(fake_.mapped, 0);
  EXPECT_EQ(fake_.workersAlive, 0);
}

}  // namespace
}  // namespace kvpool::node
