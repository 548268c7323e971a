// SPDX-License-Identifier: Apache-2.0
// Memory that is registered with a transfer engine, as clients see it that were told to use it. The engine and its
// clients share it; any of them may end first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kvpool/engine.h"

namespace kvpool {

/// Thread-safe. Regions do not overlap: the engine sees to it before it lends.
class LentMemory {
 public:
  class Region;
  /// What a batch holds while the library may read or write a region.
  using Loan = std::shared_ptr<const Region>;
  using Loans = std::vector<Loan>;
  /// When the last batch is over that uses a region which is lent no more.
  class End;
  using Recalled = std::vector<std::shared_ptr<End>>;

  /// Where it is: a device's is not for a processor, so only who copies by the device may borrow it.
  enum class Kind : uint8_t { Host, Device };

  void lend(std::span<const kv_region> regions, Kind kind = Kind::Host);
  /// Null unless the range lies in one region, and that is the host's or `devices` may be borrowed too.
  [[nodiscard]] Loan borrow(const void* address, uint64_t length, bool devices = false) const;

  /// Whether the range lies in what was borrowed already.
  [[nodiscard]] static bool isOf(const Loan& loan, const void* address, uint64_t length);

  /// From now on nothing more is lent of the regions that begin there.
  Recalled recall(std::span<const kv_region> regions);
  /// The end of the engine: of no region, and there will be none.
  Recalled recallAll();
  [[nodiscard]] bool ended() const;
  /// Waits until no batch uses them, so for the timeout of a batch at the most.
  static void awaitReturn(const Recalled& recalled);

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Loan> byBase_;
  bool ended_ = false;
};

}  // namespace kvpool
