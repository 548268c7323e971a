// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ascend/cann/npu.h"
#include "base/lent_memory.h"
#include "base/status.h"
#include "client/core/batch.h"
#include "client/shell/client_npu.h"

namespace kvpool::client {

/// Memory of the host for copies to and from an NPU, which counts towards a sum until it ends.
struct CopyRoom {
  struct Uncount {
    uint64_t bytes;
    void operator()(std::atomic<uint64_t>* sum) const { sum->fetch_sub(bytes); }
  };
  std::unique_ptr<std::atomic<uint64_t>, Uncount> counted{nullptr, Uncount{0}};
  ascend::CopyMemory::Piece memory;
};

/// Memory of NPUs that batches name. The processor cannot read it, and no protocol of the pool moves it: for the time
/// of a batch memory of the host stands in its place, from which it is written and to which it is read by CANN's copies
/// within the machine. So its bytes get the same checksums as all others. Any thread.
class DeviceCopies {
 public:
  /// Of the host, for all batches at the same time.
  static constexpr uint64_t kBytesMax = uint64_t{8} << 30;

  /// `npu` must outlive it.
  explicit DeviceCopies(const ClientNpu& npu) : npu_(npu) {}

  /// Of one batch; gives its memory back when it ends, which is after the batch.
  class Staged {
   public:
    Staged() = default;
    Staged(Staged&&) = default;
    Staged& operator=(Staged&&) = default;
    [[nodiscard]] bool empty() const { return lines_.empty() && refusal_.ok(); }

   private:
    friend class DeviceCopies;
    struct Line {
      uint32_t index = 0;
      std::vector<kv_piece> wanted;  // the caller's
      std::vector<kv_piece> pieces;  // what is moved instead
      CopyRoom room;
    };
    kv_op* table_ = nullptr;
    bool isRead_ = false;
    std::vector<std::weak_ptr<const LentMemory::Region>> regions_;  // where its lines are read to, if registered
    std::vector<std::unique_ptr<Line>> lines_;
    Status refusal_;
  };

  /// Puts memory of the host in the place of an NPU's, with its bytes where they are to be written. Lines for which
  /// that fails are refused. `table` is read by collect(). `loans` are the batch's.
  Staged stage(Submission& submission, kv_op* table, const LentMemory::Loans& loans);
  /// Until the batch, which has this number now, is collected.
  void keep(BatchId batch, Staged staged);
  /// Of a batch whose values collect() is to bring into an NPU's memory: with these that memory is there until then.
  LentMemory::Loans borrowed(BatchId batch);
  /// After the batch has ended: brings values that were read into the NPU's memory, and gives back what it kept. Lines
  /// for which that fails get its code, and KV_NOT_REGISTERED those whose memory was unregistered after the
  /// batch had ended: it may be another's by now. The first reason why a line was refused or failed is returned.
  Status collect(BatchId batch);
  /// Within this process, at once: all of them, or a failure after which any may have been made.
  Status copy(std::span<const kv_memory_copy> copies);

 private:
  class Copying;
  Status stageLine(Copying& copying, Operation& line, bool isWrite, Staged& staged, uint32_t index);
  Result<CopyRoom> take(Copying& copying, uint64_t bytes);

  const ClientNpu& npu_;
  std::atomic<uint64_t> held_{0};
  std::mutex mutex_;
  std::map<BatchId, Staged> kept_;
};

}  // namespace kvpool::client
