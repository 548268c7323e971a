// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace kvpool::net {
namespace {

constexpr uint64_t kWakeupToken = 0;
constexpr int kEventsPerRound = 64;

void check(bool ok, const char* what) {
  if (!ok) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(epoll_.valid(), "epoll_create1");
  check(wakeup_.valid(), "eventfd");
  control(EPOLL_CTL_ADD, wakeup_.get(), EPOLLIN, kWakeupToken);
}

void EventLoop::control(int operation, int fd, uint32_t events, uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  check(::epoll_ctl(epoll_.get(), operation, fd, &event) == 0, "epoll_ctl");
}

void EventLoop::add(int fd, uint32_t events, Handler handler) {
  const uint64_t token = ++lastToken_;
  control(EPOLL_CTL_ADD, fd, events, token);
  watches_[fd] = Watch{token, std::make_shared<Handler>(std::move(handler))};
  fdOfToken_[token] = fd;
}

void EventLoop::modify(int fd, uint32_t events) {
  const auto found = watches_.find(fd);
  if (found != watches_.end()) control(EPOLL_CTL_MOD, fd, events, found->second.token);
}

void EventLoop::remove(int fd) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  fdOfToken_.erase(found->second.token);
  watches_.erase(found);
  control(EPOLL_CTL_DEL, fd, 0, 0);
}

void EventLoop::runOnce(int timeoutMs, BusyWait* busy) {
  std::array<epoll_event, kEventsPerRound> events{};
  const auto look = [&](int ms) { return ::epoll_wait(epoll_.get(), events.data(), kEventsPerRound, ms); };
  const int count = busy != nullptr && timeoutMs != 0 ? busy->await(timeoutMs, look) : look(timeoutMs);
  check(count >= 0 || errno == EINTR, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.u64 == kWakeupToken) {
      uint64_t value = 0;
      [[maybe_unused]] const ssize_t drained = ::read(wakeup_.get(), &value, sizeof value);
      continue;
    }
    // A token, not the descriptor: an earlier handler of this round may have closed it and the number may be reused.
    const auto fd = fdOfToken_.find(event.data.u64);
    if (fd == fdOfToken_.end()) continue;
    const std::shared_ptr<Handler> handler = watches_.at(fd->second).handler;
    (*handler)(event.events);
  }
  runPosted();
}

void EventLoop::await(int timeoutMs, BusyWait* busy) const {
  pollfd waited{epoll_.get(), POLLIN, 0};
  const auto look = [&](int ms) { return ::poll(&waited, 1, ms); };
  const int found = busy != nullptr && timeoutMs != 0 ? busy->await(timeoutMs, look) : look(timeoutMs);
  check(found >= 0 || errno == EINTR, "poll");
}

void EventLoop::runPosted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const std::function<void()>& task : tasks)
    task();
}

void EventLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  wake();
}

void EventLoop::wake() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the loop is awake anyway.
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof one);
}

}  // namespace kvpool::net
