// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "ucx/api.h"

namespace kvpool::ucx {

/// Names the file to load instead of libucp.so.0.
inline constexpr const char* kLibraryVariable = "KVPOOL_UCX_LIBRARY";

/// Loads UCX; it stays loaded. KV_IO names the file, what is wrong with it and the way out. Thread-safe; a failure is
/// not remembered, so that a library installed meanwhile is found.
Result<const Api*> load();

}  // namespace kvpool::ucx
