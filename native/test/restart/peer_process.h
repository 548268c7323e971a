// SPDX-License-Identifier: Apache-2.0
// Transfer engines in processes of their own, which can be stopped and killed. They are forked, so all of them are to
// be made before the test has threads.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "base/fd.h"
#include "engine/shell/engine_shell.h"
#include "engine/shell/listen_port.h"
#include "net/socket.h"

namespace kvpool::test {

/// The same bytes at the same address in every process forked later.
class CommonMemory {
 public:
  explicit CommonMemory(size_t size) : size_(size) {
    void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    bytes_ = static_cast<uint8_t*>(pages);
  }
  ~CommonMemory() { ::munmap(bytes_, size_); }
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;

  [[nodiscard]] uint8_t* bytes() const { return bytes_; }
  [[nodiscard]] uint64_t address() const { return reinterpret_cast<uintptr_t>(bytes_); }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_;
  uint8_t* bytes_ = nullptr;
};

/// A process that listens when it is told to, with the memory registered before it answers anyone.
class PeerProcess {
 public:
  explicit PeerProcess(const CommonMemory& memory) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    Fd mine(ends[0]);
    const Fd its(ends[1]);
    process_ = ::fork();
    if (process_ == 0) {
      mine = Fd();
      live(its.get(), memory);
    }
    control_ = std::move(mine);
  }
  ~PeerProcess() { kill(); }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// Listens on `port`, or with 0 on any. Returns the port; 0 when that failed.
  uint16_t listen(uint16_t port) const {
    EXPECT_EQ(::send(control_.get(), &port, sizeof port, MSG_NOSIGNAL), ssize_t{sizeof port});
    uint16_t bound = 0;
    EXPECT_EQ(::recv(control_.get(), &bound, sizeof bound, 0), ssize_t{sizeof bound});
    return bound;
  }
  /// Its sockets stay, and nothing comes out of them any more.
  void freeze() const {
    ASSERT_EQ(::kill(process_, SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(process_, &status, WUNTRACED), process_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void kill() {
    const pid_t process = std::exchange(process_, -1);
    if (process <= 0) return;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }

 private:
  struct NobodyWaits final : engine::EngineShell::Listener {
    void batchFinished(const engine::FinishBatch&) override {}
  };

  [[noreturn]] static void live(int control, const CommonMemory& memory) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint16_t port = 0;
    if (::recv(control, &port, sizeof port, 0) != ssize_t{sizeof port}) ::_exit(0);  // never needed
    const uint16_t first = port == 0 ? KV_ENGINE_PORT_MIN : port;
    Result<Fd> listener = engine::listenInRange("127.0.0.1", first, port == 0 ? KV_ENGINE_PORT_MAX : port,
                                                static_cast<uint64_t>(::getpid()));
    port = listener.ok() ? net::boundPort(listener.value().get()) : 0;
    if (listener.ok()) {
      engine::Config config;
      config.me.role = wire::Role::Engine;
      config.me.incarnation = static_cast<uint64_t>(::getpid());
      config.me.name = "peer";
      config.me.product = "0.1.0";
      NobodyWaits nobody;
      engine::EngineShell shell(config, std::move(listener.value()), nullptr, std::make_shared<secure::Security>(),
                                nobody);
      const kv_region region{memory.address(), memory.size()};
      const bool registered = shell.core().registerRegions(std::span(&region, 1)).ok();
      if (registered) ::send(control, &port, sizeof port, MSG_NOSIGNAL);
      while (registered) {
        shell.await(engine::kTickMs);
        shell.round();
      }
    }
    ::_exit(1);
  }

  pid_t process_ = -1;
  Fd control_;
};

}  // namespace kvpool::test
