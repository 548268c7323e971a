// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "net/address.h"
#include "net/socket.h"

namespace kvpool::test {

/// Carries TCP connections to the same port of 127.0.0.1, in a thread of its own, and keeps what goes by: what somebody
/// on the way sees. A storage node that advertises kHost has it before itself.
class Wiretap {
 public:
  static constexpr const char* kHost = "127.0.0.2";

  explicit Wiretap(uint16_t port) : port_(port), listener_(std::move(net::listenTcp(kHost, port).value())) {
    thread_ = std::thread([this] { run(); });
  }
  ~Wiretap() {
    stopped_ = true;
    thread_.join();
  }
  Wiretap(const Wiretap&) = delete;
  Wiretap& operator=(const Wiretap&) = delete;

  [[nodiscard]] size_t seenBytes() const {
    const std::lock_guard lock(mutex_);
    return seen_.size();
  }
  [[nodiscard]] bool saw(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return seen_.find(part) != std::string::npos;
  }

 private:
  struct Way {
    Fd from;
    Fd to;
  };

  void run() {
    while (!stopped_) {
      std::vector<pollfd> waiting{{listener_.get(), POLLIN, 0}};
      for (const Way& way : ways_) {
        waiting.push_back({way.from.get(), POLLIN, 0});
        waiting.push_back({way.to.get(), POLLIN, 0});
      }
      constexpr int kPollMs = 20;
      if (::poll(waiting.data(), waiting.size(), kPollMs) <= 0) continue;
      std::erase_if(ways_, [this](const Way& way) {
        return !carry(way.from.get(), way.to.get()) || !carry(way.to.get(), way.from.get());
      });
      accept();
    }
  }

  void accept() {
    net::SocketAddress peer;
    auto accepted = net::acceptOne(listener_.get(), &peer);
    if (!accepted.ok() || !accepted.value().valid()) return;
    auto onward = net::startConnect(net::resolve({"127.0.0.1", port_}).value().front());
    if (onward.ok()) ways_.push_back(Way{std::move(accepted.value()), std::move(onward.value())});
  }

  /// False at its end.
  bool carry(int from, int to) {
    std::array<char, 65536> block;
    const ssize_t count = ::recv(from, block.data(), block.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS;
    if (count == 0) return false;
    {
      // Before it goes on, so that a test that got a value finds all of it here.
      const std::lock_guard lock(mutex_);
      seen_.append(block.data(), static_cast<size_t>(count));
    }
    for (ssize_t sent = 0; sent < count && !stopped_;) {
      const ssize_t part = ::send(to, block.data() + sent, static_cast<size_t>(count - sent), MSG_NOSIGNAL);
      if (part > 0) sent += part;
      if (part < 0 && errno != EAGAIN && errno != ENOTCONN) return false;
      if (part < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  const uint16_t port_;
  Fd listener_;
  std::vector<Way> ways_;
  mutable std::mutex mutex_;
  std::string seen_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace kvpool::test
