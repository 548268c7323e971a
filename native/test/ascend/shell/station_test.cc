// SPDX-License-Identifier: Apache-2.0
// In a process whose main thread has no context of its own.
#include "ascend/shell/station.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "ascend/fake_cann.h"
#include "base/fd.h"
#include "environment.h"
#include "net/socket.h"

namespace kvpool::ascend {
namespace {

TEST(Stations, OfOneThreadDoNotEndWithEachOther) {
  (void)runtime();
  auto first = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(first.ok()) << first.status().text();
  auto second = Station::open({"127.0.0.1", "second"});
  ASSERT_TRUE(second.ok()) << second.status().text();
  // This thread works in a context of the second one from here on.
  EXPECT_FALSE(second.value()->npu()->holds(&first).value());
  auto third = Station::open({"127.0.0.1", "third"});
  ASSERT_TRUE(third.ok()) << third.status().text();
  first.value().reset();
  const auto memory = second.value()->hostMemory(1 << 20);
  EXPECT_TRUE(memory.ok()) << memory.status().text();
  second.value().reset();
  const auto ofThird = third.value()->hostMemory(1 << 20);
  EXPECT_TRUE(ofThird.ok()) << ofThird.status().text();
}

TEST(Stations, RefuseMemoryOfAnotherNpu) {
  (void)runtime();
  control("set devices 2");
  auto station = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(station.ok()) << station.status().text();
  std::thread([&] {
    ASSERT_EQ(runtime().acl.setDevice(1), kAclOk);
    void* memory = nullptr;
    ASSERT_EQ(functionOf<AclError (*)(void**, size_t, int)>("aclrtMalloc")(&memory, 1 << 20, 0), kAclOk);
    const auto refused = station.value()->registerMemory(reinterpret_cast<uintptr_t>(memory), 1 << 20);
    EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT);
    EXPECT_NE(refused.status().text().find("memory of NPU 1, and here NPU 0 is used"), std::string::npos)
        << refused.status().text();
    EXPECT_EQ(functionOf<AclError (*)(void*)>("aclrtFree")(memory), kAclOk);
    EXPECT_EQ(runtime().acl.resetDevice(1), kAclOk);
  }).join();
  control("");
}

TEST(Stations, LeaveTheThreadsThatOpenThemWithoutADevice) {
  (void)runtime();
  functionOf<void (*)()>("fake_ascend_reset")();
  std::thread([] {
    auto station = Station::open({"127.0.0.1", "first"});
    ASSERT_TRUE(station.ok()) << station.status().text();
  }).join();
  EXPECT_EQ(calls("aclrtResetDevice"), calls("aclrtSetDevice"));
}

TEST(Stations, SayWhichPortsAreTakenWhereNoneOfTheirNpusIsFree) {
  (void)runtime();
  const test::Environment base("ASCEND_BASE_PORT", "31900");
  std::vector<Fd> taken;
  for (uint16_t port = 31900; port < 32000; ++port) {
    auto socket = net::listenTcp("127.0.0.1", port);
    if (socket.ok()) taken.push_back(std::move(socket.value()));
  }
  const auto refused = Station::open({"127.0.0.1", "first"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().text(),
            "none of the 100 ports from 31900 to 31999, which are those of NPU 0, is free at 127.0.0.1; end processes "
            "that listen there, or set ASCEND_BASE_PORT");
  taken.pop_back();
  const auto opened = Station::open({"127.0.0.1", "first"});
  EXPECT_TRUE(opened.ok()) << opened.status().text();
}

TEST(Stations, TryMemoryAgainThatCannDidNotRegister) {
  (void)runtime();
  auto station = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(station.ok()) << station.status().text();
  const uint64_t before = live("host_memory");
  control("fail RegisterMem * 103900");
  for (int attempt = 0; attempt < 3; ++attempt)
    EXPECT_FALSE(station.value()->hostMemory(1 << 20).ok());
  control("");
  EXPECT_EQ(live("host_memory") - before, 1U);
  EXPECT_TRUE(station.value()->hostMemory(1 << 20).ok());
  EXPECT_EQ(live("host_memory") - before, 1U);
  station.value().reset();
  EXPECT_EQ(live("host_memory"), before);
}

TEST(Stations, TakeLessWhereTheHostHasNoMore) {
  constexpr uint64_t kMega = 1 << 20;
  (void)runtime();
  auto station = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(station.ok()) << station.status().text();
  control("set free_host " + std::to_string(300 * kMega));
  const auto memory = station.value()->hostMemory(384 * kMega, 256 * kMega);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  EXPECT_EQ(memory.value().size(), 268 * kMega);
  memory.value().back() = 1;
  const auto refused = station.value()->hostMemory(64 * kMega, 40 * kMega);
  EXPECT_EQ(refused.status().code(), KV_NO_SPACE);
  EXPECT_NE(refused.status().text().find("67108864 bytes of host memory, aclrtMallocHost: ACL error 207001"),
            std::string::npos)
      << refused.status().text();
  const uint64_t asked = calls("aclrtMallocHost");
  control("fail aclrtMallocHost * 107000");
  EXPECT_FALSE(station.value()->hostMemory(64 * kMega, kMega).ok());
  EXPECT_EQ(calls("aclrtMallocHost"), asked + 1) << "it is not memory that lacks";
  control("");
}

TEST(Stations, HaveMemoryOfTheHostNearTheirDevice) {
  (void)runtime();
  const auto node = functionOf<int (*)(const void*)>("fake_ascend_numa");
  const auto policy = [] {
    int mode = -1;
    (void)::syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, nullptr, 0UL);
    return mode;
  };
  const int before = policy();
  // Kernels and containers may not let a process choose.
  const unsigned long first = 1;
  const bool mayChoose = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, &first, 8 * sizeof first) == 0;
  (void)::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
  const int node0 = mayChoose ? 0 : -1;
  for (const auto& [wish, expected] : {std::pair("device", node0), std::pair("0", node0), std::pair("any", -1)}) {
    const test::Environment numa("ASCEND_HOST_NUMA", wish);
    auto station = Station::open({"127.0.0.1", "first"});
    ASSERT_TRUE(station.ok()) << station.status().text();
    const auto memory = station.value()->hostMemory(1 << 20);
    ASSERT_TRUE(memory.ok()) << memory.status().text();
    EXPECT_EQ(node(memory.value().data()), expected) << wish;
    const auto forCopies = station.value()->npu()->copyMemory(1 << 20);
    ASSERT_TRUE(forCopies.ok()) << forCopies.status().text();
    EXPECT_EQ(node(forCopies.value().get()), expected) << wish;
    EXPECT_EQ(policy(), before);
  }
}

