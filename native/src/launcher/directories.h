// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kvpool::launcher {

/// Makes directories, and gives them to a user and its group of the same number with a mode.
///
/// @param arguments USER MODE DIRECTORY..., the mode in octal
/// @throws std::invalid_argument for arguments that make no sense
/// @throws std::system_error when the system refuses
void ownDirectories(const std::vector<std::string>& arguments);

/// Removes directories with all that is in them; follows no symbolic link. One that is not there is fine.
///
/// @param arguments DIRECTORY..., absolute and at least two levels deep
/// @throws std::invalid_argument for arguments that make no sense, before anything was removed
/// @throws std::system_error when the system refuses
void removeDirectories(const std::vector<std::string>& arguments);

}  // namespace kvpool::launcher
