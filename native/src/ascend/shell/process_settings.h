// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ascend/core/settings.h"

namespace kvpool::ascend {

/// Settings::of() this process's environment.
Result<Settings> processSettings();

}  // namespace kvpool::ascend
