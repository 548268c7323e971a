// SPDX-License-Identifier: Apache-2.0
// What the workers do with reads that nobody wants any more, over a disk that is held up.
#include "ssd/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "ssd/device_in_memory.h"
#include "ssd/layout.h"

namespace kvpool::ssd {
namespace {

/// Reads wait until they are let go on.
class HeldDevice final : public Device {
 public:
  Status read(std::span<const Piece> pieces) override {
    std::unique_lock lock(mutex_);
    ++begun;
    changed_.notify_all();
    changed_.wait(lock, [&] { return goOn_; });
    return disk_.read(pieces);
  }
  Status write(std::span<const Piece> pieces) override { return disk_.write(pieces); }
  Status sync() override { return disk_.sync(); }

  void untilBegun(size_t reads) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun >= reads; });
  }
  void goOn() {
    const std::lock_guard lock(mutex_);
    goOn_ = true;
    changed_.notify_all();
  }

  size_t begun = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool goOn_ = false;
  test::DeviceInMemory disk_{kTierBytesMin};
};

TEST(Workers, AReadThatNobodyWantsIsNotBegunAndAnsweredAllTheSame) {
  HeldDevice device;
  std::atomic<int> notified{0};
  Workers workers(device, [&] {
    ++notified;
    notified.notify_one();
  });
  constexpr uint64_t kReads = Workers::kThreads + 3;
  for (uint64_t op = 1; op <= kReads; ++op)
    workers.submit(ReadPayload{op, kBlockBytes, 0, 0});
  device.untilBegun(Workers::kThreads);
  workers.cancelRead(1);           // has begun
  workers.cancelRead(kReads - 1);  // has not
  workers.cancelRead(kReads - 1);  // is done
  workers.cancelRead(kReads + 1);  // never was
  const std::vector<Done> cancelled = workers.takeDone();
  ASSERT_EQ(cancelled.size(), 1U);
  EXPECT_EQ(std::get<ReadPayload>(cancelled[0].job).op, kReads - 1);
  EXPECT_EQ(cancelled[0].status.code(), KV_CLOSED);

  device.goOn();
  std::set<uint64_t> done;
  for (int seen = 0; done.size() < kReads - 1;) {
    notified.wait(seen);
    seen = notified;  // before they are taken: one that comes behind is waited for
    for (const Done& one : workers.takeDone()) {
      EXPECT_TRUE(one.status.ok()) << one.status.text();
      EXPECT_TRUE(done.insert(std::get<ReadPayload>(one.job).op).second);
    }
  }
  EXPECT_FALSE(done.contains(kReads - 1));
  EXPECT_EQ(device.begun, kReads - 1);
}

TEST(Workers, WhatTookLongIsTimedWithTheWaitForOthers) {
  HeldDevice device;
  std::atomic<int> notified{0};
  Workers workers(device, [&] {
    ++notified;
    notified.notify_one();
  });
  constexpr auto kHeld = std::chrono::milliseconds(3);
  constexpr uint64_t kReads = Workers::kThreads + 1;  // the last one has to wait for a thread
  for (uint64_t op = 1; op <= kReads; ++op)
    workers.submit(ReadPayload{op, kBlockBytes, 0, 0});
  device.untilBegun(Workers::kThreads);
  std::this_thread::sleep_for(kHeld);
  device.goOn();
  size_t done = 0;
  for (int seen = 0; done < kReads;) {
    notified.wait(seen);
    seen = notified;
    for (const Done& one : workers.takeDone()) {
      EXPECT_GE(std::chrono::microseconds(one.tookUs), kHeld) << std::get<ReadPayload>(one.job).op;
      ++done;
    }
  }
}

/// Memory that a driver mapped: the kernel reads no device into it.
class ForeignMemory final : public Device {
 public:
  Status read(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      if (piece.bytes.data() >= foreign.data() && piece.bytes.data() < foreign.data() + foreign.size())
        return {KV_IO, "bad address"};
    }
    return disk.read(pieces);
  }
  Status write(std::span<const Piece> pieces) override { return disk.write(pieces); }
  Status sync() override { return {}; }

  std::span<uint8_t> foreign;
  test::DeviceInMemory disk{kTierBytesMin};
};

TEST(Workers, APayloadIsReadIntoTheMemoryThatIsGiven) {
  constexpr uint64_t kLength = (uint64_t{9} << 20) + 5;
  const BlockBuffer memory(kLength);
  ForeignMemory device;
  for (uint64_t i = 0; i < kLength; ++i)
    device.disk.bytes.data()[kBlockBytes + i] = static_cast<uint8_t>(i * 7 / 3);
  const uint32_t crc = crc32c(device.disk.bytes.data() + kBlockBytes, kLength);
  for (const bool isForeign : {false, true}) {
    device.foreign = isForeign ? memory.bytes() : std::span<uint8_t>();
    std::ranges::fill(memory.bytes(), uint8_t{0});
    const Done done = perform(device, ReadPayload{1, kBlockBytes, kLength, crc, memory.bytes()});
    EXPECT_TRUE(done.status.ok()) << done.status.text();
    EXPECT_EQ(crc32c(memory.bytes().data(), kLength), crc) << isForeign;
    EXPECT_TRUE(done.payload.bytes().empty());
    EXPECT_EQ(perform(device, ReadPayload{1, kBlockBytes, kLength, crc + 1, memory.bytes()}).status.code(),
              KV_CHECKSUM);
  }
  device.disk.failing = {KV_IO, "broken"};
  EXPECT_EQ(perform(device, ReadPayload{1, kBlockBytes, kLength, crc, memory.bytes()}).status.text(), "broken");
}

TEST(Workers, NoMemoryForABufferHasAStatusOfItsOwn) {
  test::DeviceInMemory disk(kTierBytesMin);
  disk.noMemory = true;
  EXPECT_EQ(perform(disk, ReadPayload{1, kBlockBytes, 1, 0}).status.code(), KV_OUT_OF_MEMORY);
  EXPECT_EQ(perform(disk, WritePayload{1, {}, kBlockBytes, 0}).status.code(), KV_OUT_OF_MEMORY);
  const auto batch = std::make_shared<const Table::Batch>();
  EXPECT_EQ(perform(disk, StoreBlocks{batch}).status.code(), KV_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace kvpool::ssd
