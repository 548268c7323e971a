// SPDX-License-Identifier: Apache-2.0
#include "adxl_channels.h"

namespace fake_ascend {
Status Channels::connect(const std::string& peer, Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return connecting_.count(peer) == 0; })) return kTimeout;
    if (channels_.count(peer) != 0) return kAlreadyConnected;
    if (channels_.size() + connecting_.size() >= fake_ascend_number("links", links_)) return kResourceExhausted;
    connecting_.insert(peer);
  }
  std::shared_ptr<Channel> channel;
  const Status status = Channel::open(peer, deadline, channel);
  const std::lock_guard lock(mutex_);
  connecting_.erase(peer);
  changed_.notify_all();
  if (status == kSuccess) channels_[peer] = std::move(channel);
  return status;
}

Status Channels::disconnect(const std::string& peer, Deadline deadline) {
  const auto channel = find(peer);
  if (channel == nullptr) return kNotConnected;
  if (const Status status = channel->sayGoodbye(deadline)) return status;
  channel->close();
  const std::lock_guard lock(mutex_);
  const auto found = channels_.find(peer);
  if (found != channels_.end() && found->second == channel) channels_.erase(found);
  return kSuccess;
}

std::shared_ptr<Channel> Channels::find(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  const auto found = channels_.find(peer);
  return found == channels_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Channel>> Channels::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Channel>> channels;
  for (const auto& [peer, channel] : channels_)
    channels.push_back(channel);
  return channels;
}

void Channels::closeAll() {
  for (const auto& channel : all())
    channel->close();
  const std::lock_guard lock(mutex_);
  channels_.clear();
}

}  // namespace fake_ascend
