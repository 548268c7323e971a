// SPDX-License-Identifier: Apache-2.0
#include "scene.h"

namespace fake_ascend {
namespace {

class FakeVirtualMemory : public Scene {
 protected:
  static aclError allocate(size_t size, aclrtMemAttr pages, aclrtDrvMemHandle& handle) {
    aclrtPhysicalMemProp properties{};
    properties.memAttr = pages;
    properties.location = {1, ACL_MEM_LOCATION_TYPE_HOST_NUMA};
    return aclrtMallocPhysical(&handle, size, &properties, 0);
  }
};

TEST_F(FakeVirtualMemory, PhysicalMemoryIsMappedAtReservedAddresses) {
  aclrtDrvMemHandle handle = nullptr;
  void* pointer = nullptr;
  ASSERT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE1G, handle), 0);
  ASSERT_EQ(aclrtReserveMemAddress(&pointer, 2 * kGiga1, 0, nullptr, 1), 0);
  EXPECT_EQ(addressOf(pointer) % kGiga1, 0U);
  EXPECT_EQ(aclrtMapMem(pointer, 2 * kGiga1, 0, handle, 0), 107000) << "not the size of the memory";
  ASSERT_EQ(aclrtMapMem(pointer, kGiga1, 0, handle, 0), 0);
  EXPECT_EQ(aclrtMapMem(pointer, kGiga1, 0, handle, 0), 107000) << "mapped already";
  static_cast<char*>(pointer)[kGiga1 - 1] = 1;
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), 0);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST_NUMA);
  aclrtDrvMemHandle retained = nullptr;
  EXPECT_EQ(aclrtMemRetainAllocationHandle(static_cast<char*>(pointer) + 5, &retained), 0);
  EXPECT_EQ(retained, handle);
  EXPECT_EQ(aclrtReleaseMemAddress(pointer), 107000) << "memory is mapped there";
  EXPECT_EQ(aclrtFreePhysical(handle), 107000) << "it is mapped";
  aclrtMemAccessDesc access{3, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
  EXPECT_EQ(aclrtMemSetAccess(pointer, kGiga1, &access, 1), 0);
  access.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(aclrtMemSetAccess(pointer, kGiga1, &access, 1), 100000) << "of no device";
  EXPECT_EQ(aclrtUnmapMem(pointer), 0);
  EXPECT_EQ(aclrtUnmapMem(pointer), 107000);
  EXPECT_EQ(aclrtReleaseMemAddress(pointer), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 107000);
}

TEST_F(FakeVirtualMemory, SizesAndAddressesAreAlignedToThePages) {
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_EQ(allocate(kGiga1 + kMega2, ACL_HBM_MEM_HUGE1G, handle), 107000);
  EXPECT_EQ(allocate(kMega2 + 4096, ACL_HBM_MEM_HUGE, handle), 107000);
  void* pointer = nullptr;
  EXPECT_EQ(aclrtReserveMemAddress(&pointer, 4096, 0, nullptr, 1), 107000);
  ASSERT_EQ(aclrtReserveMemAddress(&pointer, 2 * kGiga1, 0, nullptr, 1), 0);
  ASSERT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE1G, handle), 0);
  EXPECT_EQ(aclrtMapMem(static_cast<char*>(pointer) + kMega2, kGiga1, 0, handle, 0), 107000);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
  ASSERT_EQ(allocate(kMega2, ACL_HBM_MEM_HUGE, handle), 0);
  EXPECT_EQ(aclrtMapMem(static_cast<char*>(pointer) + kMega2, kMega2, 0, handle, 0), 0);
  EXPECT_EQ(aclrtUnmapMem(static_cast<char*>(pointer) + kMega2), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(pointer), 0);
}

TEST_F(FakeVirtualMemory, WithoutPagesOf1GiBThoseOf2MiBAreLeft) {
  control("set free_1g 0");
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE1G, handle), 207001);
  ASSERT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE, handle), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
}

TEST_F(FakeVirtualMemory, ASmallerSizeFitsWhereALargerDoesNot) {
  control("set free_1g 7516192768");  // 7 GiB
  aclrtDrvMemHandle handle = nullptr;
  int tries = 1;
  for (size_t size = 10 * kGiga1; allocate(size, ACL_HBM_MEM_HUGE1G, handle) == 207001; size -= kGiga1)
    ++tries;
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
  control("fail aclrtMallocPhysical 1 207001");
  EXPECT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE1G, handle), 207001);
  EXPECT_EQ(allocate(kGiga1, ACL_HBM_MEM_HUGE1G, handle), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
}

TEST_F(FakeVirtualMemory, FabricMemoryIsImportedByItsHandle) {
  void* pointer = nullptr;
  EXPECT_EQ(adxl::AdxlEngine::MallocMem(adxl::MEM_HOST, kMega2, &pointer), kParamInvalidStatus) << "pages of 1 GiB";
  ASSERT_EQ(adxl::AdxlEngine::MallocMem(adxl::MEM_HOST, kGiga1, &pointer), kOk);
  std::strcpy(static_cast<char*>(pointer), "fabric");
  aclrtMemFabricHandle shared{};
  ASSERT_EQ(adxl::AdxlEngine::ExportToShareableHandle(pointer, shared), kOk);
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &handle), 0);
  void* again = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&again, kGiga1, 0, nullptr, 1), 0);
  ASSERT_EQ(aclrtMapMem(again, kGiga1, 0, handle, 0), 0);
  EXPECT_STREQ(static_cast<char*>(again), "fabric");
  EXPECT_EQ(aclrtUnmapMem(again), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(again), 0);
  EXPECT_EQ(aclrtFreePhysical(handle), 0);
  EXPECT_EQ(adxl::AdxlEngine::FreeMem(pointer), kOk);
  EXPECT_EQ(adxl::AdxlEngine::FreeMem(pointer), kParamInvalidStatus);
  EXPECT_EQ(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &handle), 207000);
}

}  // namespace
}  // namespace fake_ascend
