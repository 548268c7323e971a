// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kvpool::launcher {

/// The command `kvpool check-devices`: says whether a storage node finds in its container what protocol ascend needs.
///
/// @param arguments as its --help lists them
/// @return exit code: 0, also when something is missing and the storage node starts without protocol ascend; 1 when it
///     would not start
/// @throws std::invalid_argument for arguments that make no sense
int checkDevices(const std::vector<std::string>& arguments);

}  // namespace kvpool::launcher
