// SPDX-License-Identifier: Apache-2.0
#include "store/set_aside.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace kvpool::store {
namespace {

constexpr std::string_view kDamaged = ".set-aside-damaged-";
constexpr std::string_view kForeign = ".set-aside-foreign-";
/// Blocks of struct stat, whatever the file system's own are.
constexpr uint64_t kStatBlockBytes = 512;

std::string freeName(const std::string& wanted) {
  std::string name = wanted;
  struct stat info {};
  for (int suffix = 2; ::lstat(name.c_str(), &info) == 0 && suffix < 1000; ++suffix) {
    name = wanted + "-" + std::to_string(suffix);
  }
  return name;
}

}  // namespace

Result<std::string> setAside(const std::string& path, AsideReason reason, const std::string& timestamp) {
  const std::string_view why = reason == AsideReason::Foreign ? kForeign : kDamaged;
  std::string aside = freeName(path + std::string(why) + timestamp);
  if (::rename(path.c_str(), aside.c_str()) != 0) return systemError("cannot set " + path + " aside", errno);
  return aside;
}

void countAside(const std::string& directory, const std::string& name, AsideFiles& files) {
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    const bool damaged = found.starts_with(name + std::string(kDamaged));
    if (!damaged && !found.starts_with(name + std::string(kForeign))) continue;
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) != 0) continue;
    ++(damaged ? files.damaged : files.foreign);
    files.bytes += static_cast<uint64_t>(info.st_blocks) * kStatBlockBytes;
  }
}

}  // namespace kvpool::store
