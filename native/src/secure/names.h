// SPDX-License-Identifier: Apache-2.0
// Names in certificates: spiffe://POOL-ID/ROLE[/...], of which a certificate has exactly one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/principal.h"
#include "base/rights.h"
#include "base/status.h"

namespace kvpool::secure {

struct PeerName {
  PoolId pool;
  Principal principal;  // without the end of its certificate
};

/// Of 1 to 63 lower-case letters, digits and '-', and likewise with dots between such labels, of 253 bytes at most.
bool isLabel(std::string_view text);
bool isSubdomain(std::string_view text);

/// The URI of a certificate. KV_INVALID_ARGUMENT with what is wrong and the forms that there are.
Result<PeerName> parseName(std::string_view uri);

/// Whom one end of a connection takes for its peer.
struct Expected {
  static Expected master() { return {Verb::Lead, {}}; }
  /// One with this id shows it; engines and agents lend memory under their own names.
  static Expected storageNode(const std::string& id, bool isTransient);

  std::optional<Verb> verb = {};  // what it may do; empty: anything
  std::string node = {};          // whom it serves as

  [[nodiscard]] bool admits(const Principal& peer) const;
};
/// As people read it: "a master", "node/a or a tenant".
std::string toString(const Expected& expected);

}  // namespace kvpool::secure
