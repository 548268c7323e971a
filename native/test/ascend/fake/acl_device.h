// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace fake_ascend {

/// The device of this thread's current context, if it has one that was not destroyed.
std::optional<int> currentDevice();
/// Number that ACL gives to whatever is handed out as an opaque pointer; never used twice.
void* newHandle();

}  // namespace fake_ascend
