// SPDX-License-Identifier: Apache-2.0
// Non-blocking, close-on-exec stream sockets. Failures carry the address and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "net/address.h"
#include "net/socket_file.h"

namespace kvpool::net {

/// What the kernel takes for the path of a unix socket.
inline constexpr size_t kSocketPathBytesMax = 107;

/// A listening TCP socket. Host "::" serves IPv4 and IPv6, and falls back to 0.0.0.0 where IPv6 is off. Port 0: any.
Result<Fd> listenTcp(const std::string& host, uint16_t port);
/// A listening unix socket; mode 0660. A socket file is replaced when its process is gone for certain: one that only
/// has no room for another connection is alive. `file`, if wanted, gets the file, to be removed behind the last use.
/// A path that begins with '@' is refused: a caller that names a file expects its mode to keep others out.
Result<Fd> listenUnix(const std::string& path, SocketFile* file = nullptr);
/// A listening unix socket without a file: "@NAME", see abstract_socket.h. Free again with its listener.
Result<Fd> listenAbstract(const std::string& name);
uint16_t boundPort(int fd);

/// The next waiting connection; an invalid Fd when none waits or it was reset meanwhile. KV_IO names exhausted limits.
Result<Fd> acceptOne(int listener, SocketAddress* peer);

/// Begins to connect. The socket becomes writable when connectOutcome() can tell. When it fails at once, as a refusal
/// on loopback may, `errorNumber` gets the errno.
Result<Fd> startConnect(const SocketAddress& address, int* errorNumber = nullptr);
/// 0, or the errno of the failed connect.
int connectOutcome(int fd);
/// Ends the connection when the peer's host does not answer for about `silenceMs` while nothing is on the way to it.
void probeSilence(int fd, int64_t silenceMs);
/// Whether bytes are on the way to the peer's host that it has not acknowledged.
struct Unacknowledged {
  bool any = false;
  int64_t heardMs = 0;  // how long ago it acknowledged anything
};
Unacknowledged unacknowledged(int fd);
/// Whether both ends of a connected TCP socket have the same address, or addresses of loopback: those of one machine
/// have, within one network namespace, unless something between them changes addresses.
bool hasEndsOfOneHost(int fd);
/// Unix sockets connect at once or not at all.
Result<Fd> connectUnix(const std::string& path, int* errorNumber = nullptr);

/// Descriptors that came along with bytes.
struct ReceivedBytes {
  ssize_t count = 0;  // as recv(2): 0 end of stream, -1 with errno
  int errorNumber = 0;
};
/// Like recv(2), never raising SIGPIPE; takes along at most `kDescriptorsMax` descriptors, closing any more.
inline constexpr size_t kDescriptorsMax = 4;
ReceivedBytes receiveWithDescriptors(int fd, std::span<uint8_t> into, std::vector<Fd>* descriptors);
/// Like send(2) of the first bytes with descriptors attached; they travel with the first byte. -1 with errno.
ssize_t sendWithDescriptors(int fd, std::span<const uint8_t> bytes, std::span<const int> descriptors);

}  // namespace kvpool::net
