// SPDX-License-Identifier: Apache-2.0
#include "launcher/java_command.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace kvpool::launcher {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

#if defined(__x86_64__)
constexpr std::string_view kMachine = "linux-x86-64";  // as JNA calls it
#elif defined(__aarch64__)
constexpr std::string_view kMachine = "linux-aarch64";
#else
#error "kvpool runs on x86-64 and arm64"
#endif

Words wordsOf(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

// Words of a file of options, in which a line that begins with # says why.
Words optionsOf(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + " is missing; bin and lib belong together");
  Words options;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const Words words = wordsOf(line);
    options.insert(options.end(), words.begin(), words.end());
  }
  return options;
}

bool isCollector(const std::string& option) {
  return option.starts_with("-XX:+Use") && option.ends_with("GC");
}

Words optionsOfRole(const fs::path& lib, const std::string& role, const Words& more) {
  const bool own = role == "master" || role == "node" || role == "prepare";
  Words options = optionsOf(lib / "options" / (own ? role : "other"));
  // Java does not start with two collectors: one in JAVA_OPTS takes the place of ours.
  if (role != "prepare" && std::any_of(more.begin(), more.end(), isCollector)) std::erase_if(options, isCollector);
  return options;
}

// What `kvpool prepare` noted makes later starts quicker. Java leaves it aside by itself where it does not fit, as
// after an update of Java.
std::string startOf(const fs::path& lib, const std::string& role) {
  const fs::path noted = lib / "kvpool.aot";
  if (role == "prepare") return "-XX:AOTCacheOutput=" + noted.string();
  return fs::exists(noted) ? "-XX:AOTCache=" + noted.string() : "-XX:AOTMode=auto";
}

}  // namespace

Words javaCommand(const fs::path& home, const fs::path& lib, const std::string& javaOpts, const Words& arguments) {
  const std::string role = arguments.empty() ? "" : arguments.front();
  const Words more = wordsOf(javaOpts);
  Words command{home / "bin/java"};
  const auto add = [&command](const Words& words) { command.insert(command.end(), words.begin(), words.end()); };
  add(optionsOfRole(lib, role, more));
  // What Java itself has to say must not get into results.
  const std::string level = role == "prepare" ? "error" : "warning";
  add({startOf(lib, role), "-Xlog:disable", "-Xlog:all=" + level + ":stderr", "-XX:+ExitOnOutOfMemoryError",
       "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
       "--sun-misc-unsafe-memory-access=allow"});
  // Libraries are loaded from where they lie, so no writable directory is needed.
  const std::string native = (lib / "native").string();
  add({"-Djna.nounpack=true", "-Djna.boot.library.path=" + native + "/com/sun/jna/" + std::string(kMachine),
       "-Djna.library.path=" + native + "/" + std::string(kMachine)});
  add(more);
  add({"-jar", lib / "kvpool.jar"});
  add(arguments);
  return command;
}

}  // namespace kvpool::launcher
