// SPDX-License-Identifier: Apache-2.0
#include "devices/host_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace kvpool::devices {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kNpuPrefix = "davinci";
constexpr const char* kControlFiles[] = {"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"};
constexpr const char* kHugePagesFolder = "/sys/kernel/mm/hugepages";
/// Files of settings are a few lines; one that is larger is none.
constexpr uint64_t kFileBytesMax = uint64_t{1} << 20;
constexpr unsigned kCapabilityIpcLock = 14;

fs::path below(const fs::path& root, const std::string& path) {
  return root / fs::path(path).relative_path();
}

std::vector<std::string> linesOf(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  uint64_t bytes = 0;
  for (std::string line; bytes < kFileBytesMax && std::getline(in, line);) {
    bytes += line.size() + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

/// All of the text as a number.
template <typename Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Nothing when no device has that name.
std::optional<DeviceFile> deviceAt(const fs::path& root, const std::string& path) {
  const fs::path file = below(root, path);
  std::error_code error;
  if (!fs::is_character_file(file, error)) return std::nullopt;
  if (::access(file.c_str(), R_OK | W_OK) == 0) return DeviceFile{path, ""};
  return DeviceFile{path, std::generic_category().message(errno)};
}

void readDevices(const fs::path& root, HostFacts& facts) {
  std::vector<std::pair<uint32_t, DeviceFile>> npus;
  std::error_code error;
  for (fs::directory_iterator it(below(root, "/dev"), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(kNpuPrefix)) continue;
    const auto device = number<uint32_t>(std::string_view(name).substr(kNpuPrefix.size()));
    if (!device) continue;
    if (const auto file = deviceAt(root, "/dev/" + name)) npus.emplace_back(*device, *file);
  }
  std::sort(npus.begin(), npus.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [device, file] : npus) {
    facts.numbers.push_back(device);
    facts.npus.push_back(std::move(file));
  }
  for (const char* path : kControlFiles) {
    if (const auto file = deviceAt(root, path)) {
      facts.control.push_back(*file);
    } else {
      facts.lacking.emplace_back(path);
    }
  }
}

void readDriver(const fs::path& root, HostFacts& facts) {
  constexpr std::string_view kVersion = "Version=";
  for (const std::string& line : linesOf(below(root, kDriverVersionFile))) {
    if (line.starts_with(kVersion) && line.size() > kVersion.size()) {
      facts.driverVersion = line.substr(kVersion.size());
      return;
    }
  }
}

void readAddresses(const fs::path& root, HostFacts& facts) {
  constexpr std::string_view kAddress = "address_";
  for (const std::string& line : linesOf(below(root, kAddressesFile))) {
    facts.addressesReadable = facts.addressesReadable || !line.empty();
    const size_t equals = line.find('=');
    if (!line.starts_with(kAddress) || equals == std::string::npos || equals + 1 == line.size()) continue;
    const auto device = number<uint32_t>(std::string_view(line).substr(kAddress.size(), equals - kAddress.size()));
    if (device) facts.withAddress.push_back(*device);
  }
}

HugePages pagesOf(const fs::path& root, const std::string& size) {
  const auto first = [&](const char* file) {
    const auto lines = linesOf(below(root, std::string(kHugePagesFolder) + "/hugepages-" + size + "/" + file));
    return lines.empty() ? 0 : number<uint64_t>(lines.front()).value_or(0);
  };
  return {first("nr_hugepages"), first("free_hugepages")};
}

/// A process with that capability locks as much as there is, whatever its limit.
bool mayLockAll() {
  constexpr std::string_view kEffective = "CapEff:\t";
  for (const std::string& line : linesOf("/proc/self/status")) {
    if (!line.starts_with(kEffective)) continue;
    const auto capabilities = number<uint64_t>(std::string_view(line).substr(kEffective.size()), 16);
    return (capabilities.value_or(0) >> kCapabilityIpcLock & 1) != 0;
  }
  return false;
}

std::optional<uint64_t> lockable() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || mayLockAll()) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

}  // namespace

HostFacts readHostFacts(const fs::path& root) {
  HostFacts facts;
  readDevices(root, facts);
  readDriver(root, facts);
  readAddresses(root, facts);
  facts.lockableBytes = lockable();
  facts.of2Mi = pagesOf(root, "2048kB");
  facts.of1Gi = pagesOf(root, "1048576kB");
  return facts;
}

}  // namespace kvpool::devices
