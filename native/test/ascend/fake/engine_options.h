// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "registered_memory.h"

namespace fake_ascend {

/// What the options given to Initialize, and HCCL_INTRA_ROCE_ENABLE of the environment, make of an engine.
struct EngineOptions {
  Link link = Link::kHccs;
  bool autoConnect = false;
  bool bufferPool = true;
  /// Channels by an HCCL communicator, of which there are only so many.
  bool limitedLinks = true;

  /// Nothing if an option is wrong. Options that the engine does not know are ignored, as is "adxl." before a name by
  /// Hixl.
  static std::optional<EngineOptions> parse(const std::map<std::string, std::string>& options,
                                            const std::string& prefix);
};

}  // namespace fake_ascend
