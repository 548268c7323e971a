// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/principal.h"
#include "base/status.h"

namespace kvpool::engine {

/// Whether two transfer engines may reach each other's memory: both are clients of the pool, and of the same tenant. OK
/// where neither side has a certificate. The sentence names both sides and what to do, and is for both of them.
Status judgeMembers(const Principal* self, const Principal* peer);

/// Whether this process may have a transfer engine by its certificate.
Status judgeOwn(const Principal& self);

/// Whether one may write to the other's memory by its certificate. Null: it has none, as all others then.
Status judgeWriter(const Principal* who);

/// Whether the same peers are let in by both.
bool isSameMember(const Principal& a, const Principal& b);

}  // namespace kvpool::engine
