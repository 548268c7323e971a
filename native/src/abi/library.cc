// SPDX-License-Identifier: Apache-2.0
// The functions of kvpool.h that need no handle.
#include <cstddef>

#include "base/log.h"
#include "base/status.h"
#include "kvpool/kvpool.h"
#include "wire/protocol.h"

uint32_t kv_abi_version(void) {
  return kvpool::wire::kAbiVersions.max;
}

int32_t kv_get_versions(kv_versions* out) {
  if (out == nullptr || out->struct_size < offsetof(kv_versions, reserved) || out->struct_size > sizeof(kv_versions)) {
    return KV_INVALID_ARGUMENT;
  }
  out->wire_min = kvpool::wire::kWireVersions.min;
  out->wire_max = kvpool::wire::kWireVersions.max;
  out->layout_min = kvpool::wire::kLayoutVersions.min;
  out->layout_max = kvpool::wire::kLayoutVersions.max;
  out->abi_min = kvpool::wire::kAbiVersions.min;
  out->abi_max = kvpool::wire::kAbiVersions.max;
  return KV_OK;
}

const char* kv_status_name(int32_t status) {
  return kvpool::statusName(status);
}

const char* kv_status_text(int32_t status) {
  return kvpool::statusText(status);
}

int32_t kv_log_level(int32_t level) {
  if (level < 0 || level > 4) return KV_INVALID_ARGUMENT;
  kvpool::setLogLevel(static_cast<kvpool::LogLevel>(level));
  return KV_OK;
}
