// SPDX-License-Identifier: Apache-2.0
#include "adxl_engine.h"

#include <algorithm>
#include <optional>

#include "settings.h"

namespace fake_ascend {
namespace {

constexpr uint64_t kHeartbeatMs = 10000;
constexpr uint64_t kStagedBelow = uint64_t{256} << 10;
constexpr int kDisconnectMs = 1000;
constexpr int kMostConnectMsOfAsync = 3000;

/// Pieces that are none: no bytes, no address, or beyond the last address.
bool areValid(const std::vector<Piece>& pieces) {
  return !pieces.empty() && std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
    return piece.local != 0 && piece.remote != 0 && piece.size != 0 && piece.local + piece.size > piece.local &&
           piece.remote + piece.size > piece.remote;
  });
}

bool isLinkFatal(Status status) {
  return status != kSuccess && status != kParamInvalid && status != kNotConnected && status != kAlreadyConnected &&
         status != kUnsupported && status != kResourceExhausted;
}

std::optional<Home> homeIn(const std::vector<Region>& regions, uint64_t start, uint64_t size) {
  for (const Region& region : regions)
    if (start >= region.start && size <= region.size && start - region.start <= region.size - size) return region.home;
  return std::nullopt;
}

Home homeByAcl(uint64_t start, uint64_t size) {
  return placeOf(start, size).device ? Home::kDevice : Home::kHost;
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : options_(options), listener_(memory_, options.bufferPool), channels_(options.links) {
  fake_ascend_count("engine", 1);
}

Engine::~Engine() {
  stop();
  fake_ascend_count("engine", -1);
}

Status Engine::start(const std::string& name, const EngineOptions& options, std::shared_ptr<Engine>& engine) {
  const auto address = Address::parse(name);
  if (!address) return kParamInvalid;
  if (fake_ascend_has_context() == 0) return kFailed;
  std::shared_ptr<Engine> started(new Engine(options));
  if (!started->listener_.start(*address)) return kFailed;
  started->heartbeat_ = std::thread([own = started.get()] { own->beat(); });
  engine = std::move(started);
  return kSuccess;
}

void Engine::stop() {
  closing_.close();
  if (heartbeat_.joinable()) heartbeat_.join();
  channels_.closeAll();
  requests_.end();
  listener_.stop();
  memory_.clear();
}

Status Engine::registerMemory(uint64_t start, uint64_t size, Home home, void*& handle) {
  return memory_.add(start, size, home, options_.link, handle);
}

Status Engine::connect(const std::string& peer, Deadline deadline) {
  return Address::parse(peer) ? channels_.connect(peer, deadline) : kParamInvalid;
}

Status Engine::transfer(const std::string& peer, Channel::Direction direction, const std::vector<Piece>& pieces,
                        Deadline deadline) {
  if (!areValid(pieces)) return kParamInvalid;
  std::shared_ptr<Channel> channel;
  if (const Status status = channelTo(peer, deadline, channel)) return status;
  if (const Status status = check(*channel, pieces)) return afterTransfer(peer, status);
  return afterTransfer(peer, channel->transfer(direction, pieces, deadline));
}

void Engine::timedOut(const std::string& peer) {
  if (const auto channel = channels_.find(peer)) channel->giveUp();
  afterTransfer(peer, kTimeout);
}

Status Engine::transferLater(const std::string& peer, Channel::Direction direction, const std::vector<Piece>& pieces,
                             void*& request) {
  if (!areValid(pieces)) return kParamInvalid;
  if (options_.bufferPool) return kUnsupported;
  std::shared_ptr<Channel> channel;
  if (const Status status = channelTo(peer, afterMs(kMostConnectMsOfAsync), channel)) return status;
  if (const Status status = check(*channel, pieces)) return afterTransfer(peer, status);
  const auto timeout = static_cast<int64_t>(fake_ascend_number("async_timeout_ms", 0));
  const Deadline deadline = timeout == 0 ? kNoDeadline : afterMs(timeout);
  request = requests_.start(channel, [this, channel, peer, direction, pieces, deadline] {
    return afterTransfer(peer, channel->transfer(direction, pieces, deadline));
  });
  return kSuccess;
}

Status Engine::channelTo(const std::string& peer, Deadline deadline, std::shared_ptr<Channel>& channel) {
  channel = channels_.find(peer);
  if (channel != nullptr) return kSuccess;
  if (!options_.autoConnect) return kNotConnected;
  const Status status = connect(peer, deadline);
  if (status != kSuccess && status != kAlreadyConnected) return status;
  channel = channels_.find(peer);
  return channel != nullptr ? kSuccess : kNotConnected;
}

Status Engine::check(const Channel& channel, const std::vector<Piece>& pieces) const {
  std::optional<std::pair<Home, Home>> type;
  for (const Piece& piece : pieces) {
    const auto local = memory_.homeOf(piece.local, piece.size);
    const auto remote = homeIn(channel.remoteRegions(), piece.remote, piece.size);
    if (!options_.bufferPool && (!local || !remote))
      return static_cast<Status>(fake_ascend_number("unknown_memory_status", kFailed));
    const bool staged = options_.bufferPool && (!local || !remote || piece.size < kStagedBelow);
    const std::pair own(local ? *local : homeByAcl(piece.local, piece.size), remote.value_or(Home::kHost));
    if (options_.bufferPool && type && *type != own) return kParamInvalid;
    type = own;
    if (options_.link == Link::kHccs && own.second == Home::kHost && !staged)
      return static_cast<Status>(fake_ascend_number("hccs_host_status", kFailed));
  }
  return kSuccess;
}

Status Engine::afterTransfer(const std::string& peer, Status status) {
  if (!options_.autoConnect || !isLinkFatal(status)) return status;
  const Status disconnected = channels_.disconnect(peer, afterMs(kDisconnectMs));
  return disconnected == kSuccess ? status : disconnected;
}

void Engine::beat() {
  while (true) {
    const auto interval = static_cast<int64_t>(fake_ascend_number("heartbeat_ms", kHeartbeatMs));
    if (closing_.waitUntil(afterMs(interval)) == Io::kBroken) return;
    for (const auto& channel : channels_.all())
      channel->heartbeat();
  }
}

}  // namespace fake_ascend
