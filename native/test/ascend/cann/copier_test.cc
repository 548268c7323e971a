// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of a machine. CANN is the fake of test/ascend/fake.
#include "ascend/cann/copier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "ascend/cann/copiers.h"
#include "ascend/cann/copy_memory.h"
#include "ascend/fake_cann.h"

namespace kvpool::ascend {
namespace {

constexpr size_t kPiece = 64;
constexpr size_t kPieces = 10000;

/// Memory of ACL's, in the context of this thread: with other memory CANN's calls return when the copies are done.
template <typename T>
struct AclAllocator {
  using value_type = T;
  static T* allocate(size_t count) {
    void* at = nullptr;
    EXPECT_EQ(runtime().acl.mallocHost(&at, count * sizeof(T)), kAclOk);
    return static_cast<T*>(at);
  }
  static void deallocate(T* at, size_t) { EXPECT_EQ(runtime().acl.freeHost(at), kAclOk); }
  bool operator==(const AclAllocator&) const = default;
};
using HostBytes = std::vector<uint8_t, AclAllocator<uint8_t>>;

class CopierTest : public testing::Test {
 protected:
  void SetUp() override {
    (void)runtime();
    functionOf<void (*)()>("fake_ascend_reset")();
    device_.emplace();
    use(runtime().acl);
    host_.resize(kPieces * kPiece);
    back_.resize(host_.size());
    std::iota(host_.begin(), host_.end(), uint8_t{1});
    for (size_t i = 0; i < host_.size(); i += kPiece)
      host_[i] = static_cast<uint8_t>(i / kPiece % 251);  // no two neighbours are the same
    const auto allocate = functionOf<AclError (*)(void**, size_t, int)>("aclrtMalloc");
    for (uint8_t** memory : {&onDevice_, &otherOnDevice_}) {
      void* at = nullptr;
      ASSERT_EQ(allocate(&at, host_.size(), 0), kAclOk);
      *memory = static_cast<uint8_t*>(at);
    }
  }
  void TearDown() override {
    control("");
    copier_.reset();
    EXPECT_EQ(live("stream"), 0U);
    for (uint8_t* memory : {onDevice_, otherOnDevice_})
      EXPECT_EQ(functionOf<AclError (*)(void*)>("aclrtFree")(memory), kAclOk);
    host_ = HostBytes();
    back_ = HostBytes();
    device_.reset();
  }

  void use(const Acl& acl, int32_t timeoutMs = 20000) {
    copier_.reset();
    acl_ = acl;
    ways_.emplace(acl_);
    copier_.emplace(acl_, *ways_, timeoutMs);
  }
  /// CANN with none that is better.
  void use(CopyWay way) {
    Acl acl = runtime().acl;
    if (way != CopyWay::BatchOnStream) acl.memcpyBatchAsync = nullptr;
    if (way == CopyWay::OneByOne) acl.memcpyBatch = nullptr;
    use(acl);
  }

  /// In pieces, each of which says where it is.
  static std::vector<Copy> copies(uint8_t* to, const uint8_t* from, size_t count = kPieces) {
    std::vector<Copy> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back({to + i * kPiece, from + i * kPiece, kPiece, locate(runtime().acl, to).type,
                     locate(runtime().acl, from).type});
    return all;
  }
  /// To the device, there, and back: those pieces, and no byte beside them.
  void roundTrip(size_t count = kPieces) {
    for (const auto& [to, from] : {std::pair<uint8_t*, const uint8_t*>{onDevice_, host_.data()},
                                   {otherOnDevice_, onDevice_},
                                   {back_.data(), otherOnDevice_}}) {
      const Status status = copier_->copy(copies(to, from, count));
      ASSERT_TRUE(status.ok()) << status.text();
    }
    HostBytes expected(host_.size());
    std::copy_n(host_.begin(), count * kPiece, expected.begin());
    EXPECT_EQ(back_, expected);
  }
  [[nodiscard]] size_t onDevice(size_t count = kPieces) const {
    size_t there = 0;
    for (size_t i = 0; i < count; ++i)
      there += std::equal(&onDevice_[i * kPiece], &onDevice_[(i + 1) * kPiece], &host_[i * kPiece]) ? 1U : 0U;
    return there;
  }
  Status toDevice(size_t count = kPieces) { return copier_->copy(copies(onDevice_, host_.data(), count)); }

