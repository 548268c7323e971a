// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "base/status.h"
#include "store/segment_file.h"

namespace kvpool::store {

/// Maps a client's staging memfd, the first of the descriptors that came with its request, for reading only or for
/// writing as well, once its `bytes` were admitted. It must have as many, consist of normal pages and be sealed against
/// shrinking, growing and further seals: a client that could shrink it, or a huge page that is missing, would kill this
/// process with a SIGBUS. KV_INVALID_ARGUMENT says what is wrong.
Result<Mapping> mapStaging(const std::vector<Fd>& descriptors, uint64_t bytes, bool writable = false);

}  // namespace kvpool::store
