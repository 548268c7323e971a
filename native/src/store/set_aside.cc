// SPDX-License-Identifier: Apache-2.0
#include "store/set_aside.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace kvpool::store {
namespace {

std::string freeName(const std::string& wanted) {
  std::string name = wanted;
  struct stat info {};
  for (int suffix = 2; ::lstat(name.c_str(), &info) == 0 && suffix < 1000; ++suffix) {
    name = wanted + "-" + std::to_string(suffix);
  }
  return name;
}

}  // namespace

Result<std::string> setAside(const std::string& path, const std::string& timestamp) {
  std::string aside = freeName(path + ".set-aside-" + timestamp);
  if (::rename(path.c_str(), aside.c_str()) != 0) return systemError("cannot set " + path + " aside", errno);
  return aside;
}

}  // namespace kvpool::store
