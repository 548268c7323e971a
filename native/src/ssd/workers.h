// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "ssd/device.h"
#include "ssd/table.h"

namespace kvpool::ssd {

/// Copies a payload to the device and compares its checksum on the way; KV_CHECKSUM when it is another one.
struct WritePayload {
  uint64_t op = 0;
  std::span<const uint8_t> from;  // stays as it is until the answer
  uint64_t to = 0;
  uint32_t crc = 0;
};
/// Writes blocks of table and header and waits until they would survive the loss of power.
struct StoreBlocks {
  std::shared_ptr<const Table::Batch> batch;
};
/// Reads a payload whole and compares its checksum; KV_CHECKSUM when it is another one.
struct ReadPayload {
  uint64_t op = 0;
  uint64_t from = 0;
  uint64_t length = 0;
  uint32_t crc = 0;
  std::span<uint8_t> into = {};  // whole blocks; none: into memory of its own
};
using Job = std::variant<WritePayload, StoreBlocks, ReadPayload>;

struct Done {
  Job job;
  Status status;
  BlockBuffer payload;  // of a ReadPayload that is KV_OK and had no memory
  uint64_t tookUs = 0;  // since it was submitted
};

/// Does one job, in the caller's thread. KV_OUT_OF_MEMORY when there is none for its buffer: nothing was done then.
Done perform(Device& device, const Job& job);

/// Threads that do jobs. Blocks of the table go first and readers before writers, of whom one thread is always kept
/// free. How many jobs wait is bounded by those who submit them.
class Workers {
 public:
  static constexpr size_t kThreads = 4;

  /// `notify` is called from any of the threads whenever takeDone() has something.
  Workers(Device& device, std::function<void()> notify);
  /// Finishes what is running and drops what waits.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(Job job);
  /// A read that has not begun is done at once, with KV_CLOSED; another one goes on.
  void cancelRead(uint64_t op);
  std::vector<Done> takeDone();

 private:
  using Clock = std::chrono::steady_clock;
  struct Submitted {
    Job job;
    Clock::time_point at;
  };

  void run();
  bool next(Submitted& next);

  Device& device_;
  std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::deque<Submitted> stores_;
  std::deque<Submitted> reads_;
  std::deque<Submitted> writes_;
  size_t writing_ = 0;
  std::vector<Done> done_;
  std::vector<std::thread> threads_;
};

}  // namespace kvpool::ssd
