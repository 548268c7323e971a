// SPDX-License-Identifier: Apache-2.0
// Memory of this process that a peer may read and write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "ucx/worker.h"
#include "wire/staging_offer.h"

namespace kvpool::ucx {

/// Registered while it lives. Its addresses are never used for anything else afterwards, only for exposed memory again:
/// a peer that was told the address and is late, or a transport that knows no keys, can then disturb bytes that have a
/// checksum, and nothing else of this process.
class ExposedMemory final : public OfferedMemory {
 public:
  /// `worker` must outlive it.
  static Result<std::unique_ptr<ExposedMemory>> create(Worker& worker, uint64_t bytes);
  ~ExposedMemory() override;

  [[nodiscard]] uint8_t* at(uint64_t offset) const override { return bytes_ + offset; }
  [[nodiscard]] StagingOffer offer() const override;

 private:
  ExposedMemory(Worker& worker, uint8_t* bytes, uint64_t size) : worker_(worker), bytes_(bytes), size_(size) {}

  Worker& worker_;
  uint8_t* bytes_;
  uint64_t size_;
  MemoryHandle* memory_ = nullptr;
  std::string key_;
};

}  // namespace kvpool::ucx
