// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

/// Memory of a client that a node may read and write through UCX. The texts are UCX's bytes.
struct StagingOffer {
  uint64_t bytes = 0;
  uint64_t address = 0;  ///< in the client
  std::string worker;    ///< how to reach it
  std::string key;       ///< of the memory
};

}  // namespace kvpool
