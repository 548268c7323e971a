// SPDX-License-Identifier: Apache-2.0
// One batch: the table that libkvpool fills, and the Python objects its pointers lead into.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "kvpool/kvpool.h"
#include "python.h"

namespace kvpool::python {

/// Reads what counts as an integer, such as a numpy scalar. False with OverflowError or TypeError set.
bool readUnsigned(PyObject* object, uint64_t& out);

inline void* pointerTo(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

/// The time a call may take in all, however many batches it needs.
class Deadline {
 public:
  explicit Deadline(uint32_t timeoutMs) : end_(Clock::now() + std::chrono::milliseconds(timeoutMs)) {}

  /// At least 1: the library reads 0 as "the default".
  uint32_t remainingMs() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return left > 1 ? static_cast<uint32_t>(left) : 1;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

struct BatchOptions {
  uint32_t flags = 0;
  uint32_t replicas = 0;
  const char* preferredNode = nullptr;
};

/// Functions that return bool give false with Python's error set.
class Batch {
 public:
  Batch() = default;
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// A sequence of str or bytes. A str that has no UTF-8 form becomes an invalid key, not an exception: a batch
  /// answers for each key.
  bool addKeys(PyObject* keys);

  /// One contiguous buffer per key; `flags` is PyBUF_SIMPLE or PyBUF_WRITABLE.
  bool addBuffers(PyObject* buffers, int flags);

  /// One raw address and size per key.
  bool addAddresses(PyObject* addresses, PyObject* sizes);

  /// A line with the key of another batch, which must outlive this one.
  void addLine(const kv_op& like) { table_.push_back(like); }

  /// Runs the table and waits for its end, without the GIL. Statuses are in the lines afterwards; false only when a
  /// signal handler raised, and also then only after the library let go of the memory.
  bool run(kv_client* client, int32_t opCode, const BatchOptions& options, const Deadline& deadline);

  size_t size() const { return table_.size(); }
  kv_op& line(size_t index) { return table_[index]; }

  /// Status of each line; `lengths`: for lines that are KV_OK, result_length instead.
  Ref results(bool lengths) const;

 private:
  void runSlice(kv_client* client, int32_t opCode, const kv_batch_options& options, size_t begin, uint32_t count);
  bool expectSize(PyObject* list, const char* what) const;
  void letSignalsRun();

  std::vector<kv_op> table_;
  std::vector<Py_buffer> buffers_;
  Ref keys_;       // a copy of the caller's sequence: it keeps the keys alive whatever other threads do to the original
  Ref interrupt_;  // what a signal handler raised while the library still used our memory
};

}  // namespace kvpool::python
