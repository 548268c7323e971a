// SPDX-License-Identifier: Apache-2.0
// The functions of kvpool.h that need no handle.
#include "abi/border.h"
#include "base/log.h"
#include "base/status.h"
#include "kvpool/kvpool.h"
#include "wire/protocol.h"

uint32_t kv_abi_version(void) {
  return kvpool::wire::kAbiVersions.max;
}

int32_t kv_get_versions(kv_versions* out) {
  kv_versions versions{};
  versions.wire_min = kvpool::wire::kWireVersions.min;
  versions.wire_max = kvpool::wire::kWireVersions.max;
  versions.layout_min = kvpool::wire::kLayoutVersions.min;
  versions.layout_max = kvpool::wire::kLayoutVersions.max;
  versions.abi_min = kvpool::wire::kAbiVersions.min;
  versions.abi_max = kvpool::wire::kAbiVersions.max;
  return kvpool::abi::writeOut(out, versions);
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
