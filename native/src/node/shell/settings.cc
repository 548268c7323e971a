// SPDX-License-Identifier: Apache-2.0
#include "node/shell/settings.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "ssd/layout.h"
#include "store/layout.h"
#include "wire/protocol.h"

namespace kvpool::node {
namespace {

/// More than memory gives; a tick's share must not overflow.
static_assert(KV_NODE_STAGING_BYTES == kSharedStagingBytes);

constexpr uint64_t kScrubBytesPerSecondMax = uint64_t{1} << 40;
constexpr uint32_t kAllProtocols = KV_PROTOCOL_TCP | KV_PROTOCOL_SHM | KV_PROTOCOL_UCX | KV_PROTOCOL_ASCEND;
constexpr uint32_t kAllFlags = KV_NODE_TRANSIENT | KV_NODE_NO_PREFAULT | KV_NODE_LOCK_MEMORY | KV_NODE_TRUSTED_FABRIC;

std::string_view textOf(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

/// Collects problems, so that people correct a configuration once and not field by field.
class Problems {
 public:
  void unless(bool fine, const std::string& problem) {
    if (fine) return;
    text_ += (text_.empty() ? "" : "; ") + problem;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool isName(std::string_view text) {
  return !text.empty() && text.size() <= wire::kNameBytesMax && isUtf8(text) &&
         text.find_first_of(" \t\r\n,") == std::string_view::npos;
}

/// What masters can write down: their register has it in a line of words.
bool isNodeId(std::string_view text) {
  const auto isOf = [](char byte) { return byte > ' ' && byte <= '~' && byte != ','; };
  return !text.empty() && text.size() <= wire::kNameBytesMax && std::all_of(text.begin(), text.end(), isOf);
}

void checkIdentity(const kv_node_params& params, uint64_t randomId, NodeSettings& settings, Problems& problems) {
  const bool transient = (params.flags & KV_NODE_TRANSIENT) != 0;
  if (params.pool_id != nullptr) {
    const std::optional<PoolId> pool = parsePoolId(textOf(params.pool_id));
    problems.unless(pool && !pool->isAny(), "pool_id '" + std::string(textOf(params.pool_id)) + "' is no UUID");
    if (pool) settings.poolId = *pool;
  } else {
    problems.unless(transient, "pool_id is missing");
  }
  if (params.node_id != nullptr) {
    settings.nodeId = textOf(params.node_id);
    problems.unless(isNodeId(settings.nodeId),
                    "node_id must have 1 to 253 printable characters of ASCII without spaces and commas");
  } else {
    problems.unless(transient, "node_id is missing");
    settings.nodeId = "transient-" + hex16(randomId);
  }
}

void checkEndpoints(const kv_node_params& params, NodeSettings& settings, Problems& problems) {
  Result<std::vector<HostPort>> masters = parseHostPorts(textOf(params.masters), kMastersMax);
  problems.unless(masters.ok(), "masters: " + masters.status().text());
  if (masters.ok()) settings.masters = std::move(masters.value());
  if (params.listen_host != nullptr) settings.listenHost = params.listen_host;
  problems.unless(!settings.listenHost.empty(), "listen_host is empty");
  settings.advertiseHost = textOf(params.advertise_host);
  problems.unless(isName(settings.advertiseHost), "advertise_host is missing; name what clients can connect to");
  problems.unless(params.listen_port <= 65535, "listen_port " + std::to_string(params.listen_port) + " is above 65535");
  settings.listenPort = static_cast<uint16_t>(params.listen_port);
}

void checkStorage(const kv_node_params& params, NodeSettings& settings, Problems& problems) {
  const bool transient = (params.flags & KV_NODE_TRANSIENT) != 0;
  settings.dataDir = textOf(params.data_dir);
  problems.unless(transient == settings.dataDir.empty(),
                  transient ? "data_dir must be NULL for a transient node" : "data_dir is missing");
  settings.memoryPath = textOf(params.memory_path);
  settings.memoryOffset = params.memory_offset;
  const bool lent = !settings.memoryPath.empty();
  problems.unless(transient || !lent, "memory_path is for transient nodes; others have a data_dir");
  problems.unless(lent || settings.memoryOffset == 0, "memory_offset without a memory_path");
  settings.segmentBytes = params.segment_bytes;
  problems.unless(store::planGeometry(params.segment_bytes).has_value(),
                  "segment_bytes " + std::to_string(params.segment_bytes) + " is not between 16 MiB and 32 TiB");
  problems.unless((params.protocols & ~kAllProtocols) == 0, "protocols has unknown bits");
  const uint32_t usual = transient ? uint32_t{KV_PROTOCOL_TCP} : uint32_t{KV_PROTOCOL_TCP | KV_PROTOCOL_SHM};
  const uint32_t protocols = params.protocols == 0 ? usual : params.protocols;
  settings.tcp = (protocols & KV_PROTOCOL_TCP) != 0;
  settings.shm = (protocols & KV_PROTOCOL_SHM) != 0;
  const bool ucx = (protocols & KV_PROTOCOL_UCX) != 0;
  const bool ascend = (protocols & KV_PROTOCOL_ASCEND) != 0;
  problems.unless(!ucx || settings.tcp, "ucx needs tcp beside it, by which its requests go");
  problems.unless(!(ucx && ascend), "ucx and ascend exclude each other; name one of them");
  if (ucx) settings.remote = RemoteProtocol::Ucx;
  if (ascend) settings.remote = RemoteProtocol::Ascend;
  settings.remoteRequired = ascend && !settings.tcp;
  problems.unless(!(settings.shm && transient), "shm needs a data_dir for its socket");
  settings.socketDir = textOf(params.socket_dir);
  const bool place = !settings.socketDir.empty();
  problems.unless(!place || settings.shm, "socket_dir without shm, which its socket is for");
  problems.unless(!place || settings.socketDir.front() == '/',
                  "socket_dir must begin with '/': clients get it as it is");
  if (params.staging_bytes != 0) settings.stagingBytes = params.staging_bytes;
  settings.trustedFabric = (params.flags & KV_NODE_TRUSTED_FABRIC) != 0;
  settings.lockMemory = (params.flags & KV_NODE_LOCK_MEMORY) != 0;
  settings.prefault = (params.flags & KV_NODE_NO_PREFAULT) == 0;
  settings.ssdPath = textOf(params.ssd_path);
  settings.ssdBytes = params.ssd_bytes;
  settings.ssdKeyFile = textOf(params.ssd_key_file);
  const bool ssd = !settings.ssdPath.empty();
  problems.unless(ssd || settings.ssdBytes == 0, "ssd_bytes without an ssd_path");
  problems.unless(ssd || settings.ssdKeyFile.empty(), "ssd_key_file without an ssd_path");
  problems.unless(!ssd || !transient, "a transient node has no SSD tier: its objects go with the process");
  problems.unless(!ssd || ssd::planTier(settings.ssdBytes).has_value(),
                  "ssd_bytes " + std::to_string(settings.ssdBytes) + " is not between 16 MiB and 32 TiB");
  const Result<store::NumaPlacement> numa = store::parseNumaPlacement(textOf(params.numa));
  problems.unless(numa.ok(), numa.status().text());
  if (numa.ok()) settings.numa = numa.value();
  problems.unless(!lent || textOf(params.numa).empty(),
                  "numa is for memory that the node makes itself, not for memory_path");
}

}  // namespace

Result<NodeSettings> checkSettings(const kv_node_params& params, uint64_t randomId) {
  NodeSettings settings;
  Problems problems;
  problems.unless((params.flags & ~kAllFlags) == 0, "flags has unknown bits");
  checkIdentity(params, randomId, settings, problems);
  checkEndpoints(params, settings, problems);
  checkStorage(params, settings, problems);
  if (params.connect_timeout_ms != 0) settings.connectTimeoutMs = params.connect_timeout_ms;
  if (params.transfer_timeout_ms != 0) settings.transferTimeoutMs = params.transfer_timeout_ms;
  if (params.idle_timeout_ms != 0) settings.idleTimeoutMs = params.idle_timeout_ms;
  if (params.product != nullptr) settings.product = params.product;
  problems.unless(isName(settings.product), "product must have 1 to 253 bytes");
  settings.zone = textOf(params.zone);
  problems.unless(settings.zone.empty() || isName(settings.zone),
                  "zone must have at most 253 bytes without spaces and commas");
  const Result<secure::Settings> tls =
      secure::settingsOf(params.tls_dir, params.tls_mode, params.payloads, secure::Payloads::Encrypted);
  problems.unless(tls.ok(), tls.status().text());
  if (tls.ok()) settings.tls = tls.value();
  if (params.scrub_bytes_per_second != 0) settings.scrubBytesPerSecond = params.scrub_bytes_per_second;
  problems.unless(settings.scrubBytesPerSecond <= kScrubBytesPerSecondMax,
                  "scrub_bytes_per_second is above " + std::to_string(kScrubBytesPerSecondMax));
  if (!problems.text().empty()) return Status(KV_INVALID_ARGUMENT, problems.text());
  return settings;
}

}  // namespace kvpool::node
