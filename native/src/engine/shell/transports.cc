// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/transports.h"

#include <algorithm>

#include "ascend/cann/runtime.h"

namespace kvpool::engine {
namespace {

constexpr std::string_view kTcp = "tcp";
constexpr std::string_view kAscend = "ascend";

Installation lookForAscend() {
  const ascend::Loading loading = ascend::loadRuntime();
  const bool used = loading.runtime != nullptr;
  return {std::string(kAscend), used, (used ? "ascend: used, " : "ascend: not installed, ") + loading.text};
}

/// Why a protocol is not to be had.
std::string reason(std::string_view protocol) {
  if (protocol == "rdma")
    return "which needs UCX, and transfer engines do not use that yet (clients and storage nodes do)";
  if (protocol == "shm")
    return "which is part of tcp here: between processes of one machine that copies from memory to memory";
  return "is no protocol of this library, which knows ascend and tcp";
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

Result<std::vector<Installation>> install(std::string_view protocols) {
  std::vector<Installation> result;
  for (const std::string_view name : split(protocols)) {
    if (name.empty())
      return {KV_INVALID_ARGUMENT,
              "the list of protocols '" + std::string(protocols.substr(0, 100)) + "' has an empty name"};
    const std::string shown(name.substr(0, 32));
    const auto isSame = [&](const Installation& one) { return one.used && one.protocol == name; };
    if (std::ranges::any_of(result, isSame))
      return {KV_INVALID_ARGUMENT, shown + " stands twice in the list of protocols"};
    result.push_back(name == kTcp      ? Installation{shown, true, "tcp: used"}
                     : name == kAscend ? lookForAscend()
                                       : Installation{shown, false, shown + ": not installed, " + reason(name)});
  }
  if (std::ranges::none_of(result, [](const Installation& one) { return one.used; })) {
    return {KV_INVALID_ARGUMENT, "no protocol of the list works here. " + toString(result) +
                                     ". Add tcp to the list if it may be used instead, as in \"rdma,tcp\""};
  }
  return result;
}

std::string toString(const std::vector<Installation>& installations) {
  std::string text;
  for (const Installation& one : installations)
    text += (text.empty() ? "" : "; ") + one.text;
  return text;
}

}  // namespace kvpool::engine
