// SPDX-License-Identifier: Apache-2.0
#include "launcher/host_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace kvpool::launcher {

namespace fs = std::filesystem;

namespace {

// A container that starts again finds what it copied before, maybe without the right to write to it.
void makeWay(const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::remove(to);
}

void makeEmpty(const fs::path& to) {
  makeWay(to);
  if (!std::ofstream(to)) throw std::runtime_error("cannot write " + to.string());
}

void withoutIt(const fs::path& from, const fs::path& to, const std::string& why) {
  std::cerr << "kvpool: " << from.string() << " " << why << ": it is an empty file here\n";
  makeEmpty(to);
}

class Copies {
 public:
  void add(const fs::path& from, const fs::path& to) {
    std::error_code error;
    const fs::file_status status = fs::status(from, error);
    if (!fs::exists(status)) {
      withoutIt(from, to, "is not there");
    } else if (fs::is_directory(status)) {
      addDirectory(from, to);
    } else if (!fs::is_regular_file(status)) {
      withoutIt(from, to, "is neither a file nor a directory");
    } else if (::access(from.c_str(), R_OK) != 0) {
      withoutIt(from, to, "cannot be read (" + std::generic_category().message(errno) + ")");
    } else {
      addFile(from, to);
    }
  }

 private:
  void addFile(const fs::path& from, const fs::path& to) {
    count(from);
    makeWay(to);
    fs::copy_file(from, to);
  }

  /// Links in it are not followed: they may lead anywhere, and round in circles.
  void addDirectory(const fs::path& from, const fs::path& to) {
    fs::create_directories(to);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
      if (!entry.is_symlink()) add(entry.path(), to / entry.path().filename());
    }
    if (error) std::cerr << "kvpool: " << from.string() << " cannot be read: " << error.message() << "\n";
  }

  void count(const fs::path& from) {
    bytes_ += fs::file_size(from);
    if (bytes_ > kHostFilesBytesMax) {
      throw std::runtime_error("with " + from.string() + " the files of the host are larger than " +
                               std::to_string(kHostFilesBytesMax >> 20) + " MiB together, which is the most copied");
    }
  }

  uint64_t bytes_ = 0;
};

}  // namespace

void copyHostFiles(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() % 2 != 0) {
    throw std::invalid_argument("usage: kvpool copy-host-files FROM TO [FROM TO]...");
  }
  Copies copies;
  for (size_t i = 0; i < arguments.size(); i += 2)
    copies.add(arguments[i], arguments[i + 1]);
}

}  // namespace kvpool::launcher
