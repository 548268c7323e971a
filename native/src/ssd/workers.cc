// SPDX-License-Identifier: Apache-2.0
#include "ssd/workers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "base/quiet_thread.h"
#include "ssd/layout.h"

namespace kvpool::ssd {
namespace {

/// Copied at a time: large enough for the device, small enough to be had beside the payloads.
constexpr uint64_t kBufferBytes = uint64_t{4} << 20;

Status writePayload(Device& device, const WritePayload& job) {
  const BlockBuffer buffer(std::min<uint64_t>(kBufferBytes, job.from.size()));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < job.from.size() || at == 0; at += kBufferBytes) {
    const uint64_t count = std::min<uint64_t>(kBufferBytes, job.from.size() - at);
    crc = crc32cCopy(buffer.bytes().data(), job.from.data() + at, count, crc);
    const Piece piece{job.to + at, buffer.bytes().first(tierExtentBytes(count))};
    std::fill(piece.bytes.begin() + static_cast<std::ptrdiff_t>(count), piece.bytes.end(), uint8_t{0});
    if (Status written = device.write({&piece, 1}); !written.ok()) return written;
  }
  return crc == job.crc ? Status() : Status(KV_CHECKSUM, "the payload in memory does not match its checksum");
}

Status storeBlocks(Device& device, const StoreBlocks& job) {
  const std::vector<Table::Batch::Block>& blocks = job.batch->blocks;
  const BlockBuffer buffer(blocks.size() * kBlockBytes);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::span<uint8_t> bytes = buffer.bytes().subspan(i * kBlockBytes, kBlockBytes);
    std::memcpy(bytes.data(), blocks[i].bytes.data(), kBlockBytes);
    pieces.push_back({blocks[i].offset, bytes});
  }
  if (Status written = device.write(pieces); !written.ok()) return written;
  return device.sync();
}

Status judge(const ReadPayload& job, uint32_t crc) {
  return crc == job.crc ? Status() : Status(KV_CHECKSUM, "the payload on the SSD does not match its checksum");
}

Status readInto(Device& device, const ReadPayload& job, std::span<uint8_t> into) {
  const Piece piece{job.from, into.first(tierExtentBytes(job.length))};
  if (Status read = device.read({&piece, 1}); !read.ok()) return read;
  return judge(job, crc32c(into.data(), job.length));
}

Status readThroughBuffer(Device& device, const ReadPayload& job) {
  const BlockBuffer buffer(std::min<uint64_t>(kBufferBytes, job.length));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < job.length || at == 0; at += kBufferBytes) {
    const uint64_t count = std::min<uint64_t>(kBufferBytes, job.length - at);
    const Piece piece{job.from + at, buffer.bytes().first(tierExtentBytes(count))};
    if (Status read = device.read({&piece, 1}); !read.ok()) return read;
    crc = crc32cCopy(job.into.data() + at, buffer.bytes().data(), count, crc);
  }
  return judge(job, crc);
}

/// The kernel may not read a device into memory that others made, as where a driver mapped it, and others may store
/// there what they should not: no disk is judged by that.
Status readPayload(Device& device, const ReadPayload& job, BlockBuffer& payload) {
  if (!job.into.empty()) {
    return readInto(device, job, job.into).ok() ? Status() : readThroughBuffer(device, job);
  }
  payload = BlockBuffer(job.length);
  return readInto(device, job, payload.bytes());
}

}  // namespace

Done perform(Device& device, const Job& job) {
  Done done{job, {}, {}};
  try {
    if (const auto* write = std::get_if<WritePayload>(&job)) done.status = writePayload(device, *write);
    if (const auto* store = std::get_if<StoreBlocks>(&job)) done.status = storeBlocks(device, *store);
    if (const auto* read = std::get_if<ReadPayload>(&job)) done.status = readPayload(device, *read, done.payload);
  } catch (const std::bad_alloc&) {
    done.status = Status(KV_OUT_OF_MEMORY, "no memory for a buffer of the SSD tier");
  } catch (const std::runtime_error& failure) {
    done.status =
        Status(KV_IO, std::string("the SSD tier: ") + failure.what());  // a cipher's, where that has no memory
  }
  return done;
}

Workers::Workers(Device& device, std::function<void()> notify) : device_(device), notify_(std::move(notify)) {
  for (size_t i = 0; i < kThreads; ++i) {
    threads_.push_back(startQuietThread("kvpool-ssd", [this] { run(); }));
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Workers::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    std::deque<Submitted>& queue = std::holds_alternative<StoreBlocks>(job)   ? stores_
                                   : std::holds_alternative<ReadPayload>(job) ? reads_
                                                                              : writes_;
    queue.push_back({std::move(job), Clock::now()});
  }
  changed_.notify_one();
}

void Workers::cancelRead(uint64_t op) {
  {
    const std::lock_guard lock(mutex_);
    const auto waiting =
        std::ranges::find_if(reads_, [&](const Submitted& read) { return std::get<ReadPayload>(read.job).op == op; });
    if (waiting == reads_.end()) return;
    done_.push_back({waiting->job, Status(KV_CLOSED, "it is not wanted any more"), {}});
    reads_.erase(waiting);
  }
  notify_();
}

std::vector<Done> Workers::takeDone() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

/// Takes what is most urgent; the caller holds the mutex.
bool Workers::next(Submitted& next) {
  const bool mayWrite = writing_ + 1 < kThreads;
  std::deque<Submitted>* from = !stores_.empty() ? &stores_ : !reads_.empty() ? &reads_ : mayWrite ? &writes_ : nullptr;
  if (from == nullptr || from->empty()) return false;
  next = std::move(from->front());
  from->pop_front();
  return true;
}

void Workers::run() {
  for (;;) {
    Submitted taken;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || next(taken); });
      if (stop_) return;
      if (std::holds_alternative<WritePayload>(taken.job)) ++writing_;
    }
    Done done = perform(device_, taken.job);
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - taken.at);
    done.tookUs = static_cast<uint64_t>(took.count());
    {
      const std::lock_guard lock(mutex_);
      if (std::holds_alternative<WritePayload>(taken.job)) --writing_;
      done_.push_back(std::move(done));
    }
    changed_.notify_one();  // a writer may go on now
    notify_();
  }
}

}  // namespace kvpool::ssd
