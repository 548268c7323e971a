// SPDX-License-Identifier: Apache-2.0
// What the parameter structs have in common, checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "client/shell/client.h"
#include "wire/handshake.h"

namespace kvpool::abi {

inline std::string_view textOr(const char* given, std::string_view standard) {
  return given == nullptr || *given == '\0' ? standard : std::string_view(given);
}

/// KV_INVALID_ARGUMENT names `what`.
Result<std::string> nameOr(const char* given, std::string_view standard, const char* what);

inline uint32_t orDefault(uint32_t given, uint32_t standard) {
  return given == 0 ? standard : given;
}

/// Of one life of a process. Without a name it has the machine's, or `standard` where that does not fit.
Result<wire::Identity> identityOf(wire::Role role, const char* given, const char* standard, const char* product);

/// What busy_wait_us of clients and engines means.
std::chrono::microseconds busyWaitFrom(uint32_t us);

/// As in kv_client_params.
struct PoolParameters {
  const char* masters;
  const char* name;
  const char* product;
  uint32_t protocols;
  uint32_t connectTimeoutMs;
  uint32_t transferTimeoutMs;
  uint32_t idleTimeoutMs;
  const char* tlsDirectory;
  uint32_t tlsMode;
  uint32_t payloads;
};

/// Of a client of its own, with bounds at their defaults.
Result<client::ClientSettings> clientSettings(const PoolParameters& given);

}  // namespace kvpool::abi
