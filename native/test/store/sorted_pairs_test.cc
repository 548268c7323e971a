// SPDX-License-Identifier: Apache-2.0
#include "store/sorted_pairs.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <vector>

#include "seed.h"

namespace kvpool::store {
namespace {

void expectSame(const SortedPairs& pairs, const std::set<NumberPair>& model) {
  ASSERT_EQ(pairs.size(), model.size());
  ASSERT_EQ(pairs.empty(), model.empty());
  SortedPairs::Cursor cursor = pairs.end();
  for (auto expected = model.rbegin(); expected != model.rend(); ++expected) {
    ASSERT_NE(cursor, pairs.begin());
    cursor = pairs.before(cursor);
    ASSERT_EQ(pairs.at(cursor), *expected);
  }
  ASSERT_EQ(cursor, pairs.begin());
  if (!model.empty()) {
    ASSERT_EQ(pairs.back(), *model.rbegin());
  }
  // The promise about memory: neighbours hold more than half a block between them.
  ASSERT_LE(pairs.blocks(), 4 * pairs.size() / SortedPairs::kBlockPairs + 1);
}

void expectSameSearch(const SortedPairs& pairs, const std::set<NumberPair>& model, const NumberPair& wanted) {
  const SortedPairs::Cursor found = pairs.lowerBound(wanted);
  const auto expected = model.lower_bound(wanted);
  ASSERT_EQ(found == pairs.end(), expected == model.end());
  if (expected != model.end()) {
    ASSERT_EQ(pairs.at(found), *expected);
  }
}

TEST(SortedPairs, EmptyHasNothing) {
  SortedPairs pairs;
  EXPECT_EQ(pairs.lowerBound({0, 0}), pairs.end());
  EXPECT_EQ(pairs.begin(), pairs.end());
  pairs.insert({1, 2});
  pairs.erase(pairs.begin());
  EXPECT_EQ(pairs.begin(), pairs.end());
  EXPECT_EQ(pairs.blocks(), 0u);
  pairs.assign({});
  EXPECT_TRUE(pairs.empty());
}

TEST(SortedPairs, TheSecondNumberOrdersEqualFirstOnes) {
  SortedPairs pairs;
  for (const uint64_t second : {uint64_t{5}, uint64_t{0}, UINT64_MAX})
    pairs.insert({UINT64_MAX, second});
  EXPECT_EQ(pairs.at(pairs.lowerBound({UINT64_MAX, 1})).second, 5u);
  EXPECT_EQ(pairs.back().second, UINT64_MAX);
  EXPECT_EQ(pairs.at(pairs.lowerBound({0, UINT64_MAX})).second, 0u);
}

/// Grows to many blocks and shrinks to none, three times, against std::set.
TEST(SortedPairs, BehavesAsASet) {
  const uint64_t seed = test::seed(5);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  SortedPairs pairs;
  std::set<NumberPair> model;
  const auto any = [&] { return NumberPair{dice.below(400), dice.below(400)}; };
  for (int step = 0; step < 60'000; ++step) {
    const bool growing = step / 10'000 % 2 == 0;
    const NumberPair pair = any();
    expectSameSearch(pairs, model, pair);
    const auto held = model.lower_bound(pair);
    if (dice.below(10) < (growing ? 8u : 1u)) {
      if (model.insert(pair).second) pairs.insert(pair);
    } else if (held != model.end() && dice.oneIn(4)) {
      const NumberPair to = any();
      if (!model.insert(to).second) continue;
      pairs.move(pairs.lowerBound(*held), to);
      model.erase(held);
    } else if (held != model.end()) {
      pairs.erase(pairs.lowerBound(*held));
      model.erase(held);
    }
    if (step % 500 == 0) expectSame(pairs, model);
    if (testing::Test::HasFatalFailure()) return;
  }
  while (!model.empty()) {
    const auto victim = std::next(model.begin(), static_cast<std::ptrdiff_t>(dice.below(model.size()) / 2));
    pairs.erase(pairs.lowerBound(*victim));
    model.erase(victim);
    if (model.size() % 100 == 0) expectSame(pairs, model);
  }
  expectSame(pairs, model);
}

TEST(SortedPairs, ReplacingKeepsTheOrder) {
  SortedPairs pairs;
  std::set<NumberPair> model;
  for (uint64_t i = 0; i < 1000; ++i)
    pairs.insert({10 * i, 0});
  for (uint64_t i = 0; i < 1000; ++i) {
    pairs.replace(pairs.lowerBound({10 * i, 0}), {10 * i + 9, i});
    model.insert({10 * i + 9, i});
  }
  expectSame(pairs, model);
  for (uint64_t i = 0; i < 10'000; i += 7)
    expectSameSearch(pairs, model, {i, 0});
}

TEST(SortedPairs, TakesManyAtOnce) {
  for (const uint64_t count : {uint64_t{1}, uint64_t{95}, uint64_t{96}, uint64_t{97}, uint64_t{5000}}) {
    std::vector<NumberPair> sorted;
    for (uint64_t i = 0; i < count; ++i)
      sorted.push_back({i, count - i});
    SortedPairs pairs;
    pairs.insert({1, 1});
    pairs.assign(sorted);
    std::set<NumberPair> model(sorted.begin(), sorted.end());
    expectSame(pairs, model);
    pairs.insert({0, 0});
    model.insert({0, 0});
    expectSame(pairs, model);
  }
}

}  // namespace
}  // namespace kvpool::store
