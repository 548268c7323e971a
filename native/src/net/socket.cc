// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "net/abstract_socket.h"

namespace kvpool::net {
namespace {

constexpr int kBacklog = 512;
constexpr int kStreamFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

void setOption(int fd, int level, int name, int value) {
  // All of these are improvements a socket works without.
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

void tuneTcp(int fd) {
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // A peer whose machine is gone says nothing: after 30 s of silence ask three times.
  setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Result<Fd> listenAt(const SocketAddress& address, const std::string& shown) {
  Fd fd(::socket(address.storage.ss_family, kStreamFlags, 0));
  if (!fd.valid()) return systemError("socket for " + shown, errno);
  setOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.storage.ss_family == AF_INET6) setOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) {
    return systemError("cannot listen on " + shown, errno);
  }
  if (::listen(fd.get(), kBacklog) != 0) return systemError("cannot listen on " + shown, errno);
  return fd;
}

SocketAddress anyIpv4(uint16_t port) {
  SocketAddress address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  std::memcpy(&address.storage, &v4, sizeof v4);
  address.length = sizeof v4;
  return address;
}

SocketAddress anyIpv6(uint16_t port) {
  SocketAddress address;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&address.storage, &v6, sizeof v6);
  address.length = sizeof v6;
  return address;
}

bool ipv6Works() {
  return listenAt(anyIpv6(0), "::").ok();
}

struct UnixAddress {
  sockaddr_un address{};
  socklen_t length = sizeof(sockaddr_un);
  [[nodiscard]] const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<UnixAddress> unixAddress(const std::string& path) {
  UnixAddress found;
  sockaddr_un& address = found.address;
  address.sun_family = AF_UNIX;
  static_assert(kSocketPathBytesMax == sizeof address.sun_path - 1);
  if (path.empty() || path.size() > kSocketPathBytesMax) {
    return Status(KV_INVALID_ARGUMENT, "socket path '" + path + "' must have 1 to " +
                                           std::to_string(kSocketPathBytesMax) + " bytes; choose a shorter directory");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (isAbstract(path)) {
    address.sun_path[0] = '\0';
    found.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());  // all of it is the name
  }
  return found;
}

/// Removes the socket that a process which is gone has left at the path.
Status clearTheWay(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) return {KV_IO, path + " exists and is not a socket; move it away"};
  int why = 0;
  if (connectUnix(path, &why).ok()) return {KV_IO, "another process listens on " + path};
  if (why == ECONNREFUSED) ::unlink(path.c_str());
  if (why == ECONNREFUSED || why == ENOENT) return {};
  if (why == EAGAIN) {
    return {KV_IO, "another process listens on " + path + ", and has more connections waiting there than it takes now"};
  }
  return systemError("remove " + path + " if no process listens on it, which cannot be told", why);
}

}  // namespace

Result<Fd> listenTcp(const std::string& host, uint16_t port) {
  const std::string shown = toString(HostPort{host, port});
  if (host == "::") {
    // Only where IPv6 is off: a port that is taken must not silently become an IPv4-only one.
    if (ipv6Works()) return listenAt(anyIpv6(port), shown);
    return listenAt(anyIpv4(port), "0.0.0.0:" + std::to_string(port));
  }
  Result<std::vector<SocketAddress>> addresses = resolve(HostPort{host, port});
  if (!addresses.ok()) return addresses.status();
  return listenAt(addresses.value().front(), shown);
}

Result<Fd> listenUnix(const std::string& path, SocketFile* file) {
  if (isAbstract(path)) {
    return Status(KV_INVALID_ARGUMENT,
                  "socket path '" + path + "' begins with '@', as names without a file do: write './" + path + "'");
  }
  const Result<UnixAddress> address = unixAddress(path);
  if (!address.ok()) return address.status();
  if (Status cleared = clearTheWay(path); !cleared.ok()) return cleared;
  Fd fd(::socket(AF_UNIX, kStreamFlags, 0));
  if (!fd.valid()) return systemError("socket for " + path, errno);
  if (::bind(fd.get(), address.value().generic(), address.value().length) != 0)
    return systemError("cannot listen on " + path, errno);
  SocketFile bound(path);  // removed again when nobody will listen
  // No peer connects before it listens.
  if (::chmod(path.c_str(), 0660) != 0) return systemError("cannot keep others out of " + path, errno);
  if (::listen(fd.get(), kBacklog) != 0) return systemError("cannot listen on " + path, errno);
  if (file != nullptr) {
    *file = std::move(bound);
  } else {
    bound.keep();
  }
  return fd;
}

