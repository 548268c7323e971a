// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvpool::store {

/// Two numbers, ordered by the first and then by the second.
struct NumberPair {
  uint64_t first;
  uint64_t second;
  friend auto operator<=>(const NumberPair&, const NumberPair&) = default;
};

/// An ordered set of pairs that lie in blocks of neighbours, so that finding, adding and removing one touches a few
/// cache lines and allocates nothing, where a tree of nodes would go from one cache miss to the next. Two neighbouring
/// blocks always hold more than half a block between them: 64 bytes a pair at most, about 25 as a rule.
class SortedPairs {
 public:
  /// A place in the set; any change of the set but replace() ends it.
  struct Cursor {
    size_t block = 0;
    size_t at = 0;
    friend bool operator==(const Cursor&, const Cursor&) = default;
  };

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Cursor begin() const { return {0, 0}; }
  [[nodiscard]] Cursor end() const { return {blocks_.size(), 0}; }
  [[nodiscard]] const NumberPair& at(Cursor cursor) const { return blocks_[cursor.block]->pairs[cursor.at]; }
  /// The largest; there must be one.
  [[nodiscard]] const NumberPair& back() const { return last_.back(); }
  /// The first pair that is not less, or end().
  [[nodiscard]] Cursor lowerBound(const NumberPair& pair) const;
  /// The one before; the cursor must not be begin().
  [[nodiscard]] Cursor before(Cursor cursor) const;

  /// Adds a pair that is not in the set.
  void insert(const NumberPair& pair) { insertAt(lowerBound(pair), pair); }
  /// The same where lowerBound(pair) is known already.
  void insertAt(Cursor place, const NumberPair& pair);
  void erase(Cursor cursor);
  /// Puts another pair in the place of one; it must belong there.
  void replace(Cursor cursor, const NumberPair& pair);
  /// Takes a pair out and another one in.
  void move(Cursor cursor, const NumberPair& pair);
  /// Makes these the whole set; they must be in order.
  void assign(std::span<const NumberPair> sorted);
  void clear();

  static constexpr size_t kBlockPairs = 128;
  [[nodiscard]] size_t blocks() const { return blocks_.size(); }

 private:
  struct Block {
    size_t count = 0;
    std::array<NumberPair, kBlockPairs> pairs;
  };

  std::unique_ptr<Block> newBlock();
  void split(size_t block);
  bool join(size_t block);
  void drop(size_t block);

  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Block> spare_;  // so that a set of changing size does not allocate again and again
  std::vector<NumberPair> last_;  // of each block, for the search
  size_t size_ = 0;
};

}  // namespace kvpool::store
