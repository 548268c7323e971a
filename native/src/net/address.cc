// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <memory>

namespace kvpool::net {

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
