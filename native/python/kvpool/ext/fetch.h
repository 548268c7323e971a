// SPDX-License-Identifier: Apache-2.0
// Getting objects whose size the caller does not know, as Python bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "batch.h"

namespace kvpool::python {

/// Remembers how large the objects were that this client got last. KV caches are made of like-sized objects, so memory
/// of that size is offered first and a second round trip is needed only when an object turns out larger.
class SizeGuess {
 public:
  uint64_t forBatch(size_t count) const;
  void learn(uint64_t largest) { largest_.store(largest, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> largest_{0};
};

/// A list with the bytes or the negative status of each key; empty with Python's error set.
Ref fetch(kv_client* client, PyObject* keys, const Deadline& deadline, SizeGuess& guess);

}  // namespace kvpool::python
