// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ascend/shell/station.h"
#include "base/status.h"
#include "client/core/batch.h"

namespace kvpool::client {

/// Memory of NPUs that batches name. The processor cannot read it, and no protocol of the pool moves it: for the time
/// of a batch memory of the host stands in its place, from which it is written and to which it is read by CANN's copies
/// within the machine. So its bytes get the same checksums as all others. Any thread.
class DeviceCopies {
 public:
  /// Of the host, for all batches at the same time.
  static constexpr uint64_t kBytesMax = uint64_t{8} << 30;

  /// `station` must outlive it.
  explicit DeviceCopies(ascend::Station& station) : station_(station) {}

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
      ascend::CopyMemory::Piece memory;
    };
    struct Held {
      std::atomic<uint64_t>* all = nullptr;
      uint64_t bytes = 0;
      Held() = default;
      Held(Held&& other) noexcept : all(std::exchange(other.all, nullptr)), bytes(std::exchange(other.bytes, 0)) {}
      Held& operator=(Held&& other) noexcept {
        std::swap(all, other.all);
        std::swap(bytes, other.bytes);
        return *this;
      }
      ~Held() {
        if (all != nullptr) all->fetch_sub(bytes);
      }
    };
    kv_op* table_ = nullptr;
    bool isRead_ = false;
    std::vector<std::unique_ptr<Line>> lines_;
    Status refusal_;
    Held held_;
  };

  /// Whether memory is an NPU's.
  [[nodiscard]] bool isOfDevice(const void* memory) const { return station_.isOfDevice(memory); }
  /// Puts memory of the host in the place of an NPU's, with its bytes where they are to be written. Lines for which
  /// that fails are refused. `table` is read by collect().
  void stage(Submission& submission, kv_op* table, Staged& staged);
  /// After the batch has ended: brings values that were read into the NPU's memory. Lines for which that fails get
  /// KV_TRANSFER_FAILED. The first reason why a line was refused or failed is returned.
  Status collect(const Staged& staged);

 private:
  Status stageLine(Operation& line, bool isWrite, Staged& staged, uint32_t index);

  ascend::Station& station_;
  std::atomic<uint64_t> held_{0};
};

}  // namespace kvpool::client
