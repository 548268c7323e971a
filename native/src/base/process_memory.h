// SPDX-License-Identifier: Apache-2.0
// The memory that this process has, as the kernel sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace kvpool {

/// Whether this process can read a range: touching what it cannot read, as memory of an accelerator that has an address
/// here, would end the process. The mappings are those of the moment when this was made; each is of one kind, so its
/// ends are tried, whatever its length.
class ProcessMemory {
 public:
  ProcessMemory();

  /// KV_INVALID_ARGUMENT with a sentence when a part cannot be read. KV_OK also where it cannot be told: without /proc,
  /// or without a free descriptor.
  [[nodiscard]] Status judge(uint64_t address, uint64_t length) const;

 private:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool readable = false;
  };

  [[nodiscard]] bool isReadable(uint64_t address, uint64_t length) const;
  [[nodiscard]] bool canTouch(uint64_t address) const;

  std::vector<Mapping> mappings_;  // by address
  Fd receiver_;
  Fd sender_;
};

}  // namespace kvpool
