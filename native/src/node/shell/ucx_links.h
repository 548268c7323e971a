// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/block_sums.h"
#include "node/shell/remote_links.h"
#include "ssd/device.h"
#include "ucx/remote_memory.h"
#include "ucx/worker.h"

namespace kvpool::node {

/// A worker with which the segment is registered, and staging memory for what an SSD reads; their keys are never told
/// to anybody.
struct UcxSource {
  ssd::BlockBuffer ofTier = {};  // first: the worker may read it until it ends
  std::unique_ptr<ucx::Worker> worker;
  ucx::MemoryHandle* segment = nullptr;
  ucx::MemoryHandle* tier = nullptr;

  [[nodiscard]] std::span<uint8_t> tierBytes() const { return ofTier.bytes(); }
};
/// `tierBytes`: of that staging memory; without it where it cannot be had. The reason why UCX cannot be had is a
/// sentence for people.
Result<UcxSource> openUcx(std::span<uint8_t> segment, uint64_t tierBytes);

class UcxLinks final : public RemoteLinks {
 public:
  /// `connectTimeoutMs`: a client that is not reached by then goes on by tcp.
  UcxLinks(UcxSource source, std::span<uint8_t> segment, RemoteEvents& events, uint64_t connectTimeoutMs);
  ~UcxLinks() override;

  [[nodiscard]] int descriptor() const override { return source_.worker->descriptor(); }
  void connect(const ConnectRemote& wanted, uint64_t nowMs) override;
  void pull(const PullPayload& wanted) override;
  void push(const PushPayload& wanted) override;
  void pushStaged(const PushStaged& wanted, std::span<uint8_t> staged) override;
  void disconnect(ConnectionId connection) override;
  void work(uint64_t nowMs) override;
  [[nodiscard]] bool settled() const override { return settled_; }
  [[nodiscard]] bool idle() const override {
    return links_.empty() && closing_.empty() && refused_.empty() && ended_.empty();
  }

 private:
  struct Link {
    std::unique_ptr<ucx::RemoteMemory> memory;
    std::vector<uint8_t> probe;  // not empty until the client was reached
    uint64_t probeUntilMs = 0;
  };
  struct Pull {
    std::span<uint8_t> into;
    uint64_t summed = 0;
    RunningSum sum;
  };
  static constexpr uint64_t kProbe = 0;  // no number of a transfer

  void write(ConnectionId connection, uint64_t transfer, uint64_t stagingOffset, std::span<uint8_t> from);
  void look(ConnectionId connection, Link& link, uint64_t nowMs);
  void completed(const ucx::RemoteMemory::Completion& completion);
  void giveUp(ConnectionId connection, Link& link, const std::string& why);
  void sum();
  void discardClosed();

  UcxSource source_;
  std::span<uint8_t> segment_;
  RemoteEvents& events_;
  uint64_t connectTimeoutMs_;
  bool settled_ = true;
  std::unordered_map<ConnectionId, Link> links_;
  std::vector<Link> closing_;
  std::unordered_map<uint64_t, Pull> pulls_;          // by transfer
  std::deque<uint64_t> toSum_;                        // of these, those that are here
  std::vector<ucx::RemoteMemory::Completion> ended_;  // without UCX
  std::unordered_map<ConnectionId, Status> refused_;  // not told yet
};

}  // namespace kvpool::node
