// SPDX-License-Identifier: Apache-2.0
#include "launcher/java_home.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kvpool::launcher {

namespace fs = std::filesystem;

namespace {

constexpr int kOldestJava = 25;

bool isExecutable(const fs::path& file) {
  return ::access(file.c_str(), X_OK) == 0;
}

// A run-time image says its version in the file `release`, which is far quicker than asking it.
bool isNewEnough(const fs::path& home) {
  constexpr std::string_view kVersion = "JAVA_VERSION=\"";
  if (!isExecutable(home / "bin/java")) return false;
  std::ifstream release(home / "release");
  for (std::string line; std::getline(release, line);) {
    if (line.starts_with(kVersion)) return std::atoi(line.c_str() + kVersion.size()) >= kOldestJava;
  }
  return false;
}

std::vector<fs::path> homesOnPath() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const fs::path java = fs::canonical(fs::path(folder) / "java", error);
    if (!error && isExecutable(java)) return {java.parent_path().parent_path()};
  }
  return {};
}

std::vector<fs::path> usualHomes() {
  std::vector<fs::path> homes;
  std::error_code error;
  for (fs::directory_iterator it("/usr/lib/jvm", error), end; !error && it != end; it.increment(error)) {
    homes.push_back(it->path());
  }
  std::sort(homes.begin(), homes.end());
  homes.insert(homes.begin(), "/opt/java/openjdk");
  return homes;
}

}  // namespace

std::optional<fs::path> findJavaHome() {
  std::vector<fs::path> homes;
  if (const char* home = std::getenv("JAVA_HOME"); home != nullptr && *home != '\0') homes.emplace_back(home);
  for (const auto& more : {homesOnPath(), usualHomes()})
    homes.insert(homes.end(), more.begin(), more.end());
  const auto found = std::find_if(homes.begin(), homes.end(), isNewEnough);
  return found == homes.end() ? std::nullopt : std::optional(*found);
}

}  // namespace kvpool::launcher
