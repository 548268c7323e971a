// SPDX-License-Identifier: Apache-2.0
#include "launcher/directories.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace kvpool::launcher {

namespace fs = std::filesystem;

namespace {

unsigned number(const std::string& text, int base, const char* what) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("'" + text + "' is no " + what);
  }
  return value;
}

void orThrow(int result, const std::string& what) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), what);
}

// So that a slip of whoever calls does not empty a file system.
void checkRemovable(const std::string& path) {
  const fs::path named(path);
  const bool dotted = std::any_of(named.begin(), named.end(), [](const fs::path& part) { return part == ".."; });
  const fs::path relative = named.lexically_normal().relative_path();
  const auto deep = std::count_if(relative.begin(), relative.end(), [](const fs::path& part) { return !part.empty(); });
  if (!named.is_absolute() || dotted || deep < 2) {
    throw std::invalid_argument("'" + path + "' is not removed: it should be absolute and at least two levels deep");
  }
}

}  // namespace

void ownDirectories(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) throw std::invalid_argument("usage: kvpool own-directories USER MODE DIRECTORY...");
  const unsigned user = number(arguments[0], 10, "number of a user");
  const unsigned mode = number(arguments[1], 8, "mode in octal");
  for (auto path = arguments.begin() + 2; path != arguments.end(); ++path) {
    fs::create_directories(*path);
    orThrow(::chown(path->c_str(), user, user), "cannot give away " + *path);
    orThrow(::chmod(path->c_str(), mode), "cannot set the mode of " + *path);
  }
}

void removeDirectories(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw std::invalid_argument("usage: kvpool remove-directories DIRECTORY...");
  std::for_each(arguments.begin(), arguments.end(), checkRemovable);
  for (const std::string& path : arguments)
    fs::remove_all(path);
}

}  // namespace kvpool::launcher
