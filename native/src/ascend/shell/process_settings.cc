// SPDX-License-Identifier: Apache-2.0
#include "ascend/shell/process_settings.h"

#include <cstdlib>

namespace kvpool::ascend {

Result<Settings> processSettings() {
  return Settings::of([](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace kvpool::ascend
