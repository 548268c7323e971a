// SPDX-License-Identifier: Apache-2.0
// Tenants. Pools know objects by qualified keys: of the tenant `default` the key itself, of any other one a zero byte,
// its name, a zero byte and the key. Names have no zero bytes, so no two tenants share a qualified key; and clients may
// not send keys that begin with one, so none can name another's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/principal.h"

namespace kvpool {

/// Which objects a connection may name and see.
class OwnKeys {
 public:
  /// Those of `default`.
  OwnKeys() = default;
  /// `separated`: whether tenants are, for which peers need certificates. Without one a peer is of `default` then, and
  /// else it sees all. Storage nodes copy for every tenant.
  OwnKeys(const std::optional<Principal>& who, bool separated);

  /// The qualified key of what this connection calls `key`; in `room`, unless it is the same. Empty, which is no key,
  /// when it may not call anything so.
  std::string_view qualify(std::string_view key, std::string& room) const;
  /// Whether the object of a qualified key is there for this connection.
  [[nodiscard]] bool see(std::string_view qualified) const;
  /// Whether a qualified key is of another tenant than `default`.
  static bool isOfTenant(std::string_view qualified);
  [[nodiscard]] bool areOfDefault() const { return prefix_.empty(); }

 private:
  bool all_ = false;
  std::string prefix_;  // of qualified keys
};

}  // namespace kvpool
