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
#include "base/status.h"
#include "node/core/actions.h"
#include "ucx/remote_memory.h"
#include "ucx/worker.h"

namespace kvpool::node {

/// A worker with which the segment is registered; its key is never told to anybody.
struct UcxSource {
  std::unique_ptr<ucx::Worker> worker;
  ucx::MemoryHandle* segment = nullptr;
};
/// The reason why UCX cannot be had is a sentence for people.
Result<UcxSource> openUcx(std::span<uint8_t> segment);

/// What the shell is told by its UCX links, from work() alone.
class UcxEvents {
 public:
  virtual ~UcxEvents() = default;
  virtual void onUcxConnected(ConnectionId connection, const Status& outcome) = 0;
  virtual void onPulled(uint64_t transfer, bool good, uint32_t computed) = 0;
  virtual void onPushed(uint64_t transfer, bool good) = 0;
  /// UCX lost the client; nothing more can be moved to or from it.
  virtual void onUcxLost(ConnectionId connection, const std::string& why) = 0;
};

/// The memories of clients that UCX reaches, one for each connection, and the payloads on their way. One thread.
class UcxLinks {
 public:
  /// Checksummed by one call of work() at most.
  static constexpr uint64_t kTurnBytes = uint64_t{1} << 20;
  /// Bytes read to see whether a client is really reached.
  static constexpr size_t kProbeBytes = 64;

  /// `connectTimeoutMs`: a client that is not reached by then goes on by tcp.
  UcxLinks(UcxSource source, std::span<uint8_t> segment, UcxEvents& events, uint64_t connectTimeoutMs);
  /// Cancels what is under way; afterwards nothing touches the segment.
  ~UcxLinks();
  UcxLinks(const UcxLinks&) = delete;
  UcxLinks& operator=(const UcxLinks&) = delete;

  /// To be waited for when settled.
  [[nodiscard]] int descriptor() const { return worker_->descriptor(); }

  void connect(const ConnectUcx& wanted, uint64_t nowMs);
  void pull(const PullPayload& wanted);
  void push(const PushPayload& wanted);
  /// What is under way still ends with its event.
  void disconnect(ConnectionId connection);

  /// Lets UCX work and tells what came of it.
  void work(uint64_t nowMs);
  /// Whether work() has nothing to do before the descriptor is readable.
  [[nodiscard]] bool settled() const { return settled_; }
  /// Nobody is connected or about to be; work() is due only when the descriptor is readable.
  [[nodiscard]] bool idle() const { return links_.empty() && closing_.empty() && refused_.empty() && ended_.empty(); }

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

  void look(ConnectionId connection, Link& link, uint64_t nowMs);
  void completed(const ucx::RemoteMemory::Completion& completion);
  void giveUp(ConnectionId connection, Link& link, const std::string& why);
  void sum();
  void discardClosed();

  std::unique_ptr<ucx::Worker> worker_;
  ucx::MemoryHandle* registration_;
  std::span<uint8_t> segment_;
  UcxEvents& events_;
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
