// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <thread>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeEngine : public Scene {
 protected:
  static adxl::Status initialize(const Options& options, const std::string& name = freeAddress()) {
    adxl::AdxlEngine engine;
    return engine.Initialize(name.c_str(), options);
  }
};

TEST_F(FakeEngine, InitializesWithAContextAtAFreeAddress) {
  EXPECT_EQ(initialize({}), kOk);
  const bool hasV6 = std::ifstream("/proc/net/if_inet6").peek() != EOF;
  EXPECT_EQ(initialize({}, "[::1]" + freeAddress("")), hasV6 ? kOk : kFailedStatus);
  EXPECT_EQ(initialize({}, "127.0.0.1"), kParamInvalidStatus);
  EXPECT_EQ(initialize({}, "::1:5000"), kParamInvalidStatus);
  EXPECT_EQ(initialize({}, "127.0.0.1:70000"), kParamInvalidStatus);
  std::thread([] { EXPECT_EQ(initialize({}), kFailedStatus) << "no context"; }).join();
  const Node node;
  EXPECT_EQ(initialize({}, node.name()), kFailedStatus) << "the port is taken";
}

TEST_F(FakeEngine, RefusesWrongOptions) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"adxl.BufferPool", "4"},
                                                                                    {"adxl.BufferPool", "4:x"},
                                                                                    {"adxl.RdmaTrafficClass", "131"},
                                                                                    {"adxl.RdmaTrafficClass", "256"},
                                                                                    {"adxl.RdmaServiceLevel", "8"},
                                                                                    {"AutoConnect", "yes"},
                                                                                    {"EnableUseFabricMem", "2"},
                                                                                    {"GlobalResourceConfig", "roce"},
                                                                                    {"adxl.LocalCommRes", "1.3"}})
    EXPECT_EQ(initialize({{name.c_str(), value.c_str()}}), kParamInvalidStatus) << name << " " << value;
  EXPECT_EQ(initialize({{"adxl.BufferPool", "4:8"},
                        {"adxl.RdmaTrafficClass", "132"},
                        {"adxl.RdmaServiceLevel", "4"},
                        {"AutoConnect", "1"},
                        {"adxl.LocalCommRes", R"({"version":"1.3"})"}}),
            kOk);
}

TEST_F(FakeEngine, DoesNothingBeforeInitializeAndAfterFinalize) {
  adxl::AdxlEngine engine;
  EXPECT_EQ(engine.Connect("127.0.0.1:1"), kFailedStatus);
  ASSERT_EQ(engine.Initialize(freeAddress().c_str(), {}), kOk);
  EXPECT_EQ(engine.Initialize(freeAddress().c_str(), {}), kFailedStatus) << "initialized already";
  engine.Finalize();
  engine.Finalize();
  EXPECT_EQ(engine.Disconnect("127.0.0.1:1"), kFailedStatus);
  EXPECT_EQ(fake_ascend_live("engine"), 0U);
}

TEST_F(FakeEngine, TheSameMemoryHasTheSameHandle) {
  Node node;
  adxl::MemHandle one = nullptr;
  adxl::MemHandle same = nullptr;
  adxl::MemHandle other = nullptr;
  const char* memory = node.allocateDevice(2 * kMega2);
  ASSERT_EQ(node.add(memory, kMega2, adxl::MEM_DEVICE, &one), kOk);
  ASSERT_EQ(node.add(memory, kMega2, adxl::MEM_DEVICE, &same), kOk);
  ASSERT_EQ(node.add(memory, 2 * kMega2, adxl::MEM_DEVICE, &other), kOk);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_EQ(fake_ascend_live("region"), 2U);
  EXPECT_EQ(node.engine.DeregisterMem(one), kOk);
  EXPECT_EQ(node.engine.DeregisterMem(one), kOk) << "unknown is fine";
  EXPECT_EQ(fake_ascend_live("region"), 1U);
}

TEST_F(FakeEngine, RefusesMemoryThatIsNone) {
  Node node;
  adxl::MemHandle handle = nullptr;
  const uintptr_t high = ~uintptr_t{0} - kMega2 + 1;
  EXPECT_EQ(node.engine.RegisterMem({high, 2 * kMega2, {}}, adxl::MEM_HOST, handle), kParamInvalidStatus);
  EXPECT_EQ(node.engine.RegisterMem({0, kMega2, {}}, adxl::MEM_HOST, handle), kParamInvalidStatus);
  const char* device = node.allocateDevice(kMega2);
  EXPECT_EQ(node.add(device, 2 * kMega2, adxl::MEM_DEVICE), kParamInvalidStatus) << "longer than its allocation";
  EXPECT_EQ(node.add(device, kMega2, adxl::MEM_HOST), kParamInvalidStatus) << "of the other type";
  EXPECT_EQ(node.add(node.allocateHost(4096), 4096, adxl::MEM_DEVICE), kParamInvalidStatus);
  control("set strict_memory 0");
  EXPECT_EQ(node.add(device, kMega2, adxl::MEM_HOST), kOk);
}

TEST_F(FakeEngine, MemoryThatAclDidNotAllocateIsAlignedTo64KiB) {
  Node node;
  void* memory = std::aligned_alloc(64 << 10, 256 << 10);
  EXPECT_EQ(node.add(static_cast<char*>(memory) + 4096, 4096, adxl::MEM_HOST), kFailedStatus);
  EXPECT_EQ(node.add(memory, 256 << 10, adxl::MEM_HOST), kOk);
  node.engine.Finalize();
  std::free(memory);
}

