// SPDX-License-Identifier: Apache-2.0
#include "base/lent_memory.h"

#include <condition_variable>
#include <iterator>

#include "base/checked.h"

namespace kvpool {

class LentMemory::End {
 public:
  void reached() {
    const std::lock_guard lock(mutex_);
    reached_ = true;
    changed_.notify_all();
  }
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
};

/// Lives as long as it is lent or borrowed.
class LentMemory::Region {
 public:
  Region(uint64_t base, uint64_t length, Kind kind) : base_(base), length_(length), kind_(kind) {}
  ~Region() { end_->reached(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] bool holds(uint64_t address, uint64_t length) const {
    return rangeInside(address, length, base_, base_ + length_);
  }
  [[nodiscard]] bool isOfDevice() const { return kind_ == Kind::Device; }
  [[nodiscard]] const std::shared_ptr<End>& end() const { return end_; }

 private:
  const uint64_t base_;
  const uint64_t length_;
  const Kind kind_;
  const std::shared_ptr<End> end_ = std::make_shared<End>();
};

void LentMemory::lend(std::span<const kv_region> regions, Kind kind) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  for (const kv_region& region : regions)
    byBase_.insert_or_assign(region.address, std::make_shared<const Region>(region.address, region.length, kind));
}

LentMemory::Loan LentMemory::borrow(const void* address, uint64_t length, bool devices) const {
  const uint64_t begin = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto next = byBase_.upper_bound(begin);
  if (next == byBase_.begin()) return nullptr;
  const Loan& region = std::prev(next)->second;
  return region->holds(begin, length) && (devices || !region->isOfDevice()) ? region : nullptr;
}

bool LentMemory::isOf(const Loan& loan, const void* address, uint64_t length) {
  return loan->holds(reinterpret_cast<uintptr_t>(address), length);
}

LentMemory::Recalled LentMemory::recall(std::span<const kv_region> regions) {
  Recalled recalled;
  const std::lock_guard lock(mutex_);
  for (const kv_region& region : regions) {
    const auto found = byBase_.find(region.address);
    if (found == byBase_.end()) continue;
    recalled.push_back(found->second->end());
    byBase_.erase(found);
  }
  return recalled;
}

LentMemory::Recalled LentMemory::recallAll() {
  Recalled recalled;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& [base, region] : byBase_)
    recalled.push_back(region->end());
  byBase_.clear();
  return recalled;
}

bool LentMemory::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void LentMemory::awaitReturn(const Recalled& recalled) {
  for (const std::shared_ptr<End>& end : recalled)
    end->await();
}

}  // namespace kvpool
