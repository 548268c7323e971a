// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kvpool::ascend {

/// Names the one folder to look for CANN's libraries in.
inline constexpr const char* kLibraryFolderVariable = "KVPOOL_ASCEND_LIBRARY_DIR";

/// Files that may be a library, the best first. Pure.
///
/// @param names the library's names in the versions of CANN
/// @param folder the one folder to look in; empty: where the loader looks by itself (LD_LIBRARY_PATH, which CANN's
/// set_env.sh
///     sets), then where CANN and the driver are usually installed
std::vector<std::string> candidates(std::span<const std::string> names, const std::string& folder);

/// What was tried for one library.
struct Search {
  void* library = nullptr;         ///< null when none could be loaded
  std::string file;                ///< the one that was
  std::vector<std::string> tried;  ///< for each other "FILE: the loader's words"
};

/// Loads the first that can be, with its names for the libraries that are loaded later: CANN's need each other's.
Search load(std::span<const std::string> files);

}  // namespace kvpool::ascend
