// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

/// Names this boot of this machine, as the kernel does; empty when it does not say.
std::string bootId();

/// The same as a number; 0 when the kernel does not say.
uint64_t bootNumber();

}  // namespace kvpool
