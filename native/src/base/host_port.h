// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kvpool {

/// HOST:PORT as people write it, not resolved. IPv6 hosts are kept without their brackets.
struct HostPort {
  std::string host;
  uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// HOST:PORT or [v6]:PORT, port 1 to 65535. KV_INVALID_ARGUMENT with the offending text otherwise.
Result<HostPort> parseHostPort(std::string_view text);
/// Whether it is a numeric IPv4 or IPv6 address, without brackets and zone.
bool isIp(const std::string& host);
/// IP:PORT or [v6]:PORT, as CANN takes it; nothing for anything else.
std::optional<HostPort> parseIpPort(std::string_view text);
/// A comma-separated list; empty, doubled or more than `countMax` entries are KV_INVALID_ARGUMENT.
Result<std::vector<HostPort>> parseHostPorts(std::string_view text, size_t countMax);
/// The form parseHostPort reads, with brackets around IPv6 hosts.
std::string toString(const HostPort& address);

}  // namespace kvpool
