// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace fake_ascend {

/// The device of this thread's current context, if it has one that was not destroyed.
std::optional<int> currentDevice();
/// The driver's number of a visible device, by which descriptions of memory name it.
uint32_t driverNumber(int device);
/// Number that ACL gives to whatever is handed out as an opaque pointer; never used twice.
void* newHandle();

}  // namespace fake_ascend