  std::optional<Device> device_;
  Acl acl_;
  std::optional<CopyWays> ways_;
  std::optional<Copier> copier_;
  HostBytes host_;
  HostBytes back_;
  uint8_t* onDevice_ = nullptr;
  uint8_t* otherOnDevice_ = nullptr;
};

TEST_F(CopierTest, MemoryIsLocated) {
  EXPECT_EQ(locate(runtime().acl, onDevice_).type, Location::Device);
  EXPECT_NE(locate(runtime().acl, host_.data()).type, Location::Device);
  control("set unknown_pointer error");
  EXPECT_EQ(locate(runtime().acl, this).type, Location::Host);
}

TEST_F(CopierTest, HostMemoryNeedsNoDevice) {
  const Status status = copier_->copy(copies(back_.data(), host_.data()));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(back_, host_);
  EXPECT_EQ(calls("aclrtMemcpyAsync") + calls("aclrtMemcpyBatch") + calls("aclrtMemcpyBatchAsync"), 0U);
  EXPECT_EQ(live("stream"), 0U);
}

TEST_F(CopierTest, AStreamIsMadeOnce) {
  roundTrip();
  roundTrip();
  EXPECT_EQ(calls("aclrtCreateStreamWithConfig"), 1U);
}

class NumbersOfPieces : public CopierTest, public testing::WithParamInterface<std::tuple<CopyWay, size_t>> {};

TEST_P(NumbersOfPieces, AreCopiedInCallsOf4096AtMost) {
  const auto& [way, count] = GetParam();
  use(way);
  roundTrip(count);
  const uint64_t batches = 2 * ((count + 4095) / 4096);  // to the device, and back
  EXPECT_EQ(calls("aclrtMemcpyBatchAsync"), way == CopyWay::BatchOnStream ? batches : 0U);
  EXPECT_EQ(calls("aclrtMemcpyBatch"), way == CopyWay::Batch ? batches : 0U);
  EXPECT_EQ(calls("aclrtMemcpyAsync"), way == CopyWay::OneByOne ? 3 * count : count) << "between NPUs one by one";
}

INSTANTIATE_TEST_SUITE_P(AndWays, NumbersOfPieces,
                         testing::Combine(testing::Values(CopyWay::BatchOnStream, CopyWay::Batch, CopyWay::OneByOne),
                                          testing::Values(1U, 4096U, 4097U, 10000U)));

// ---- where CANN has no batches ----

TEST_F(CopierTest, BatchesThatAreNotSupportedAreTriedOnceAndTheLogSaysSo) {
  control("set memcpy_batch 0");
  testing::internal::CaptureStderr();
  roundTrip();
  roundTrip();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(calls("aclrtMemcpyBatchAsync"), 1U);
  EXPECT_EQ(calls("aclrtMemcpyBatch"), 1U);
  EXPECT_NE(said.find("aclrtMemcpyBatchAsync: ACL error 207000"), std::string::npos) << said;
  const size_t slower = said.find("copies between host and NPU are made by aclrtMemcpyAsync one by one");
  ASSERT_NE(slower, std::string::npos) << said;
  EXPECT_EQ(said.find("one by one", slower + 100), std::string::npos) << said;
}

TEST_F(CopierTest, BatchesOnAStreamThatAreNotSupportedAreMadeWithoutOne) {
  control("fail aclrtMemcpyBatchAsync * 207000");
  roundTrip();
  EXPECT_EQ(calls("aclrtMemcpyBatchAsync"), 1U);
  EXPECT_EQ(calls("aclrtMemcpyBatch"), 6U);
}

TEST_F(CopierTest, FunctionsThatAreMissingAreToldByTheLogOnce) {
  testing::internal::CaptureStderr();
  use(CopyWay::OneByOne);
  roundTrip(1);
  roundTrip(1);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("this CANN has no aclrtMemcpyBatch:");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("this CANN has no aclrtMemcpyBatch:", first + 1), std::string::npos) << said;
}

// ---- what fails ----

TEST_F(CopierTest, ABatchThatFailsInTheMiddleNamesThePieceByItsPlaceInTheList) {
  control("partial aclrtMemcpyBatchAsync 2 100 507011\nhang stream 2");
  const Status status = toDevice();
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("copy of piece 4196 of 10000, 64 bytes from the host to an NPU: aclrtMemcpyBatchAsync: "
                               "ACL error 507011"),
            0U)
      << status.text();
  EXPECT_EQ(calls("aclrtStreamAbort"), 1U) << "a hundred pieces were on their way";
  EXPECT_EQ(live("stream"), 0U);
  EXPECT_EQ(onDevice(), 4096U);
  control("");
  roundTrip();
}

