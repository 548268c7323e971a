// SPDX-License-Identifier: Apache-2.0
#include "client/shell/memory_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/process_memory.h"

namespace kvpool::client {
namespace {

/// Of the loans of a batch: pieces of several tensors come in turn, and looking costs less than one loan for each.
constexpr size_t kLookedThrough = 8;

}  // namespace

Status MemoryRegistry::add(const void* address, uint64_t length) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin == 0 || length == 0) return {KV_INVALID_ARGUMENT, "a region needs an address and a length above 0"};
  if (length > UINTPTR_MAX - begin) return {KV_INVALID_ARGUMENT, "a region ends behind the end of memory"};
  if (Status usable = judge(address, length); !usable.ok()) return usable;
  const std::lock_guard lock(mutex_);
  const auto next = regions_.lower_bound(begin);
  const bool overlapsNext = next != regions_.end() && next->first - begin < length;
  bool overlapsBefore = false;
  if (next != regions_.begin()) {
    const auto before = std::prev(next);
    overlapsBefore = begin - before->first < before->second;
  }
  if (overlapsNext || overlapsBefore) {
    return {KV_INVALID_ARGUMENT, "the region overlaps one that is registered; unregister that one first"};
  }
  regions_.emplace(begin, length);
  const kv_region region{begin, length};
  own_.lend({&region, 1});
  return {};
}

Status MemoryRegistry::judge(const void* address, uint64_t length) {
  const Result<bool> ofDevice = devices_.holds(address);
  if (!ofDevice.ok()) return ofDevice.status();
  const auto* last = static_cast<const uint8_t*>(address) + (length - 1);
  if (ofDevice.value()) return judgeLast(last);
  const Status readable = ProcessMemory().judge(reinterpret_cast<uintptr_t>(address), length);
  if (readable.ok()) return {};
  const Status admitted = devices_.admit(address);
  if (admitted.ok()) return judgeLast(last);
  return {readable.code(), readable.text() + ". It cannot be used as an NPU's: " + admitted.text()};
}

Status MemoryRegistry::judgeLast(const void* last) {
  const Result<bool> ofDevice = devices_.holds(last);
  if (!ofDevice.ok()) return ofDevice.status();
  return ofDevice.value() ? Status{} : Status{KV_INVALID_ARGUMENT, "the region ends behind memory of the NPU"};
}

Status MemoryRegistry::remove(const void* address) {
  const kv_region region{reinterpret_cast<uintptr_t>(address), 0};
  LentMemory::Recalled recalled;
  {
    const std::lock_guard lock(mutex_);
    if (regions_.erase(region.address) == 0) {
      return {KV_NOT_REGISTERED, "no registered region begins at this address"};
    }
    recalled = own_.recall({&region, 1});
  }
  LentMemory::awaitReturn(recalled);  // without the lock: other batches begin meanwhile
  return {};
}

void MemoryRegistry::borrowFrom(std::shared_ptr<const LentMemory> lender) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lenders_, [&](const auto& known) { return known == lender || known->ended(); });
  lenders_.push_back(std::move(lender));
}

bool MemoryRegistry::covers(const void* address, uint64_t length, LentMemory::Loans& loans) const {
  if (length == 0) return true;
  const size_t last = std::min(loans.size(), kLookedThrough);
  if (std::any_of(loans.rbegin(), loans.rbegin() + static_cast<ptrdiff_t>(last),
                  [&](const LentMemory::Loan& loan) { return LentMemory::isOf(loan, address, length); }))
    return true;
  const std::lock_guard lock(mutex_);
  LentMemory::Loan loan = own_.borrow(address, length);
  for (const auto& lender : lenders_) {
    if (loan) break;
    loan = lender->borrow(address, length);
    if (loan) break;
    loan = lender->borrow(address, length, true);
    if (!loan) continue;
    const Result<bool> ofDevice = devices_.holds(address);
    if (!ofDevice.ok() || !ofDevice.value()) loan = nullptr;
  }
  if (!loan) return false;
  loans.push_back(std::move(loan));
  return true;
}

}  // namespace kvpool::client
