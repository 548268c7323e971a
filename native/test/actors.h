// SPDX-License-Identifier: Apache-2.0
// A peer for each actor of schema/rights.txt that has a certificate.
#pragma once

#include <vector>

#include "base/rights.h"

namespace kvpool::test {

inline std::vector<Principal> certifiedActors() {
  using Role = Principal::Role;
  std::vector<Principal> all = {{Role::Tenant, "x", "a", true, 0}, {Role::Tenant, "x", "a", false, 0}};
  for (const Role role : {Role::Agent, Role::Admin, Role::Operator, Role::Monitor, Role::Node, Role::Master})
    all.push_back({role, "x", "default", false, 0});
  return all;
}

}  // namespace kvpool::test
