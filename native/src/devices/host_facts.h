// SPDX-License-Identifier: Apache-2.0
// What a container sees of NPUs, their driver and limits, without asking CANN.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kvpool::devices {

/// A device file that is there.
struct DeviceFile {
  std::string path;     ///< in the container
  std::string problem;  ///< why it cannot be opened; empty when it can
};

/// Huge pages of one size.
struct HugePages {
  uint64_t total = 0;
  uint64_t free = 0;
};

/// What was found. Paths are those in the container, wherever its root is.
struct HostFacts {
  std::vector<DeviceFile> npus;              ///< /dev/davinciN, by number
  std::vector<uint32_t> numbers;             ///< N of each
  std::vector<DeviceFile> control;           ///< the files beside them that are there
  std::vector<std::string> lacking;          ///< the files beside them that are not
  std::optional<std::string> driverVersion;  ///< of the driver's version.info; empty when that has none
  std::vector<uint32_t> withAddress;         ///< NPUs that /etc/hccn.conf gives an address
  bool addressesReadable = false;            ///< whether /etc/hccn.conf has anything in it
  std::optional<uint64_t> lockableBytes;     ///< memory that this process may lock; nothing: without limit
  HugePages of2Mi;
  HugePages of1Gi;
};

/// Where a driver says its version.
inline constexpr const char* kDriverVersionFile = "/usr/local/Ascend/driver/version.info";
/// Where addresses of the NPUs' network cards are.
inline constexpr const char* kAddressesFile = "/etc/hccn.conf";

/// Reads them below `root`, which is "/" but in tests. What cannot be read counts as missing.
HostFacts readHostFacts(const std::filesystem::path& root);

}  // namespace kvpool::devices
