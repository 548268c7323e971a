// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "devices/findings.h"

namespace kvpool::devices {

/// The kubelet cuts the message that a container leaves after 4096 bytes, and half a JSON is none.
inline constexpr size_t kMessageBytesMax = 4000;

/// A line for each finding, for people.
std::string text(const std::vector<Finding>& findings);

/// What programs read of a check.
struct Outcome {
  std::vector<Finding> findings;
  std::vector<uint32_t> npus;  ///< physical numbers of the container's NPUs
  bool blocking = false;       ///< whether the storage node does not start
};

/// {"reason": "NoDevice" or "", "blocking": false, "npus": [0], "findings": [{"check", "level": "ok" | "warning" |
/// "missing", "reason", "text", "remedy"}]}. Bytes that are not UTF-8 are '?'.
std::string json(const Outcome& outcome);

/// The same without findings that are ok, in at most kMessageBytesMax: texts are cut to what fits.
std::string message(const Outcome& outcome);

}  // namespace kvpool::devices
