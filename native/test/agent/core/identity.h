// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/handshake.h"

namespace kvpool::test {

/// Somebody on this machine.
inline wire::Identity identity(wire::Role role, wire::VersionRange wire = wire::kWireVersions) {
  wire::Identity me;
  me.role = role;
  me.incarnation = 7;
  me.wire = wire;
  me.name = "here";
  me.product = "0.1.0";
  return me;
}

}  // namespace kvpool::test
