// SPDX-License-Identifier: Apache-2.0
#include "client/shell/memory_registry.h"

#include <iterator>
#include <utility>

#include "base/process_memory.h"

namespace kvpool::client {

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
  return {};
}

Status MemoryRegistry::judge(const void* address, uint64_t length) {
  const Result<bool> ofDevice = devices_.holds(address);
  if (!ofDevice.ok()) return ofDevice.status();
  if (ofDevice.value()) return {};
  const Status readable = ProcessMemory().judge(reinterpret_cast<uintptr_t>(address), length);
  if (readable.ok()) return {};
  const Status admitted = devices_.admit(address);
  if (admitted.ok()) return {};
  return {readable.code(), readable.text() + ". It cannot be used as an NPU's: " + admitted.text()};
}

Status MemoryRegistry::remove(const void* address) {
  const std::lock_guard lock(mutex_);
  if (regions_.erase(reinterpret_cast<uintptr_t>(address)) == 0) {
    return {KV_NOT_REGISTERED, "no registered region begins at this address"};
  }
  return {};
}

void MemoryRegistry::borrowFrom(std::shared_ptr<const LentMemory> lender) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lenders_, [&](const auto& known) { return known == lender || known->ended(); });
  lenders_.push_back(std::move(lender));
}

bool MemoryRegistry::covers(const void* address, uint64_t length, LentMemory::Loans& loans) const {
  if (length == 0) return true;
  const std::lock_guard lock(mutex_);
  if (declared(reinterpret_cast<uintptr_t>(address), length)) return true;
  for (const auto& lender : lenders_) {
    LentMemory::Loan loan = lender->borrow(address, length);
    if (!loan) {
      loan = lender->borrow(address, length, true);
      if (!loan) continue;
      const Result<bool> ofDevice = devices_.holds(address);
      if (!ofDevice.ok() || !ofDevice.value()) continue;
    }
    if (loans.empty() || loans.back() != loan) loans.push_back(std::move(loan));
    return true;
  }
  return false;
}

bool MemoryRegistry::declared(uintptr_t begin, uint64_t length) const {
  const auto next = regions_.upper_bound(begin);
  if (next == regions_.begin()) return false;
  const auto region = std::prev(next);
  const uint64_t distance = begin - region->first;
  return distance < region->second && length <= region->second - distance;
}

}  // namespace kvpool::client
