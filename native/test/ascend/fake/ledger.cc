// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"

namespace fake_ascend {

Ledger& Ledger::instance() {
  static Ledger& ledger = *new Ledger;
  return ledger;
}

Ledger::Ledger() {
  if (const auto path = Control::instance().setting("ledger"))
    file_ = ::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void Ledger::ended(const std::string& function, uint32_t status, const std::string& text) {
  const std::lock_guard lock(mutex_);
  Calls& calls = calls_[function];
  ++calls.ended;
  calls.failed += status == 0 ? 0 : 1;
  write(function + " " + std::to_string(status) + " " + text);
}

void Ledger::count(const std::string& kind, int64_t change) {
  const std::lock_guard lock(mutex_);
  live_[kind] += change;
}

uint64_t Ledger::reportLeaks() {
  const std::lock_guard lock(mutex_);
  leaks_ = 0;
  for (const auto& [kind, count] : live_) {
    if (count == 0) continue;
    leaks_ += static_cast<uint64_t>(count);
    write("leak " + std::to_string(count) + " " + kind);
  }
  return leaks_;
}

void Ledger::forgetCalls() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

uint64_t Ledger::calls(const std::string& function) {
  const std::lock_guard lock(mutex_);
  return calls_[function].ended;
}

uint64_t Ledger::failures(const std::string& function) {
  const std::lock_guard lock(mutex_);
  return calls_[function].failed;
}

uint64_t Ledger::live(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  return static_cast<uint64_t>(live_[kind]);
}

uint64_t Ledger::leaks() {
  const std::lock_guard lock(mutex_);
  return leaks_;
}

void Ledger::write(const std::string& line) const {
  if (file_ < 0) return;
  const std::string whole =
      std::to_string(::getpid()) + " " + std::to_string(::syscall(SYS_gettid)) + " " + line + "\n";
  // One write a line: several processes append to the same file.
  [[maybe_unused]] const ssize_t written = ::write(file_, whole.data(), whole.size());
}

}  // namespace fake_ascend
