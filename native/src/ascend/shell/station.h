// SPDX-License-Identifier: Apache-2.0
// An engine of CANN at a port of this machine, with the device it is on and its transport.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ascend/cann/npu.h"
#include "ascend/core/settings.h"
#include "ascend/shell/mover.h"
#include "ascend/shell/staging_memory.h"
#include "ascend/shell/transport.h"

namespace kvpool::ascend {

/// Any thread may call it.
class Station final : public Mover {
 public:
  struct Terms {
    std::string host;  ///< IP at which peers reach it
    std::string name;  ///< of its owner; the same name has the same port again, when that is free
  };

  /// On the device of this thread's context, or on the first device where it has none; as the environment says.
  /// KV_IO says why CANN cannot be used, KV_INVALID_ARGUMENT which variable is wrong.
  static Result<std::unique_ptr<Station>> open(const Terms& terms);
  /// Ends all transfers, then gives back the memory that it made.
  ~Station() override;

  /// HOST:PORT for peers.
  [[nodiscard]] const std::string& endpoint() const { return engine_->endpoint(); }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] Transport& transport() { return *transport_; }
  /// The device that it is on, which may outlive it.
  [[nodiscard]] const std::shared_ptr<Npu>& npu() const { return npu_; }
  /// For how long CANN may still touch memory of a transfer that ended with its time, where it cannot end the channel.
  [[nodiscard]] Time cardRepeatsMs() const { return settings_.cardRepeatsMs; }

  void move(const Place& place, Direction direction, std::vector<Piece> pieces, Ended ended) override {
    transport_->submit(place, direction, std::move(pieces), patienceMs(), std::move(ended));
  }
  void forget(const std::string& endpoint) override { transport_->forget(endpoint); }
  void shutDown() override { transport_->shutDown(); }
  [[nodiscard]] RouteCounters counters() const override { return transport_->counters(); }

  /// Within which a transfer ends, with the channel that it may need first.
  [[nodiscard]] Time patienceMs() const { return Time{settings_.connectTimeoutMs} + settings_.transferTimeoutMs; }

  /// Memory of the host, registered with the engine, until the station ends; of the fabric where the engine moves by
  /// that. Less, down to `least`, where the machine has no more. KV_NO_SPACE when there is none, KV_IO when CANN does
  /// not register it or has no fabric memory.
  Result<std::span<uint8_t>> hostMemory(uint64_t bytes, uint64_t least) {
    return memory_->take(*engine_, *transport_, bytes, least);
  }
  Result<std::span<uint8_t>> hostMemory(uint64_t bytes) { return hostMemory(bytes, bytes); }
  /// Of a storage node.
  [[nodiscard]] uint64_t stagingBytes() const { return uint64_t{settings_.stagingMib} << 20; }
  /// Makes the first of it, where that takes long: of the fabric. As hostMemory() otherwise.
  Status prepareHostMemory() { return memory_->prepare(*engine_, *transport_); }
  /// Grows when memory for hostMemory() is registered with the engine.
  [[nodiscard]] uint64_t regions() const { return memory_->regions(); }
  /// What so many bytes of that take of the machine in any case.
  [[nodiscard]] uint64_t wholeHostMemory(uint64_t bytes) const { return memory_->whole(bytes); }
  /// Memory of the caller's, of the host or of an NPU. KV_INVALID_ARGUMENT where it must be fabric memory and is not.
  Result<MemoryHandle> registerMemory(uintptr_t address, uint64_t bytes);

 private:
  explicit Station(const Runtime& runtime) : runtime_(runtime) {}
  Status listen(const Terms& terms);

  const Runtime& runtime_;
  Settings settings_;
  std::shared_ptr<Npu> npu_;
  std::unique_ptr<StagingMemory> memory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace kvpool::ascend