TEST_F(CopierTest, ABatchWithoutAStreamThatFailsInTheMiddleNamesThePieceToo) {
  use(CopyWay::Batch);
  control("partial aclrtMemcpyBatch 3 7 507011");
  const Status status = toDevice();
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("copy of piece 8199 of 10000"), 0U) << status.text();
  EXPECT_EQ(onDevice(), 8199U);
}

TEST_F(CopierTest, OneOfThosePiecesThatGoOneByOneIsNamed) {
  use(CopyWay::OneByOne);
  control("fail aclrtMemcpyAsync 4500 507011\nhang stream 4400");
  const Status status = toDevice();
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("copy of piece 4499 of 10000"), 0U) << status.text();
  EXPECT_EQ(calls("aclrtStreamAbort"), 1U);
  EXPECT_GE(onDevice(), 4096U);
  EXPECT_LE(onDevice(), 4399U) << "none of those behind the one that hung";
}

TEST_F(CopierTest, WhereCannNamesNoPieceTheBatchIsNamed) {
  control("fail stream 2 507011");
  const Status status = toDevice();
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("copy of 4096 of 10000 pieces, 4096 to 8191, from the host to an NPU: "), 0U)
      << status.text();
  control("");
  roundTrip();
}

class Hangs : public CopierTest, public testing::WithParamInterface<CopyWay> {};

TEST_P(Hangs, AreEndedByTheTimeoutAndTheStreamIsAborted) {
  use(GetParam());
  copier_.emplace(acl_, *ways_, 50);
  control("hang stream *");
  const Status status = toDevice(3);
  EXPECT_EQ(status.code(), KV_TIMEOUT) << status.text();
  EXPECT_NE(status.text().find("not done within 50 ms"), std::string::npos) << status.text();
  EXPECT_EQ(calls("aclrtStreamAbort"), 1U);
  EXPECT_EQ(live("stream"), 0U) << "it may keep the error";
  EXPECT_EQ(onDevice(), 0U);
  control("");
  copier_.emplace(acl_, *ways_, 20000);
  roundTrip();
}

INSTANTIATE_TEST_SUITE_P(OnAStream, Hangs, testing::Values(CopyWay::BatchOnStream, CopyWay::OneByOne));

