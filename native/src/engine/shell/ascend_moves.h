// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ascend/shell/station.h"
#include "engine/core/actions.h"
#include "engine/shell/own_copies.h"
#include "kvpool/engine.h"

namespace kvpool::engine {

/// Our engine of CANN: it has the regions that peers may use, and makes the moves that the core wants. Any thread may
/// call it.
class AscendMoves {
 public:
  struct End {
    uint64_t move = 0;
    Status status;
  };

  /// As Station::open().
  static Result<std::unique_ptr<AscendMoves>> open(const ascend::Station::Terms& terms);

  /// HOST:PORT for peers.
  [[nodiscard]] const std::string& endpoint() const { return station_->endpoint(); }
  [[nodiscard]] const std::shared_ptr<ascend::Npu>& npu() const { return station_->npu(); }
  /// Whether memory is a device's, which this process itself cannot read.
  [[nodiscard]] bool isOfDevice(uint64_t address) const;

  /// All or none.
  Status add(std::span<const kv_region> regions);
  /// Waits until no channel knows them, which is when moves under way have ended. What is not there is left out.
  void remove(std::span<const kv_region> regions);

  /// `ended` is told, by any thread, that takeEnds() has something. Before the first begin().
  void tell(std::function<void()> ended) { ended_ = std::move(ended); }
  void begin(const Move& move);
  void forget(const std::string& endpoint) { station_->transport().forget(endpoint); }
  std::vector<End> takeEnds();
  /// Afterwards all moves have ended.
  void shutDown();

  [[nodiscard]] ascend::RouteCounters counters() const { return station_->transport().counters(); }

 private:
  explicit AscendMoves(std::unique_ptr<ascend::Station> station)
      : station_(std::move(station)),
        own_(station_->npu(), [this](uint64_t move, const Status& status) { end(move, status); }) {}
  void end(uint64_t move, const Status& status);

  std::function<void()> ended_;
  mutable std::mutex mutex_;
  std::map<uint64_t, ascend::MemoryHandle> handles_;  // by address
  std::vector<End> ends_;
  std::unique_ptr<ascend::Station> station_;  // these last: their threads end before what they tell
  OwnCopies own_;
};

}  // namespace kvpool::engine
