// SPDX-License-Identifier: Apache-2.0
#include "secure/names.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kvpool::secure {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr size_t kNameBytesMax = 253;
constexpr size_t kLabelBytesMax = 63;

/// The text before the first `separator`, which is taken away with it.
std::string_view cut(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

Status bad(std::string_view uri, const char* why) {
  return {
      KV_INVALID_ARGUMENT,
      "the name '" + std::string(uri.substr(0, 300)) + "' " + why +
          "; names are spiffe://POOL-ID/ and then master/NAME, node/NAME, agent/NAME, operator, monitor, admin/NAME, "
          "tenant/TENANT/rw/NAME or tenant/TENANT/ro/NAME, in lower case"};
}

std::optional<Principal> parsePath(std::string_view path) {
  using Role = Principal::Role;
  Principal principal;
  if (path == "operator" || path == "monitor") {
    principal.role = path == "operator" ? Role::Operator : Role::Monitor;
    return principal;
  }
  const std::string_view role = cut(path, '/');
  if (role == "tenant") {
    const std::string_view tenant = cut(path, '/');
    const std::string_view access = cut(path, '/');
    if (!isLabel(tenant) || (access != "rw" && access != "ro")) return std::nullopt;
    principal.tenant = tenant;
    principal.readsOnly = access == "ro";
  } else {
    constexpr std::array<std::pair<std::string_view, Role>, 4> kNamed{
        {{"master", Role::Master}, {"node", Role::Node}, {"agent", Role::Agent}, {"admin", Role::Admin}}};
    const auto* const found =
        std::find_if(kNamed.begin(), kNamed.end(), [role](const auto& one) { return one.first == role; });
    if (found == kNamed.end()) return std::nullopt;
    principal.role = found->second;
  }
  if (!isSubdomain(path)) return std::nullopt;
  principal.name = path;
  return principal;
}

}  // namespace

bool isLabel(std::string_view text) {
  const auto isAlphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLabelBytesMax && isAlphanumeric(text.front()) &&
         isAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return isAlphanumeric(c) || c == '-'; });
}

bool isSubdomain(std::string_view text) {
  if (text.empty() || text.size() > kNameBytesMax || text.back() == '.') return false;
  while (!text.empty()) {
    if (!isLabel(cut(text, '.'))) return false;
  }
  return true;
}

Result<PeerName> parseName(std::string_view uri) {
  std::string_view rest = uri;
  if (rest.substr(0, kScheme.size()) != kScheme) return bad(uri, "does not begin with spiffe://");
  rest.remove_prefix(kScheme.size());
  const std::string_view domain = cut(rest, '/');
  const std::optional<PoolId> pool = parsePoolId(domain);
  if (!pool || pool->isAny() || toString(*pool) != domain) {
    return bad(uri, "has a trust domain that is no pool's id, a UUID in lower case");
  }
  std::optional<Principal> principal = parsePath(rest);
  // What was cut off behind the last slash would be missing.
  if (!principal || std::string(kScheme) + std::string(domain) + "/" + kvpool::toString(*principal) != uri) {
    return bad(uri, "has a path that names no member of a pool");
  }
  return PeerName{*pool, std::move(*principal)};
}

Expected Expected::storageNode(const std::string& id, bool isTransient) {
  if (isTransient) return {Verb::Contribute, {}};
  return {Verb::Serve, id};
}

bool Expected::admits(const Principal& peer) const {
  if (!verb) return true;
  return may(peer, *verb) && (*verb != Verb::Serve || peer.mayBe(node));
}

std::string toString(const Expected& expected) {
  if (!expected.verb) return "any member";
  switch (*expected.verb) {
    case Verb::Lead:
      return "a master";
    case Verb::Serve:
      return "node/" + expected.node;
    default:
      return "a tenant that writes or an agent";
  }
}

}  // namespace kvpool::secure
