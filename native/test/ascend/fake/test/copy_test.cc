// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <cerrno>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeCopy : public Scene {
 protected:
  static constexpr size_t kSize = 64 << 10;

  FakeCopy() {
    EXPECT_EQ(aclrtMalloc(&device_, kSize, 0), 0);
    EXPECT_EQ(aclrtMallocHost(&host_, kSize), 0);
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream_, 0, 3), 0);
    for (size_t i = 0; i < kSize; ++i)
      static_cast<unsigned char*>(host_)[i] = static_cast<unsigned char>(i * 7);
  }
  ~FakeCopy() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), 0);
    EXPECT_EQ(aclrtFree(device_), 0);
    EXPECT_EQ(aclrtFreeHost(host_), 0);
  }

  /// A batch of copies of one byte each from the host to the device, which a test spoils.
  struct Batch {
    Batch(size_t count, void* device, void* host) : maxima(count, 1), sizes(count, 1) {
      for (size_t i = 0; i < count; ++i) {
        dsts.push_back(static_cast<char*>(device) + i);
        srcs.push_back(static_cast<char*>(host) + i);
      }
      attributes.push_back({{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}});
    }
    aclError copy() {
      return aclrtMemcpyBatch(dsts.data(), maxima.data(), srcs.data(), sizes.data(), dsts.size(), attributes.data(),
                              indexes.data(), attributes.size(), &failed);
    }

    std::vector<void*> dsts;
    std::vector<void*> srcs;
    std::vector<size_t> maxima;
    std::vector<size_t> sizes;
    std::vector<aclrtMemcpyBatchAttr> attributes;
    std::vector<size_t> indexes{0};
    size_t failed = 77;
  };

  [[nodiscard]] Batch batch(size_t count) const { return {count, device_, host_}; }
  [[nodiscard]] aclError submit(Batch& later) const {
    return aclrtMemcpyBatchAsync(later.dsts.data(), later.maxima.data(), later.srcs.data(), later.sizes.data(),
                                 later.dsts.size(), later.attributes.data(), later.indexes.data(), 1, &later.failed,
                                 stream_);
  }

  void* device_ = nullptr;
  void* host_ = nullptr;
  aclrtStream stream_ = nullptr;
};

