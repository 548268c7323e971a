// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>

namespace kvpool::net {
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

std::string toString(const SocketAddress& address) {
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (generic->sa_family != AF_INET && generic->sa_family != AF_INET6) return "local";
  if (getnameinfo(generic, address.length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown";
  }
  const bool v6 = std::strchr(host.data(), ':') != nullptr;
  return (v6 ? "[" + std::string(host.data()) + "]" : std::string(host.data())) + ":" + port.data();
}

Result<std::vector<SocketAddress>> resolve(const HostPort& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return Status(KV_CONNECT_FAILED, "cannot resolve " + toString(address) + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<SocketAddress> list;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress one;
    std::memcpy(&one.storage, entry->ai_addr, entry->ai_addrlen);
    one.length = entry->ai_addrlen;
    list.push_back(one);
  }
  if (list.empty()) return Status(KV_CONNECT_FAILED, "no address for " + toString(address));
  return list;
}

}  // namespace kvpool::net
