// SPDX-License-Identifier: Apache-2.0
#include "secure/foreign_names.h"

#include <algorithm>
#include <utility>

namespace kvpool::secure {
namespace {

constexpr std::string_view kSpiffe = "spiffe://";
constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kTrustDomainBytesMax = 255;
constexpr size_t kShownBytesMax = 300;
constexpr int kLinesMax = 10'000;
constexpr const char* kForms = "lines are 'NAMESPACE/ACCOUNT master', 'node', 'tenant TENANT rw|ro' or 'none'";

Status bad(const std::string& what) {
  return {KV_INVALID_ARGUMENT, what};
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text.substr(0, kShownBytesMax)) + "'";
}

/// The first word, which is taken away with the blanks behind it.
std::string_view takeWord(std::string_view& rest) {
  const size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks, end), rest.size()));
  return word;
}

/// Without blanks at both ends.
std::string_view stripped(std::string_view line) {
  const size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1);
}

/// NAMESPACE/ACCOUNT; `any`: or NAMESPACE/*.
bool isAccount(std::string_view text, bool any) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !isLabel(text.substr(0, slash))) return false;
  const std::string_view account = text.substr(slash + 1);
  return isSubdomain(account) || (any && account == "*");
}

bool isPoolId(std::string_view text) {
  const std::optional<PoolId> id = parsePoolId(text);
  return id && !id->isAny() && toString(*id) == text;
}

}  // namespace

Result<ForeignNames> ForeignNames::parse(std::string_view text) {
  ForeignNames names;
  for (int number = 1; !text.empty(); ++number) {
    if (number > kLinesMax) return bad("it has more than " + std::to_string(kLinesMax) + " lines");
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = stripped(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (const Status added = names.add(line); !added.ok()) {
      return bad("line " + std::to_string(number) + ": " + added.text());
    }
  }
  if (names.pool_.isAny() || names.trustDomain_.empty()) {
    return bad(std::string("it lacks the line '") + (names.pool_.isAny() ? "pool ID" : "trust-domain NAME") +
               "'; write the pool's id and the trust domain of the certificates first");
  }
  return names;
}

Status ForeignNames::add(std::string_view line) {
  std::string_view rest = line;
  const std::string_view first = takeWord(rest);
  if (first == "pool") return setPool(rest);
  if (first == "trust-domain") return setTrustDomain(rest);
  if (!isAccount(first, true)) return bad(quoted(first) + " is not NAMESPACE/ACCOUNT; " + kForms);
  Result<Rule> rule = ruleOf(first, rest);
  if (!rule.ok()) return rule.status();
  const auto [place, isNew] = byAccount_.try_emplace(std::string(first), rule.value());
  if (isNew || place->second == rule.value()) return {};
  return bad(std::string(first) + " is something else in an earlier line; give each role an account of its own");
}

Status ForeignNames::setPool(std::string_view word) {
  if (!pool_.isAny() || !isPoolId(word)) {
    return bad("there must be one line 'pool', with the pool's id behind it, a UUID in lower case");
  }
  pool_ = *parsePoolId(word);
  return {};
}

/// In that of a pool a name would have two meanings.
Status ForeignNames::setTrustDomain(std::string_view word) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  if (!trustDomain_.empty() || word.empty() || word.size() > kTrustDomainBytesMax || isPoolId(word) ||
      !std::all_of(word.begin(), word.end(), fits)) {
    return bad(
        "there must be one line 'trust-domain', with that of others behind it: lower case letters, digits, '.', '-' "
        "and '_', and no pool id");
  }
  trustDomain_ = word;
  return {};
}

Result<ForeignNames::Rule> ForeignNames::ruleOf(std::string_view account, std::string_view words) {
  const bool isAny = account.back() == '*';
  if (words == "master" && !isAny) return Rule{Kind::Master};
  if (words == "node" && !isAny) return Rule{Kind::Node};
  if (words == "none" && !isAny) return Rule{Kind::None};
  const std::string_view kind = takeWord(words);
  const std::string_view tenant = takeWord(words);
  const std::string_view access = takeWord(words);
  if (kind != "tenant" || !isLabel(tenant) || (access != "rw" && access != "ro") || !words.empty()) {
    return bad("what follows " + std::string(account) + " is not right; " + kForms +
               ", and NAMESPACE/* may be engines of a tenant only");
  }
  return Rule{Kind::Engine, std::string(tenant), access == "ro"};
}

Result<PeerName> ForeignNames::name(std::string_view uri) const {
  const std::string prefix = std::string(kSpiffe) + trustDomain_ + "/";
  if (!trustDomain_.empty() && uri.substr(0, prefix.size()) == prefix) return foreign(uri, uri.substr(prefix.size()));
  Result<PeerName> own = parseName(uri);
  if (own.ok() || trustDomain_.empty()) return own;
  return bad(own.status().text() + ", or those of trust domain " + trustDomain_);
}

Result<PeerName> ForeignNames::foreign(std::string_view uri, std::string_view path) const {
  constexpr std::string_view kNamespace = "ns/";
  constexpr std::string_view kAccount = "/sa/";
  std::string account;
  if (path.substr(0, kNamespace.size()) == kNamespace) {
    path.remove_prefix(kNamespace.size());
    const size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(slash, kAccount.size()) == kAccount) {
      account = std::string(path.substr(0, slash)) + "/" + std::string(path.substr(slash + kAccount.size()));
    }
  }
  if (!isAccount(account, false)) {
    return bad("the name " + quoted(uri) + " names no ServiceAccount; names of trust domain " + trustDomain_ + " are " +
               std::string(kSpiffe) + trustDomain_ + "/ns/NAMESPACE/sa/ACCOUNT");
  }
  auto rule = byAccount_.find(account);
  if (rule == byAccount_.end()) rule = byAccount_.find(account.substr(0, account.find('/')) + "/*");
  if (rule == byAccount_.end() || rule->second.kind == Kind::None) {
    return bad("the name " + quoted(uri) + " has no part in this pool: there is no rule for ServiceAccount " + account +
               "; spec.tenants[].serviceAccounts of the pool, or a line of the file of names, makes it an engine");
  }
  PeerName found{pool_, {}};
  if (rule->second.kind == Kind::Engine) {
    std::replace(account.begin(), account.end(), '/', '.');
    if (!isSubdomain(account)) return bad("the name " + quoted(uri) + " is too long");
    found.principal.name = account;
    found.principal.tenant = rule->second.tenant;
    found.principal.readsOnly = rule->second.readsOnly;
  } else {
    found.principal.role = rule->second.kind == Kind::Master ? Principal::Role::Master : Principal::Role::Node;
    found.principal.name = Principal::kAny;
  }
  return found;
}

}  // namespace kvpool::secure
