// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace kvpool::store {

/// What the kernel has set aside of huge pages of one size.
struct HugePagePool {
  std::string directory;  // of its files, such as /sys/kernel/mm/hugepages/hugepages-2048kB
  uint64_t pageBytes = 0;
  uint64_t total = 0;
  uint64_t free = 0;
  uint64_t promised = 0;  // of the free ones, to mappings that have not touched them yet
};

/// Reads the pool of a page size below `directory`: /sys/kernel/mm/hugepages, or hugepages of one NUMA node.
HugePagePool readHugePagePool(const std::string& directory, uint64_t pageBytes);

/// Whether a new segment fits into the pool; the sentence names the counts and how to reserve more.
Status checkHugePages(const HugePagePool& pool, uint64_t segmentBytes, const std::string& path);

}  // namespace kvpool::store
