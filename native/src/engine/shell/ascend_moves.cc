// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/ascend_moves.h"

#include <algorithm>
#include <cstdlib>

#include "ascend/cann/copier.h"
#include "base/host_port.h"
#include "net/clock.h"
#include "net/socket.h"

namespace kvpool::engine {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

Result<std::unique_ptr<AscendMoves>> AscendMoves::open(const Terms& terms) {
  const ascend::Loading loading = ascend::loadRuntime();
  if (loading.runtime == nullptr) return {KV_IO, loading.text};
  std::unique_ptr<AscendMoves> moves(new AscendMoves(*loading.runtime));
  Status started = moves->start(terms);
  if (!started.ok()) return started;
  return moves;
}

Status AscendMoves::start(const Terms& terms) {
  const Result<ascend::Settings> settings = ascend::Settings::of(variable);
  if (!settings.ok()) return settings.status();
  Status device = useDevice();
  return device.ok() ? listen(terms, settings.value()) : device;
}

Status AscendMoves::useDevice() {
  const ascend::Acl& acl = runtime_.acl;
  if (acl.getCurrentContext(&context_) == ascend::kAclOk && context_ != nullptr) return {};
  const ascend::AclError set = acl.setDevice(0);
  if (set != ascend::kAclOk) return {KV_IO, acl.problem("the first NPU cannot be used, aclrtSetDevice", set)};
  const ascend::AclError made = acl.createContext(&context_, 0);
  if (made != ascend::kAclOk) return {KV_IO, acl.problem("the first NPU cannot be used, aclrtCreateContext", made)};
  ownsContext_ = true;
  return {};
}

Status AscendMoves::listen(const Terms& terms, const ascend::Settings& settings) {
  const ascend::ContextScope scope(runtime_.acl, context_);
  int32_t device = 0;
  int32_t physical = 0;
  if (const ascend::AclError error = runtime_.acl.getDevice(&device); error != ascend::kAclOk)
    return {KV_IO, runtime_.acl.problem("aclrtGetDevice", error)};
  if (runtime_.acl.physicalDevice(device, &physical) != ascend::kAclOk) physical = device;
  const Result<ascend::PortSlot> slot = ascend::portSlot(settings.basePort, physical);
  if (!slot.ok()) return slot.status();
  const ascend::Capabilities capabilities{runtime_.adxl.has(ascend::Feature::AutoConnect),
                                          runtime_.adxl.has(ascend::Feature::ClientServerComm)};
  const Result<bool> byItself = ascend::connectsByItself(settings, capabilities);
  if (!byItself.ok()) return byItself.status();

  const uint32_t ports = static_cast<uint32_t>(slot.value().last - slot.value().first) + 1;
  const uint32_t preferred = ascend::preferredPort(slot.value(), terms.name) - slot.value().first;
  for (uint32_t i = 0; i < ports && !engine_; ++i) {
    const auto port = static_cast<uint16_t>(slot.value().first + (preferred + i) % ports);
    // CANN does not say that a port is taken.
    if (const Result<Fd> free = net::listenTcp(terms.host, port); !free.ok()) continue;
    const std::string endpoint = toString(HostPort{terms.host, port});
    auto opened = ascend::Engine::open(
        runtime_, {context_, endpoint, ascend::optionsOf(settings, capabilities, runtime_.adxl.optionPrefix)});
    if (!opened.ok()) return opened.status();
    engine_ = std::move(opened.value());
  }
  if (!engine_) {
    return {KV_IO, "none of the " + std::to_string(ports) + " ports from " + std::to_string(slot.value().first) +
                       " to " + std::to_string(slot.value().last) + ", which are those of NPU " +
                       std::to_string(physical) + ", is free at " + terms.host +
                       "; end processes that listen there, or set ASCEND_BASE_PORT"};
  }
  ascend::Transport::Terms transport;
  transport.routes.connectTimeoutMs = settings.connectTimeoutMs;
  transport.routes.transferTimeoutMs = settings.transferTimeoutMs;
  transport.routes.connectsByItself = byItself.value();
  transport.routes.shortConnections = settings.shortConnections;
  transport.threads = settings.threads;
  transport.async = settings.async && engine_->hasAsync();
  transport_ = std::make_unique<ascend::Transport>(*engine_, transport);
  return {};
}

AscendMoves::~AscendMoves() {
  transport_.reset();
  engine_.reset();
  if (ownsContext_) (void)runtime_.acl.destroyContext(context_);
}

bool AscendMoves::isOfDevice(uint64_t address) const {
  const ascend::ContextScope scope(runtime_.acl, context_);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of the caller, which CANN looks up
  return ascend::locate(runtime_.acl, reinterpret_cast<const void*>(address)) == ascend::Location::Device;
}

Status AscendMoves::add(std::span<const kv_region> regions) {
  std::vector<std::pair<uint64_t, ascend::MemoryHandle>> added;
  for (const kv_region& region : regions) {
    const auto type = isOfDevice(region.address) ? ascend::MemoryType::Device : ascend::MemoryType::Host;
    const auto handle = engine_->registerMemory(region.address, region.length, type);
    if (handle.ok()) {
      added.emplace_back(region.address, handle.value());
      continue;
    }
    for (const auto& [address, earlier] : added)
      (void)engine_->deregisterMemory(earlier);
    return handle.status();
  }
  const std::lock_guard lock(mutex_);
  handles_.insert(added.begin(), added.end());
  transport_->registered();
  return {};
}

void AscendMoves::remove(std::span<const kv_region> regions) {
  std::vector<ascend::MemoryHandle> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const kv_region& region : regions) {
      if (const auto handle = handles_.extract(region.address)) gone.push_back(handle.mapped());
    }
  }
  if (gone.empty()) return;
  transport_->withoutChannels([&] {
    for (const ascend::MemoryHandle handle : gone)
      (void)engine_->deregisterMemory(handle);
  });
}

void AscendMoves::begin(const Move& move) {
  std::vector<ascend::Piece> pieces;
  pieces.reserve(move.pieces.size());
  for (const MovedPiece& piece : move.pieces)
    pieces.push_back({reinterpret_cast<uintptr_t>(piece.local), piece.remote, piece.length});
  transport_->submit({move.endpoint, move.registrations},
                     move.read ? ascend::Direction::Read : ascend::Direction::Write, std::move(pieces),
                     move.deadline - net::steadyMs(), [this, id = move.move](const Status& status) {
                       {
                         const std::lock_guard lock(mutex_);
                         ends_.push_back({id, status});
                       }
                       ended_();
                     });
}

std::vector<AscendMoves::End> AscendMoves::takeEnds() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ends_, {});
}

}  // namespace kvpool::engine
