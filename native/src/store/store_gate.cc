// SPDX-License-Identifier: Apache-2.0
#include "store/store_gate.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace kvpool::store {

bool StoreGate::settle(const void* address, size_t length) {
  const auto* bytes = static_cast<const uint8_t*>(address);
  const uintptr_t intoPage = reinterpret_cast<uintptr_t>(bytes) % static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Memory that is no disk's has nothing to wait for, and hugetlbfs may refuse pages that are not huge.
  return ::msync(const_cast<uint8_t*>(bytes - intoPage), length + intoPage, MS_SYNC) == 0 || errno == EINVAL;
}

}  // namespace kvpool::store
