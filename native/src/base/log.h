// SPDX-License-Identifier: Apache-2.0
// Lines on stderr. Only shells log; cores say what happened through their outputs.
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

enum class LogLevel : int32_t { Off = 0, Error = 1, Warning = 2, Info = 3, Debug = 4 };

/// Process-wide; starts as Warning.
void setLogLevel(LogLevel level);
bool logs(LogLevel level);

/// One line, whole even when threads log at once. Control characters are replaced: part of the text came from peers.
void log(LogLevel level, const std::string& line);

}  // namespace kvpool
