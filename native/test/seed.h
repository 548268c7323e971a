// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace kvpool::test {

/// Seed of a random test: KVPOOL_SEED when set, so that a printed seed can be run again, else `fallback`.
inline uint64_t seed(uint64_t fallback) {
  const char* text = std::getenv("KVPOOL_SEED");
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// For SCOPED_TRACE at the top of a random test.
inline std::string seedTrace(uint64_t value) {
  return "run again with KVPOOL_SEED=" + std::to_string(value);
}

/// Small numbers from a seeded generator, the same on every platform (std distributions are not).
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint64_t next() { return engine_(); }
  /// 0 to `end` - 1.
  uint64_t below(uint64_t end) { return engine_() % end; }
  bool oneIn(uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kvpool::test
