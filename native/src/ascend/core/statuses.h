// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ascend/core/abi.h"

namespace kvpool::ascend {

/// What a status means, for people: "103902 (not connected)".
std::string toString(TransportStatus status);

/// The channel cannot be used again before it was ended.
bool breaksChannel(TransportStatus status);
/// The call itself was wrong: it is not made again.
bool isRefusal(TransportStatus status);

}  // namespace kvpool::ascend
