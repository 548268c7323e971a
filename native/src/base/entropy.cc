// SPDX-License-Identifier: Apache-2.0
#include "base/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace kvpool {

uint64_t randomNumber() {
  uint64_t value = 0;
  while (value == 0) {
    const ssize_t got = getrandom(&value, sizeof value, 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got != sizeof value) value = 0;
  }
  return value;
}

}  // namespace kvpool
