// SPDX-License-Identifier: Apache-2.0
// How lines become requests: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/batch_table.h"
#include "engine/core/description.h"
#include "engine/core/messages.h"

namespace kvpool::engine {

/// What goes to the peer as one request: pieces there and here, side by side, and the line each belongs to.
struct PlannedRequest {
  std::vector<RemotePiece> remote;
  std::vector<kv_piece> local;
  std::vector<uint32_t> lines;
  uint64_t bytes = 0;
};

struct Plan {
  std::vector<PlannedRequest> requests;  // none empty, each within the bounds of limits.h
  std::vector<uint32_t> unregistered;    // lines whose range no region of the peer holds; nothing of them is sent
};

/// Small lines share a request, a large one takes several. Lines of no bytes need nothing.
Plan plan(std::span<const Line> lines, std::span<const uint32_t> wanted, const Description& peer);

}  // namespace kvpool::engine
