// SPDX-License-Identifier: Apache-2.0
// Memory of the fabric as CANN's functions give it. CANN is the fake of test/ascend/fake.
#include "ascend/cann/fabric_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ascend/fake_cann.h"
#include "environment.h"

namespace kvpool::ascend {
namespace {

constexpr uint64_t kGiga = FabricMemory::kPieceBytes;

std::vector<PhysicalMemoryProperties> wanted;
decltype(Acl::mallocPhysical) mallocPhysical = nullptr;

class FabricMemoryTest : public testing::Test {
 protected:
  FabricMemoryTest() {
    functionOf<void (*)()>("fake_ascend_reset")();
    wanted.clear();
    mallocPhysical = runtime().acl.mallocPhysical;
    byAcl_ = runtime();
    byAcl_.adxl.mallocMemory = nullptr;
    byAcl_.acl.mallocPhysical = [](AclPhysicalMemory* memory, size_t bytes, const PhysicalMemoryProperties* properties,
                                   uint64_t flags) {
      wanted.push_back(*properties);
      return mallocPhysical(memory, bytes, properties, flags);
    };
  }
  void TearDown() override {
    for (const char* kind : {"physical", "reservation", "mapping"})
      EXPECT_EQ(live(kind), 0U) << kind;
  }

  /// Its first and last byte can be written, and it begins where CANN registers it.
  static void use(const Runtime& runtime, uint64_t bytes = kGiga) {
    const auto memory = FabricMemory::allocate(runtime, {bytes, bytes, 2});
    ASSERT_TRUE(memory.ok()) << memory.status().text();
    EXPECT_EQ(memory.value()->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.value()->at()) % kGiga, 0U);
    memory.value()->at()[0] = 1;
    memory.value()->at()[bytes - 1] = 2;
    EXPECT_EQ(live("mapping"), 1U);
  }
  static Status refusal(const Runtime& runtime) {
    const auto memory = FabricMemory::allocate(runtime, {kGiga, kGiga, 2});
    EXPECT_FALSE(memory.ok());
    return memory.ok() ? Status() : memory.status();
  }

  Device device_;
  Runtime byAcl_;
};

TEST_F(FabricMemoryTest, TheEngineOfCannGivesItAndTakesItBack) {
  use(runtime());
  EXPECT_EQ(calls("MallocMem"), 1U);
  EXPECT_EQ(calls("FreeMem"), 1U);
  EXPECT_EQ(calls("aclrtMemSetAccess"), 0U);
}

TEST_F(FabricMemoryTest, WithoutThatFunctionAclMapsItOfTheNumaNodeInPagesOf1GiB) {
  use(byAcl_, 2 * kGiga);
  EXPECT_EQ(calls("MallocMem"), 0U);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].pages, Pages::SharedHuge1G);
  EXPECT_EQ(wanted[0].location.type, Location::HostNuma);
  EXPECT_EQ(wanted[0].location.id, 2U);
  EXPECT_EQ(calls("aclrtMemSetAccess"), 1U);
  for (const char* undone : {"aclrtUnmapMem", "aclrtReleaseMemAddress", "aclrtFreePhysical"}) {
    EXPECT_EQ(calls(undone), 1U) << undone;
    EXPECT_EQ(functionOf<uint64_t (*)(const char*)>("fake_ascend_failures")(undone), 0U) << undone;
  }
}

TEST_F(FabricMemoryTest, ElseItIsAnywhereOnTheHost) {
  control("fail aclrtMallocPhysical 1 207001");
  use(byAcl_);
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_EQ(wanted[1].pages, Pages::SharedHuge1G);
  EXPECT_EQ(wanted[1].location.type, Location::Host);
}

TEST_F(FabricMemoryTest, ElseInPagesOf2MiB) {
  control("set free_1g 0");
  use(byAcl_);
  ASSERT_EQ(wanted.size(), 3U);
  EXPECT_EQ(wanted[2].pages, Pages::SharedHuge2M);
  EXPECT_EQ(wanted[2].location.type, Location::Host);
}

TEST_F(FabricMemoryTest, WithoutANumaNodeItIsAnywhereAtOnce) {
  const auto memory = FabricMemory::allocate(byAcl_, {kGiga, kGiga, std::nullopt});
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].location.type, Location::Host);
}

