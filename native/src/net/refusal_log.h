// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kvpool::net {

/// Peers that were refused: their number, and warnings of them. In 10 s at most ten, and none that says the same as the
/// one before: strangers must not fill logs.
class RefusalLog {
 public:
  static constexpr int64_t kPeriodMs = 10'000;
  static constexpr int kLinesMax = 10;

  void add(const std::string& peer, const std::string& why, int64_t nowMs);
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
  std::string last_;
  int lines_ = 0;  // in the period that ends at untilMs_
  int64_t untilMs_ = 0;
};

}  // namespace kvpool::net
