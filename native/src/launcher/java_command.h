// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kvpool::launcher {

/// Composes the command line of Java.
///
/// @param home     of Java
/// @param lib      the folder of the jars; `options/` in it has the options of each role, `kvpool.aot` what `prepare`
/// noted
/// @param javaOpts more options of Java, parted by blanks; they come after ours, so they win
/// @param arguments of kvpool, the first of which is the role
/// @throws std::runtime_error where the options of the role cannot be read
std::vector<std::string> javaCommand(const std::filesystem::path& home, const std::filesystem::path& lib,
                                     const std::string& javaOpts, const std::vector<std::string>& arguments);

}  // namespace kvpool::launcher