TEST_F(FabricMemoryTest, ThenThereIsLessOfIt) {
  control("set free_1g " + std::to_string(3 * kGiga) + "\nset free_2m " + std::to_string(2 * kGiga));
  {
    const auto memory = FabricMemory::allocate(byAcl_, {4 * kGiga, 2 * kGiga, 2});
    ASSERT_TRUE(memory.ok()) << memory.status().text();
    EXPECT_EQ(memory.value()->bytes(), 3 * kGiga);
    ASSERT_EQ(wanted.size(), 4U) << "all pages first";
    EXPECT_EQ(wanted[3].pages, Pages::SharedHuge1G);
  }
  const auto refused = FabricMemory::allocate(byAcl_, {8 * kGiga, 4 * kGiga, 2});
  EXPECT_EQ(refused.status().code(), KV_NO_SPACE);
  EXPECT_NE(refused.status().text().find("raise vm.nr_hugepages (sysctl) by 4096, "), std::string::npos)
      << refused.status().text();
  control("fail MallocMem 1 203900");
  const auto ofEngine = FabricMemory::allocate(runtime(), {4 * kGiga, 2 * kGiga, std::nullopt});
  ASSERT_TRUE(ofEngine.ok()) << ofEngine.status().text();
  EXPECT_EQ(ofEngine.value()->bytes(), 3 * kGiga);
}

TEST_F(FabricMemoryTest, WithoutPagesItSaysHowToReserveSome) {
  for (const char* pages : {"set free_1g 0\nset free_2m 0", "fail MallocMem * 207001"}) {
    control(pages);
    const Status refused = refusal(std::string(pages).starts_with("set") ? byAcl_ : runtime());
    EXPECT_EQ(refused.code(), KV_NO_SPACE);
    EXPECT_NE(refused.text().find("207001"), std::string::npos) << refused.text();
    EXPECT_NE(refused.text().find("raise vm.nr_hugepages (sysctl) by 512, "), std::string::npos) << refused.text();
  }
}

TEST_F(FabricMemoryTest, PagesThatLackAreToldThoughTheDriverRefusesAnotherWayToHaveThem) {
  for (const char* rules : {"fail aclrtMallocPhysical 1 207000\nset free_1g 0\nset free_2m 0",
                            "set free_1g 0\nfail aclrtMallocPhysical 3 207000"}) {
    control(rules);
    const Status refused = refusal(byAcl_);
    EXPECT_EQ(refused.code(), KV_NO_SPACE) << rules;
    EXPECT_NE(refused.text().find("aclrtMallocPhysical: ACL error 207001"), std::string::npos) << refused.text();
  }
}

TEST_F(FabricMemoryTest, EachStepThatFailsIsTakenBack) {
  for (const char* step : {"aclrtMallocPhysical", "aclrtReserveMemAddress", "aclrtMapMem", "aclrtMemSetAccess"}) {
    control("fail " + std::string(step) + " * 500001");
    const Status refused = refusal(byAcl_);
    EXPECT_EQ(refused.code(), KV_IO) << step;
    EXPECT_NE(refused.text().find(std::string(step) + ": ACL error 500001"), std::string::npos) << refused.text();
    TearDown();
  }
}

TEST_F(FabricMemoryTest, AnOldDriverIsNamedWithWhatIsNeeded) {
  control("fail aclrtMallocPhysical * 207000");
  const Status byAcl = refusal(byAcl_);
  control("set hdk 25.2");
  const Status byEngine = refusal(runtime());
  EXPECT_EQ(byEngine.text(),
            "1073741824 bytes of fabric memory, MallocMem of adxl::AdxlEngine: 103905 (unsupported). " +
                std::string(kFabricRemedy));
  control("fail MallocMem * 207000");
  EXPECT_NE(refusal(runtime()).text().find("207000 (not supported by the driver)"), std::string::npos);
  EXPECT_EQ(byAcl.code(), KV_IO);
  EXPECT_NE(byAcl.text().find("ACL error 207000"), std::string::npos) << byAcl.text();
  EXPECT_NE(byAcl.text().find(kFabricRemedy), std::string::npos) << byAcl.text();
}

TEST_F(FabricMemoryTest, ADriverThatKnowsNoAccessNeedsNone) {
  control("fail aclrtMemSetAccess * 207000");
  use(byAcl_);
  control("");
  byAcl_.acl.setAccess = nullptr;
  use(byAcl_);
}

TEST_F(FabricMemoryTest, AccessIsForTheDeviceByTheNumberOfTheDriver) {
  control("set devices 2");
  const test::Environment visible("ASCEND_RT_VISIBLE_DEVICES", "1");
  use(byAcl_);
  EXPECT_EQ(calls("aclrtMemSetAccess"), 1U);
}

TEST_F(FabricMemoryTest, AnOldCannIsNamedByWhatItLacks) {
  byAcl_.acl.mapMemory = nullptr;
  const Status refused = refusal(byAcl_);
  EXPECT_EQ(refused.code(), KV_IO);
  EXPECT_EQ(refused.text(), "CANN has neither MallocMem of adxl::AdxlEngine nor aclrtMapMem: it is too old. " +
                                std::string(kFabricRemedy));
}

TEST_F(FabricMemoryTest, ItConsistsOfWholeGiB) {
  EXPECT_EQ(FabricMemory::allocate(runtime(), {kGiga + 1, kGiga, std::nullopt}).status().code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(FabricMemory::allocate(runtime(), {}).status().code(), KV_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kvpool::ascend
