// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "fake_api.h"

namespace fake_ascend {

inline std::string textSetting(const char* name) {
  char buffer[4096];
  return std::string(buffer, fake_ascend_text(name, buffer, sizeof buffer));
}

/// Whether the driver is at least that version. Below 25.5 it maps less host memory and no fabric.
inline bool driverIsAtLeast(int major, int minor) {
  const std::string version = textSetting("hdk");
  if (version.empty()) return true;
  const size_t dot = version.find('.');
  const int ownMajor = std::stoi(version);
  const int ownMinor = dot == std::string::npos ? 0 : std::stoi(version.substr(dot + 1));
  return ownMajor != major ? ownMajor > major : ownMinor >= minor;
}

/// What ACL knows of a range of bytes.
struct AclPlace {
  bool device = false;
  bool unknown = false;
  bool crossing = false;
  bool mapped = false;  ///< by aclrtMapMem
};

inline AclPlace placeOf(uint64_t start, uint64_t size) {
  constexpr int kKindBits = 3;
  constexpr int kMappedBit = 4;
  const int place = fake_ascend_locate(reinterpret_cast<const void*>(start), size);
  const int kind = place & kKindBits;
  return {kind == 1, kind == 2, kind == 3, (place & kMappedBit) != 0};
}

}  // namespace fake_ascend
