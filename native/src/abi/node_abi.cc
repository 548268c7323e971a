// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "abi/border.h"
#include "base/entropy.h"
#include "kvpool/kvpool.h"
#include "node/shell/node.h"
#include "node/shell/settings.h"

struct kv_node {
  std::unique_ptr<kvpool::node::Node> node;
};

int32_t kv_node_start(const kv_node_params* params, kv_node** out, char* err, uint32_t err_size) {
  using namespace kvpool;
  const auto settingsFrom = [](const kv_node_params& read) { return node::checkSettings(read, randomNumber()); };
  return abi::create(params, out, err, err_size, settingsFrom, node::Node::start);
}

int32_t kv_node_get_stats(kv_node* node, kv_node_stats* out) {
  using namespace kvpool;
  return abi::guarded(nullptr, 0, [&]() -> int32_t {
    if (node == nullptr) return KV_INVALID_ARGUMENT;
    if (!node->node->running()) return KV_INTERNAL;
    return abi::writeOut(out, node->node->stats());
  });
}

int32_t kv_node_explain(kv_node* node, char* out, uint32_t out_size) {
  using namespace kvpool;
  return abi::guarded(nullptr, 0, [&]() -> int32_t {
    if (node == nullptr || out == nullptr || out_size == 0) return KV_INVALID_ARGUMENT;
    abi::writeText(node->node->explanation(), out, out_size);
    return KV_OK;
  });
}

void kv_node_destroy(kv_node* node) {
  delete node;
}
