// SPDX-License-Identifier: Apache-2.0
// What stands behind a kv_client: a client of its own, or one that goes through an agent. Batches with their callers'
// tables, waiting, registered memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "client/core/batch.h"
#include "client/core/context.h"
#include "client/shell/client_npu.h"
#include "client/shell/device_copies.h"
#include "client/shell/memory_registry.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

struct BatchOptions {
  bool registered = false;
  bool reuse = false;     // read what is leased without asking the leader
  bool inPieces = false;  // data and length of a line name its pieces
  bool waits = false;     // the caller goes on to wait() at once
  bool force = false;
  uint32_t timeoutMs = kBatchTimeoutMs;
  uint32_t replicas = 0;
  std::string nodes;
  bool upsert = false;
  uint8_t pins = 0;
  uint32_t softPinMs = 0;
  bool ofGroups = false;  // keys are names of groups
  uint32_t retainMs = 0;
  const uint64_t* groups = nullptr;          // one for each line, read by submit(); NULL = none
  const uint64_t* const* offsets = nullptr;  // parts are read: for each line, of its pieces; NULL = whole values
  kv_object_id* objects = nullptr;           // of parts: one for each line, read by submit() and written at the end
  CopyWish copy;
  uint64_t task = 0;
};

/// The batch as the cores take it, with the statuses of lines that are wrong already; its id is not set. A RemoveAll
/// has one line, of which only the key counts, which is the pattern, and the results. `loans` gets the memory that it
/// borrows, to be kept until it is finished.
Submission submissionOf(OpCode op, const kv_op* table, uint32_t count, const BatchOptions& options,
                        const MemoryRegistry& registered, Time now, LentMemory::Loans& loans);

class Frontend {
 public:
  virtual ~Frontend() = default;

  MemoryRegistry& memory() { return memory_; }
  /// From now on what a transfer engine lends counts as registered. `npu`, null where it has none, is the one whose
  /// memory it may lend.
  void borrowFrom(std::shared_ptr<const LentMemory> lender, std::shared_ptr<ascend::Npu> npu);
  /// `table` stays the caller's; its lines get their statuses before wait() says so. KV_QUEUE_FULL names the bound.
  virtual Result<uint64_t> submit(OpCode op, kv_op* table, uint32_t count, const BatchOptions& options) = 0;
  /// KV_OK: done and forgotten. KV_TIMEOUT: still running. KV_INVALID_ARGUMENT: no such batch.
  virtual int32_t wait(uint64_t batch, uint32_t timeoutMs) = 0;
  /// Within this process: from registered memory, or to it. All of them, or a failure after which any may have been
  /// made; KV_NOT_REGISTERED before that where neither side of one is registered.
  Status copyMemory(std::span<const kv_memory_copy> copies);
  /// Of keys in which a regular expression matches; of all when it is empty.
  Result<uint64_t> removeAll(std::string_view pattern, bool force, uint32_t timeoutMs);
  /// Its number.
  Result<uint64_t> copy(std::string_view key, CopyWish wish, uint32_t timeoutMs);
  Result<TaskReply> task(uint64_t task, uint32_t timeoutMs);

  [[nodiscard]] virtual std::string explanation() const = 0;
  virtual void explain(std::string sentence) = 0;
  [[nodiscard]] virtual Statistics statistics() const = 0;

 protected:
  /// A batch of one line, to its end; a Status of one that was not begun.
  Status run(OpCode op, kv_op& line, BatchOptions options, uint32_t timeoutMs);

  ClientNpu npu_;
  MemoryRegistry memory_{npu_};
  DeviceCopies devices_{npu_};  // its memory outlives all that moves it: derived classes end first
};

}  // namespace kvpool::client
