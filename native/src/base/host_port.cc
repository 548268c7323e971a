// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace kvpool {
namespace {

constexpr size_t kHostBytesMax = 253;

Status badAddress(std::string_view text, const char* why) {
  return {KV_INVALID_ARGUMENT,
          "address '" + std::string(text.substr(0, 300)) + "' " + why + "; write HOST:PORT, IPv6 as [ADDRESS]:PORT"};
}

}  // namespace

Result<HostPort> parseHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return badAddress(text, "has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view portText = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return badAddress(text, "has an IPv6 host without brackets");
  }
  if (host.empty()) return badAddress(text, "has no host");
  if (host.size() > kHostBytesMax) return badAddress(text, "has a host of more than 253 bytes");
  if (host.find_first_of(" \t\r\n[]/") != std::string_view::npos) return badAddress(text, "has a strange host");
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(portText.data(), portText.data() + portText.size(), port);
  if (error != std::errc() || end != portText.data() + portText.size() || port == 0) {
    return badAddress(text, "has a port that is not 1 to 65535");
  }
  return HostPort{std::string(host), port};
}

std::optional<HostPort> parseIpPort(std::string_view text) {
  Result<HostPort> parsed = parseHostPort(text);
  if (!parsed.ok() || !isIp(parsed.value().host)) return std::nullopt;
  return std::move(parsed.value());
}

bool isIp(const std::string& host) {
  in6_addr room{};
  if (host.find('\0') != std::string::npos) return false;
  return ::inet_pton(AF_INET, host.c_str(), &room) == 1 || ::inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

Result<std::vector<HostPort>> parseHostPorts(std::string_view text, size_t countMax) {
  std::vector<HostPort> list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Result<HostPort> one = parseHostPort(text.substr(begin, end - begin));
    if (!one.ok()) return one.status();
    if (std::find(list.begin(), list.end(), one.value()) != list.end()) {
      return badAddress(text.substr(begin, end - begin), "stands twice in the list");
    }
    if (list.size() == countMax) {
      return Status(KV_INVALID_ARGUMENT, "more than " + std::to_string(countMax) + " addresses in the list");
    }
    list.push_back(std::move(one.value()));
    begin = end + 1;
  }
  return list;
}

std::string toString(const HostPort& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace kvpool