/// With ASCEND_ENABLE_USE_FABRIC_MEM=1.
class FabricStations : public testing::Test {
 protected:
  FabricStations() {
    (void)runtime();
    functionOf<void (*)()>("fake_ascend_reset")();
    ::setenv("ASCEND_ENABLE_USE_FABRIC_MEM", "1", 1);
  }
  ~FabricStations() override { ::unsetenv("ASCEND_ENABLE_USE_FABRIC_MEM"); }
  void TearDown() override {
    for (const char* kind : {"physical", "mapping", "reservation", "region", "host_memory"})
      EXPECT_EQ(live(kind), 0U) << kind;
  }
  static std::unique_ptr<Station> open(const std::string& name) {
    auto station = Station::open({"127.0.0.1", name});
    EXPECT_TRUE(station.ok()) << station.status().text();
    return std::move(station.value());
  }
  static std::span<uint8_t> take(Station& station, uint64_t bytes) {
    const auto memory = station.hostMemory(bytes);
    EXPECT_TRUE(memory.ok()) << memory.status().text();
    return memory.ok() ? memory.value() : std::span<uint8_t>();
  }
};

TEST_F(FabricStations, MemoryIsCutFromFabricMemoryThatIsRegisteredOnce) {
  auto station = open("first");
  EXPECT_EQ(station->wholeHostMemory(1), uint64_t{1} << 30);
  std::vector<uint8_t*> firsts;
  for (int i = 0; i < 16; ++i) {
    firsts.push_back(take(*station, 64 << 20).data());
    EXPECT_EQ(firsts.back(), firsts.front() + i * (64 << 20));
  }
  EXPECT_EQ(live("region"), 1U);
  EXPECT_EQ(live("host_memory"), 0U);
  take(*station, 64 << 20);
  EXPECT_EQ(live("region"), 2U);
  EXPECT_EQ(live("physical"), 2U);
}

