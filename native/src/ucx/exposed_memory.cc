// SPDX-License-Identifier: Apache-2.0
#include "ucx/exposed_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace kvpool::ucx {
namespace {

/// Ranges of addresses that were exposed once, by size.
class Ranges {
 public:
  /// Null with errno when there is no memory.
  uint8_t* take(uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto free = free_.find(bytes); free != free_.end()) {
        uint8_t* range = free->second;
        free_.erase(free);
        return range;
      }
    }
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<uint8_t*>(mapped);
  }

  /// The pages go, the addresses stay.
  void giveBack(uint8_t* range, uint64_t bytes) {
    ::madvise(range, bytes, MADV_DONTNEED);
    const std::lock_guard lock(mutex_);
    free_.emplace(bytes, range);
  }

 private:
  std::mutex mutex_;
  std::multimap<uint64_t, uint8_t*> free_;
};

Ranges& ranges() {
  static auto* all = new Ranges;  // for as long as the process: clients may end after static objects do
  return *all;
}

}  // namespace

Result<std::unique_ptr<ExposedMemory>> ExposedMemory::create(Worker& worker, uint64_t bytes) {
  uint8_t* range = ranges().take(bytes);
  if (range == nullptr) return systemError("memory of " + std::to_string(bytes) + " bytes for a node to use", errno);
  std::unique_ptr<ExposedMemory> exposed(new ExposedMemory(worker, range, bytes));
  auto memory = worker.map(range, bytes);
  if (!memory.ok()) return memory.status();
  exposed->memory_ = memory.value();
  auto key = worker.keyOf(exposed->memory_);
  if (!key.ok()) return key.status();
  exposed->key_ = std::move(key.value());
  return exposed;
}

ExposedMemory::~ExposedMemory() {
  if (memory_ != nullptr) worker_.unmap(memory_);
  ranges().giveBack(bytes_, size_);
}

StagingOffer ExposedMemory::offer() const {
  return {size_, reinterpret_cast<uintptr_t>(bytes_), worker_.address(), key_};
}

}  // namespace kvpool::ucx
