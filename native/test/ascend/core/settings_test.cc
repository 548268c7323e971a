// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace kvpool::ascend {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Settings> read(const Variables& variables) {
  return Settings::of([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Settings, AnEmptyEnvironmentHasTheDefaultsOfTheReference) {
  const Settings settings = read({}).value();
  EXPECT_EQ(settings.connectTimeoutMs, 10000);
  EXPECT_EQ(settings.transferTimeoutMs, 10000);
  EXPECT_FALSE(settings.async);
  EXPECT_FALSE(settings.autoConnect);
  EXPECT_EQ(settings.threads, 8U);
  EXPECT_EQ(settings.basePort, 20000);
  EXPECT_EQ(optionsOf(settings, {}, "adxl."),
            (std::map<std::string, std::string>{
                {"adxl.BufferPool", "0:0"}, {"adxl.RdmaTrafficClass", "132"}, {"adxl.RdmaServiceLevel", "4"}}));
}

TEST(Settings, EachVariableIsObeyed) {
  const Settings settings = read({{"ASCEND_CONNECT_TIMEOUT", "3000"},
                                  {"ASCEND_TRANSFER_TIMEOUT", "4000"},
                                  {"ASCEND_USE_ASYNC_TRANSFER", ""},
                                  {"ASCEND_USE_SHORT_CONNECTION", "1"},
                                  {"ASCEND_AUTO_CONNECT", "0"},
                                  {"ASCEND_THREAD_POOL_SIZE", "16"},
                                  {"ASCEND_BASE_PORT", "21000"},
                                  {"HCCL_INTRA_ROCE_ENABLE", "1"},
                                  {"HCCL_RDMA_TC", "64"},
                                  {"ASCEND_RDMA_SL", "7"},
                                  {"HCCL_RDMA_SL", "2"},
                                  {"ASCEND_LOCAL_COMM_RES", "{}"},
                                  {"ASCEND_GLOBAL_RESOURCE_CONFIG", R"({"max_active_channels":1})"}})
                                .value();
  EXPECT_EQ(settings.connectTimeoutMs, 3000);
  EXPECT_EQ(settings.transferTimeoutMs, 4000);
  EXPECT_TRUE(settings.async);
  EXPECT_TRUE(settings.shortConnections);
  EXPECT_EQ(settings.autoConnect, false);
  EXPECT_EQ(settings.threads, 16U);
  EXPECT_EQ(settings.basePort, 21000);
  EXPECT_TRUE(settings.roce);
  EXPECT_EQ(optionsOf(settings, {.autoConnect = true, .clientServerComm = true}, ""),
            (std::map<std::string, std::string>{{"AutoConnect", "0"},
                                                {"BufferPool", "0:0"},
                                                {"GlobalResourceConfig", R"({"max_active_channels":1})"},
                                                {"LocalCommRes", "{}"},
                                                {"RdmaServiceLevel", "7"},
                                                {"RdmaTrafficClass", "64"}}));
}

TEST(Settings, MemoryOfTheHostIsNearTheDeviceUnlessItIsToBeElsewhere) {
  const auto nodeFor = [](const Variables& variables, int32_t device) {
    return read(variables).value().hostNuma.nodeFor(device);
  };
  for (const Variables& variables : {Variables{}, Variables{{"ASCEND_HOST_NUMA", "device"}}}) {
    EXPECT_EQ(nodeFor(variables, 3), 0U);
    EXPECT_EQ(nodeFor(variables, 6), 2U) << "of the second four devices";
  }
  EXPECT_EQ(nodeFor({{"ASCEND_HOST_NUMA", "3"}}, 6), 3U);
  EXPECT_EQ(nodeFor({{"ASCEND_HOST_NUMA", "any"}}, 6), std::nullopt);
  EXPECT_EQ(read({}).value().stagingMib, 256U);
  EXPECT_EQ(read({{"ASCEND_STAGING_MIB", "4096"}}).value().stagingMib, 4096U);
}

TEST(Settings, FabricMemoryIsAnOptionOfTheEngine) {
  const Settings settings = read({{"ASCEND_ENABLE_USE_FABRIC_MEM", "1"}, {"ASCEND_BUFFER_POOL", "0:0"}}).value();
  EXPECT_TRUE(settings.fabric);
  const auto options = optionsOf(settings, {}, "adxl.");
  EXPECT_EQ(options.at("EnableUseFabricMem"), "1");
  EXPECT_EQ(options.at("adxl.BufferPool"), "0:0");
  EXPECT_FALSE(optionsOf(read({{"ASCEND_ENABLE_USE_FABRIC_MEM", "0"}}).value(), {}, "").contains("EnableUseFabricMem"));
}

TEST(Settings, WhatCannotBeIsRefusedWithItsNameAndWhatMayBe) {
  const std::map<std::string, std::pair<Variables, std::string>> cases = {
      {"a timeout of none",
       {{{"ASCEND_CONNECT_TIMEOUT", "0"}}, "ASCEND_CONNECT_TIMEOUT is '0'; it must be a number from 1 to 3600000"}},
      {"a negative one",
       {{{"ASCEND_TRANSFER_TIMEOUT", "-5"}}, "ASCEND_TRANSFER_TIMEOUT is '-5'; it must be a number from 1 to 3600000"}},
      {"no number",
       {{{"ASCEND_THREAD_POOL_SIZE", "8x"}}, "ASCEND_THREAD_POOL_SIZE is '8x'; it must be a number from 1 to 16"}},
      {"too many threads",
       {{{"ASCEND_THREAD_POOL_SIZE", "17"}}, "ASCEND_THREAD_POOL_SIZE is '17'; it must be a number from 1 to 16"}},
      {"empty", {{{"ASCEND_BASE_PORT", ""}}, "ASCEND_BASE_PORT is ''; it must be a number from 1024 to 65436"}},
      {"a port beyond all",
       {{{"ASCEND_BASE_PORT", "70000"}}, "ASCEND_BASE_PORT is '70000'; it must be a number from 1024 to 65436"}},
      {"a NUMA node of no machine",
       {{{"ASCEND_HOST_NUMA", "near"}},
        "ASCEND_HOST_NUMA is 'near'; it must be device, any, or the number of a NUMA node"}},
      {"staging memory for less than two connections",
       {{{"ASCEND_STAGING_MIB", "127"}}, "ASCEND_STAGING_MIB is '127'; it must be a number from 128 to 65536"}},
      {"a traffic class in between",
       {{{"ASCEND_RDMA_TC", "131"}}, "ASCEND_RDMA_TC is '131'; it must be a number from 0 to 252, a multiple of 4"}},
      {"a service level", {{{"HCCL_RDMA_SL", "8"}}, "HCCL_RDMA_SL is '8'; it must be a number from 0 to 7"}},
      {"a word for a flag", {{{"ASCEND_AUTO_CONNECT", "yes"}}, "ASCEND_AUTO_CONNECT is 'yes'; it must be 0 or 1"}},
      {"half a pool",
       {{{"ASCEND_BUFFER_POOL", "4"}},
        "ASCEND_BUFFER_POOL is '4'; it must be COUNT:MIB, such as 4:8, or 0:0 for none"}},
      {"a negative pool",
       {{{"ASCEND_BUFFER_POOL", "4:-8"}},
        "ASCEND_BUFFER_POOL is '4:-8'; it must be COUNT:MIB, such as 4:8, or 0:0 for none"}},
      {"buffers and async",
       {{{"ASCEND_BUFFER_POOL", "4:8"}, {"ASCEND_USE_ASYNC_TRANSFER", "1"}},
        "ASCEND_BUFFER_POOL=4:8 and ASCEND_USE_ASYNC_TRANSFER exclude each other: CANN's buffers are for synchronous "
        "transfers"}},
      {"buffers and fabric",
       {{{"ASCEND_BUFFER_POOL", "4:8"}, {"ASCEND_ENABLE_USE_FABRIC_MEM", "1"}},
        "ASCEND_BUFFER_POOL=4:8 and ASCEND_ENABLE_USE_FABRIC_MEM=1 exclude each other: set ASCEND_BUFFER_POOL=0:0"}},
      {"async and fabric",
       {{{"ASCEND_USE_ASYNC_TRANSFER", "1"}, {"ASCEND_ENABLE_USE_FABRIC_MEM", "1"}},
        "ASCEND_USE_ASYNC_TRANSFER and ASCEND_ENABLE_USE_FABRIC_MEM=1 exclude each other: unset "
        "ASCEND_USE_ASYNC_TRANSFER"}},
  };
  for (const auto& [name, one] : cases) {
    const auto result = read(one.first);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.status().code(), KV_INVALID_ARGUMENT) << name;
    EXPECT_EQ(result.status().text(), one.second) << name;
  }
}

