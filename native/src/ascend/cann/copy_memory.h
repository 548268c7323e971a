// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ascend/cann/copiers.h"

namespace kvpool::ascend {

/// Memory of the host for copies to and from an NPU. It is ACL's, which does not move: with any other a call that
/// begins copies returns only when they are done, and no timeout would reach it. Any thread.
class CopyMemory {
 public:
  /// What is kept for later copies, as making it takes long.
  static constexpr uint64_t kIdleBytesMax = uint64_t{256} << 20;

  struct GiveBack {
    CopyMemory* owner = nullptr;
    uint64_t bytes = 0;
    bool mayBeInUse = false;  // by the device: of a copy that failed
    void operator()(uint8_t* at) const { owner->giveBack(at, *this); }
  };
  using Piece = std::unique_ptr<uint8_t, GiveBack>;

  /// All must outlive it. `context` is the device's, `node` the NUMA node that is to give it.
  CopyMemory(const Acl& acl, AclContext context, Copiers& copiers, std::optional<uint32_t> node = std::nullopt)
      : acl_(acl), context_(context), copiers_(copiers), node_(node) {}
  /// All pieces were given back.
  ~CopyMemory();
  CopyMemory(const CopyMemory&) = delete;
  CopyMemory& operator=(const CopyMemory&) = delete;

  /// KV_OUT_OF_MEMORY when there is none.
  Result<Piece> take(uint64_t bytes);

 private:
  /// What the device may still use is kept until it does not.
  void giveBack(uint8_t* at, const GiveBack& piece);
  /// Under the mutex.
  void keepOrFree(uint8_t* at, uint64_t bytes);

  const Acl& acl_;
  const AclContext context_;
  Copiers& copiers_;
  const std::optional<uint32_t> node_;
  std::mutex mutex_;
  std::multimap<uint64_t, uint8_t*> idle_;
  uint64_t idleBytes_ = 0;
  std::vector<std::pair<uint8_t*, uint64_t>> inUse_;  // by the device, perhaps
};

}  // namespace kvpool::ascend
