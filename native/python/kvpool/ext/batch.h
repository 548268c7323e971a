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

/// What a signal handler raises now, KeyboardInterrupt say; empty when nothing. To be raised when the library has let
/// go of the caller's memory.
Ref pendingInterrupt();

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

/// How a batch is done, as Python says it.
struct BatchOptions {
  uint32_t flags = 0;
  uint32_t replicas = 0;
  const char* nodes = nullptr;  // in the caller's tuple
  uint32_t pins = 0;
  uint32_t softPinMs = 0;
  std::vector<uint64_t> groups;
  uint32_t retainMs = 0;

  /// (flags, replicas, nodes, pins, soft_pin_ms, groups), where groups is None or has for each of `count` keys
  /// the name of its group or None, and of hints also retain_ms; or None in place of all. False with Python's error
  /// set.
  bool read(PyObject* tuple, size_t count);
};

/// The memory of a batch's values: nothing, buffers to read from or to write to, or (addresses, sizes) of registered
/// memory: a number for each key, or, in pieces, a sequence of numbers; of parts also (offsets, objects), where in the
/// value each piece's bytes begin, and None or a writable buffer with a kv_object_id for each key. Of values without
/// their bytes: (lengths, objects), or only objects.
enum class Memory { None, Readable, Writable, Registered, RegisteredPieces, RegisteredParts, Lengths, Objects };

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

  /// What `kind` says, checked against it; registered memory is asked for in the flags of `options`.
  bool addMemory(PyObject* memory, Memory kind, BatchOptions& options);

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
  bool addBuffers(PyObject* buffers, int flags);
  bool addAddresses(PyObject* addresses, PyObject* sizes);
  bool addPieces(PyObject* addresses, PyObject* sizes);
  bool addPiecesOf(size_t line, PyObject* addresses, PyObject* sizes);
  bool addOffsets(PyObject* offsets);
  bool addObjects(PyObject* objects);
  bool addLengths(PyObject* lengths);
  void runSlice(kv_client* client, int32_t opCode, const kv_batch_options& options, size_t begin, uint32_t count);
  bool expectSize(PyObject* list, const char* what) const;
  void letSignalsRun();

  std::vector<kv_op> table_;
  std::vector<kv_piece> pieces_;          // of all lines, one after the other
  std::vector<uint64_t> offsets_;         // of parts: of each piece
  std::vector<const uint64_t*> partsOf_;  // of parts: for each line the first of its offsets
  std::vector<Py_buffer> buffers_;
  kv_object_id* objects_ = nullptr;  // of parts: in one of the buffers
  Ref keys_;       // a copy of the caller's sequence: it keeps the keys alive whatever other threads do to the original
  Ref interrupt_;  // what a signal handler raised while the library still used our memory
};

}  // namespace kvpool::python
