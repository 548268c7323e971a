// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/host_port.h"
#include "base/status.h"

namespace kvpool::net {

/// A resolved address.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
/// An address without its port, IPv4 as IPv6 maps it. Zeros: none, as that of a unix socket.
using Host = std::array<uint8_t, 16>;
Host hostOf(const SocketAddress& address);
bool isIpv4(const Host& host);
bool isLoopback(const Host& host);
/// Numeric text of a resolved address, for logs: 10.0.0.7:50061, [::1]:50061, or "local" for a unix socket.
std::string toString(const SocketAddress& address);

/// Resolves a name; may block for as long as DNS takes: see Resolver. KV_CONNECT_FAILED when there is no such name.
Result<std::vector<SocketAddress>> resolve(const HostPort& address);
/// The address that a literal such as 10.0.0.7 or ::1 is, without DNS; none for a name.
std::optional<SocketAddress> literal(const HostPort& address);

/// The address of this machine from which connections to that one begin, as a numeric text without brackets. Nothing is
/// sent. May block as resolve() does.
Result<std::string> ownAddressTowards(const HostPort& peer);

}  // namespace kvpool::net
