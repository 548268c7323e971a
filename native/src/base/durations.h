// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvpool {

/// How long things of one kind took: each is counted once, in the first step that fits it.
struct Durations {
  static constexpr std::array<uint64_t, 5> kStepsUs{100, 1000, 10'000, 100'000, 1'000'000};

  uint64_t us = 0;                                        ///< all together
  std::array<uint64_t, kStepsUs.size() + 1> counts = {};  ///< of each step, the longer ones last

  void add(uint64_t tookUs) {
    us += tookUs;
    size_t step = 0;
    while (step < kStepsUs.size() && tookUs > kStepsUs[step])
      ++step;
    ++counts[step];
  }
};

/// Where the C interface has them: a field for each step, named after it.
#define KVPOOL_TELL_DURATIONS(durations, out, name)                                                             \
  static_assert(kvpool::Durations::kStepsUs == std::array<uint64_t, 5>{100, 1000, 10'000, 100'000, 1'000'000}); \
  (out).name##_in_100us = (durations).counts[0];                                                                \
  (out).name##_in_1ms = (durations).counts[1];                                                                  \
  (out).name##_in_10ms = (durations).counts[2];                                                                 \
  (out).name##_in_100ms = (durations).counts[3];                                                                \
  (out).name##_in_1s = (durations).counts[4];                                                                   \
  (out).name##_longer = (durations).counts[5]

}  // namespace kvpool