TEST_F(FakeEngine, AlignmentDependsOnTheLink) {
  Node hccs;
  const char* device = hccs.allocateDevice(2 * kMega2);
  EXPECT_EQ(hccs.add(device + 4096, kMega2, adxl::MEM_DEVICE), kParamInvalidStatus) << "2 MiB";
  Node rdma(roce());
  EXPECT_EQ(rdma.add(device + 4096, kMega2, adxl::MEM_DEVICE), kOk);
  Node fabric(plain({{"EnableUseFabricMem", "1"}}));
  void* memory = nullptr;
  ASSERT_EQ(adxl::AdxlEngine::MallocMem(adxl::MEM_HOST, kGiga1, &memory), kOk);
  EXPECT_EQ(fabric.add(memory, kMega2, adxl::MEM_HOST), kParamInvalidStatus) << "1 GiB";
  EXPECT_EQ(fabric.add(memory, kMega2, adxl::MEM_DEVICE), kParamInvalidStatus) << "1 GiB, whatever the type";
  EXPECT_EQ(fabric.add(memory, kGiga1, adxl::MEM_HOST), kOk);
  fabric.engine.Finalize();
  EXPECT_EQ(adxl::AdxlEngine::FreeMem(memory), kOk);
}

TEST_F(FakeEngine, OnlyFabricMemoryOfTheHostIsReachedByTheFabric) {
  Node fabric(plain({{"EnableUseFabricMem", "1"}}));
  const char* host = fabric.allocateHost(4096);
  EXPECT_EQ(fabric.add(host, 4096, adxl::MEM_HOST), kParamInvalidStatus);
  EXPECT_EQ(fabric.add(host, 4096, adxl::MEM_DEVICE), kParamInvalidStatus);
  EXPECT_EQ(fabric.add(fabric.allocateDevice(kMega2), kMega2, adxl::MEM_DEVICE), kOk);
  void* memory = nullptr;
  ASSERT_EQ(adxl::AdxlEngine::MallocMem(adxl::MEM_HOST, kGiga1, &memory), kOk);
  EXPECT_EQ(fabric.add(memory, kGiga1, adxl::MEM_DEVICE), kOk);
  fabric.engine.Finalize();
  EXPECT_EQ(adxl::AdxlEngine::FreeMem(memory), kOk);
}

TEST_F(FakeEngine, AnOldDriverHasNoFabric) {
  control("set hdk 25.2");
  Node fabric(plain({{"EnableUseFabricMem", "1"}}));
  EXPECT_EQ(fabric.add(fabric.allocateDevice(kMega2), kMega2, adxl::MEM_DEVICE), 207000U);
  void* memory = nullptr;
  EXPECT_EQ(adxl::AdxlEngine::MallocMem(adxl::MEM_HOST, kGiga1, &memory), kUnsupportedStatus);
}

TEST_F(FakeEngine, RegionsAndBytesAreLimited) {
  control("set regions 2");
  Node node;
  const char* memory = node.allocateDevice(4 * kMega2);
  EXPECT_EQ(node.add(memory, kMega2, adxl::MEM_DEVICE), kOk);
  EXPECT_EQ(node.add(memory + kMega2, kMega2, adxl::MEM_DEVICE), kOk);
  EXPECT_EQ(node.add(memory + 2 * kMega2, kMega2, adxl::MEM_DEVICE), kResourceExhaustedStatus);
  control("set device_bytes 6291456");
  EXPECT_EQ(node.add(memory + 2 * kMega2, 2 * kMega2, adxl::MEM_DEVICE), kResourceExhaustedStatus);
  EXPECT_EQ(node.add(memory + 2 * kMega2, kMega2, adxl::MEM_DEVICE), kOk);
}

TEST_F(FakeEngine, AnOldDriverMaps20GiBOfTheHost) {
  Node node;
  const char* memory = node.allocateHost(21 * kGiga1);
  control("set hdk 25.4");
  EXPECT_EQ(node.add(memory, 21 * kGiga1, adxl::MEM_HOST), kResourceExhaustedStatus);
  EXPECT_EQ(node.add(memory, 20 * kGiga1, adxl::MEM_HOST), kOk);
  control("set hdk 25.5");
  EXPECT_EQ(node.add(memory, 21 * kGiga1, adxl::MEM_HOST), kOk);
  control("set host_bytes 4096");
  EXPECT_EQ(node.add(memory, 4096, adxl::MEM_HOST), kResourceExhaustedStatus);
}

TEST_F(FakeEngine, CapabilitiesCanBeDropped) {
  int32_t value = -1;
  EXPECT_EQ(adxl::AdxlEngine::GetCapability(adxl::FeatureType::AUTO_CONNECT, value), kOk);
  EXPECT_EQ(value, 1);
  control("set auto_connect_capability 0");
  EXPECT_EQ(adxl::AdxlEngine::GetCapability(adxl::FeatureType::AUTO_CONNECT, value), kOk);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(adxl::AdxlEngine::GetCapability(adxl::FeatureType::CLIENT_SERVER_COMM, value), kOk);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(adxl::AdxlEngine::GetCapability(static_cast<adxl::FeatureType>(9), value), kParamInvalidStatus);
}

TEST_F(FakeEngine, LeavesNothingBehind) {
  {
    Node one;
    Node other;
    one.device(kMega2);
    other.device(kMega2);
    EXPECT_EQ(one.connect(other), kOk);
    EXPECT_EQ(fake_ascend_live("channel"), 1U);
  }
  for (const char* kind : {"engine", "channel", "region", "request", "device_memory"})
    EXPECT_EQ(fake_ascend_live(kind), 0U) << kind;
}

}  // namespace
}  // namespace fake_ascend