TEST_F(FakeCopy, MemoryOfAnotherDeviceIsNotReachedInThisContext) {
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(aclrtMemcpy(device_, 10, host_, 10, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpyAsync(host_, 10, device_, 10, ACL_MEMCPY_DEVICE_TO_HOST, stream_), 107000);
  EXPECT_EQ(batch(1).copy(), 107000);
  void* other = nullptr;
  ASSERT_EQ(aclrtMalloc(&other, kSize, 0), 0);
  EXPECT_EQ(Batch(1, other, host_).copy(), 107000) << "the attribute names device 0";
  EXPECT_EQ(aclrtMemcpy(other, 10, device_, 10, ACL_MEMCPY_DEVICE_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy(other, 10, host_, 10, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(aclrtFree(other), 0);
  EXPECT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
}

TEST_F(FakeCopy, HiddenMemoryIsReachedByCopiesAlone) {
  control("set hidden_memory 1");
  void* hidden = nullptr;
  ASSERT_EQ(aclrtMalloc(&hidden, kSize, 0), 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  EXPECT_EQ(::write(pipe[1], hidden, 1), -1) << "the processor cannot read it";
  EXPECT_EQ(errno, EFAULT);
  for (const int one : pipe)
    ::close(one);
  auto* const inner = static_cast<char*>(hidden) + 5;
  ASSERT_EQ(aclrtMemcpy(inner, 1000, host_, 1000, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  ASSERT_EQ(aclrtMemcpyAsync(device_, 1000, inner, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(std::memcmp(device_, host_, 1000), 0);
  EXPECT_EQ(aclrtFree(hidden), 0);
}

TEST_F(FakeCopy, TheKindMustBeThatOfTheAddresses) {
  EXPECT_EQ(aclrtMemcpy(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(std::memcmp(device_, host_, kSize), 0);
  EXPECT_EQ(aclrtMemcpy(host_, kSize, device_, kSize, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(aclrtMemcpy(host_, kSize, device_, kSize, ACL_MEMCPY_DEFAULT), 0);
  for (const aclrtMemcpyKind wrong : {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE})
    EXPECT_EQ(aclrtMemcpy(device_, kSize, host_, kSize, wrong), 107000) << wrong;
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream_), 107000);
}

TEST_F(FakeCopy, NoMoreThanTheDestinationHolds) {
  EXPECT_EQ(aclrtMemcpy(device_, 9, host_, 10, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy(static_cast<char*>(device_) + 1, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE), 107000)
      << "beyond the end of the device memory";
}

TEST_F(FakeCopy, ABatchOf4096IsTheLargest) {
  auto most = batch(4096);
  EXPECT_EQ(most.copy(), 0);
  EXPECT_EQ(most.failed, SIZE_MAX);
  EXPECT_EQ(std::memcmp(device_, host_, 4096), 0);
  auto more = batch(4097);
  EXPECT_EQ(more.copy(), 107000);
  EXPECT_EQ(more.failed, SIZE_MAX);
  EXPECT_EQ(batch(0).copy(), 107000);
}

TEST_F(FakeCopy, ABatchHasOneDirection) {
  auto mixed = batch(5);
  mixed.attributes.push_back({{0, ACL_MEM_LOCATION_TYPE_HOST}, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}});
  mixed.indexes.push_back(3);
  std::swap(mixed.dsts[3], mixed.srcs[3]);
  std::swap(mixed.dsts[4], mixed.srcs[4]);
  EXPECT_EQ(mixed.copy(), 107000);
  EXPECT_EQ(mixed.failed, 3U);
  auto onHost = batch(2);
  onHost.attributes[0].dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(onHost.copy(), 107000);
  EXPECT_EQ(onHost.failed, 0U);
}

TEST_F(FakeCopy, IndexesOfAttributesBeginAt0AndIncrease) {
  auto late = batch(4);
  late.indexes[0] = 1;
  EXPECT_EQ(late.copy(), 107000);
  EXPECT_EQ(late.failed, SIZE_MAX);
  auto same = batch(4);
  same.attributes.resize(3, same.attributes[0]);
  same.indexes = {0, 2, 2};
  EXPECT_EQ(same.copy(), 107000);
  same.indexes = {0, 2, 4};
  EXPECT_EQ(same.copy(), 107000) << "of no copy";
  same.indexes = {0, 2, 3};
  EXPECT_EQ(same.copy(), 0);
  auto many = batch(1);
  many.attributes.resize(2, many.attributes[0]);
  many.indexes = {0, 1};
  EXPECT_EQ(many.copy(), 107000) << "more attributes than copies";
}

TEST_F(FakeCopy, ABatchNamesTheCopyThatIsWrong) {
  auto swapped = batch(5);
  std::swap(swapped.dsts[2], swapped.srcs[2]);
  EXPECT_EQ(swapped.copy(), 107000);
  EXPECT_EQ(swapped.failed, 2U);
  auto large = batch(5);
  large.sizes[4] = 2;
  EXPECT_EQ(large.copy(), 107000);
  EXPECT_EQ(large.failed, 4U);
}

TEST_F(FakeCopy, ARuleLetsABatchFailInTheMiddle) {
  const auto isCopied = [&](size_t i) { return static_cast<unsigned char*>(device_)[i] != 0; };
  control("partial aclrtMemcpyBatch 1 3 507011");
  auto some = batch(5);
  EXPECT_EQ(some.copy(), 507011);
  EXPECT_EQ(some.failed, 3U);
  EXPECT_TRUE(isCopied(2));
  EXPECT_FALSE(isCopied(3));
  EXPECT_EQ(some.copy(), 0) << "the second call";
  EXPECT_EQ(some.failed, SIZE_MAX);
  control("partial aclrtMemcpyBatchAsync 1 7 507011");
  auto later = batch(9);
  EXPECT_EQ(submit(later), 507011);
  EXPECT_EQ(later.failed, 7U);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_TRUE(isCopied(6));
  EXPECT_FALSE(isCopied(7));
}

TEST_F(FakeCopy, OldChipsAndDriversHaveNoBatches) {
  control("set memcpy_batch 0");
  EXPECT_EQ(batch(1).copy(), 207000);
  auto later = batch(1);
  EXPECT_EQ(submit(later), 207000);
  control("set soc Ascend310P3");
  EXPECT_EQ(batch(1).copy(), 207000);
  control("set soc Ascend910_9391");
  EXPECT_EQ(batch(1).copy(), 0);
}

TEST_F(FakeCopy, AStreamCopiesLaterAndInOrder) {
  control("hang stream 1");
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(static_cast<char*>(device_)[1], 0) << "not copied yet";
  control("delay stream * 1000");
  EXPECT_EQ(aclrtMemcpyAsync(static_cast<char*>(device_) + 1, 1, host_, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20000), 0);
  EXPECT_EQ(static_cast<char*>(device_)[1], 0) << "by the second copy";
  EXPECT_EQ(static_cast<char*>(device_)[2], 14);
  auto later = batch(100);
  EXPECT_EQ(submit(later), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(std::memcmp(device_, host_, 100), 0);
}

TEST_F(FakeCopy, AStreamThatHangsTimesOutAndIsAborted) {
  control("hang stream 1");
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20), 507046);
  EXPECT_EQ(aclrtStreamAbort(stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20000), 0);
  EXPECT_EQ(static_cast<char*>(device_)[1], 0) << "the copy was given up";
  control("");  // the worker may not even have begun
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20000), 0);
  EXPECT_EQ(std::memcmp(device_, host_, kSize), 0);
}

TEST_F(FakeCopy, ACallWithMemoryThatIsNotOfAclReturnsAfterTheCopy) {
  control("delay stream * 20000");
  const std::vector<char> first(kSize, 7);
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, first.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(static_cast<char*>(device_)[1], 7);
  auto later = batch(100);
  std::vector<char> second(100, 8);
  for (size_t i = 0; i < second.size(); ++i)
    later.srcs[i] = &second[i];
  EXPECT_EQ(submit(later), 0);
  EXPECT_EQ(static_cast<char*>(device_)[1], 8);
}

TEST_F(FakeCopy, AStreamIsDestroyedAfterItsWorkUnlessByForce) {
  for (const bool force : {false, true}) {
    control("delay stream 1 20000");
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    std::memset(host_, force ? 1 : 2, kSize);
    EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    EXPECT_EQ(force ? aclrtDestroyStreamForce(stream) : aclrtDestroyStream(stream), 0);
    EXPECT_EQ(static_cast<char*>(device_)[1], 2) << "by the first";
  }
}

TEST_F(FakeCopy, TheErrorOfAStreamIsThatOfItsSynchronization) {
  control("fail stream 1 500001");
  EXPECT_EQ(aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 500001);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(&stream_), 107000) << "not a stream";
}

}  // namespace
}  // namespace fake_ascend
