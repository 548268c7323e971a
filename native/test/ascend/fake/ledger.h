// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace fake_ascend {

/// What was called, and what exists: counters for assertions in the process, and a file of lines for those outside.
class Ledger {
 public:
  static Ledger& instance();

  void ended(const std::string& function, uint32_t status, const std::string& text);
  void count(const std::string& kind, int64_t change);
  /// Writes what exists and notes how much it is; called by aclFinalize.
  uint64_t reportLeaks();
  void forgetCalls();

  uint64_t calls(const std::string& function);
  uint64_t failures(const std::string& function);
  uint64_t live(const std::string& kind);
  uint64_t leaks();

 private:
  struct Calls {
    uint64_t ended = 0;
    uint64_t failed = 0;
  };

  Ledger();
  void write(const std::string& line) const;

  std::mutex mutex_;
  int file_ = -1;
  std::map<std::string, Calls> calls_;
  std::map<std::string, int64_t> live_;
  uint64_t leaks_ = 0;
};

}  // namespace fake_ascend
