// SPDX-License-Identifier: Apache-2.0
#include "store/sorted_pairs.h"

#include <algorithm>

namespace kvpool::store {
namespace {

__extension__ using Wide = unsigned __int128;

Wide wide(const NumberPair& pair) {
  return (Wide{pair.first} << 64) | pair.second;
}

/// std::lower_bound without branches on the data, which no processor can predict here, and eight ways at a time: the
/// seven places that a step looks at do not wait for each other.
size_t firstNotLess(const NumberPair* pairs, size_t count, const NumberPair& wanted) {
  constexpr size_t kWays = 8;
  const Wide key = wide(wanted);
  const NumberPair* from = pairs;
  while (count > kWays) {
    const size_t part = count / kWays;
    size_t passed = 0;
    for (size_t way = 1; way < kWays; ++way)
      passed += wide(from[way * part - 1]) < key ? size_t{1} : size_t{0};
    from += passed * part;
    count = passed == kWays - 1 ? count - passed * part : part;
  }
  size_t less = 0;
  for (size_t i = 0; i < count; ++i)
    less += wide(from[i]) < key ? size_t{1} : size_t{0};
  return static_cast<size_t>(from - pairs) + less;
}

}  // namespace

SortedPairs::Cursor SortedPairs::lowerBound(const NumberPair& pair) const {
  const size_t block = firstNotLess(last_.data(), last_.size(), pair);
  if (block == blocks_.size()) return end();
  return {block, firstNotLess(blocks_[block]->pairs.data(), blocks_[block]->count, pair)};
}

SortedPairs::Cursor SortedPairs::before(Cursor cursor) const {
  if (cursor.at > 0) return {cursor.block, cursor.at - 1};
  return {cursor.block - 1, blocks_[cursor.block - 1]->count - 1};
}

void SortedPairs::insertAt(Cursor place, const NumberPair& pair) {
  if (blocks_.empty()) {
    blocks_.push_back(newBlock());
    last_.push_back(pair);
    place = {0, 0};
  } else if (place == end()) {
    place = {blocks_.size() - 1, blocks_.back()->count};
  }
  if (blocks_[place.block]->count == kBlockPairs) {
    split(place.block);
    const size_t lower = blocks_[place.block]->count;
    if (place.at > lower) place = {place.block + 1, place.at - lower};
  }
  Block& block = *blocks_[place.block];
  NumberPair* const there = block.pairs.data() + place.at;
  std::copy_backward(there, block.pairs.data() + block.count, block.pairs.data() + block.count + 1);
  *there = pair;
  ++block.count;
  last_[place.block] = block.pairs[block.count - 1];
  ++size_;
}

void SortedPairs::split(size_t number) {
  Block& full = *blocks_[number];
  std::unique_ptr<Block> upper = newBlock();
  upper->count = full.count / 2;
  full.count -= upper->count;
  std::copy_n(full.pairs.begin() + static_cast<std::ptrdiff_t>(full.count), upper->count, upper->pairs.begin());
  const auto after = static_cast<std::ptrdiff_t>(number) + 1;
  last_.insert(last_.begin() + after, last_[number]);
  last_[number] = full.pairs[full.count - 1];
  blocks_.insert(blocks_.begin() + after, std::move(upper));
}

void SortedPairs::erase(Cursor cursor) {
  Block& block = *blocks_[cursor.block];
  NumberPair* const place = block.pairs.data() + cursor.at;
  std::copy(place + 1, block.pairs.data() + block.count, place);
  --block.count;
  --size_;
  if (block.count > 0) last_[cursor.block] = block.pairs[block.count - 1];
  if (cursor.block > 0 && join(cursor.block - 1)) return;
  if (cursor.block + 1 < blocks_.size() && join(cursor.block)) return;
  if (block.count == 0) drop(cursor.block);  // the last one: any other would have joined a neighbour
}

/// Moves the next block's pairs into this one when both are small.
bool SortedPairs::join(size_t number) {
  Block& block = *blocks_[number];
  const Block& next = *blocks_[number + 1];
  if (block.count + next.count > kBlockPairs / 2 && block.count > 0 && next.count > 0) return false;
  std::copy_n(next.pairs.begin(), next.count, block.pairs.begin() + static_cast<std::ptrdiff_t>(block.count));
  block.count += next.count;
  last_[number] = block.pairs[block.count - 1];
  drop(number + 1);
  return true;
}

void SortedPairs::drop(size_t number) {
  spare_ = std::move(blocks_[number]);
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(number));
  last_.erase(last_.begin() + static_cast<std::ptrdiff_t>(number));
}

std::unique_ptr<SortedPairs::Block> SortedPairs::newBlock() {
  std::unique_ptr<Block> block = std::move(spare_);
  if (block == nullptr) block = std::make_unique_for_overwrite<Block>();
  block->count = 0;
  return block;
}

void SortedPairs::replace(Cursor cursor, const NumberPair& pair) {
  Block& block = *blocks_[cursor.block];
  block.pairs[cursor.at] = pair;
  if (cursor.at + 1 == block.count) last_[cursor.block] = pair;
}

void SortedPairs::move(Cursor cursor, const NumberPair& pair) {
  const Block& block = *blocks_[cursor.block];
  const bool afterPrevious = cursor.at > 0 && block.pairs[cursor.at - 1] < pair;
  const bool beforeNext = cursor.at + 1 < block.count && pair < block.pairs[cursor.at + 1];
  if (afterPrevious && beforeNext) return replace(cursor, pair);
  erase(cursor);
  insert(pair);
}

void SortedPairs::assign(std::span<const NumberPair> sorted) {
  clear();
  constexpr size_t kFill = kBlockPairs * 3 / 4;  // room for what comes next
  for (size_t at = 0; at < sorted.size(); at += kFill) {
    const std::span<const NumberPair> part = sorted.subspan(at, std::min(kFill, sorted.size() - at));
    std::unique_ptr<Block> block = newBlock();
    block->count = part.size();
    std::copy(part.begin(), part.end(), block->pairs.begin());
    blocks_.push_back(std::move(block));
    last_.push_back(part.back());
  }
  size_ = sorted.size();
}

void SortedPairs::clear() {
  blocks_.clear();
  last_.clear();
  size_ = 0;
}

}  // namespace kvpool::store
