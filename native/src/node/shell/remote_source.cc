// SPDX-License-Identifier: Apache-2.0
#include "node/shell/remote_source.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "base/ids.h"
#include "node/shell/tier_staging.h"

namespace kvpool::node {
namespace {

/// Where the node's engine of CANN is: one address, as CANN wants it.
Result<std::string> ascendHost(const NodeSettings& settings) {
  if (const char* named = std::getenv("HCCL_IF_IP"); named != nullptr && *named != '\0') return std::string(named);
  if (isIp(settings.advertiseHost)) return settings.advertiseHost;
  const bool isAny = settings.listenHost == "::" || settings.listenHost == "0.0.0.0";
  if (!isAny && isIp(settings.listenHost)) return settings.listenHost;
  return {KV_INVALID_ARGUMENT,
          "ascend needs an IP of this machine: set HCCL_IF_IP, as the address that clients are told is a name"};
}

}  // namespace

Result<RemoteSource> openRemote(const NodeSettings& settings, std::span<uint8_t> segment, bool withTier) {
  if (*settings.remote == RemoteProtocol::Ucx) {
    auto opened = openUcx(segment, withTier ? TierStaging::kBytes : 0);
    if (!opened.ok()) return opened.status();
    return RemoteSource(std::move(opened.value()));
  }
  const Result<std::string> host = ascendHost(settings);
  if (!host.ok()) return host.status();
  // Nodes of two pools may have one name, and on the hosts' network one address.
  const std::string name = toString(settings.poolId) + "/" + settings.nodeId;
  auto opened = openAscend({host.value(), name}, withTier ? TierStaging::kBytes : 0);
  if (!opened.ok()) return opened.status();
  return RemoteSource(std::move(opened.value()));
}

std::span<uint8_t> tierStagingOf(const RemoteSource& source) {
  return std::visit([](const auto& one) { return one.tierBytes(); }, source);
}

std::unique_ptr<RemoteLinks> linksOf(RemoteSource source, std::span<uint8_t> segment, RemoteEvents& events,
                                     uint64_t connectTimeoutMs, std::function<void()> wake) {
  if (auto* ucx = std::get_if<UcxSource>(&source))
    return std::make_unique<UcxLinks>(std::move(*ucx), segment, events, connectTimeoutMs);
  return std::make_unique<AscendLinks>(std::move(std::get<AscendSource>(source)), segment, events, std::move(wake));
}

}  // namespace kvpool::node
