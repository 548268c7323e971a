// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/search.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace kvpool::ascend {
namespace {

constexpr std::array<const char*, 5> kFolders = {
    "/usr/local/Ascend/cann/lib64",          "/usr/local/Ascend/ascend-toolkit/latest/lib64",
    "/usr/local/Ascend/driver/lib64",        "/usr/local/Ascend/driver/lib64/common",
    "/usr/local/Ascend/driver/lib64/driver",
};

}  // namespace

std::vector<std::string> candidates(std::span<const std::string> names, const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string inFolder = "/" + name;
    if (!folder.empty()) {
      files.push_back(folder + inFolder);
      continue;
    }
    files.push_back(name);
    for (const char* known : kFolders)
      files.push_back(known + inFolder);
  }
  return files;
}

Search load(std::span<const std::string> files) {
  Search search;
  for (const std::string& file : files) {
    search.library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (search.library != nullptr) {
      search.file = file;
      return search;
    }
    // Of a library that lacks another one glibc names the other one alone.
    const char* said = ::dlerror();
    std::string why = said == nullptr ? "" : said;
    if (why.find(file) == std::string::npos) why.insert(0, file + ": ");
    search.tried.push_back(std::move(why));
  }
  return search;
}

}  // namespace kvpool::ascend
