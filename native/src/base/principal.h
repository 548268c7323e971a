// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of an authenticated connection. State machines see this, never a certificate.
#pragma once

#include <cstdint>
#include <string>

namespace kvpool {

/// What the certificate of a peer says.
struct Principal {
  enum class Role : uint8_t { Master, Node, Agent, Operator, Monitor, Admin, Tenant };

  Role role = Role::Tenant;
  std::string name;                // empty for the operator and the monitor; see mayBe()
  std::string tenant = "default";  // of a Tenant
  bool readsOnly = false;          // likewise
  int64_t notAfterMs = 0;          // when its certificate ends, in milliseconds of 1970

  /// The name where a certificate says the role, and not which of its processes it is of.
  static constexpr const char* kAny = "*";
  /// Whether it may be the process of its role that is called that.
  [[nodiscard]] bool mayBe(const std::string& process) const { return name == process || name == kAny; }
  /// Whether both are called the same and may do the same; when their certificates end does not matter.
  [[nodiscard]] bool isSame(const Principal& other) const {
    return role == other.role && name == other.name && tenant == other.tenant && readsOnly == other.readsOnly;
  }
};

/// The path of its name: "node/a", "tenant/t/ro/b".
std::string toString(const Principal& principal);

}  // namespace kvpool
