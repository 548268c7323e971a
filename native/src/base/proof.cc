// SPDX-License-Identifier: Apache-2.0
#include "base/proof.h"

namespace kvpool {

// Not in the header, where a compiler that sees the end of the object may leave out stores before it.
Proof::~Proof() {
  for (std::atomic<uint64_t>& word : words_)
    word.store(0);
}

}  // namespace kvpool
