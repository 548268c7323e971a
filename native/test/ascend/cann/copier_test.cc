// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of a machine. CANN is the fake of test/ascend/fake.
#include "ascend/cann/copier.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "ascend/fake_cann.h"

namespace kvpool::ascend {
namespace {

constexpr size_t kPiece = 64;
constexpr size_t kPieces = 10000;

class CopierTest : public testing::Test {
 protected:
  void SetUp() override {
    (void)runtime();
    functionOf<void (*)()>("fake_ascend_reset")();
    device_.emplace();
    copier_.emplace(runtime().acl, 1000);
    host_.resize(kPieces * kPiece);
    back_.resize(host_.size());
    std::iota(host_.begin(), host_.end(), uint8_t{1});
    const auto allocate = functionOf<AclError (*)(void**, size_t, int)>("aclrtMalloc");
    for (uint8_t** memory : {&onDevice_, &otherOnDevice_}) {
      void* at = nullptr;
      ASSERT_EQ(allocate(&at, host_.size(), 0), kAclOk);
      *memory = static_cast<uint8_t*>(at);
    }
  }
  void TearDown() override {
    copier_.reset();
    EXPECT_EQ(live("stream"), 0U);
    for (uint8_t* memory : {onDevice_, otherOnDevice_})
      EXPECT_EQ(functionOf<AclError (*)(void*)>("aclrtFree")(memory), kAclOk);
    device_.reset();
  }

  /// In pieces, each of which says where it is.
  std::vector<Copy> copies(uint8_t* to, const uint8_t* from, size_t count = kPieces) const {
    std::vector<Copy> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(
          {to + i * kPiece, from + i * kPiece, kPiece, locate(runtime().acl, to), locate(runtime().acl, from)});
    return all;
  }
  /// To the device, there, and back.
  void roundTrip() {
    for (const auto& [to, from] : {std::pair<uint8_t*, const uint8_t*>{onDevice_, host_.data()},
                                   {otherOnDevice_, onDevice_},
                                   {back_.data(), otherOnDevice_}}) {
      const Status status = copier_->copy(copies(to, from));
      ASSERT_TRUE(status.ok()) << status.text();
    }
    EXPECT_EQ(back_, host_);
  }

  std::optional<Device> device_;
  std::optional<Copier> copier_;
  std::vector<uint8_t> host_;
  std::vector<uint8_t> back_;
  uint8_t* onDevice_ = nullptr;
  uint8_t* otherOnDevice_ = nullptr;
};

TEST_F(CopierTest, MemoryIsLocated) {
  EXPECT_EQ(locate(runtime().acl, onDevice_), Location::Device);
  EXPECT_NE(locate(runtime().acl, host_.data()), Location::Device);
  control("set unknown_pointer error");
  EXPECT_EQ(locate(runtime().acl, host_.data()), Location::Host);
}

TEST_F(CopierTest, TenThousandPiecesGoInCallsOfFourThousandAndNinetySix) {
  roundTrip();
  EXPECT_EQ(calls("aclrtMemcpyBatch"), 6U);
}

TEST_F(CopierTest, WhereBatchesAreNotSupportedPiecesGoOneByOne) {
  control("set memcpy_batch 0");
  roundTrip();
  EXPECT_EQ(calls("aclrtMemcpyBatch"), 1U) << "it is asked once";
}

TEST_F(CopierTest, ACopyThatFailsSaysWhich) {
  control("fail aclrtMemcpyBatch 1 107000");
  const Status status = copier_->copy(copies(onDevice_, host_.data()));
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("aclrtMemcpyBatch of 4096"), 0U) << status.text();
}

TEST_F(CopierTest, AStreamThatDoesNotEndIsAborted) {
  copier_.emplace(runtime().acl, 50);
  control("hang stream *");
  const Status status = copier_->copy(copies(otherOnDevice_, onDevice_, 3));
  EXPECT_EQ(status.code(), KV_TIMEOUT) << status.text();
  EXPECT_EQ(calls("aclrtStreamAbort"), 1U);
  control("");
  roundTrip();
}

TEST_F(CopierTest, HostMemoryNeedsNoDevice) {
  const Status status = copier_->copy(copies(back_.data(), host_.data()));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(back_, host_);
  EXPECT_EQ(calls("aclrtMemcpyAsync") + calls("aclrtMemcpyBatch"), 0U);
}

}  // namespace
}  // namespace kvpool::ascend
