// SPDX-License-Identifier: Apache-2.0
#include "engine/core/plan.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/core/limits.h"
#include "engine/shell/transports.h"
#include "seed.h"

namespace kvpool::engine {
namespace {

constexpr uint64_t kBase = 0x100000000;
constexpr uint64_t kRoom = uint64_t{1} << 30;

Description peer() {
  return Description::of({{5, kBase, kRoom}}).value();
}

/// A place here for the byte at `remote`: never looked at.
uint8_t* localFor(uint64_t remote) {
  return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(remote + 0x5000000000));
}

std::vector<uint32_t> all(const std::vector<Line>& lines) {
  std::vector<uint32_t> indices(lines.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

TEST(Plan, SmallLinesShareARequest) {
  std::vector<Line> lines;
  for (uint64_t i = 0; i < 32; ++i)
    lines.push_back({"", localFor(kBase + i * 65536), kBase + i * 65536, 65536});
  const Plan planned = plan(lines, all(lines), peer());
  ASSERT_EQ(planned.requests.size(), 1u);
  EXPECT_EQ(planned.requests[0].bytes, 32u * 65536);
  EXPECT_EQ(planned.requests[0].remote[31], (RemotePiece{5, kBase + 31 * 65536, 65536}));
}

TEST(Plan, KeepsLinesWithoutARegionApart) {
  const std::vector<Line> lines{{"", localFor(1), kBase - 1, 2},
                                {"", localFor(2), kBase, 1},
                                {"", localFor(3), kBase + kRoom - 1, 2},
                                {"", nullptr, 0, 0},
                                {"", localFor(4), kBase + 1, UINT64_MAX}};
  const Plan planned = plan(lines, all(lines), peer());
  EXPECT_EQ(planned.unregistered, (std::vector<uint32_t>{0, 2, 4}));
  ASSERT_EQ(planned.requests.size(), 1u);
  EXPECT_EQ(planned.requests[0].lines, std::vector<uint32_t>{1});
}

TEST(Plan, CutsAnythingIntoRequestsThatKeepToTheBoundsAndMissNothing) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Line> lines;
    uint64_t at = kBase;
    const uint64_t count = 1 + dice.below(3000);
    for (uint64_t i = 0; i < count && at < kBase + kRoom / 2; ++i) {
      const uint64_t length = dice.oneIn(50) ? dice.below(3 * kRequestBytes) : dice.below(3000);
      lines.push_back({"", localFor(at), at, length});
      at += length + dice.below(100);
    }
    const Plan planned = plan(lines, all(lines), peer());
    std::vector<uint64_t> covered(lines.size(), 0);
    for (const PlannedRequest& request : planned.requests) {
      ASSERT_LE(request.bytes, kRequestBytes);
      ASSERT_LE(request.remote.size(), kPiecesPerRequest);
      ASSERT_FALSE(request.remote.empty());
      uint64_t bytes = 0;
      for (size_t i = 0; i < request.remote.size(); ++i) {
        const uint32_t line = request.lines[i];
        const RemotePiece& piece = request.remote[i];
        ASSERT_EQ(piece.address, lines[line].remote + covered[line]) << "in order, without a gap";
        ASSERT_EQ(request.local[i].data, localFor(piece.address));
        ASSERT_EQ(request.local[i].length, piece.length);
        covered[line] += piece.length;
        bytes += piece.length;
      }
      ASSERT_EQ(bytes, request.bytes);
    }
    for (size_t i = 0; i < lines.size(); ++i)
      ASSERT_EQ(covered[i], lines[i].length);
  }
}

TEST(Transports, TcpIsUsedOnlyWhereTheListNamesIt) {
  EXPECT_TRUE(install("tcp").ok());
  const auto both = install("rdma,tcp");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(
      toString(both.value()),
      "rdma: not installed, which needs UCX, and transfer engines do not use that yet (clients and storage nodes do); "
      "tcp: used");
  for (const char* without : {"rdma", "ascend", "rdma,ascend", "quic"}) {
    const auto refused = install(without);
    EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT) << without;
    EXPECT_NE(refused.status().text().find("Add tcp to the list"), std::string::npos) << without;
  }
  EXPECT_NE(install("ascend").status().text().find("CANN"), std::string::npos);
  for (const char* broken : {"", ",", "tcp,", "tcp,tcp"}) {
    EXPECT_FALSE(install(broken).ok()) << broken;
  }
}

}  // namespace
}  // namespace kvpool::engine
