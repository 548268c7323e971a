// SPDX-License-Identifier: Apache-2.0
//
// kvpool: finds a JDK or JRE 25 and becomes the Java process, so that signals reach it. Works from any directory and
// through symbolic links, and needs no shell. Four small commands, for containers that see to directories, files and
// devices before that, are its own.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "launcher/check_devices.h"
#include "launcher/directories.h"
#include "launcher/host_files.h"
#include "launcher/java_command.h"
#include "launcher/java_home.h"

namespace {

namespace fs = std::filesystem;
namespace launcher = kvpool::launcher;

constexpr int kBadUsage = 2;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// UCX, where it is used, would catch the signals that Java lives by, and rewrite functions of libc in order to follow
// memory that comes and goes; a node's is registered once. Its shared memory is of no use here, as it cannot tell that
// a peer died, and lets a key that a peer sends name memory of this machine.
void tellUcx() {
  ::setenv("UCX_ERROR_SIGNALS", "", 0);
  ::setenv("UCX_MEM_EVENTS", "n", 0);
  ::setenv("UCX_TLS", "^sm", 0);
}

void becomeJava(const std::vector<std::string>& arguments) {
  const fs::path lib = fs::canonical("/proc/self/exe").parent_path().parent_path() / "lib";
  const std::string jar = lib / "kvpool.jar";
  if (!fs::exists(jar)) {
    throw std::runtime_error(jar + " is missing; bin and lib belong together, take both from the distribution");
  }
  const auto home = launcher::findJavaHome();
  if (!home) {
    const std::string set = environment("JAVA_HOME");
    throw std::runtime_error("needs Java 25 or later and found none: not by JAVA_HOME (" +
                             (set.empty() ? "not set" : set) +
                             "), on the PATH, in /opt/java/openjdk or in /usr/lib/jvm. Install one, for example from "
                             "https://adoptium.net, and set "
                             "JAVA_HOME to its directory.");
  }
  std::vector<std::string> command = launcher::javaCommand(*home, lib, environment("JAVA_OPTS"), arguments);
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  tellUcx();
  ::execv(argv[0], argv.data());
  throw std::system_error(errno, std::generic_category(), "cannot run " + command.front());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string first = arguments.empty() ? "" : arguments.front();
  try {
    if (first == "check-devices") return launcher::checkDevices({arguments.begin() + 1, arguments.end()});
    if (first == "copy-host-files") {
      launcher::copyHostFiles({arguments.begin() + 1, arguments.end()});
    } else if (first == "own-directories") {
      launcher::ownDirectories({arguments.begin() + 1, arguments.end()});
    } else if (first == "remove-directories") {
      launcher::removeDirectories({arguments.begin() + 1, arguments.end()});
    } else {
      becomeJava(arguments);
    }
    return EXIT_SUCCESS;
  } catch (const std::invalid_argument& wrong) {
    std::cerr << "kvpool: " << wrong.what() << "\n";
    return kBadUsage;
  } catch (const std::exception& failure) {
    std::cerr << "kvpool: " << failure.what() << "\n";
    return EXIT_FAILURE;
  }
}
