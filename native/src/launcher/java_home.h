// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace kvpool::launcher {

/// Finds the home of a Java 25 or later: JAVA_HOME, else java on the PATH, else the usual places. An older one is
/// passed over.
std::optional<std::filesystem::path> findJavaHome();

}  // namespace kvpool::launcher
