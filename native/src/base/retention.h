// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvpool {

inline constexpr uint8_t kPinSoft = 1;
inline constexpr uint8_t kPinHard = 2;
inline constexpr uint8_t kPinsKnown = kPinSoft | kPinHard;  ///< what an object can have
/// Asked of a leader: without kPinSoft an upsert takes over the soft pin of the object that it replaces.
inline constexpr uint8_t kPinKeepSoft = 4;
inline constexpr uint8_t kPinsAsked = kPinsKnown | kPinKeepSoft;

/// How hard an object is to evict. Nodes only keep it beside the object; masters act on it.
struct Retention {
  uint8_t pins = 0;        // bits of kPinsKnown; of what is asked for, of kPinsAsked
  uint32_t softPinMs = 0;  // 0: the pool's default
  uint64_t group = 0;      // hash of the name of its group; 0: none
  friend bool operator==(const Retention&, const Retention&) = default;
};

}  // namespace kvpool
