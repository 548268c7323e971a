// SPDX-License-Identifier: Apache-2.0
// Memory this client shares with one node for writes: anonymous, sealed against changes of its size, so that neither
// side can make the other fault.
#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.h"
#include "base/status.h"

namespace kvpool::client {

class StagingMemory {
 public:
  static Result<std::unique_ptr<StagingMemory>> create(uint64_t bytes);
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] uint8_t* at(uint64_t offset) const { return bytes_ + offset; }

 private:
  StagingMemory(Fd descriptor, uint8_t* bytes, uint64_t size)
      : descriptor_(std::move(descriptor)), bytes_(bytes), size_(size) {}

  Fd descriptor_;
  uint8_t* bytes_;
  uint64_t size_;
};

}  // namespace kvpool::client
