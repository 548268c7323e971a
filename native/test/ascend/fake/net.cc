// SPDX-License-Identifier: Apache-2.0
#include "net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fake_ascend {
namespace {

struct SocketName {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

bool fill(const Address& address, SocketName& name) {
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&name.storage, &v4, sizeof v4);
    name.size = sizeof v4;
    return true;
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    std::memcpy(&name.storage, &v6, sizeof v6);
    name.size = sizeof v6;
    return true;
  }
  return false;
}

const sockaddr* asSocketAddress(const SocketName& name) {
  return reinterpret_cast<const sockaddr*>(&name.storage);
}

void setOption(int file, int level, int option) {
  const int on = 1;
  ::setsockopt(file, level, option, &on, sizeof on);
}

}  // namespace

std::optional<Address> Address::parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return std::nullopt;
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const unsigned long number = std::stoul(port);
  Address address{host, static_cast<uint16_t>(number)};
  SocketName name;
  if (number == 0 || number > 65535 || !fill(address, name)) return std::nullopt;
  return address;
}

Io await(int file, short events, Deadline deadline) {
  while (true) {
    int ms = -1;
    if (deadline != kNoDeadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      ms = static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
    }
    pollfd entry{file, events, 0};
    const int ready = ::poll(&entry, 1, ms);
    if (ready > 0) return Io::kDone;
    if (ready == 0) return Io::kTimedOut;
    if (errno != EINTR) return Io::kBroken;
  }
}

Socket::~Socket() {
  ::close(file_);
}

Io Socket::connect(const Address& address, Deadline deadline, int& file) {
  file = -1;
  SocketName name;
  if (!fill(address, name)) return Io::kBroken;
  const int made = ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return Io::kBroken;
  Io io = Io::kDone;
  if (::connect(made, asSocketAddress(name), name.size) != 0) {
    io = errno == EINPROGRESS ? await(made, POLLOUT, deadline) : Io::kBroken;
    int error = 0;
    socklen_t size = sizeof error;
    if (io == Io::kDone && (::getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0))
      io = Io::kBroken;
  }
  if (io != Io::kDone) {
    ::close(made);
    return io;
  }
  setOption(made, IPPROTO_TCP, TCP_NODELAY);
  file = made;
  return io;
}

Io Socket::send(const void* bytes, size_t size, Deadline deadline) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(file_, next, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      next += sent;
      size -= static_cast<size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const Io io = await(file_, POLLOUT, deadline); io != Io::kDone) return io;
    } else if (errno != EINTR) {
      return Io::kBroken;
    }
  }
  return Io::kDone;
}

Io Socket::receive(void* bytes, size_t size, Deadline deadline) {
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t received = ::recv(file_, next, size, MSG_DONTWAIT);
    if (received > 0) {
      next += received;
      size -= static_cast<size_t>(received);
    } else if (received == 0) {
      return Io::kBroken;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const Io io = await(file_, POLLIN, deadline); io != Io::kDone) return io;
    } else if (errno != EINTR) {
      return Io::kBroken;
    }
  }
  return Io::kDone;
}

void Socket::shutDown() const {
  ::shutdown(file_, SHUT_RDWR);
}

int listenOn(const Address& address) {
  SocketName name;
  if (!fill(address, name)) return -1;
  const int file = ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  setOption(file, SOL_SOCKET, SO_REUSEADDR);
  if (::bind(file, asSocketAddress(name), name.size) != 0 || ::listen(file, SOMAXCONN) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

}  // namespace fake_ascend
