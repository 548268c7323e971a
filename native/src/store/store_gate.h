// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

namespace kvpool::store {

/// Every store to the header, the state and the directory of a segment goes through one of these, and nothing else
/// writes there. Tests and the simulation put their own in its place to cut a store, or the life of the node, at any of
/// them.
class StoreGate {
 public:
  virtual ~StoreGate() = default;

  /// Copies `length` bytes. The fences keep the order in which a reader of shared memory, or the next life of the node
  /// after a crash of this one, sees bytes and the records that vouch for them.
  virtual void store(void* destination, const void* source, size_t length) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::memcpy(destination, source, length);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Returns when what was stored there is on the disk, where the segment lies on one; false when that fails. For the
  /// little that must be there before anything else: the kernel writes pages back in whatever order it likes.
  virtual bool settle(const void* address, size_t length);
};

}  // namespace kvpool::store
