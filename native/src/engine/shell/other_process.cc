// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/other_process.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/boot.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace kvpool::engine {
namespace {

Status failed(const std::string& what, int errorNumber = errno) {
  return {KV_UNAVAILABLE, what + ": " + std::generic_category().message(errorNumber)};
}

/// One end of a connection as the kernel's tables name it.
struct End {
  uint16_t port = 0;  // in network order
  std::array<uint32_t, 4> address{};
  bool ipv6 = false;
};

End endOf(const sockaddr_storage& name) {
  End end;
  if (name.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(name);
    end.port = ipv4.sin_port;
    end.address[0] = ipv4.sin_addr.s_addr;
    return end;
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(name);
  end.port = ipv6.sin6_port;
  std::memcpy(end.address.data(), &ipv6.sin6_addr, sizeof end.address);
  // The other end may name the same address as one of IPv4.
  end.ipv6 = IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr) == 0;
  if (!end.ipv6) end.address = {end.address[3], 0, 0, 0};
  return end;
}

/// The inode of the established socket of this network namespace with these ends.
Result<uint32_t> inodeOf(const End& own, const End& peer) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = own.ipv6 ? AF_INET6 : AF_INET;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = UINT32_MAX;
  question.request.id.idiag_sport = own.port;
  question.request.id.idiag_dport = peer.port;
  std::memcpy(question.request.id.idiag_src, own.address.data(), sizeof own.address);
  std::memcpy(question.request.id.idiag_dst, peer.address.data(), sizeof peer.address);
  question.request.id.idiag_cookie[0] = question.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const Fd diag(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!diag.valid()) return failed("the kernel does not say whose the other end of the connection is");
  // The kernel answers inside of send().
  if (::send(diag.get(), &question, sizeof question, 0) != static_cast<ssize_t>(sizeof question))
    return failed("the kernel does not say whose the other end of the connection is");
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  const ssize_t got = ::recv(diag.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (got < 0) return failed("the kernel does not say whose the other end of the connection is");
  const Status elsewhere(KV_UNAVAILABLE,
                         "the other end of the connection is in no process of this network namespace, or something "
                         "between the two changes addresses");
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg))) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return elsewhere;
  const auto* found = reinterpret_cast<const inet_diag_msg*>(answer.data() + NLMSG_HDRLEN);
  constexpr uint8_t kEstablished = 1;
  const bool same = found->id.idiag_sport == own.port && found->id.idiag_dport == peer.port &&
                    found->idiag_state == kEstablished && found->idiag_inode != 0;
  if (!same) return elsewhere;  // as a listener, which is found where there is no connection
  // Of who made it: a descriptor may have been passed to a process of this user by one of another.
  if (found->idiag_uid != ::geteuid())
    return Status(KV_UNAVAILABLE, "the other end of the connection is of another user");
  return found->idiag_inode;
}

Result<uint32_t> inodeOfOtherEnd(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t ownLength = sizeof own;
  socklen_t peerLength = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &ownLength) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peerLength) != 0)
    return failed("the ends of the connection cannot be told");
  return inodeOf(endOf(peer), endOf(own));
}

}  // namespace

Result<Fd> OtherProcess::atTheOtherEnd(int socket, uint32_t pid, uint32_t descriptor) {
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  const std::string shown = "process " + std::to_string(pid);
  if (!process.valid()) return failed(shown + " is not to be had");
  const Result<uint32_t> inode = inodeOfOtherEnd(socket);
  if (!inode.ok()) return inode.status();
  const std::string directory = "/proc/" + std::to_string(pid);
  struct stat owner {};
  if (::stat(directory.c_str(), &owner) != 0) return failed(shown + " is not shown");
  // Who is of the same user could stop or end this process anyway: it may also let a copy wait for its memory.
  if (owner.st_uid != ::geteuid()) return Status(KV_UNAVAILABLE, shown + " is of another user");
  std::array<char, 64> link{};
  const std::string entry = directory + "/fd/" + std::to_string(descriptor);
  if (::readlink(entry.c_str(), link.data(), link.size() - 1) < 0)
    return failed("the descriptors of " + shown + " are not shown to this one");
  if (link.data() != "socket:[" + std::to_string(inode.value()) + "]")
    return Status(KV_UNAVAILABLE, shown + " does not have the other end of the connection");
  if (!lives(process)) return Status(KV_UNAVAILABLE, shown + " has ended");  // what was seen may be of its successor
  return process;
}

bool OtherProcess::lives(const Fd& process) {
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

ssize_t OtherProcess::read(uint32_t pid, std::span<const iovec> to, std::span<const iovec> from) {
  const ssize_t copied = ::process_vm_readv(static_cast<pid_t>(pid), to.data(), to.size(), from.data(), from.size(), 0);
  return copied < 0 ? -errno : copied;
}

ProcessName ownProcess() {
  struct stat pids {};
  if (::stat("/proc/self/ns/pid", &pids) != 0) return {};
  return {bootNumber(), pids.st_ino, static_cast<uint32_t>(::getpid())};
}

}  // namespace kvpool::engine
