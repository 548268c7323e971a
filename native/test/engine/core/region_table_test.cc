// SPDX-License-Identifier: Apache-2.0
#include "engine/core/region_table.h"

#include <gtest/gtest.h>

#include "engine/core/description.h"

namespace kvpool::engine {
namespace {

constexpr kv_region kFirst{0x10000, 0x1000};
constexpr kv_region kSecond{0x11000, 0x1000};  // directly behind

Status add(RegionTable& table, std::vector<kv_region> regions) {
  return table.add(regions);
}

TEST(RegionTable, IsJudgedAsItIsAdded) {
  RegionTable table;
  ASSERT_TRUE(table.add(std::vector<kv_region>{{1000, 100}}).ok());
  for (const std::vector<kv_region>& regions : std::vector<std::vector<kv_region>>{
           {{2000, 100}}, {{2000, 100}, {2100, 1}}, {{2000, 100}, {2099, 1}}, {{1050, 1}}, {{0, 1}}, {{2000, 0}}}) {
    const Status judged = table.judge(regions);
    RegionTable other = table;
    EXPECT_EQ(judged.code(), other.add(regions).code()) << judged.text();
  }
}

TEST(RegionTable, CoversWhatLiesInOneRegion) {
  RegionTable table;
  ASSERT_TRUE(add(table, {kFirst, kSecond}).ok());
  const uint64_t first = table.all()[0].id;
  const uint64_t second = table.all()[1].id;
  EXPECT_TRUE(table.covers(first, 0x10000, 0x1000));
  EXPECT_TRUE(table.covers(first, 0x10fff, 1));
  EXPECT_TRUE(table.covers(second, 0x11000, 1));
  EXPECT_FALSE(table.covers(first, 0x10fff, 2)) << "two regions, also when they touch, are not one";
  EXPECT_FALSE(table.covers(first, 0xffff, 1));
  EXPECT_FALSE(table.covers(second, 0x10000, 1)) << "inside another region than the one named";
  EXPECT_FALSE(table.covers(first, UINT64_MAX, 2)) << "wraps around";
  EXPECT_FALSE(table.covers(first, 0x10001, UINT64_MAX));
  EXPECT_FALSE(table.covers(999, 0x10000, 1));
}

TEST(RegionTable, RefusesWhatIsNoMemory) {
  RegionTable table;
  EXPECT_EQ(add(table, {{0, 4096}}).code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(add(table, {{0x10000, 0}}).code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(add(table, {{UINT64_MAX - 10, 11}}).code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(table.count(), 0u);
}

TEST(RegionTable, AddsAllOrNone) {
  RegionTable table;
  const Status overlap = add(table, {kFirst, kSecond, {0x11800, 4}});
  EXPECT_EQ(overlap.code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(overlap.text().find("unregister"), std::string::npos);
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.bytes(), 0u);
  EXPECT_TRUE(add(table, {kFirst}).ok());
  EXPECT_EQ(add(table, {kFirst}).code(), KV_INVALID_ARGUMENT) << "the same one twice";
  EXPECT_EQ(add(table, {{0xffff, 2}}).code(), KV_INVALID_ARGUMENT) << "from below";
}

TEST(RegionTable, RemovesAllOrNoneAndNeverUsesAnIdAgain) {
  RegionTable table;
  ASSERT_TRUE(add(table, {kFirst, kSecond}).ok());
  const uint64_t old = table.all()[0].id;
  EXPECT_EQ(table.remove(std::vector<kv_region>{kFirst, {0x12000, 0}}).status().code(), KV_NOT_REGISTERED);
  EXPECT_EQ(table.remove(std::vector<kv_region>{kFirst, kFirst}).status().code(), KV_NOT_REGISTERED);
  EXPECT_EQ(table.remove(std::vector<kv_region>{{0x10001, 0}}).status().code(), KV_NOT_REGISTERED)
      << "not its beginning";
  EXPECT_EQ(table.count(), 2u);
  const auto gone = table.remove(std::vector<kv_region>{kFirst});
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(gone.value(), std::vector<uint64_t>{old});
  ASSERT_TRUE(add(table, {kFirst}).ok());
  EXPECT_FALSE(table.covers(old, kFirst.address, 1)) << "the same memory registered anew is another region";
}

TEST(RegionTable, NamesItsBound) {
  RegionTable table;
  std::vector<kv_region> many;
  for (uint64_t i = 1; i <= KV_ENGINE_REGIONS_MAX; ++i)
    many.push_back({i * 4096, 4096});
  ASSERT_TRUE(table.add(many).ok());
  const Status full = add(table, {{uint64_t{1} << 40, 1}});
  EXPECT_EQ(full.code(), KV_QUEUE_FULL);
  EXPECT_NE(full.text().find("KV_ENGINE_REGIONS_MAX = 16384"), std::string::npos);
}

TEST(Description, FindsTheRegionThatHoldsARange) {
  const auto description = Description::of({{7, 0x20000, 0x100}, {3, 0x10000, 0x100}});
  ASSERT_TRUE(description.ok());
  EXPECT_EQ(description.value().regionOf(0x20000, 0x100), 7u);
  EXPECT_EQ(description.value().regionOf(0x100ff, 1), 3u);
  EXPECT_EQ(description.value().regionOf(0x10100, 1), std::nullopt);
  EXPECT_EQ(description.value().regionOf(0x200ff, 2), std::nullopt);
  EXPECT_EQ(description.value().regionOf(0, 1), std::nullopt);
  EXPECT_EQ(description.value().regionOf(UINT64_MAX, UINT64_MAX), std::nullopt);
  EXPECT_EQ(description.value().regions().front().id, 7u) << "as the peer listed them";
}

TEST(Description, RefusesWhatNoEngineRegisters) {
  EXPECT_FALSE(Description::of({{1, 0x1000, 0}}).ok());
  EXPECT_FALSE(Description::of({{1, 0, 1}}).ok());
  EXPECT_FALSE(Description::of({{1, UINT64_MAX, 2}}).ok());
  EXPECT_FALSE(Description::of({{1, 0x1000, 0x1000}, {2, 0x1fff, 1}}).ok());
  EXPECT_FALSE(Description::of({{1, 0x1000, 1}, {1, 0x2000, 1}}).ok());
  EXPECT_TRUE(Description::of({}).ok());
}

}  // namespace
}  // namespace kvpool::engine
