// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "devices/findings.h"

namespace kvpool::devices {

/// Loads CANN as a storage node does and counts devices, in a process of its own: what CANN prints goes to stderr, and
/// neither its end nor that it hangs is this process's. Throws std::system_error when no process can be made.
CannAnswer probeCann(std::chrono::seconds limit);

}  // namespace kvpool::devices
