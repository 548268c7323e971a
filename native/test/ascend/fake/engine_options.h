// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "registered_memory.h"

namespace fake_ascend {

constexpr uint64_t kLinksOfHccl = 512;
constexpr uint64_t kLinksOfClientsAndServers = 128;

/// What the options given to Initialize, and HCCL_INTRA_ROCE_ENABLE of the environment, make of an engine.
struct EngineOptions {
  Link link = Link::kHccs;
  bool autoConnect = false;
  bool bufferPool = true;
  uint64_t links = kLinksOfHccl;  ///< room for channels

  /// Nothing if an option is wrong. Options that the engine does not know are ignored, as is "adxl." before a name by
  /// Hixl.
  static std::optional<EngineOptions> parse(const std::map<std::string, std::string>& options,
                                            const std::string& prefix);
};

}  // namespace fake_ascend