TEST_F(CopierTest, AStreamThatCannotBeAbortedIsKeptAndNothingIsCopiedUntilItHasEnded) {
  copier_.emplace(acl_, *ways_, 50);
  control("hang stream 1\nfail aclrtStreamAbort * 507000");
  const Status status = toDevice(3);
  EXPECT_EQ(status.code(), KV_TIMEOUT);
  EXPECT_NE(status.text().find("its stream may still copy: aclrtStreamAbort: ACL error 507000"), std::string::npos)
      << status.text();
  EXPECT_EQ(live("stream"), 1U) << "to destroy it would wait for it";
  EXPECT_EQ(toDevice(3).text(), status.text());
  EXPECT_EQ(calls("aclrtMemcpyBatchAsync"), 1U);
  control("");
  while (!toDevice(3).ok())
    std::this_thread::yield();
  EXPECT_EQ(calls("aclrtCreateStreamWithConfig"), 2U);
}

TEST_F(CopierTest, WhatNeedsNoAbortIsNoHang) {
  control("fail aclrtMemcpyAsync 1 507011\nfail aclrtStreamAbort * 207000");
  use(CopyWay::OneByOne);
  EXPECT_EQ(toDevice(3).code(), KV_TRANSFER_FAILED);
  EXPECT_TRUE(toDevice(3).ok());
}

TEST_F(CopierTest, AStreamIsDestroyedWithoutForceWhereCannHasNone) {
  Acl acl = runtime().acl;
  acl.destroyStreamForce = nullptr;
  use(acl);
  roundTrip(3);
  copier_.reset();
  EXPECT_EQ(calls("aclrtDestroyStream"), 1U);
  EXPECT_EQ(live("stream"), 0U);
}

class Refusals : public CopierTest, public testing::WithParamInterface<CopyWay> {};