Result<Fd> listenAbstract(const std::string& name) {
  const Result<UnixAddress> address = unixAddress(name);
  if (!address.ok()) return address.status();
  Fd fd(::socket(AF_UNIX, kStreamFlags, 0));
  if (!fd.valid()) return systemError("socket for " + name, errno);
  if (::bind(fd.get(), address.value().generic(), address.value().length) != 0) {
    if (errno == EADDRINUSE) return Status(KV_IO, "another process of this network namespace listens on " + name);
    return systemError("cannot listen on " + name, errno);
  }
  if (::listen(fd.get(), kBacklog) != 0) return systemError("cannot listen on " + name, errno);
  return fd;
}

uint16_t boundPort(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return 0;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    return ntohs(v4.sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    return ntohs(v6.sin6_port);
  }
  return 0;
}

Result<Fd> acceptOne(int listener, SocketAddress* peer) {
  peer->length = sizeof peer->storage;
  Fd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&peer->storage), &peer->length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (exhausted) return systemError("cannot accept a connection; raise the limit of open files", errno);
    return Fd();
  }
  if (peer->storage.ss_family != AF_UNIX) tuneTcp(fd.get());
  return fd;
}

Result<Fd> startConnect(const SocketAddress& address, int* errorNumber) {
  Fd fd(::socket(address.storage.ss_family, kStreamFlags, 0));
  if (!fd.valid()) return systemError("socket for " + toString(address), errno);
  tuneTcp(fd.get());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(fd.get(), generic, address.length) != 0 && errno != EINPROGRESS) {
    if (errorNumber != nullptr) *errorNumber = errno;
    return Status(KV_CONNECT_FAILED, systemError("cannot connect to " + toString(address), errno).text());
  }
  return fd;
}

int connectOutcome(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void probeSilence(int fd, int64_t silenceMs) {
  constexpr int kProbes = 2;
  const int seconds = static_cast<int>(std::clamp<int64_t>(silenceMs / 1000 / (kProbes + 1), 1, 3600));
  setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

Unacknowledged unacknowledged(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  return {info.tcpi_unacked > 0, info.tcpi_last_ack_recv};
}

bool hasEndsOfOneHost(int fd) {
  SocketAddress own;
  SocketAddress peer;
  own.length = peer.length = sizeof own.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) return false;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0) return false;
  const Host here = hostOf(own);
  const Host there = hostOf(peer);
  if (here == Host{}) return false;
  return here == there || (isLoopback(here) && isLoopback(there));
}

Result<Fd> connectUnix(const std::string& path, int* errorNumber) {
  const Result<UnixAddress> address = unixAddress(path);
  if (!address.ok()) return address.status();
  Fd fd(::socket(AF_UNIX, kStreamFlags, 0));
  if (!fd.valid()) return systemError("socket for " + path, errno);
  if (::connect(fd.get(), address.value().generic(), address.value().length) != 0) {
    const int why = errno;
    if (errorNumber != nullptr) *errorNumber = why;
    return Status(KV_CONNECT_FAILED, systemError("cannot connect to " + path, why).text());
  }
  if (isAbstract(path) && !isOfThisUser(fd.get()))
    return Status(KV_CONNECT_FAILED, "a process of another user listens on " + path + ": run both as one user");
  return fd;
}

ReceivedBytes receiveWithDescriptors(int fd, std::span<uint8_t> into, std::vector<Fd>* descriptors) {
  iovec vector{into.data(), into.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ReceivedBytes result;
  result.count = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (result.count < 0) {
    result.errorNumber = errno;
    return result;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(header) + i * sizeof(int), sizeof received);
      Fd owned(received);
      if (descriptors->size() < kDescriptorsMax) descriptors->push_back(std::move(owned));
    }
  }
  return result;
}

ssize_t sendWithDescriptors(int fd, std::span<const uint8_t> bytes, std::span<const int> descriptors) {
  if (descriptors.size() > kDescriptorsMax) {
    errno = EINVAL;
    return -1;
  }
  // sendmsg only reads, but its struct has no const.
  iovec vector{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof(int) * descriptors.size());
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace kvpool::net
