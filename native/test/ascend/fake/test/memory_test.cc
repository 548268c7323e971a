// SPDX-License-Identifier: Apache-2.0
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeMemory : public Scene {
 protected:
  static aclrtPtrAttributes attributesOf(const void* pointer) {
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), 0);
    return attributes;
  }
};

TEST_F(FakeMemory, TheHostHasSoMuchAndGivesItByThePolicyOfTheThread) {
  control("set free_host 3000");
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(aclrtMallocHost(&first, 2000), 0);
  EXPECT_EQ(aclrtMallocHost(&second, 2000), 207001);
  EXPECT_EQ(fake_ascend_numa(first), -1);
  unsigned long node = 1;
  if (::syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node, 8 * sizeof node) == 0) {
    ASSERT_EQ(aclrtMallocHost(&second, 1000), 0);
    EXPECT_EQ(fake_ascend_numa(second), 0);
    EXPECT_EQ(aclrtFreeHost(second), 0);
    EXPECT_EQ(::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL), 0);
  }
  EXPECT_EQ(aclrtFreeHost(first), 0);
}

TEST_F(FakeMemory, ThePointerSaysWhereItsMemoryIs) {
  ASSERT_EQ(aclrtSetDevice(2), 0);
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 1000, 0), 0);
  ASSERT_EQ(aclrtMallocHost(&host, 1000), 0);
  EXPECT_EQ(attributesOf(static_cast<char*>(device) + 999).location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributesOf(device).location.id, 2U);
  EXPECT_EQ(attributesOf(host).location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(attributesOf(static_cast<char*>(device) + 1000).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtFreeHost(device), 107000) << "device memory is not host memory";
  EXPECT_EQ(aclrtFree(device), 0);
  EXPECT_EQ(aclrtFree(device), 107000);
  EXPECT_EQ(aclrtFreeHost(host), 0);
}

TEST_F(FakeMemory, UnknownMemoryIsUnregisteredOrAnErrorBySetting) {
  int own = 0;
  EXPECT_EQ(attributesOf(&own).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  control("set unknown_pointer error");
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(&own, &attributes), 107000);
}

TEST_F(FakeMemory, HostMemoryIsRegisteredWhenAlignedTo64KiB) {
  constexpr size_t kSize = 256 << 10;
  void* memory = std::aligned_alloc(64 << 10, kSize);
  void* device = nullptr;
  EXPECT_EQ(aclrtHostRegister(static_cast<char*>(memory) + 4096, 4096, 0, &device), 107000);
  EXPECT_EQ(aclrtHostRegister(memory, kSize, 0, &device), 0);
  EXPECT_EQ(attributesOf(memory).location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(aclrtHostRegister(memory, kSize, 0, &device), 107000) << "registered already";
  EXPECT_EQ(aclrtHostUnregister(memory), 0);
  EXPECT_EQ(aclrtHostUnregister(memory), 107000);
  std::free(memory);
}

TEST_F(FakeMemory, ADeviceHasSoMuchMemory) {
  control("set device_memory 3000");
  void* pointer = nullptr;
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtMalloc(&pointer, 1000, 0), 0);
  EXPECT_EQ(aclrtGetMemInfo(0, &free, &total), 0);
  EXPECT_EQ(free, 2000U);
  EXPECT_EQ(total, 3000U);
  void* more = nullptr;
  EXPECT_EQ(aclrtMalloc(&more, 2001, 0), 207001);
  EXPECT_EQ(aclrtFree(pointer), 0);
}

TEST_F(FakeMemory, DeviceMemoryIsMappedElsewhereByItsKey) {
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMalloc(&pointer, 4096, 0), 0);
  char key[65];
  EXPECT_EQ(aclrtIpcMemGetExportKey(pointer, 4096, key, 64, 0), 100000) << "the key does not fit";
  ASSERT_EQ(aclrtIpcMemGetExportKey(pointer, 4096, key, sizeof key, 0), 0);
  int32_t pid = ::getpid();
  EXPECT_EQ(aclrtIpcMemSetImportPid(key, &pid, 1), 0);
  void* again = nullptr;
  ASSERT_EQ(aclrtIpcMemImportByKey(&again, key, 0), 0);
  ASSERT_NE(again, pointer);
  std::strcpy(static_cast<char*>(pointer), "seen");
  EXPECT_STREQ(static_cast<char*>(again), "seen");
  EXPECT_EQ(attributesOf(again).location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(aclrtIpcMemClose(key), 0);
  EXPECT_EQ(aclrtFree(pointer), 0);
  EXPECT_EQ(aclrtIpcMemImportByKey(&again, "fake:1:2", 0), 107000);
}

}  // namespace
}  // namespace fake_ascend
