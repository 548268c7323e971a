// SPDX-License-Identifier: Apache-2.0
// What the parameter structs of clients and agents have in common, checked.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "client/client.h"

namespace kvpool::abi {

std::string hostName();

/// KV_INVALID_ARGUMENT names `what`.
Result<std::string> nameOr(const char* given, const std::string& standard, const char* what);

inline uint32_t orDefault(uint32_t given, uint32_t standard) {
  return given == 0 ? standard : given;
}

/// As in kv_client_params.
struct PoolParameters {
  const char* masters;
  const char* name;
  const char* product;
  uint32_t protocols;
  uint32_t connectTimeoutMs;
  uint32_t transferTimeoutMs;
};

/// Of a client of its own, with bounds at their defaults.
Result<client::ClientSettings> clientSettings(const PoolParameters& given);

}  // namespace kvpool::abi
