// SPDX-License-Identifier: Apache-2.0
// The SSD of a simulated node: bytes of the caller, and jobs that the caller says when to do.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "node/core/actions.h"
#include "node/shell/tier_start.h"
#include "ssd/workers.h"

namespace kvpool::sim {

/// Bytes as a device. What a crash leaves of a write is any choice of its sectors: a disk orders them as it likes.
class BytesDevice final : public ssd::Device {
 public:
  explicit BytesDevice(std::span<uint8_t> bytes) : bytes_(bytes) {}

  Status read(std::span<const ssd::Piece> pieces) override;
  Status write(std::span<const ssd::Piece> pieces) override;
  Status sync() override { return {}; }

  /// From now on only some sectors of each write are stored.
  void tear(uint64_t random) { torn_ = random | 1; }

 private:
  [[nodiscard]] bool isStored();

  std::span<uint8_t> bytes_;
  uint64_t torn_ = 0;  // state of a generator, 0 while nothing is torn
};

/// Throws std::logic_error when a job touches bytes that another one under way touches.
class SimTier {
 public:
  SimTier(std::span<uint8_t> device, std::span<uint8_t> segment)
      : device_(device), deviceBytes_(device), segment_(segment) {}

  /// Makes a tier of zeros, takes over what else is there; null when the bytes are somebody else's.
  ssd::Table* open(uint32_t fresh, const store::SegmentIdentity& identity, const store::SegmentState& state,
                   const store::Directory& directory);

  /// Numbers of jobs are given here, never reused.
  uint64_t submit(const node::TierWrite& write);
  uint64_t submit(const node::TierStore& store);
  /// `into`: where the payload is to be; nowhere: it is kept here.
  uint64_t submit(const node::TierRead& read, std::span<uint8_t> into);
  /// Does a job, or fails it; nothing when there is no such job. What was read stays until it is sent or dropped.
  struct Worked {
    ssd::Job job;
    Status status;
  };
  std::optional<Worked> work(uint64_t job, bool fails);
  /// What is under way when the process dies: some of it is on the device.
  void tear(uint64_t random);

  /// Bytes to send; they stay until the payload is sent or the connection closed.
  std::span<const uint8_t> send(const node::SendTierPayload& send);
  /// A payload of the segment is sent between those of the tier.
  void sendsOther(node::ConnectionId connection) { sending_[connection].emplace_back(); }
  void sent(node::ConnectionId connection) { sending_[connection].pop_front(); }
  void closed(node::ConnectionId connection) { sending_.erase(connection); }
  void drop(const node::DropTierPayload& drop) { payloads_.erase(drop.op); }

 private:
  struct Touched {
    uint64_t offset = 0;
    uint64_t length = 0;
    bool written = false;
  };
  struct Pending {
    ssd::Job job;
    std::vector<Touched> touched;
  };
  uint64_t submit(ssd::Job job, std::vector<Touched> touched);

  BytesDevice device_;
  std::span<uint8_t> deviceBytes_;
  std::span<uint8_t> segment_;
  std::optional<ssd::Table> table_;
  uint64_t lastJob_ = 0;
  std::map<uint64_t, Pending> pending_;
  std::map<uint64_t, ssd::BlockBuffer> payloads_;  // by op
  std::map<node::ConnectionId, std::deque<ssd::BlockBuffer>> sending_;
};

}  // namespace kvpool::sim
