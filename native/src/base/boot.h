// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

/// Names this boot of this machine, as the kernel does; empty when it does not say.
std::string bootId();

/// The same as a number that is not 0; when the kernel does not say, each call is as under a boot of its own.
uint64_t bootNumber();

}  // namespace kvpool
