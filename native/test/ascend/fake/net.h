// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fake_ascend {

using Clock = std::chrono::steady_clock;
/// Until when something may take; max() is no limit.
using Deadline = Clock::time_point;

constexpr Deadline kNoDeadline = Deadline::max();

inline Deadline afterMs(int64_t milliseconds) {
  return Clock::now() + std::chrono::milliseconds(milliseconds);
}

/// Where an engine listens: "ip:port" or "[ip]:port".
struct Address {
  std::string host;
  uint16_t port = 0;

  static std::optional<Address> parse(const std::string& text);
};

enum class Io { kDone, kTimedOut, kBroken };

/// A TCP connection. Another thread may shut it down, which ends whatever waits on it.
class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// Connects; the file stays -1 if that failed.
  static Io connect(const Address& address, Deadline deadline, int& file);

  Io send(const void* bytes, size_t size, Deadline deadline);
  Io receive(void* bytes, size_t size, Deadline deadline);
  void shutDown() const;

 private:
  int file_;
};

/// A listening socket of the address, or -1.
int listenOn(const Address& address);
/// Waits until the socket can be read (or written); kTimedOut after the deadline.
Io await(int file, short events, Deadline deadline);

}  // namespace fake_ascend
