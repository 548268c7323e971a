// SPDX-License-Identifier: Apache-2.0
#include "abi/parameters.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/boot.h"
#include "base/entropy.h"
#include "base/utf8.h"
#include "net/address.h"

namespace kvpool::abi {
namespace {

std::string hostNameOr(const char* standard) {
  std::array<char, wire::kNameBytesMax + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return standard;
  return name.data();
}

constexpr uint32_t kUsualProtocols = KV_PROTOCOL_TCP | KV_PROTOCOL_SHM;
constexpr uint32_t kProtocols = kUsualProtocols | KV_PROTOCOL_UCX | KV_PROTOCOL_ASCEND;

}  // namespace

Result<std::string> nameOr(const char* given, std::string_view standard, const char* what) {
  std::string name(textOr(given, standard));
  if (name.size() > wire::kNameBytesMax || !isUtf8(name)) {
    return {KV_INVALID_ARGUMENT,
            std::string(what) + " must be at most " + std::to_string(wire::kNameBytesMax) + " bytes of UTF-8"};
  }
  return name;
}

Result<wire::Identity> identityOf(wire::Role role, const char* given, const char* standard, const char* product) {
  auto name = nameOr(given, hostNameOr(standard), "name");
  if (!name.ok()) return name.status();
  auto version = nameOr(product, KVPOOL_PRODUCT_VERSION, "product");
  if (!version.ok()) return version.status();
  wire::Identity self;
  self.role = role;
  self.incarnation = randomNumber();
  self.name = std::move(name.value());
  self.product = std::move(version.value());
  return self;
}

std::chrono::microseconds busyWaitFrom(uint32_t us) {
  if (us == KV_BUSY_WAIT_NEVER) return std::chrono::microseconds{0};
  return us == 0 ? net::kBusyWait : std::chrono::microseconds{us};
}

Result<client::ClientSettings> clientSettings(const PoolParameters& given) {
  if (given.masters == nullptr) return {KV_INVALID_ARGUMENT, "masters is missing: HOST:PORT[,HOST:PORT...]"};
  const auto masters = parseHostPorts(given.masters, client::kMastersMax);
  if (!masters.ok()) return masters.status();
  if ((given.protocols & ~kProtocols) != 0) {
    return {KV_INVALID_ARGUMENT,
            "protocols has unknown bits; known are KV_PROTOCOL_TCP, KV_PROTOCOL_SHM, KV_PROTOCOL_UCX and "
            "KV_PROTOCOL_ASCEND"};
  }
  auto self = identityOf(wire::Role::Client, given.name, "client", given.product);
  if (!self.ok()) return self.status();
  const Result<secure::Settings> tls =
      secure::settingsOf(given.tlsDirectory, given.tlsMode, given.payloads, secure::Payloads::Authenticated);
  if (!tls.ok()) return tls.status();
  auto security = secure::Security::open(tls.value());
  if (!security.ok()) return security.status();
  const uint32_t protocols = orDefault(given.protocols, kUsualProtocols);
  if ((protocols & (KV_PROTOCOL_UCX | KV_PROTOCOL_TCP)) == KV_PROTOCOL_UCX) {
    return {KV_INVALID_ARGUMENT, "protocols has ucx without tcp, by which its requests go"};
  }
  if ((protocols & KV_PROTOCOL_UCX) != 0 && (protocols & KV_PROTOCOL_ASCEND) != 0) {
    return {KV_INVALID_ARGUMENT, "protocols has ucx and ascend, which exclude each other; name one of them"};
  }
  client::ClientSettings settings;
  settings.security = std::move(security.value());
  for (const auto& master : masters.value())
    settings.config.masters.push_back(toString(master));
  settings.config.me = std::move(self.value());
  const bool ascend = (protocols & KV_PROTOCOL_ASCEND) != 0;
  settings.config.remoteOnly = ascend && (protocols & KV_PROTOCOL_TCP) == 0;
  settings.config.tcp = ascend || (protocols & KV_PROTOCOL_TCP) != 0;
  settings.config.shm = (protocols & KV_PROTOCOL_SHM) != 0;
  if ((protocols & KV_PROTOCOL_UCX) != 0) settings.config.remote = RemoteProtocol::Ucx;
  if (ascend) settings.config.remote = RemoteProtocol::Ascend;
  settings.config.bootId = bootId();
  settings.config.seed = randomNumber();
  settings.config.connectTimeoutMs = orDefault(given.connectTimeoutMs, client::kConnectTimeoutMs);
  settings.config.transferTimeoutMs = orDefault(given.transferTimeoutMs, client::kTransferTimeoutMs);
  settings.config.idleTimeoutMs = orDefault(given.idleTimeoutMs, client::kIdleTimeoutMs);
  return settings;
}

}  // namespace kvpool::abi
