// SPDX-License-Identifier: Apache-2.0
// What a process that has run out of descriptors does, and what it says about it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

namespace kvpool::test {

/// While it lives no descriptor can be made in this process. Those that a test needs meanwhile it makes before.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const Fd lowestFree(::dup(STDERR_FILENO));
    EXPECT_TRUE(lowestFree.valid());
    const rlimit none{static_cast<rlim_t>(lowestFree.get()), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

/// Takes what is written to stderr while it lives, and can be asked in between without a new descriptor.
class CapturedLog {
 public:
  CapturedLog() : file_(::memfd_create("log", MFD_CLOEXEC)), before_(::dup(STDERR_FILENO)) {
    EXPECT_TRUE(file_.valid() && before_.valid());
    EXPECT_EQ(::dup2(file_.get(), STDERR_FILENO), STDERR_FILENO);
  }
  ~CapturedLog() { EXPECT_EQ(::dup2(before_.get(), STDERR_FILENO), STDERR_FILENO); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text(1 << 16, '\0');
    const ssize_t count = ::pread(file_.get(), text.data(), text.size(), 0);
    EXPECT_GE(count, 0);
    text.resize(static_cast<size_t>(count));
    return text;
  }
  [[nodiscard]] size_t count(const std::string& what) const {
    const std::string all = text();
    size_t found = 0;
    for (size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + what.size()))
      ++found;
    return found;
  }

 private:
  Fd file_;
  Fd before_;
};

/// Connects a socket that was made before; neither needs a descriptor of its own.
inline void connectLoopback(const Fd& socket, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}
inline void connectUnix(const Fd& socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

}  // namespace kvpool::test