TEST(Settings, BuffersAreUsedByOneThread) {
  EXPECT_EQ(read({{"ASCEND_BUFFER_POOL", "4:8"}}).value().threads, 1U);
}

TEST(Settings, CannConnectsByItselfWhereItCanAndNothingElseIsWanted) {
  const Settings unset;
  EXPECT_FALSE(connectsByItself(unset, {}).value());
  EXPECT_TRUE(connectsByItself(unset, {.autoConnect = true}).value());
  Settings wanted;
  wanted.autoConnect = true;
  EXPECT_TRUE(connectsByItself(wanted, {.autoConnect = true}).value());
  EXPECT_EQ(connectsByItself(wanted, {}).status().code(), KV_INVALID_ARGUMENT);
  wanted.autoConnect = false;
  EXPECT_FALSE(connectsByItself(wanted, {.autoConnect = true}).value());
}

TEST(Settings, VersionOneThreeOfResourcesIsTakenWhereCannCan) {
  EXPECT_EQ(optionsOf({}, {.clientServerComm = true}, "adxl.").at("adxl.LocalCommRes"), R"({"version":"1.3"})");
}

TEST(Settings, TheCardRepeatsForAsLongAsItIsToldTo) {
  EXPECT_EQ(read({}).value().cardRepeatsMs, 30064);
  EXPECT_EQ(read({{"HCCL_RDMA_TIMEOUT", "17"}}).value().cardRepeatsMs, 3758);
  EXPECT_EQ(read({{"HCCL_RDMA_TIMEOUT", "24"}, {"HCCL_RDMA_RETRY_CNT", "7"}}).value().cardRepeatsMs, 481036);
  EXPECT_EQ(read({{"HCCL_RDMA_TIMEOUT", "25"}}).status().code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(read({{"HCCL_RDMA_RETRY_CNT", "0"}}).status().code(), KV_INVALID_ARGUMENT);
}

TEST(Settings, RoomForChannelsIsCannsUnlessItIsToldToHaveLess) {
  const auto channels = [](const char* json) {
    return channelsMax(read({{"ASCEND_GLOBAL_RESOURCE_CONFIG", json}}).value(), {});
  };
  EXPECT_EQ(channelsMax({}, {}), 512U);
  EXPECT_EQ(channelsMax({}, {.clientServerComm = true}), 128U);
  EXPECT_EQ(channelsMax(read({{"ASCEND_LOCAL_COMM_RES", R"({"version":"1.3"})"}}).value(), {}), 128U);
  EXPECT_EQ(channelsMax(read({{"ASCEND_LOCAL_COMM_RES", R"({"version":"1.2"})"}}).value(), {.clientServerComm = true}),
            512U);
  EXPECT_EQ(channels(R"({"comm_resource_config":{"protocol_desc":["roce:device"]}})"), 128U);
  EXPECT_EQ(channels(R"({"max_active_channels":128})"), 128U);
  EXPECT_EQ(channels("{\n  \"max_active_channels\" : \"64\"\n}"), 64U);
  EXPECT_EQ(channels(R"({"store":{"max_active_channels":4096}})"), 512U);
  EXPECT_EQ(channels(R"({"max_active_channels":4096,"comm_resource_config":{"protocol_desc":["hccs:device"]}})"),
            4096U);
  const auto raised = read({{"ASCEND_LOCAL_COMM_RES", R"({"version":"1.3"})"},
                            {"ASCEND_GLOBAL_RESOURCE_CONFIG", R"({"max_active_channels":300})"}});
  EXPECT_EQ(channelsMax(raised.value(), {}), 300U);
  for (const char* none : {"{}", R"({"max_active_channels":0})", R"({"max_active_channels":-1})",
                           R"({"max_active_channels":)", R"({"max_active_channels":null})"})
    EXPECT_EQ(channels(none), 512U) << none;
}

TEST(Ports, EachDeviceHasAHundred) {
  EXPECT_EQ(portSlot(20000, 0).value().first, 20000);
  EXPECT_EQ(portSlot(20000, 0).value().last, 20099);
  EXPECT_EQ(portSlot(20000, 15).value().first, 21500);
  EXPECT_EQ(portSlot(65436, 0).value().last, 65535);
  EXPECT_EQ(portSlot(65436, 1).status().code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(portSlot(20000, -1).status().code(), KV_INVALID_ARGUMENT);
}

TEST(Ports, AnOwnerHasTheSameOneAfterARestartAndOthersMostlyHaveOthers) {
  const PortSlot slot = portSlot(20000, 3).value();
  std::set<uint16_t> ports;
  for (int i = 0; i < 20; ++i) {
    const std::string owner = "demo-npu-" + std::to_string(i);
    const uint16_t port = preferredPort(slot, owner);
    EXPECT_EQ(port, preferredPort(slot, owner));
    EXPECT_GE(port, slot.first);
    EXPECT_LE(port, slot.last);
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 12U);
}

}  // namespace
}  // namespace kvpool::ascend
