// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeControl : public Scene {
 protected:
  static aclError call() {
    uint32_t count = 0;
    return aclrtGetDeviceCount(&count);
  }

  static int64_t msOf(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count();
  }
};

TEST_F(FakeControl, TheNthCallFails) {
  control("fail aclrtGetDeviceCount 2 500001");
  EXPECT_EQ(call(), 0);
  EXPECT_EQ(call(), 500001);
  EXPECT_EQ(call(), 0);
  control("fail aclrtGetDeviceCount 2+ 500001  # again");
  EXPECT_EQ(call(), 0);
  EXPECT_EQ(call(), 500001);
  EXPECT_EQ(call(), 500001);
  control("fail aclrtGetDeviceCount * 207000");
  EXPECT_EQ(call(), 207000);
  control("");
  EXPECT_EQ(call(), 0);
}

TEST_F(FakeControl, ACallTakesLonger) {
  control("delay aclrtGetDeviceCount 1 30000");
  EXPECT_GE(msOf(call), 30);
}

TEST_F(FakeControl, ACallHangsForAsLongAsTheRuleStands) {
  control("hang aclrtGetDeviceCount 1");
  std::atomic<bool> stands{true};
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stands = false;
    control("");
  });
  EXPECT_EQ(call(), 0);
  EXPECT_FALSE(stands);
  end.join();
}

TEST_F(FakeControl, WhatIsWrongOrHalfWrittenIsNoRule) {
  control("fail aclrtGetDeviceCount\nfail aclrtGetDeviceCount 1\nnonsense\nfail\n# fail aclrtGetDeviceCount * 5\n");
  EXPECT_EQ(call(), 0);
}

TEST_F(FakeControl, CallsAreCounted) {
  fake_ascend_reset();
  control("fail aclrtGetDeviceCount 1 500001");
  call();
  call();
  EXPECT_EQ(fake_ascend_calls("aclrtGetDeviceCount"), 2U);
  EXPECT_EQ(fake_ascend_failures("aclrtGetDeviceCount"), 1U);
  EXPECT_EQ(fake_ascend_calls("aclrtMalloc"), 0U);
}

TEST_F(FakeControl, WhatIsLeftAtTheEndIsALeak) {
  ASSERT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(fake_ascend_live("host_memory"), 0U);
  void* pointer = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pointer, 10), 0);
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(fake_ascend_live("host_memory"), 1U);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(fake_ascend_leaks(), 2U);
  EXPECT_EQ(aclrtFreeHost(pointer), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  ASSERT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(fake_ascend_leaks(), 0U);
}

}  // namespace
}  // namespace fake_ascend
