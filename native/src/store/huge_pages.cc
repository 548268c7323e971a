// SPDX-License-Identifier: Apache-2.0
#include "store/huge_pages.h"

#include <algorithm>
#include <fstream>

namespace kvpool::store {
namespace {

/// 0 for a file that is not there: pools of a NUMA node do not tell what is promised.
uint64_t numberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  file >> number;
  return file ? number : 0;
}

std::string pageText(uint64_t bytes) {
  return bytes % (uint64_t{1} << 30) == 0 ? std::to_string(bytes >> 30) + " GiB" : std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

HugePagePool readHugePagePool(const std::string& directory, uint64_t pageBytes) {
  HugePagePool pool;
  pool.directory = directory + "/hugepages-" + std::to_string(pageBytes >> 10) + "kB";
  pool.pageBytes = pageBytes;
  pool.total = numberIn(pool.directory + "/nr_hugepages");
  pool.free = numberIn(pool.directory + "/free_hugepages");
  pool.promised = numberIn(pool.directory + "/resv_hugepages");
  return pool;
}

Status checkHugePages(const HugePagePool& pool, uint64_t segmentBytes, const std::string& path) {
  const uint64_t wanted = (segmentBytes + pool.pageBytes - 1) / pool.pageBytes;
  const uint64_t left = pool.free - std::min(pool.free, pool.promised);
  if (wanted <= left) return {};
  const uint64_t totalWanted = pool.total + (wanted - left);
  return {KV_IO, "the segment " + path + " needs " + std::to_string(wanted) + " huge pages of " +
                     pageText(pool.pageBytes) + ", but " + std::to_string(left) + " of " + std::to_string(pool.total) +
                     " are free; reserve more with echo " + std::to_string(totalWanted) + " > " + pool.directory +
                     "/nr_hugepages, best at boot before memory is fragmented (hugepages=N), or choose a smaller "
                     "segment size"};
}

}  // namespace kvpool::store
