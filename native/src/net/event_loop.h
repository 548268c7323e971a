// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "net/busy_wait.h"

namespace kvpool::net {

/// Level-triggered epoll for one thread at a time. Only post(), wake() and await() may be called by others meanwhile.
class EventLoop {
 public:
  /// Gets the EPOLL* bits that happened.
  using Handler = std::function<void(uint32_t events)>;

  /// Throws std::system_error when the process is out of descriptors.
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Watches `fd`, which stays the caller's and must be removed before it is closed.
  void add(int fd, uint32_t events, Handler handler);
  void modify(int fd, uint32_t events);
  /// After this no handler of `fd` runs any more, also not for events that were already fetched.
  void remove(int fd);

  /// Waits until something happens, at most `timeoutMs` (-1: for ever), and runs what is due. With `busy` it may look
  /// for a while before it sleeps.
  void runOnce(int timeoutMs, BusyWait* busy = nullptr);
  /// Waits until runOnce() would find something, at most `timeoutMs`, and does nothing about it. `busy` as above.
  void await(int timeoutMs, BusyWait* busy = nullptr) const;

  /// Runs `task` in the loop's thread, in order. Callers bound what they post.
  void post(std::function<void()> task);
  /// Ends a wait.
  void wake();

 private:
  struct Watch {
    uint64_t token = 0;
    std::shared_ptr<Handler> handler;
  };
  void control(int operation, int fd, uint32_t events, uint64_t token);
  void runPosted();

  Fd epoll_;
  Fd wakeup_;
  uint64_t lastToken_ = 0;
  std::unordered_map<int, Watch> watches_;
  std::unordered_map<uint64_t, int> fdOfToken_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace kvpool::net
