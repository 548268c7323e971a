// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/copy_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "seed.h"

namespace kvpool::ascend {
namespace {

Copy copy(Location to, Location from, size_t length = 64) {
  return {nullptr, nullptr, length, to, from};
}

TEST(CopyPlan, EachDirectionHasItsOwnCall) {
  const std::vector<Copy> copies = {
      copy(Location::Device, Location::Host),         copy(Location::Host, Location::Device),
      copy(Location::Device, Location::Device),       copy(Location::HostNuma, Location::Managed),
      copy(Location::Unregistered, Location::Device), copy(Location::Device, Location::Host, 0)};
  const auto calls = planCopies(copies);
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].kind, CopyKind::HostToHost);
  EXPECT_EQ(calls[0].copies, std::vector<uint32_t>{3});
  EXPECT_EQ(calls[1].kind, CopyKind::HostToDevice);
  EXPECT_EQ(calls[1].copies, std::vector<uint32_t>{0});
  EXPECT_EQ(calls[2].kind, CopyKind::DeviceToHost);
  EXPECT_EQ(calls[2].copies, (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(calls[3].kind, CopyKind::DeviceToDevice);
  EXPECT_EQ(calls[3].copies, std::vector<uint32_t>{2});
}

TEST(CopyPlan, ACallTakesSoManyCopies) {
  for (const size_t count : {size_t{1}, size_t{4096}, size_t{4097}, size_t{10000}}) {
    const std::vector<Copy> copies(count, copy(Location::Device, Location::Host));
    const auto calls = planCopies(copies);
    EXPECT_EQ(calls.size(), (count + 4095) / 4096) << count;
    for (size_t i = 0; i + 1 < calls.size(); ++i)
      EXPECT_EQ(calls[i].copies.size(), kCopiesPerCall);
  }
}

TEST(CopyPlan, NothingIsCopiedTwiceOrLeftOut) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<Copy> copies;
    for (uint64_t i = dice.below(20000); i > 0; --i)
      copies.push_back(copy(static_cast<Location>(dice.below(5)), static_cast<Location>(dice.below(5)), dice.below(3)));
    std::vector<int> seen(copies.size());
    for (const CopyCall& call : planCopies(copies)) {
      EXPECT_LE(call.copies.size(), kCopiesPerCall);
      for (const uint32_t i : call.copies)
        ++seen.at(i);
    }
    for (size_t i = 0; i < copies.size(); ++i)
      EXPECT_EQ(seen[i], copies[i].length == 0 ? 0 : 1);
  }
}

TEST(CopyRounds, GoByTheRoomAPartAfterTheOther) {
  const uint64_t seed = test::seed(2);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint8_t> from(4000);
    std::vector<uint8_t> to(4000);
    for (uint8_t& byte : from)
      byte = static_cast<uint8_t>(dice.below(256));
    std::vector<Copy> copies;
    uint64_t byHost = 0;
    for (size_t at = 0; at < from.size();) {
      const size_t length = std::min<size_t>(dice.below(300), from.size() - at);
      const auto place = [&] { return dice.below(2) == 0 ? Location::Host : Location::Device; };
      copies.push_back({&to[at], &from[at], length, place(), place()});
      if (copies.back().toAt != copies.back().fromAt) byHost += length;
      at += length;
    }
    ASSERT_EQ(bytesByHost(copies), byHost);
    std::vector<uint8_t> room(1 + dice.below(500));
    const auto isInRoom = [&](const uint8_t* at) { return at >= room.data() && at < room.data() + room.size(); };
    for (const CopyRound& one : planRounds(copies, room.data(), room.size())) {
      for (const auto* part : {&one.before, &one.device, &one.after}) {
        for (const Copy& copy : *part) {
          const bool ofDevice = part == &one.device;
          EXPECT_EQ(ofDevice, copy.toAt == Location::Device || copy.fromAt == Location::Device);
          if (ofDevice) {
            EXPECT_TRUE(copy.toAt == Location::Device || isInRoom(copy.to));
            EXPECT_TRUE(copy.fromAt == Location::Device || isInRoom(copy.from));
          }
          std::copy_n(copy.from, copy.length, copy.to);
        }
      }
    }
    EXPECT_EQ(to, from);
  }
}

}  // namespace
}  // namespace kvpool::ascend
