// SPDX-License-Identifier: Apache-2.0
#include "store/prefault.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/status.h"

namespace kvpool::store {
namespace {

/// One request to the kernel, which does not let itself be interrupted: about two milliseconds.
constexpr uint64_t kPieceBytes = uint64_t{8} << 20;
/// Whoever serves at the same time gets nearly all of a contended processor.
constexpr int kNiceness = 10;
constexpr unsigned kThreadsMax = 8;
constexpr uint64_t kReportEveryMs = 5000;
constexpr uint64_t kReportAfterMs = 1000;

// Headers of older systems do not know it, the kernel may all the same.
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

uint64_t monotonicMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

std::string mebibytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

std::optional<std::string> PrefaultReport::progress(uint64_t nowMs, uint64_t doneBytes) {
  if (nowMs < nextMs_) return std::nullopt;
  nextMs_ = nowMs + kReportEveryMs;
  return "prefaulting the segment: " + mebibytes(doneBytes) + " of " + mebibytes(totalBytes_) +
         "; objects are served meanwhile";
}

std::optional<std::string> PrefaultReport::finished(uint64_t nowMs) const {
  const uint64_t took = nowMs - startMs_;
  if (took <= kReportAfterMs) return std::nullopt;
  return "prefaulted the segment: " + mebibytes(totalBytes_) + " in " + std::to_string(took) + " ms";
}

unsigned prefaultThreads(unsigned processors) {
  return std::clamp(processors / 2, 1U, kThreadsMax);
}

Prefault::Prefault(std::span<uint8_t> mapping, unsigned threads)
    : mapping_(mapping), report_(mapping.size(), monotonicMs()) {
  // A fault of these is handled where the segment's guard is.
  for (unsigned i = 0; i < threads; ++i)
    threads_.push_back(startQuietThread("kvpool-prefault", [this] { run(); }));
}

void Prefault::stop() {
  stop_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(joining_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Prefault::run() {
  // Of this thread alone: Linux keeps niceness by thread. Without the right to it the work is done all the same.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNiceness);
  while (!stop_.load(std::memory_order_relaxed)) {
    const uint64_t at = next_.fetch_add(kPieceBytes, std::memory_order_relaxed);
    if (at >= mapping_.size()) return;
    const std::span<uint8_t> piece = mapping_.subspan(at, std::min<uint64_t>(kPieceBytes, mapping_.size() - at));
    if (!populate(piece)) {
      stop_.store(true, std::memory_order_relaxed);
      return;
    }
    done_.fetch_add(piece.size(), std::memory_order_relaxed);
    report();
  }
}

/// False when there is no point in going on; the node works without, each page with its first put.
bool Prefault::populate(std::span<uint8_t> piece) {
  while (!touch_.load(std::memory_order_relaxed)) {
    if (::madvise(piece.data(), piece.size(), MADV_POPULATE_WRITE) == 0) return true;
    const int error = errno;
    if (error == EINTR || error == EAGAIN) continue;
    if (error == EINVAL) {
      touch_.store(true, std::memory_order_relaxed);
      break;
    }
    log(LogLevel::Warning, systemError("prefaulting the segment ended early", error).text());
    return false;
  }
  detail::touchPages(piece, static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  return true;
}

void Prefault::report() {
  const std::lock_guard lock(reporting_);
  const uint64_t done = doneBytes();
  const std::optional<std::string> line =
      done == mapping_.size() ? report_.finished(monotonicMs()) : report_.progress(monotonicMs(), done);
  if (line) log(LogLevel::Info, *line);
}

namespace detail {

void touchPages(std::span<uint8_t> piece, uint64_t pageBytes) {
  for (uint64_t at = 0; at < piece.size(); at += pageBytes) {
    // A compare-and-swap with itself: compilers make a plain load of adding nothing.
    uint8_t value = __atomic_load_n(&piece[at], __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&piece[at], &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

}  // namespace detail

}  // namespace kvpool::store
