// SPDX-License-Identifier: Apache-2.0
// kv_allocator_bench [OPERATIONS]: how full the allocator keeps a segment and how long one allocation takes, in the
// workloads for which the reference publishes figures: objects of one size, of random sizes, and pairs of a KV block
// and its index. What does not fit evicts objects at random until it does. Utilisation counts the bytes asked for,
// without what they are rounded up by. The time of an allocation is processor time, and has the evictions and the
// book-keeping of this program in it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "store/allocator.h"
#include "store/layout.h"

namespace {

using kvpool::store::Allocator;
using kvpool::store::Range;

constexpr uint64_t kGiB = uint64_t{1} << 30;

/// What was asked of an allocator, to be asked again of another one.
struct Recording {
  static constexpr uint64_t kAllocation = UINT64_MAX;
  std::vector<Range> operations;  // an allocation has no offset
  size_t measuredFrom = 0;
};

/// Of this thread; others that want the processor do not count.
double processorNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class Pool {
 public:
  explicit Pool(uint64_t bytes) : bytes_(bytes), allocator_(0, bytes), random_(1) {}

  /// Allocates, evicting `evicted` of all objects at a time, at least one, while it fails. `whenFull` gets the
  /// utilisation before each eviction.
  void allocate(uint64_t wanted, double evicted, std::vector<double>* whenFull = nullptr) {
    const uint64_t rounded = (wanted + kvpool::store::kExtentAlignment - 1) & ~(kvpool::store::kExtentAlignment - 1);
    std::optional<uint64_t> offset = ask(rounded);
    while (!offset && !objects_.empty()) {
      if (whenFull != nullptr) whenFull->push_back(utilisation());
      const auto count = static_cast<size_t>(static_cast<double>(objects_.size()) * evicted);
      for (size_t i = 0; i < std::max<size_t>(count, 1); ++i)
        evictOne();
      offset = ask(rounded);
    }
    objects_.push_back({{*offset, rounded}, wanted});
    usedBytes_ += wanted;
  }

  [[nodiscard]] double utilisation() const { return static_cast<double>(usedBytes_) / static_cast<double>(bytes_); }
  void measureFromHere() { recording_.measuredFrom = recording_.operations.size(); }

  /// Nanoseconds of one operation since measureFromHere().
  [[nodiscard]] double replay() const {
    Allocator allocator(0, bytes_);
    double start = 0;
    for (size_t i = 0; i < recording_.operations.size(); ++i) {
      if (i == recording_.measuredFrom) start = processorNanoseconds();
      const Range& asked = recording_.operations[i];
      if (asked.offset == Recording::kAllocation) {
        (void)allocator.allocate(asked.length);
      } else {
        allocator.release(asked);
      }
    }
    const double took = processorNanoseconds() - start;
    if (allocator.freeBytes() != allocator_.freeBytes()) std::abort();  // it did something else
    return took / static_cast<double>(recording_.operations.size() - recording_.measuredFrom);
  }

  uint64_t below(uint64_t end) { return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_); }

 private:
  struct Object {
    Range range;
    uint64_t wanted;
  };

  std::optional<uint64_t> ask(uint64_t length) {
    recording_.operations.push_back({Recording::kAllocation, length});
    return allocator_.allocate(length);
  }

  void evictOne() {
    std::swap(objects_[below(objects_.size())], objects_.back());
    recording_.operations.push_back(objects_.back().range);
    allocator_.release(objects_.back().range);
    usedBytes_ -= objects_.back().wanted;
    objects_.pop_back();
  }

  uint64_t bytes_;
  uint64_t usedBytes_ = 0;
  Allocator allocator_;
  Recording recording_;
  std::vector<Object> objects_;
  std::mt19937_64 random_;
};

void print(const std::string& work, std::vector<double> utilisation, double nanoseconds, const Pool& pool) {
  double sum = 0;
  for (const double value : utilisation)
    sum += value;
  std::sort(utilisation.begin(), utilisation.end());
  std::printf("%-28s utilisation %.4f (least %.4f)  %4.0f ns, one operation %4.0f ns\n", work.c_str(),
              sum / static_cast<double>(utilisation.size()), utilisation.front(), nanoseconds, pool.replay());
}

double nanosecondsSince(double start, size_t operations) {
  return (processorNanoseconds() - start) / static_cast<double>(operations);
}

void oneSize(uint64_t size, size_t operations) {
  const uint64_t poolBytes = size < 1024 ? kGiB / 8 : 2 * kGiB;
  Pool pool(poolBytes);
  for (uint64_t i = 0; i < poolBytes / size; ++i)
    pool.allocate(size, 0);
  std::vector<double> utilisation;
  utilisation.reserve(operations);
  pool.measureFromHere();
  const double start = processorNanoseconds();
  for (size_t i = 0; i < operations; ++i) {
    pool.allocate(size, 0);
    utilisation.push_back(pool.utilisation());
  }
  print("one size " + std::to_string(size), std::move(utilisation), nanosecondsSince(start, operations), pool);
}

void randomSizes(uint64_t poolGiB, uint64_t least, uint64_t most, size_t operations) {
  Pool pool(poolGiB * kGiB);
  for (uint64_t bytes = 0; bytes < 2 * poolGiB * kGiB; bytes += (least + most) / 2)
    pool.allocate(least + pool.below(most - least + 1), 0);
  std::vector<double> utilisation;
  utilisation.reserve(operations);
  pool.measureFromHere();
  const double start = processorNanoseconds();
  for (size_t i = 0; i < operations; ++i) {
    pool.allocate(least + pool.below(most - least + 1), 0);
    utilisation.push_back(pool.utilisation());
  }
  print("random to " + std::to_string(most >> 20) + " MiB of " + std::to_string(poolGiB) + " GiB",
        std::move(utilisation), nanosecondsSince(start, operations), pool);
}

/// 1 to 128 KV blocks, then as many of their indexes, in a pool of 1 TiB that gives up 5 % of its objects when full.
void blocksAndIndexes(size_t rounds) {
  constexpr uint64_t kBlock = 3274752;
  constexpr uint64_t kIndex = 643 * 1024;
  constexpr double kEvicted = 0.05;
  Pool pool(1024 * kGiB);
  std::vector<double> whenFull;
  size_t operations = 0;
  const auto round = [&] {
    const uint64_t count = 1 + pool.below(128);
    for (const uint64_t size : {kBlock, kIndex}) {
      for (uint64_t i = 0; i < count; ++i)
        pool.allocate(size, kEvicted, &whenFull);
    }
    operations += 2 * count;
  };
  while (whenFull.empty())
    round();
  whenFull.clear();
  operations = 0;
  pool.measureFromHere();
  const double start = processorNanoseconds();
  for (size_t i = 0; i < rounds; ++i)
    round();
  print("3.12 MB and 643 KB", whenFull, nanosecondsSince(start, operations), pool);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t operations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (operations == 0) {
    std::fprintf(stderr, "usage: kv_allocator_bench [OPERATIONS]\n");
    return 2;
  }
  for (const uint64_t power :
       {uint64_t{512}, uint64_t{8192}, uint64_t{131072}, uint64_t{2} << 20, uint64_t{32} << 20}) {
    for (const uint64_t size : {power, power + 17, power * 9 / 10, power * 11 / 10})
      oneSize(size, operations);
  }
  randomSizes(2, 1024, uint64_t{64} << 20, operations);
  randomSizes(2, 1024, uint64_t{1} << 20, operations);
  randomSizes(64, 1024, uint64_t{64} << 20, operations);
  blocksAndIndexes(operations / 20);
  return 0;
}
