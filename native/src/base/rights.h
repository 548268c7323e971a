// SPDX-License-Identifier: Apache-2.0
// What a peer may do, by the table of schema/rights.txt.
#pragma once

#include "base/principal.h"
#include "schema/rights.h"

namespace kvpool {

/// What the certificate of a peer makes it in the table.
Actor actorOf(const Principal& who);

/// Whether a peer with this certificate may do it.
bool may(const Principal& who, Verb verb);

}  // namespace kvpool
