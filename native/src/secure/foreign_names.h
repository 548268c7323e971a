// SPDX-License-Identifier: Apache-2.0
// What certificates of others stand for: those that name the ServiceAccount of a pod, as SPIRE and cert-manager's
// csi-driver-spiffe give them, spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT. A file of lines:
//
//   pool POOL-ID
//   trust-domain TRUST-DOMAIN
//   NAMESPACE/ACCOUNT master                   any master of the pool
//   NAMESPACE/ACCOUNT node                     any of its storage nodes
//   NAMESPACE/ACCOUNT tenant TENANT rw|ro      an engine
//   NAMESPACE/*       tenant TENANT rw|ro      engines with any other account of the namespace
//   NAMESPACE/ACCOUNT none                     nothing, whatever is said of the other accounts of the namespace
//
// Empty lines and what begins with # do not count. schema/foreign-names.txt has what all languages make of it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "secure/names.h"

namespace kvpool::secure {

/// Immutable. Without rules only names of ours are read.
class ForeignNames {
 public:
  ForeignNames() = default;
  /// KV_INVALID_ARGUMENT with the number of the line that is wrong, and why.
  static Result<ForeignNames> parse(std::string_view text);

  /// The URI of a certificate: ours, or one for which there is a rule. KV_INVALID_ARGUMENT when it is neither, with
  /// what is wrong and what to do.
  [[nodiscard]] Result<PeerName> name(std::string_view uri) const;

 private:
  enum class Kind { Master, Node, Engine, None };
  struct Rule {
    Kind kind = Kind::None;
    std::string tenant = {};
    bool readsOnly = false;
    friend bool operator==(const Rule&, const Rule&) = default;
  };

  Status add(std::string_view line);
  Status setPool(std::string_view word);
  Status setTrustDomain(std::string_view word);
  static Result<Rule> ruleOf(std::string_view account, std::string_view words);
  [[nodiscard]] Result<PeerName> foreign(std::string_view uri, std::string_view path) const;

  PoolId pool_;
  std::string trustDomain_;  // empty: there are no rules
  std::map<std::string, Rule, std::less<>> byAccount_;
};

}  // namespace kvpool::secure
