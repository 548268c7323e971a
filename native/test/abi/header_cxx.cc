// SPDX-License-Identifier: Apache-2.0
// The header as C++ and through the shared library, as a user of it sees both.
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "kvpool/kvpool.h"

namespace {

int failures = 0;

void expect(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

void versions() {
  kv_versions versions{};
  versions.struct_size = sizeof versions;
  expect(kv_get_versions(&versions) == KV_OK, "versions of this size");
  expect(versions.wire_min == 1 && versions.wire_max == 1 && versions.layout_max == 1 && versions.abi_max == 1,
         "version numbers");
  kv_versions older{};
  older.struct_size = 12;
  expect(kv_get_versions(&older) == KV_OK && older.wire_max == 1 && older.layout_min == 0, "an older, smaller struct");
  older.struct_size = sizeof older + 1;
  expect(kv_get_versions(&older) == KV_INVALID_ARGUMENT, "a larger struct is refused");
  older.struct_size = 0;
  expect(kv_get_versions(&older) == KV_INVALID_ARGUMENT, "a struct without size");
  expect(kv_get_versions(nullptr) == KV_INVALID_ARGUMENT, "NULL");
}

void statuses() {
  expect(std::strcmp(kv_status_name(KV_STALE_EPOCH), "KV_STALE_EPOCH") == 0, "status name");
  expect(std::strlen(kv_status_text(KV_STALE_EPOCH)) > 10, "status text");
  expect(std::strcmp(kv_status_name(12345), "KV_UNKNOWN") == 0, "unknown status");
  expect(kv_log_level(5) == KV_INVALID_ARGUMENT && kv_log_level(-1) == KV_INVALID_ARGUMENT, "log levels out of range");
  expect(kv_log_level(0) == KV_OK, "log level");
}

void nodeArguments() {
  char err[256] = "untouched";
  kv_node* node = nullptr;
  expect(kv_node_start(nullptr, &node, err, sizeof err) == KV_INVALID_ARGUMENT, "NULL params");
  kv_node_params params{};
  expect(kv_node_start(&params, &node, err, sizeof err) == KV_INVALID_ARGUMENT, "no struct_size");
  params.struct_size = sizeof params + 8;
  expect(kv_node_start(&params, &node, err, sizeof err) == KV_INVALID_ARGUMENT, "struct of the future");
  params.struct_size = sizeof params;
  params.listen_port = 70000;
  expect(kv_node_start(&params, &node, err, sizeof err) == KV_INVALID_ARGUMENT, "nothing given");
  for (const char* part : {"pool_id", "node_id", "masters", "advertise_host", "listen_port 70000", "segment_bytes"}) {
    expect(std::strstr(err, part) != nullptr || std::strlen(err) == sizeof err - 1, part);
  }
  expect(node == nullptr, "no handle after a failure");
  char tiny[4] = "abc";
  expect(kv_node_start(&params, &node, tiny, sizeof tiny) == KV_INVALID_ARGUMENT && tiny[3] == '\0', "a tiny err");
  expect(kv_node_start(&params, nullptr, nullptr, 0) == KV_INVALID_ARGUMENT, "out NULL, err NULL");
  kv_node_stats stats{};
  expect(kv_node_get_stats(nullptr, &stats) == KV_INVALID_ARGUMENT, "stats of NULL");
  kv_node_destroy(nullptr);
}

void transientNode() {
  char err[256] = "";
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.flags = KV_NODE_TRANSIENT;
  params.masters = "127.0.0.1:1";
  params.listen_host = "127.0.0.1";
  params.advertise_host = "127.0.0.1";
  params.segment_bytes = uint64_t{16} << 20;
  kv_node* node = nullptr;
  expect(kv_node_start(&params, &node, err, sizeof err) == KV_OK, err);
  kv_node_stats stats{};
  stats.struct_size = sizeof stats;
  expect(kv_node_get_stats(node, &stats) == KV_OK, "stats");
  expect(stats.listen_port != 0 && stats.masters_total == 1 && stats.capacity_bytes > 0, "stats of a node");
  stats.struct_size = 8;
  stats.capacity_bytes = 77;
  expect(kv_node_get_stats(node, &stats) == KV_OK && stats.capacity_bytes == 77, "writes no more than there is");
  kv_node_destroy(node);
}

}  // namespace

int main() {
  versions();
  statuses();
  nodeArguments();
  transientNode();
  return failures == 0 ? 0 : 1;
}
