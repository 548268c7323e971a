// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"

namespace kvpool::store {

/// Renames a file that this node cannot use, and does not delete, to PATH.set-aside-TIMESTAMP; with a number behind it
/// where that name is taken. The new name, or KV_IO.
Result<std::string> setAside(const std::string& path, const std::string& timestamp);

}  // namespace kvpool::store
