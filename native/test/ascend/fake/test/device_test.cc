// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeDevice : public Scene {};

TEST_F(FakeDevice, DeviceAndContextAreThoseOfTheThread) {
  std::thread([] {
    int32_t device = -1;
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetDevice(&device), 107002);
    EXPECT_EQ(aclrtGetCurrentContext(&context), 107002);
    void* pointer = nullptr;
    EXPECT_EQ(aclrtMallocHost(&pointer, 1), 107002);
    EXPECT_EQ(aclrtSetDevice(2), 0);
    EXPECT_EQ(aclrtGetDevice(&device), 0);
    EXPECT_EQ(device, 2);
  }).join();
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
}

TEST_F(FakeDevice, AContextIsTakenToAnotherThread) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 3), 0);
  std::thread([context] {
    int32_t device = -1;
    EXPECT_EQ(aclrtSetCurrentContext(context), 0);
    EXPECT_EQ(aclrtGetDevice(&device), 0);
    EXPECT_EQ(device, 3);
  }).join();
  EXPECT_EQ(aclrtDestroyContext(context), 0);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), 107002) << "the context of this thread is gone";
  EXPECT_EQ(aclrtSetCurrentContext(context), 107000);
}

TEST_F(FakeDevice, ADeviceIsResetAsOftenAsItWasSet) {
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(aclrtResetDevice(1), 0);
  EXPECT_EQ(aclrtResetDevice(1), 107000);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), 107002);
}

TEST_F(FakeDevice, TheNumberOfDevicesIsASetting) {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(aclrtSetDevice(4), 107000);
  fake_ascend_control("set devices 0");
  EXPECT_EQ(aclrtGetDeviceCount(&count), 207004);
  EXPECT_EQ(aclrtSetDevice(0), 207004);
}

TEST_F(FakeDevice, IdsOfTheMachineInAContainerCannotBeOpened) {
  ASSERT_EQ(::setenv("ASCEND_RT_VISIBLE_DEVICES", "3,6", 1), 0);
  control("set physical_ids 8,9,10,11");
  int32_t physical = -1;
  EXPECT_EQ(aclrtGetPhyDevIdByLogicDevId(0, &physical), 0);
  EXPECT_EQ(physical, 11);
  int32_t ofDriver = -1;
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(0, &ofDriver), 0);
  EXPECT_EQ(ofDriver, 3);
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(2, &ofDriver), 107000);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSetDevice(1), 507033);
  ASSERT_EQ(::unsetenv("ASCEND_RT_VISIBLE_DEVICES"), 0);
  control("set closed_devices 2");
  EXPECT_EQ(aclrtSetDevice(2), 507033);
}

TEST_F(FakeDevice, InitializesOnce) {
  EXPECT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(aclInit(nullptr), 100002);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclFinalize(), 500001);
}

TEST_F(FakeDevice, NamesTheChip) {
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
  control("set soc Ascend910_9391");
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910_9391");
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), 0);
  EXPECT_GT(major, 0);
}

TEST_F(FakeDevice, TheRecentErrorIsThatOfTheThreadAndReadOnce) {
  EXPECT_EQ(aclrtSetDevice(99), 107000);
  std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
  EXPECT_STREQ(aclGetRecentErrMsg(), "aclrtSetDevice failed with 107000: device 99 is none of the visible devices");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

}  // namespace
}  // namespace fake_ascend