TEST_P(Refusals, OfCopiesTogetherLetThemBeMadeOneByOneThatOnce) {
  use(GetParam());
  const char* function = GetParam() == CopyWay::Batch ? "aclrtMemcpyBatch" : "aclrtMemcpyBatchAsync";
  control("fail " + std::string(function) + " 1 107000");
  testing::internal::CaptureStderr();
  const Status status = toDevice(3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(onDevice(3), 3U);
  EXPECT_EQ(calls("aclrtMemcpyAsync"), 3U);
  EXPECT_NE(said.find(std::string(function) + ": ACL error 107000"), std::string::npos) << said;
  EXPECT_TRUE(toDevice(3).ok());
  EXPECT_EQ(calls(function), 2U) << "the next ones go together";
  EXPECT_EQ(calls("aclrtMemcpyAsync"), 3U);
}

INSTANTIATE_TEST_SUITE_P(InBatches, Refusals, testing::Values(CopyWay::BatchOnStream, CopyWay::Batch));

TEST_F(CopierTest, WhatCannRefusesTogetherAndOneByOneFailsWithBothReasons) {
  control("fail aclrtMemcpyBatchAsync * 107000\nfail aclrtMemcpyAsync * 107003");
  const Status status = toDevice(3);
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(status.text().find("copy of piece 0 of 3"), 0U) << status.text();
  EXPECT_NE(status.text().find("ACL error 107003"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("all at once: aclrtMemcpyBatchAsync: ACL error 107000"), std::string::npos)
      << status.text();
}

TEST_F(CopierTest, WithoutAStreamNothingIsCopied) {
  control("fail aclrtCreateStreamWithConfig 1 207001");
  EXPECT_EQ(toDevice(3).code(), KV_TRANSFER_FAILED);
  EXPECT_EQ(onDevice(), 0U);
  roundTrip(3);
}

// ---- threads ----

/// One thread's copies hang, whichever comes to it first: the other's do not, and are not ended with them.
TEST_F(CopierTest, EachThreadHasAStreamOfItsOwn) {
  constexpr size_t kCount = 100;
  std::optional<Copiers> copiers(std::in_place, runtime().acl, device_->context(), 1000);
  control("hang stream 1");
  const std::array wanted{copies(onDevice_, host_.data(), kCount), copies(otherOnDevice_, host_.data(), kCount)};
  std::array<Status, 2> ends;
  const auto copy = [&](size_t which) { ends[which] = copiers->copy(wanted[which]); };
  std::thread first(copy, 0);
  while (calls("aclrtMemcpyBatchAsync") == 0)
    std::this_thread::yield();
  std::thread second(copy, 1);
  first.join();
  second.join();
  const size_t hung = ends[0].ok() ? 1 : 0;
  EXPECT_EQ(ends[hung].code(), KV_TIMEOUT) << ends[hung].text();
  EXPECT_TRUE(ends[1 - hung].ok()) << ends[1 - hung].text();
  for (size_t which : {0U, 1U}) {
    const uint8_t* memory = which == 0 ? onDevice_ : otherOnDevice_;
    EXPECT_EQ(std::equal(memory, memory + kCount * kPiece, host_.begin()), which != hung) << which;
  }
  EXPECT_EQ(calls("aclrtStreamAbort"), 1U);
  EXPECT_EQ(live("stream"), 1U) << "of the one that did not hang";
  copy(0);
  EXPECT_TRUE(ends[0].ok());
  EXPECT_EQ(calls("aclrtCreateStreamWithConfig"), 2U) << "streams are used again";
  copiers.reset();
}

// ---- memory of the host ----

TEST_F(CopierTest, MemoryForCopiesIsKeptForLaterOnesOfAboutItsSize) {
  Copiers copiers(runtime().acl, device_->context(), 1000);
  const uint64_t before = live("host_memory");
  {
    CopyMemory memory(runtime().acl, device_->context(), copiers);
    const uint8_t* first = memory.take(300000).value().get();
    EXPECT_EQ(memory.take(200000).value().get(), first);
    EXPECT_NE(memory.take(1000).value().get(), first) << "it would take too much for that";
    EXPECT_EQ(live("host_memory"), before + 2);
    const auto large = CopyMemory::kIdleBytesMax + 1;
    (void)memory.take(large);
    EXPECT_EQ(live("host_memory"), before + 2) << "not that much is kept";
    control("fail aclrtMallocHost * 207001");
    const auto refused = memory.take(large);
    EXPECT_EQ(refused.status().code(), KV_OUT_OF_MEMORY);
    EXPECT_NE(refused.status().text().find("ACL error 207001"), std::string::npos) << refused.status().text();
  }
  EXPECT_EQ(live("host_memory"), before);
}

TEST_F(CopierTest, MemoryThatTheDeviceMayStillWriteIsNotUsedAgainBeforeThat) {
  Copiers copiers(runtime().acl, device_->context(), 50);
  CopyMemory memory(runtime().acl, device_->context(), copiers);
  control("hang stream 1\nfail aclrtStreamAbort * 507000");
  const uint8_t* late = nullptr;
  {
    const auto untouched = memory.take(kPiece);
    auto piece = memory.take(kPiece);
    late = piece.value().get();
    const Copiers::End end = copiers.copy(copies(piece.value().get(), onDevice_, 1), 50);
    EXPECT_EQ(end.status.code(), KV_TIMEOUT);
    piece.value().get_deleter().mayBeInUse = end.mayGoOn;
  }
  const uint64_t before = live("host_memory");
  for (int i = 0; i < 3; ++i)
    (void)memory.take(kPiece);
  EXPECT_EQ(live("host_memory"), before) << "the device uses one piece alone";
  EXPECT_NE(memory.take(kPiece).value().get(), late);
  EXPECT_EQ(copiers.copy(copies(otherOnDevice_, host_.data(), 1)).code(), KV_TIMEOUT);
  EXPECT_EQ(live("stream"), 1U) << "no further one hangs";
  control("");
  while (!copiers.copy(copies(otherOnDevice_, host_.data(), 1)).ok())
    std::this_thread::yield();
  const auto other = memory.take(kPiece);
  (void)memory.take(kPiece);
  EXPECT_TRUE(copiers.mayStillCopy().ok());
}

}  // namespace
}  // namespace kvpool::ascend