TEST_F(FabricStations, BytesGoFromOneToTheOther) {
  auto here = open("here");
  auto there = open("there");
  const auto from = take(*here, 1 << 20);
  const auto to = take(*there, 1 << 20);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<uint8_t>(i * 2654435761U >> 13);
  std::promise<Status> end;
  here->transport().submit(
      {there->endpoint(), 1}, Direction::Write,
      {{reinterpret_cast<uintptr_t>(from.data()), reinterpret_cast<uintptr_t>(to.data()), from.size()}},
      here->patienceMs(), [&end](const Status& status) { end.set_value(status); });
  const Status moved = end.get_future().get();
  EXPECT_TRUE(moved.ok()) << moved.text();
  EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
}

TEST_F(FabricStations, MemoryThatCannDidNotRegisterIsTriedAgain) {
  auto station = open("first");
  control("fail RegisterMem * 207000");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto refused = station->hostMemory(1 << 20);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), KV_IO);
    EXPECT_NE(refused.status().text().find("207000 (not supported by the driver). Link Fabric needs chip A3"),
              std::string::npos)
        << refused.status().text();
  }
  EXPECT_EQ(live("physical"), 0U) << "a GiB of the machine";
  EXPECT_EQ(station->regions(), 0U);
  control("");
  take(*station, 1 << 20);
  EXPECT_EQ(live("physical"), 1U);
}

TEST_F(FabricStations, TheFirstPieceCanBeMadeInAdvance) {
  auto station = open("first");
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(station->prepareHostMemory().ok());
  EXPECT_EQ(station->regions(), 1U);
  take(*station, 1 << 20);
  EXPECT_EQ(station->regions(), 1U);
}

TEST_F(FabricStations, RoomOfAnEarlierPieceIsUsed) {
  auto station = open("first");
  const auto first = take(*station, 900 << 20);
  take(*station, 800 << 20);
  EXPECT_EQ(take(*station, 100 << 20).data(), first.data() + first.size());
  EXPECT_EQ(live("physical"), 2U);
}

TEST_F(FabricStations, VersionsAreNamedWhereTheEngineIsRefusedForLackOfThemOnly) {
  for (const auto& [status, lacksVersions] :
       {std::pair("103900", true), std::pair("103905", true), std::pair("207000", true), std::pair("503900", false)}) {
    control(std::string("fail Initialize * ") + status);
    const auto station = Station::open({"127.0.0.1", "first"});
    ASSERT_FALSE(station.ok()) << status;
    const std::string& text = station.status().text();
    EXPECT_NE(text.find(status), std::string::npos) << text;
    EXPECT_EQ(text.find(kFabricRemedy) != std::string::npos, lacksVersions) << text;
  }
}

TEST_F(FabricStations, HostMemoryOfACallerThatIsNotOfTheFabricIsRefused) {
  auto station = open("first");
  void* plain = nullptr;
  ASSERT_EQ(runtime().acl.mallocHost(&plain, 1 << 20), kAclOk);
  const auto refused = station->registerMemory(reinterpret_cast<uintptr_t>(plain), 1 << 20);
  EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(refused.status().text().find("unset ASCEND_ENABLE_USE_FABRIC_MEM"), std::string::npos);
  EXPECT_EQ(runtime().acl.freeHost(plain), kAclOk);
  auto own = FabricMemory::allocate(runtime(), {FabricMemory::kPieceBytes, FabricMemory::kPieceBytes, std::nullopt});
  ASSERT_TRUE(own.ok()) << own.status().text();
  const auto taken = station->registerMemory(reinterpret_cast<uintptr_t>(own.value()->at()), own.value()->bytes());
  ASSERT_TRUE(taken.ok()) << taken.status().text();
  EXPECT_TRUE(station->engine().deregisterMemory(taken.value()).ok());
  own.value().reset();
}

}  // namespace
}  // namespace kvpool::ascend
