// SPDX-License-Identifier: Apache-2.0
#include "ascend/shell/station.h"

#include <algorithm>

#include "ascend/shell/process_settings.h"
#include "base/host_port.h"
#include "net/socket.h"

namespace kvpool::ascend {
namespace {

constexpr const char* kReachesDevicesOnly =
    ". If its link is HCCS, which it is before chip A5 where no variable chooses another, it reaches no memory of "
    "other "
    "hosts: set HCCL_INTRA_ROCE_ENABLE=1 for both sides, or on A3 ASCEND_ENABLE_USE_FABRIC_MEM=1";

}  // namespace

Result<std::unique_ptr<Station>> Station::open(const Terms& terms) {
  const Loading loading = loadRuntime();
  if (loading.runtime == nullptr) return {KV_IO, loading.text};
  std::unique_ptr<Station> station(new Station(*loading.runtime));
  const Result<Settings> settings = processSettings();
  if (!settings.ok()) return settings.status();
  station->settings_ = settings.value();
  auto npu = Npu::open(loading.runtime->acl, settings.value());
  if (!npu.ok()) return npu.status();
  station->npu_ = std::move(npu.value());
  if (Status listening = station->listen(terms); !listening.ok()) return listening;
  return station;
}

Status Station::listen(const Terms& terms) {
  const ContextScope scope(runtime_.acl, npu_->context());
  int32_t device = 0;
  if (const AclError error = runtime_.acl.getDevice(&device); error != kAclOk)
    return {KV_IO, runtime_.acl.problem("aclrtGetDevice", error)};
  const int32_t physical = runtime_.acl.physicalOf(device);
  const Result<PortSlot> slot = portSlot(settings_.basePort, physical);
  if (!slot.ok()) return slot.status();
  const Capabilities capabilities{runtime_.adxl.has(Feature::AutoConnect),
                                  runtime_.adxl.has(Feature::ClientServerComm)};
  const Result<bool> byItself = connectsByItself(settings_, capabilities);
  if (!byItself.ok()) return byItself.status();

  const uint32_t ports = static_cast<uint32_t>(slot.value().last - slot.value().first) + 1;
  const uint32_t preferred = preferredPort(slot.value(), terms.name) - slot.value().first;
  Status refused;  // at the first port that another process took meanwhile
  for (uint32_t i = 0; i < ports && !engine_; ++i) {
    const auto port = static_cast<uint16_t>(slot.value().first + (preferred + i) % ports);
    // CANN does not say that a port is taken.
    if (const Result<Fd> free = net::listenTcp(terms.host, port); !free.ok()) continue;
    const std::string endpoint = toString(HostPort{terms.host, port});
    auto opened = Engine::open(
        runtime_, {npu_->context(), endpoint, optionsOf(settings_, capabilities, runtime_.adxl.optionPrefix)});
    if (!opened.ok()) {
      // Another process may have taken it since.
      if (const Result<Fd> taken = net::listenTcp(terms.host, port); !taken.ok() && refused.ok()) {
        refused = opened.status();
        continue;
      }
      return refused.ok() ? opened.status() : refused;
    }
    engine_ = std::move(opened.value());
  }
  if (!engine_) {
    return {KV_IO, "none of the " + std::to_string(ports) + " ports from " + std::to_string(slot.value().first) +
                       " to " + std::to_string(slot.value().last) + ", which are those of NPU " +
                       std::to_string(physical) + ", is free at " + terms.host +
                       "; end processes that listen there, or set ASCEND_BASE_PORT"};
  }
  memory_ = std::make_unique<StagingMemory>(runtime_, npu_->context(), settings_.fabric, npu_->hostNode());
  Transport::Terms transport;
  transport.routes.connectTimeoutMs = settings_.connectTimeoutMs;
  transport.routes.transferTimeoutMs = settings_.transferTimeoutMs;
  transport.routes.connectsByItself = byItself.value();
  transport.routes.channelsMax = channelsMax(settings_, capabilities);
  transport.routes.cardRepeatsMs = settings_.cardRepeatsMs;
  if (settings_.reachesDevicesOnly()) transport.routes.failureHint = kReachesDevicesOnly;
  transport.routes.shortConnections = settings_.shortConnections;
  transport.threads = settings_.threads;
  transport.async = settings_.async && engine_->hasAsync();
  transport_ = std::make_unique<Transport>(*engine_, transport);
  return {};
}

Station::~Station() {
  transport_.reset();
  engine_.reset();
  memory_.reset();
}

Result<MemoryHandle> Station::registerMemory(uintptr_t address, uint64_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of the caller, which CANN looks up
  const Result<bool> holds = npu_->holds(reinterpret_cast<const void*>(address));
  if (!holds.ok()) return holds.status();
  const bool ofDevice = holds.value();
  const bool whole = address % FabricMemory::kPieceBytes == 0 && bytes % FabricMemory::kPieceBytes == 0;
  if (settings_.fabric && !ofDevice && !whole) {
    return {KV_INVALID_ARGUMENT, std::to_string(bytes) +
                                     " bytes of host memory are no fabric memory, which is mapped by whole GiB. Link "
                                     "Fabric reaches no other memory of hosts: register memory of the NPU, or use "
                                     "link RoCE: unset ASCEND_ENABLE_USE_FABRIC_MEM and set HCCL_INTRA_ROCE_ENABLE=1"};
  }
  const MemoryType type = ofDevice || settings_.fabric ? MemoryType::Device : MemoryType::Host;
  return engine_->registerMemory(address, bytes, type);
}

}  // namespace kvpool::ascend
