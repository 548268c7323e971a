// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ascend/cann/engine.h"
#include "ascend/cann/fabric_memory.h"
#include "ascend/shell/transport.h"

namespace kvpool::ascend {

/// Memory of this machine that is registered with one engine of CANN, until the engine and then this end: made by ACL,
/// or where the engine moves by the fabric, cut from fabric memory.
class StagingMemory {
 public:
  /// `node`: the NUMA node that is to give it.
  StagingMemory(const Runtime& runtime, AclContext context, bool ofFabric, std::optional<uint32_t> node)
      : runtime_(runtime), context_(context), ofFabric_(ofFabric), node_(node) {}
  /// Gives the memory back. The engine has ended.
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  /// What so many bytes take of the machine in any case.
  [[nodiscard]] uint64_t whole(uint64_t bytes) const;
  /// `bytes`, or fewer by sizeLadder(), down to `least`, where the machine has not so many. KV_NO_SPACE when there are
  /// none, KV_IO when CANN does not register it or has no fabric memory. Memory made by ACL that CANN did not register
  /// is kept, and registered at the next call; a piece of the fabric is too large for that, and given back. Any thread
  /// may call it.
  Result<std::span<uint8_t>> take(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least);
  /// Of the fabric the first piece, which takes long and says whether there is any; nothing otherwise.
  Status prepare(Engine& engine, Transport& transport);
  /// How many were registered.
  [[nodiscard]] uint64_t regions() const;

 private:
  struct Piece {
    std::unique_ptr<FabricMemory> memory;
    uint64_t used = 0;
    [[nodiscard]] uint64_t left() const { return memory->bytes() - used; }
  };

  Result<std::span<uint8_t>> takeOfHost(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least);
  Result<std::span<uint8_t>> takeOfFabric(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least);
  Result<std::span<uint8_t>> allocate(uint64_t bytes, uint64_t least) const;
  std::span<uint8_t> takeUnregistered(uint64_t bytes, uint64_t least);
  Status addPiece(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least);

  const Runtime& runtime_;
  const AclContext context_;
  const bool ofFabric_;
  const std::optional<uint32_t> node_;
  mutable std::mutex mutex_;
  std::vector<uint8_t*> memory_;
  std::vector<std::span<uint8_t>> unregistered_;
  std::vector<Piece> pieces_;  // of the fabric
  uint64_t regions_ = 0;
};

}  // namespace kvpool::ascend
