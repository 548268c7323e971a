// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ascend/cann/runtime.h"
#include "base/status.h"

namespace kvpool::ascend {

/// An engine of CANN on one device, which listens at its endpoint. Any thread may call it, at the same time.
class Engine {
 public:
  struct Wanted {
    AclContext context = nullptr;  ///< of the device; stays the caller's
    std::string endpoint;          ///< IP:PORT, [IPv6]:PORT
    std::map<std::string, std::string> options;
  };

  /// KV_IO says what CANN refused. `runtime` must outlive the engine.
  static Result<std::unique_ptr<Engine>> open(const Runtime& runtime, const Wanted& wanted);
  /// Nothing may be under way.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

  /// Peers that connect from now on may read and write it, and they alone.
  Result<MemoryHandle> registerMemory(uintptr_t address, size_t length, MemoryType type);
  /// No channel may know the memory any more.
  Status deregisterMemory(MemoryHandle memory);

  TransportStatus connect(const std::string& peer, int32_t timeoutMs);
  TransportStatus disconnect(const std::string& peer, int32_t timeoutMs);
  /// Returns when all bytes were moved, or with a failure after which any of them may have been.
  TransportStatus transfer(const std::string& peer, Direction direction, const std::vector<Piece>& pieces,
                           int32_t timeoutMs);

  /// Whether the two below can be called.
  [[nodiscard]] bool hasAsync() const {
    return runtime_.adxl.transferAsync != nullptr && runtime_.adxl.progress != nullptr;
  }
  TransportStatus begin(const std::string& peer, Direction direction, const std::vector<Piece>& pieces,
                        TransferRequest& request);
  /// After an end the request is CANN's again.
  TransportStatus progress(TransferRequest request, Progress& progress);

 private:
  Engine(const Runtime& runtime, const Wanted& wanted)
      : runtime_(runtime), context_(wanted.context), endpoint_(wanted.endpoint) {}

  const Runtime& runtime_;
  const AclContext context_;
  const std::string endpoint_;
  EngineRoom room_;
  bool initialized_ = false;
};

}  // namespace kvpool::ascend
