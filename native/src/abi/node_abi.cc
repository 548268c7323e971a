// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "abi/border.h"
#include "base/entropy.h"
#include "kvpool/kvpool.h"
#include "node/node.h"
#include "node/settings.h"

struct kv_node {
  std::unique_ptr<kvpool::node::Node> node;
};

int32_t kv_node_start(const kv_node_params* params, kv_node** out, char* err, uint32_t err_size) {
  using namespace kvpool;
  return abi::guarded(err, err_size, [&]() -> int32_t {
    if (out == nullptr) return abi::report({KV_INVALID_ARGUMENT, "out is NULL"}, err, err_size);
    *out = nullptr;
    const std::optional<kv_node_params> known = abi::readParams(params);
    if (!known) {
      return abi::report(
          {KV_INVALID_ARGUMENT, "params is NULL, or its struct_size is not that of this library: at most " +
                                    std::to_string(sizeof(kv_node_params))},
          err, err_size);
    }
    const Result<node::NodeSettings> settings = node::checkSettings(*known, randomNumber());
    if (!settings.ok()) return abi::report(settings.status(), err, err_size);
    Result<std::unique_ptr<node::Node>> started = node::Node::start(settings.value());
    if (!started.ok()) return abi::report(started.status(), err, err_size);
    *out = new kv_node{std::move(started.value())};
    return KV_OK;
  });
}

int32_t kv_node_get_stats(kv_node* node, kv_node_stats* out) {
  using namespace kvpool;
  return abi::guarded(nullptr, 0, [&]() -> int32_t {
    if (node == nullptr) return KV_INVALID_ARGUMENT;
    if (!node->node->running()) return KV_INTERNAL;
    return abi::writeOut(out, node->node->stats());
  });
}

void kv_node_destroy(kv_node* node) {
  delete node;
}
