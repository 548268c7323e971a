// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "ascend/cann/npu.h"
#include "base/status.h"
#include "client/shell/memory_registry.h"

namespace kvpool::client {

/// The NPU whose memory batches of a client may name: that of its engine of CANN, else that of a transfer engine whose
/// memory it uses, or one that is opened, by ACL alone, when memory of it is met, whichever is first. Another one's is
/// KV_INVALID_ARGUMENT. So a process that has nothing to do with NPUs loads nothing. Thread-safe.
class ClientNpu final : public DeviceMemory {
 public:
  /// An engine's, unless there is one already.
  void use(std::shared_ptr<ascend::Npu> npu);
  /// Null until memory of one was met.
  [[nodiscard]] ascend::Npu* get() const { return current_.load(std::memory_order_acquire); }

  /// Looks only where the application itself uses an NPU in this thread: for an answer none is opened.
  Result<bool> holds(const void* memory) override;
  /// Loads ACL, and opens the NPU whose it is where this thread has none.
  Status admit(const void* memory) override;

 private:
  Status open(const ascend::Acl& acl, const void* memory);

  std::mutex mutex_;
  std::shared_ptr<ascend::Npu> npu_;
  std::atomic<ascend::Npu*> current_ = nullptr;
};

}  // namespace kvpool::client
