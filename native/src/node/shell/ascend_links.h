// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascend/shell/station.h"
#include "base/block_sums.h"
#include "node/shell/remote_links.h"
#include "store/allocator.h"

namespace kvpool::node {

/// What moves by CANN, and memory that CANN knows.
struct AscendSource {
  std::unique_ptr<ascend::Mover> mover;
  std::span<uint8_t> staging;
  std::span<uint8_t> ofTier;  // behind it, in whole blocks

  [[nodiscard]] std::span<uint8_t> tierBytes() const { return ofTier; }
};
/// `tierBytes`: of staging memory for what an SSD reads, whole also where the machine has less memory than the rest is
/// to have. The reason why CANN cannot be had is a sentence for people.
Result<AscendSource> openAscend(const ascend::Station::Terms& terms, uint64_t tierBytes);

/// Moves by CANN between clients and staging memory of the node, and copies between that and the segment: what CANN may
/// still touch after a failure is never part of an object. What an SSD has read lies in such memory already.
class AscendLinks final : public RemoteLinks {
 public:
  /// Of the staging memory, what transfers of one connection hold, at most: a client that hangs leaves room for others.
  /// No larger payload is moved.
  static constexpr uint64_t kConnectionBytesMax = uint64_t{64} << 20;
  /// The staging memory has room for so many of them, at least.
  static constexpr uint64_t kConnectionsLeast = 2;

  /// `wake` ends a wait of the loop; any thread calls it.
  AscendLinks(AscendSource source, std::span<uint8_t> segment, RemoteEvents& events, std::function<void()> wake);
  ~AscendLinks() override;

  void connect(const ConnectRemote& wanted, uint64_t nowMs) override;
  void pull(const PullPayload& wanted) override;
  void push(const PushPayload& wanted) override;
  void pushStaged(const PushStaged& wanted, std::span<uint8_t> staged) override;
  void disconnect(ConnectionId connection) override;
  void work(uint64_t nowMs) override;
  [[nodiscard]] bool settled() const override;
  [[nodiscard]] RemoteOutcomes outcomes() const override { return outcomes_; }
  [[nodiscard]] ascend::RouteCounters routes() const override { return source_.mover->counters(); }
  [[nodiscard]] bool idle() const override { return links_.empty() && operations_.empty() && refused_.empty(); }

 private:
  using Number = uint64_t;
  enum class Kind { Probe, Pull, Push, PushStaged };
  struct Link {
    ascend::Place place;
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t held = 0;  // of the staging memory
    bool reached = false;
    bool probedAgain = false;
    std::deque<Number> waiting;  // for room
  };
  struct Operation {
    Kind kind = Kind::Probe;
    ConnectionId connection = 0;
    uint64_t transfer = 0;
    uint64_t remote = 0;         // address
    std::span<uint8_t> payload;  // in the segment; of PushStaged in staging memory for the tier
    store::Range room = {};      // in the staging memory; of no length: none yet, or none is needed
    uint64_t copied = 0;
    std::chrono::steady_clock::time_point began = {};
    RunningSum sum = {};  // of a pull
  };
  struct End {
    Number operation = 0;
    Status status;
  };

  [[nodiscard]] static bool pushes(const Operation& operation) {
    return operation.kind == Kind::Push || operation.kind == Kind::PushStaged;
  }

  void begin(const Operation& operation);
  void beginWaiting();
  bool beginNext(Link& link);
  void move(Number number, Operation& operation);
  void moved(const End& end);
  void measure(const Operation& operation, const Status& status);
  void copy();
  /// Whether it is whole.
  bool copyPart(Operation& operation, uint64_t& budget);
  void finish(Number number, bool good);

  AscendSource source_;
  std::span<uint8_t> segment_;
  RemoteEvents& events_;
  const std::function<void()> wake_;
  store::Allocator room_;
  Number last_ = 0;
  std::map<ConnectionId, Link> links_;
  std::unordered_map<Number, Operation> operations_;
  std::deque<Number> copying_;                        // in turns
  std::vector<std::pair<Number, bool>> finished_;     // without CANN; not told yet
  std::unordered_map<ConnectionId, Status> refused_;  // likewise
  RemoteOutcomes outcomes_;
  mutable std::mutex mutex_;
  std::vector<End> ends_;  // guarded
};

}  // namespace kvpool::node
