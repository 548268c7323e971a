// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace kvpool::store {

/// What is worth saying about prefaulting, and when: nothing in the first second, then a line every 5 s, and at the end
/// one if it took longer than a second.
class PrefaultReport {
 public:
  PrefaultReport(uint64_t totalBytes, uint64_t nowMs)
      : totalBytes_(totalBytes), startMs_(nowMs), nextMs_(nowMs + 1000) {}

  std::optional<std::string> progress(uint64_t nowMs, uint64_t doneBytes);
  [[nodiscard]] std::optional<std::string> finished(uint64_t nowMs) const;

 private:
  uint64_t totalBytes_;
  uint64_t startMs_;
  uint64_t nextMs_;
};

/// How many threads prefault: half of the processors and at most 8, which is about what memory takes.
unsigned prefaultThreads(unsigned processors);

/// Has the kernel make every page of a mapping present and writable, while its owner already works in it: a page that
/// is first touched by a put costs that put a fault, and on tmpfs the zeroing of the page. From the lowest address up,
/// as the allocator hands them out. What is in the pages is never changed. While it runs, a SegmentGuard must be on the
/// mapping: the file may be cut short by somebody else.
class Prefault {
 public:
  /// Begins at once, in threads of low priority. `mapping` outlives this object.
  Prefault(std::span<uint8_t> mapping, unsigned threads);
  ~Prefault() { stop(); }
  Prefault(const Prefault&) = delete;
  Prefault& operator=(const Prefault&) = delete;

  /// Ends the threads, also in the middle, within milliseconds. Any thread may call it, more than once.
  void stop();

  [[nodiscard]] uint64_t doneBytes() const { return done_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t totalBytes() const { return mapping_.size(); }

 private:
  void run();
  bool populate(std::span<uint8_t> piece);
  void report();

  std::span<uint8_t> mapping_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> touch_{false};  // the kernel does not know MADV_POPULATE_WRITE
  std::mutex reporting_;
  PrefaultReport report_;
  std::mutex joining_;
  std::vector<std::thread> threads_;
};

namespace detail {
/// What kernels before 5.14 are asked instead: a write to each page of what is there already. Atomic, because the
/// owner may write there at the same time.
void touchPages(std::span<uint8_t> piece, uint64_t pageBytes);
}  // namespace detail

}  // namespace kvpool::store
