// SPDX-License-Identifier: Apache-2.0
#include "store/segment_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace kvpool::store {
namespace {

/// Read by the signal handler, so plain atomics; an entry counts while its begin is not 0.
struct Entry {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> lost{false};
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Entry, SegmentGuard::kGuardsMax> entries;
std::mutex installing;
size_t guards = 0;
struct sigaction before {};
uintptr_t pageBytes = 0;

Entry* entryOf(uintptr_t address) {
  for (Entry& entry : entries) {
    const uintptr_t begin = entry.begin.load();
    if (begin != 0 && address >= begin && address < entry.end.load()) return &entry;
  }
  return nullptr;
}

/// Whoever handled it before. The default cannot be called: it is put back, and the access fails again.
void passOn(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    ::signal(signal, SIG_DFL);
    return;
  }
  before.sa_handler(signal);
}

void onBusError(int signal, siginfo_t* info, void* context) {
  const int keptErrno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Entry* entry = entryOf(address);
  if (entry == nullptr) return passOn(signal, info, context);
  entry->lost.store(true);
  uint8_t* page = static_cast<uint8_t*>(info->si_addr) - (address & (pageBytes - 1));
  // A plain system call, safe here. It fails for huge pages; then there is nothing to do but to let it end.
  void* at = ::mmap(page, pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) passOn(signal, info, context);
  errno = keptErrno;
}

void install() {
  pageBytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours {};
  ours.sa_sigaction = onBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &before);
}

/// Unless somebody has put a handler over ours, which then may still call it.
void uninstall() {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == onBusError) ::sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

SegmentGuard::SegmentGuard(std::span<uint8_t> mapping) {
  const std::lock_guard lock(installing);
  for (size_t place = 0; place < entries.size(); ++place) {
    Entry& entry = entries[place];
    if (entry.begin.load() != 0) continue;
    if (guards++ == 0) install();
    entry.lost.store(false);
    entry.end.store(reinterpret_cast<uintptr_t>(mapping.data()) + mapping.size());
    entry.begin.store(reinterpret_cast<uintptr_t>(mapping.data()));
    place_ = place;
    return;
  }
}

SegmentGuard::~SegmentGuard() {
  if (!guarded()) return;
  const std::lock_guard lock(installing);
  entries[place_].begin.store(0);
  if (--guards == 0) uninstall();
}

bool SegmentGuard::lost() const {
  return guarded() && entries[place_].lost.load();
}

}  // namespace kvpool::store
