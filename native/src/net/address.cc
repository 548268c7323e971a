// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/fd.h"

namespace kvpool::net {
namespace {

constexpr Host kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kMappedBytes = 12;

}  // namespace

Host hostOf(const SocketAddress& address) {
  Host host{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.storage, sizeof in);
    host = kMapped;
    std::memcpy(&host[kMappedBytes], &in.sin_addr, sizeof in.sin_addr);
  } else if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.storage, sizeof in);
    std::memcpy(host.data(), &in.sin6_addr, host.size());
  }
  return host;
}

bool isIpv4(const Host& host) {
  return std::equal(host.begin(), host.begin() + kMappedBytes, kMapped.begin());
}

bool isLoopback(const Host& host) {
  constexpr Host kLoopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return host == kLoopback || (isIpv4(host) && host[kMappedBytes] == 127);
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

namespace {

Result<std::vector<SocketAddress>> lookUp(const HostPort& address, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
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

}  // namespace

Result<std::vector<SocketAddress>> resolve(const HostPort& address) {
  return lookUp(address, 0);
}

std::optional<SocketAddress> literal(const HostPort& address) {
  const auto found = lookUp(address, AI_NUMERICHOST);
  if (!found.ok()) return std::nullopt;
  return found.value().front();
}

Result<std::string> ownAddressTowards(const HostPort& peer) {
  const auto found = resolve(peer);
  if (!found.ok()) return found.status();
  int problem = 0;
  for (const SocketAddress& one : found.value()) {
    const auto* to = reinterpret_cast<const sockaddr*>(&one.storage);
    const Fd probe(::socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    std::array<char, NI_MAXHOST> host{};
    auto* from = reinterpret_cast<sockaddr*>(&own);
    if (probe.valid() && ::connect(probe.get(), to, one.length) == 0 &&
        ::getsockname(probe.get(), from, &length) == 0 &&
        getnameinfo(from, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
      return std::string(host.data());
    }
    problem = errno;
  }
  return systemError("no address of this machine leads to " + toString(peer), problem);
}

}  // namespace kvpool::net
