// SPDX-License-Identifier: Apache-2.0
// One batch of a transfer engine: the table that libkvpool fills, and the Python objects its pointers lead into.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kvpool/engine.h"
#include "python.h"

namespace kvpool::python {

/// The integers of a sequence. False with Python's error set.
bool readNumbers(PyObject* sequence, std::vector<uint64_t>& out);

/// Functions that return bool give false with Python's error set.
class Transfers {
 public:
  Transfers() = default;
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// peers: one str for all lines, or a sequence with one for each. The others are sequences of numbers as long as each
  /// other; addresses and lengths are the caller's to keep right until the batch is done.
  bool read(PyObject* peers, PyObject* locals, PyObject* remotes, PyObject* lengths);
  /// None, or (name, bytes).
  bool readNotify(PyObject* notify);

  /// Queues the batch. A status that is not KV_OK means that nothing was queued. Runs without the GIL.
  int32_t submit(kv_engine* engine, int32_t op, uint32_t timeoutMs);
  [[nodiscard]] uint64_t batch() const { return batch_; }
  /// Waits for the end of the batch, which its timeout guarantees; signal handlers get their turn. What one of them
  /// raises is kept until the library has let go of the memory; false then.
  bool wait(kv_engine* engine);
  /// KV_OK when the batch is done, KV_TIMEOUT while it runs.
  int32_t poll(kv_engine* engine, uint32_t timeoutMs) { return kv_engine_wait(engine, batch_, timeoutMs); }
  /// Every line ends like this.
  void end(int32_t status);

  [[nodiscard]] Ref statuses() const;

 private:
  std::vector<kv_transfer> table_;
  std::vector<std::string> peers_;
  uint64_t batch_ = 0;
  bool notifies_ = false;
  std::string notifyName_;
  std::string notifyMessage_;
};

/// Batches whose end was not told yet, by number.
class Submitted {
 public:
  /// Also of one that was taken.
  void add(std::unique_ptr<Transfers> transfers) {
    const uint64_t batch = transfers->batch();
    {
      const std::lock_guard lock(mutex_);
      byBatch_[batch] = std::move(transfers);
    }
    returned_.notify_all();
  }

  enum class Outcome { Taken, Unknown, Elsewhere };
  /// Until add() or forget(). Elsewhere: another thread had it all the time. Without the GIL, which that thread may
  /// need.
  Outcome take(uint64_t batch, uint32_t timeoutMs, std::unique_ptr<Transfers>& taken) {
    std::unique_lock lock(mutex_);
    auto found = byBatch_.find(batch);
    returned_.wait_for(lock, std::chrono::milliseconds(timeoutMs), [&] {
      found = byBatch_.find(batch);
      return found == byBatch_.end() || found->second != nullptr;
    });
    if (found == byBatch_.end()) return Outcome::Unknown;
    taken = std::move(found->second);
    return taken ? Outcome::Taken : Outcome::Elsewhere;
  }
  void forget(uint64_t batch) {
    {
      const std::lock_guard lock(mutex_);
      byBatch_.erase(batch);
    }
    returned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::map<uint64_t, std::unique_ptr<Transfers>> byBatch_;  // null: a thread has taken it
};

}  // namespace kvpool::python
