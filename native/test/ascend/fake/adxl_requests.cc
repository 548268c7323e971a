// SPDX-License-Identifier: Apache-2.0
#include "adxl_requests.h"

namespace fake_ascend {

Requests::~Requests() {
  end();
}

void* Requests::start(std::shared_ptr<Channel> channel, std::function<Status()> work) {
  const std::lock_guard lock(mutex_);
  void* handle = reinterpret_cast<void*>(++last_);
  auto& request = requests_[handle] = std::make_unique<Request>();
  request->channel = std::move(channel);
  request->thread = std::thread([&own = *request, work = std::move(work)] {
    own.status = work();
    own.ended = true;
  });
  fake_ascend_count("request", 1);
  return handle;
}

Status Requests::look(void* handle, Progress& progress) {
  bool channelIsGone = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = requests_.find(handle);
    if (found == requests_.end()) return kParamInvalid;
    channelIsGone = found->second->channel->isClosed();
    if (!channelIsGone && !found->second->ended) {
      progress = Progress::kWaiting;
      return kSuccess;
    }
  }
  const auto request = take(handle);
  if (request == nullptr) return kParamInvalid;
  request->thread.join();
  const Status status = channelIsGone ? kNotConnected : request->status.load();
  progress = status == kSuccess   ? Progress::kCompleted
             : status == kTimeout ? Progress::kOutOfTime
                                  : Progress::kUnsuccessful;
  return status;
}

void Requests::end() {
  std::map<void*, std::unique_ptr<Request>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(requests_);
  }
  for (const auto& [handle, request] : all) {
    request->thread.join();
    fake_ascend_count("request", -1);
  }
}

std::unique_ptr<Requests::Request> Requests::take(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(handle);
  if (found == requests_.end()) return nullptr;
  auto request = std::move(found->second);
  requests_.erase(found);
  fake_ascend_count("request", -1);
  return request;
}

}  // namespace fake_ascend
