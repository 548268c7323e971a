// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kvpool::engine {

/// What became of one protocol of the list.
struct Installation {
  std::string protocol;
  bool used = false;
  std::string text;  // a sentence: used, not needed, or why it could not be installed
};

/// Goes through the protocols in order of preference; the first that works is used. With none that works a failure with
/// the reason of each: nothing falls back to a protocol that the list does not name.
Result<std::vector<Installation>> install(std::string_view protocols);

/// One line of text for all of them.
std::string toString(const std::vector<Installation>& installations);

}  // namespace kvpool::engine
