// SPDX-License-Identifier: Apache-2.0
#include "node/shell/socket_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/group_id.h"
#include "base/ids.h"
#include "base/log.h"
#include "net/socket.h"

namespace kvpool::node {
namespace {

constexpr std::string_view kSuffix = ".sock";
constexpr std::time_t kListensByS = 60;

bool isFileName(std::string_view id) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  };
  return !id.empty() && id.front() != '.' && std::all_of(id.begin(), id.end(), plain);
}

/// Whether nobody will ever answer there again.
bool isDead(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  if (std::time(nullptr) - info.st_mtime < kListensByS) return false;
  int why = 0;
  return !net::connectUnix(path, &why).ok() && why == ECONNREFUSED;
}

}  // namespace

Result<std::string> socketPath(const NodeSettings& settings) {
  if (settings.socketDir.empty()) return settings.dataDir + "/shm.sock";
  const std::string directory = settings.socketDir + "/";
  const std::string named = directory + settings.nodeId + std::string(kSuffix);
  if (isFileName(settings.nodeId) && named.size() <= net::kSocketPathBytesMax) return named;
  const std::string numbered = directory + hex16(groupId(settings.nodeId)) + std::string(kSuffix);
  if (numbered.size() <= net::kSocketPathBytesMax) return numbered;
  return Status(KV_INVALID_ARGUMENT,
                "socket_dir " + settings.socketDir + " has " + std::to_string(settings.socketDir.size()) +
                    " bytes, and at most " +
                    std::to_string(net::kSocketPathBytesMax - (numbered.size() - directory.size()) - 1) +
                    " leave room for the name of a socket; choose a shorter one");
}

void removeDeadSockets(const std::string& directory) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string path = entry->path().string();
    if (entry->path().extension() != kSuffix || !isDead(path)) continue;
    if (::unlink(path.c_str()) == 0) log(LogLevel::Info, "removed " + path + ", to which no process listens any more");
  }
}

}  // namespace kvpool::node
