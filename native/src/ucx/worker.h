// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "ucx/api.h"

namespace kvpool::ucx {

/// A context of UCX with its one worker: what sends, receives and registers memory. One thread at a time.
class Worker {
 public:
  /// Looks at the devices of the machine, as UCX_TLS and UCX_NET_DEVICES say. KV_IO has UCX's reason.
  static Result<std::unique_ptr<Worker>> create(const Api& api);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// What a peer needs to reach this worker.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// Readable when there is something to do after settle() said that there is not.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Does what is due, a bounded amount. False when it should be called again before the descriptor is waited for.
  bool settle();

  /// Registers memory with the devices, for as long as the handle is not given back.
  Result<MemoryHandle*> map(void* address, size_t length);
  void unmap(MemoryHandle* memory) { api_.mem_unmap(context_, memory); }
  /// The bytes with which a peer reaches mapped memory.
  Result<std::string> keyOf(MemoryHandle* memory);

  [[nodiscard]] const Api& api() const { return api_; }
  [[nodiscard]] WorkerHandle* handle() const { return worker_; }
  /// KV_IO: "WHAT: UCX's words".
  [[nodiscard]] Status problem(const std::string& what, StatusCode code) const;

 private:
  explicit Worker(const Api& api) : api_(api) {}
  Status open();

  const Api& api_;
  ContextHandle* context_ = nullptr;
  WorkerHandle* worker_ = nullptr;
  std::string address_;
  int descriptor_ = -1;  // UCX's
};

}  // namespace kvpool::ucx
