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

#include "ascend/core/settings.h"
#include "ascend/shell/transport.h"
#include "engine/core/actions.h"
#include "kvpool/engine.h"

namespace kvpool::engine {

/// Our engine of CANN: it has the regions that peers may use, and makes the moves that the core wants. Any thread may
/// call it.
class AscendMoves {
 public:
  struct Terms {
    std::string host;  ///< IP at which peers reach it
    std::string name;  ///< of the transfer engine; the same name has the same port again, when that is free
  };
  struct End {
    uint64_t move = 0;
    Status status;
  };

  /// On the device of this thread's context, or on the first device where it has none. KV_IO says why CANN cannot be
  /// used.
  static Result<std::unique_ptr<AscendMoves>> open(const Terms& terms);
  ~AscendMoves();
  AscendMoves(const AscendMoves&) = delete;
  AscendMoves& operator=(const AscendMoves&) = delete;

  /// HOST:PORT for peers.
  [[nodiscard]] const std::string& endpoint() const { return engine_->endpoint(); }
  /// Whether memory is a device's, which this process itself cannot read.
  [[nodiscard]] bool isOfDevice(uint64_t address) const;

  /// All or none.
  Status add(std::span<const kv_region> regions);
  /// Waits until no channel knows them, which is when moves under way have ended. What is not there is left out.
  void remove(std::span<const kv_region> regions);

  /// `ended` is told, by any thread, that takeEnds() has something. Before the first begin().
  void tell(std::function<void()> ended) { ended_ = std::move(ended); }
  void begin(const Move& move);
  std::vector<End> takeEnds();
  /// Afterwards all moves have ended.
  void shutDown() { transport_->shutDown(); }

  [[nodiscard]] ascend::RouteCounters counters() const { return transport_->counters(); }

 private:
  explicit AscendMoves(const ascend::Runtime& runtime) : runtime_(runtime) {}
  Status start(const Terms& terms);
  Status useDevice();
  Status listen(const Terms& terms, const ascend::Settings& settings);

  const ascend::Runtime& runtime_;
  std::function<void()> ended_;
  ascend::AclContext context_ = nullptr;
  bool ownsContext_ = false;
  std::unique_ptr<ascend::Engine> engine_;
  std::unique_ptr<ascend::Transport> transport_;
  mutable std::mutex mutex_;
  std::map<uint64_t, ascend::MemoryHandle> handles_;  // by address
  std::vector<End> ends_;
};

}  // namespace kvpool::engine
