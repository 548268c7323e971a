// SPDX-License-Identifier: Apache-2.0
// kv_test_node MASTERS POOL_ID DATA_DIR PROTOCOLS: a storage node in a process of its own, to be killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "kvpool/kvpool.h"

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: kv_test_node MASTERS POOL_ID DATA_DIR PROTOCOLS\n");
    return 2;
  }
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.node_id = "node-0";
  params.masters = arguments[1];
  params.pool_id = arguments[2];
  params.data_dir = arguments[3];
  params.protocols = static_cast<uint32_t>(std::atoi(arguments[4]));
  params.listen_host = "127.0.0.1";
  params.advertise_host = "127.0.0.1";
  params.segment_bytes = 64 << 20;
  params.connect_timeout_ms = 30000;
  char err[512] = "";
  kv_node* node = nullptr;
  if (kv_node_start(&params, &node, err, sizeof err) != KV_OK) {
    std::fprintf(stderr, "kv_test_node: %s\n", err);
    return 1;
  }
  for (;;)
    ::pause();
}
