// SPDX-License-Identifier: Apache-2.0
#include "net/busy_wait.h"

#include <algorithm>

namespace kvpool::net {

void BusyWait::took(Duration wait) {
  // Cut, so that one long wait does not outweigh many short ones; a few in a row do.
  constexpr int kWeight = 4;
  average_ += (std::min(wait, 2 * longest_) - average_) / kWeight;
}

}  // namespace kvpool::net
