// SPDX-License-Identifier: Apache-2.0
// What an SSD tier adds to its disk: kv_ssd_bench DIR [MIB] [ROUNDS] (default 256 MiB a step, 5 rounds).
// Payloads of one size are written to, and read from, a tier in DIR by its workers, which copy and check them, and in
// turn the same bytes of the same file by plain O_DIRECT: as many threads with pwrite and pread, and one thread with
// io_uring. Each prints the median of its rounds in MB/s. The file is allocated and written once before.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "base/fd.h"
#include "ssd/tier_file.h"
#include "ssd/workers.h"

namespace {

using namespace kvpool;
using Clock = std::chrono::steady_clock;

constexpr size_t kThreads = ssd::Workers::kThreads;

void require(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// What all ways of moving bytes have in common.
struct Task {
  int file;                   // opened with O_DIRECT
  uint64_t at;                // of the first payload
  std::span<uint8_t> memory;  // of all payloads, one after the other
  uint64_t size;              // of one payload, whole blocks
  bool writes;
  [[nodiscard]] uint64_t count() const { return memory.size() / size; }
};

void byThreads(const Task& task) {
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t n = next++; n < task.count(); n = next++) {
        uint8_t* bytes = task.memory.data() + n * task.size;
        const auto place = static_cast<off_t>(task.at + n * task.size);
        const ssize_t done =
            task.writes ? ::pwrite(task.file, bytes, task.size, place) : ::pread(task.file, bytes, task.size, place);
        require(done == static_cast<ssize_t>(task.size), "pread or pwrite");
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// As much of a ring as is needed to keep `depth` transfers under way.
class Ring {
 public:
  explicit Ring(unsigned depth) : depth_(depth) {
    io_uring_params params{};
    ring_ = Fd(static_cast<int>(::syscall(__NR_io_uring_setup, depth, &params)));
    require(ring_.valid(), "io_uring_setup");
    auto* submissions = map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    auto* completions = map(params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    entries_ = reinterpret_cast<io_uring_sqe*>(map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    submitTail_ = reinterpret_cast<std::atomic<unsigned>*>(submissions + params.sq_off.tail);
    submitMask_ = *reinterpret_cast<unsigned*>(submissions + params.sq_off.ring_mask);
    submitArray_ = reinterpret_cast<unsigned*>(submissions + params.sq_off.array);
    doneHead_ = reinterpret_cast<std::atomic<unsigned>*>(completions + params.cq_off.head);
    doneTail_ = reinterpret_cast<std::atomic<unsigned>*>(completions + params.cq_off.tail);
    doneMask_ = *reinterpret_cast<unsigned*>(completions + params.cq_off.ring_mask);
    done_ = reinterpret_cast<io_uring_cqe*>(completions + params.cq_off.cqes);
  }

  void run(const Task& task) {
    uint64_t begun = 0;
    uint64_t ended = 0;
    while (ended < task.count()) {
      unsigned fresh = 0;
      for (; begun < task.count() && begun - ended < depth_; ++begun, ++fresh)
        begin(task, begun);
      const long entered = ::syscall(__NR_io_uring_enter, ring_.get(), fresh, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
      require(entered == static_cast<long>(fresh), "io_uring_enter");
      unsigned head = doneHead_->load(std::memory_order_relaxed);
      for (; head != doneTail_->load(std::memory_order_acquire); ++head, ++ended)
        require(done_[head & doneMask_].res == static_cast<int>(task.size), "a transfer of io_uring");
      doneHead_->store(head, std::memory_order_release);
    }
  }

 private:
  uint8_t* map(size_t bytes, uint64_t what) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_.get(),
                          static_cast<off_t>(what));
    require(memory != MAP_FAILED, "mmap of a ring");
    return static_cast<uint8_t*>(memory);
  }
  void begin(const Task& task, uint64_t n) {
    const unsigned tail = submitTail_->load(std::memory_order_relaxed);
    io_uring_sqe& entry = entries_[tail & submitMask_];
    entry = {};
    entry.opcode = task.writes ? IORING_OP_WRITE : IORING_OP_READ;
    entry.fd = task.file;
    entry.addr = reinterpret_cast<uint64_t>(task.memory.data() + n * task.size);
    entry.len = static_cast<unsigned>(task.size);
    entry.off = task.at + n * task.size;
    submitArray_[tail & submitMask_] = tail & submitMask_;
    submitTail_->store(tail + 1, std::memory_order_release);
  }

  unsigned depth_;
  Fd ring_;
  io_uring_sqe* entries_ = nullptr;
  std::atomic<unsigned>* submitTail_ = nullptr;
  unsigned submitMask_ = 0;
  unsigned* submitArray_ = nullptr;
  std::atomic<unsigned>* doneHead_ = nullptr;
  std::atomic<unsigned>* doneTail_ = nullptr;
  unsigned doneMask_ = 0;
  io_uring_cqe* done_ = nullptr;
};

void byTier(ssd::Device& device, const Task& task) {
  std::atomic<uint64_t> notified{0};
  ssd::Workers workers(device, [&] {
    ++notified;
    notified.notify_one();
  });
  // All payloads are the same, and a node knows their sums: they came with the objects.
  const uint32_t crc = crc32c(task.memory.data(), task.size);
  for (uint64_t n = 0; n < task.count(); ++n) {
    const std::span<const uint8_t> bytes = task.memory.subspan(n * task.size, task.size);
    const uint64_t place = task.at + n * task.size;
    if (task.writes) {
      workers.submit(ssd::WritePayload{n, bytes, place, crc});
    } else {
      workers.submit(ssd::ReadPayload{n, place, task.size, crc});
    }
  }
  uint64_t ended = 0;
  for (uint64_t seen = 0; ended < task.count(); seen = notified) {
    notified.wait(seen);
    for (const ssd::Done& done : workers.takeDone()) {
      if (!done.status.ok()) throw std::runtime_error(done.status.text());
      ++ended;
    }
  }
}

/// Median MB/s of each way, all of them in turn.
void measure(const Task& task, ssd::Device& device, int rounds) {
  Ring four(kThreads);
  Ring many(32);
  const std::vector<std::function<void()>> ways = {[&] { byTier(device, task); }, [&] { byThreads(task); },
                                                   [&] { four.run(task); }, [&] { many.run(task); }};
  std::vector<std::vector<double>> speeds(ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t way = 0; way < ways.size(); ++way) {
      const auto start = Clock::now();
      ways[way]();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      speeds[way].push_back(static_cast<double>(task.count() * task.size) / seconds / 1e6);
    }
  }
  std::printf("| %s %llu KiB |", task.writes ? "write" : "read", static_cast<unsigned long long>(task.size / 1024));
  for (std::vector<double>& all : speeds) {
    std::sort(all.begin(), all.end());
    std::printf(" %.0f |", all[all.size() / 2]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t mebibytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  if (argc < 2 || mebibytes < 16 || mebibytes > 65536 || rounds < 1) {
    std::fprintf(stderr, "usage: kv_ssd_bench DIR [16 to 65536 MiB] [ROUNDS]\n");
    return 2;
  }
  try {
    const uint64_t bytes = mebibytes << 20;
    const store::SegmentIdentity identity{{1, 2}, "bench", 0};
    Result<ssd::TierFile> tier = ssd::openTier({argv[1], 2 * bytes, identity, "bench", 1, std::nullopt});
    if (!tier.ok()) throw std::runtime_error(tier.status().text());
    if (!tier.value().direct) throw std::runtime_error("no O_DIRECT here; choose a directory on a disk");
    const std::string path = tier.value().shown;
    const Fd file(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
    ::unlink(path.c_str());
    const ssd::BlockBuffer memory(bytes);
    Task task{file.get(), tier.value().geometry.dataOffset, memory.bytes(), uint64_t{4} << 20, true};
    std::fill(task.memory.begin(), task.memory.end(), uint8_t{0x5a});
    byThreads(task);  // blocks that were never written cost the file system more
    std::printf("| MB/s | tier | %zu threads | io_uring, %zu at a time | io_uring, 32 |\n|---|---|---|---|---|\n",
                kThreads, kThreads);
    for (const uint64_t size : {uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{1} << 20, uint64_t{4} << 20}) {
      for (const bool writes : {true, false}) {
        task.size = size;
        task.writes = writes;
        measure(task, *tier.value().device, rounds);
      }
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kv_ssd_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
