// SPDX-License-Identifier: Apache-2.0
// How long a restarted node takes from mapped bytes to being ready: kv_recovery_bench [RECORDS [THREADS]]
// (default 1000000, 1).
// The segment lies in memory that was just written, as a tmpfs file's pages do after the crash of their node. Half of
// the objects are freed at random first, so that the free space is as scattered as in a pool that evicts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "node/core/record_stream.h"
#include "store/segment_in_memory.h"

namespace {

using namespace kvpool;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// `records` objects with keys of 64 bytes, scattered.
void fill(test::SegmentInMemory& segment, uint64_t records) {
  std::mt19937_64 random(1);
  std::vector<std::pair<ExtentRef, ObjectId>> all;
  for (uint64_t i = 1; i <= 2 * records; ++i) {
    std::string key = "bench-key-" + std::to_string(i);
    key.resize(64, '.');
    all.emplace_back(segment.put({1, i}, key, std::string(1 + random() % 100, 'v')), ObjectId{1, i});
  }
  std::shuffle(all.begin(), all.end(), random);
  for (uint64_t i = 0; i < records; ++i)
    segment.directory->free(all[i].first, all[i].second);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const uint64_t threads = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (records == 0 || records > 100'000'000 || threads == 0 || threads > 64) {
    std::fprintf(stderr, "usage: kv_recovery_bench [1 to 100000000 records [1 to 64 threads]]\n");
    return 2;
  }
  test::SegmentInMemory segment((2 * records + store::kSlotsMin) * (store::kBytesPerSlot + 128 + 1) +
                                store::kSegmentBytesMin);
  fill(segment, records);

  const auto recovers = Clock::now();
  const std::clock_t recoversCpu = std::clock();
  const store::Recovery recovery = segment.open(static_cast<unsigned>(threads));
  const double recoverySeconds = secondsSince(recovers);
  const double recoveryCpuSeconds = static_cast<double>(std::clock() - recoversCpu) / CLOCKS_PER_SEC;

  const auto streams = Clock::now();
  const node::RecordStream stream(*segment.directory);
  node::RecordStream::Cursor cursor;
  uint64_t bytes = 0;
  while (!cursor.done) {
    if (const node::Frames piece = stream.nextPiece(cursor)) bytes += piece->size();
  }
  const double snapshotSeconds = secondsSince(streams);
  std::printf(
      "{\"records\":%llu,\"recovery_s\":%.3f,\"recovery_cpu_s\":%.3f,\"snapshot_s\":%.3f,\"snapshot_bytes\":%llu}\n",
      static_cast<unsigned long long>(recovery.restored), recoverySeconds, recoveryCpuSeconds, snapshotSeconds,
      static_cast<unsigned long long>(bytes));
  return recovery.restored == records ? 0 : 1;
}
