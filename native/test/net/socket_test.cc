// SPDX-License-Identifier: Apache-2.0
// Which socket files are taken over and removed, and which connections stay on the machine.
#include "net/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "net/abstract_socket.h"
#include "temporary_directory.h"

namespace kvpool::net {
namespace {

namespace fs = std::filesystem;

class UnixListener : public ::testing::Test {
 protected:
  /// A socket of the given type at the path, bound and no more.
  [[nodiscard]] Fd bound(int type) const {
    Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path_.begin(), path_.end(), address.sun_path);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  [[nodiscard]] std::string refusal() const {
    const Result<Fd> refused = listenUnix(path_);
    EXPECT_EQ(refused.status().code(), KV_IO);
    return refused.status().text();
  }

  test::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/a.sock";
};

TEST_F(UnixListener, TakesTheFileOfAProcessThatIsGone) {
  (void)bound(SOCK_STREAM);
  const Result<Fd> listener = listenUnix(path_);
  ASSERT_TRUE(listener.ok()) << listener.status().text();
  EXPECT_TRUE(connectUnix(path_).ok());
}

TEST_F(UnixListener, LeavesTheFileOfAProcessThatHasNoRoomForAnotherConnection) {
  const Fd busy = bound(SOCK_STREAM);
  ASSERT_EQ(::listen(busy.get(), 0), 0);
  std::vector<Fd> waiting;
  int why = 0;
  for (Result<Fd> one = connectUnix(path_, &why); one.ok(); one = connectUnix(path_, &why))
    waiting.push_back(std::move(one.value()));
  ASSERT_EQ(why, EAGAIN);
  EXPECT_NE(refusal().find("more connections waiting"), std::string::npos) << refusal();
  waiting.clear();
  SocketAddress peer;
  EXPECT_TRUE(acceptOne(busy.get(), &peer).ok());
  EXPECT_TRUE(connectUnix(path_).ok()) << "its file is still there";
}

TEST_F(UnixListener, LeavesWhatItCannotTell) {
  const Fd other = bound(SOCK_DGRAM);
  EXPECT_NE(refusal().find("if no process listens on it"), std::string::npos) << refusal();
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(UnixListener, RefusesANameWithoutAFile) {
  const std::string name = "@kvpool-socket-test-" + std::to_string(::getpid());
  const Result<Fd> refused = listenUnix(name);
  EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(refused.status().text().find("write './" + name + "'"), std::string::npos) << refused.status().text();
  EXPECT_FALSE(connectUnix(name).ok());
}

TEST_F(UnixListener, RemovesItsOwnFileAndNoOtherOne) {
  SocketFile file;
  Result<Fd> first = listenUnix(path_, &file);
  ASSERT_TRUE(first.ok());
  {
    SocketFile moved = std::move(file);
    EXPECT_TRUE(fs::exists(path_));
  }
  EXPECT_FALSE(fs::exists(path_));

  first = listenUnix(path_, &file);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const Result<Fd> second = listenUnix(path_);
  ASSERT_TRUE(second.ok());
  file.remove();
  EXPECT_TRUE(connectUnix(path_).ok());
  file.remove();  // and nothing more
}

/// A connection to a listener of ours at `host`, from `from` if that is given.
Fd connectedTo(const std::string& host, const std::string& from = "") {
  static std::vector<Fd> listeners;  // a connection that none has accepted lives as long as its listener
  listeners.push_back(std::move(listenTcp("0.0.0.0", 0).value()));
  const SocketAddress to = *literal({host, boundPort(listeners.back().get())});
  Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!from.empty()) {
    const SocketAddress own = *literal({from, 0});
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own.storage), own.length), 0);
  }
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length), 0) << host;
  return fd;
}

/// An address of this machine that is not one of loopback; empty when it has none.
std::string addressOfAnInterface() {
  ifaddrs* all = nullptr;
  EXPECT_EQ(::getifaddrs(&all), 0);
  std::string found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    SocketAddress address;
    std::memcpy(&address.storage, one->ifa_addr, address.length = sizeof(sockaddr_in));
    if (isLoopback(hostOf(address))) continue;
    found = toString(address);
    found.resize(found.find(':'));
    break;
  }
  ::freeifaddrs(all);
  return found;
}

constexpr uid_t kNobody = 65534;

/// What `action` says in a process of another user.
template <typename Action>
bool asAnotherUser(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setresuid(kNobody, kNobody, kNobody) == 0 && action() ? 0 : 1);
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(AbstractSocket, HasANameInPlaceOfAFileAndIsFreeAgainWithItsListener) {
  const std::string name = "@kvpool-socket-test-" + std::to_string(::getpid());
  EXPECT_EQ(connectUnix(name).status().code(), KV_CONNECT_FAILED);
  for (int life = 0; life < 2; ++life) {
    const Result<Fd> listener = listenAbstract(name);
    ASSERT_TRUE(listener.ok()) << listener.status().text();
    EXPECT_NE(listenAbstract(name).status().text().find("listens on " + name), std::string::npos);
    ASSERT_TRUE(connectUnix(name).ok());
    SocketAddress peer;
    const Result<Fd> accepted = acceptOne(listener.value().get(), &peer);
    ASSERT_TRUE(accepted.ok() && accepted.value().valid());
    EXPECT_TRUE(isOfThisUser(accepted.value().get()));
    EXPECT_FALSE(connectUnix(name + "x").ok()) << "a longer name is another one";
  }
}

TEST(AbstractSocket, ServesOneUserAndIsTrustedByOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::string name = "@kvpool-socket-test-" + std::to_string(::getpid());
  {
    const Result<Fd> listener = listenAbstract(name);
    ASSERT_TRUE(listener.ok()) << listener.status().text();
    EXPECT_TRUE(asAnotherUser([&] { return connectUnix(name).ok(); })) << "root may serve others";
    SocketAddress peer;
    const Result<Fd> accepted = acceptOne(listener.value().get(), &peer);
    ASSERT_TRUE(accepted.ok() && accepted.value().valid());
    EXPECT_FALSE(isOfThisUser(accepted.value().get())) << "others are not to use what root may";
  }
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const Fd told(ready[0]);
  Fd tells(ready[1]);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    const bool other = ::setresuid(kNobody, kNobody, kNobody) == 0;
    const Result<Fd> listener = listenAbstract(name);
    if (other && listener.ok() && ::write(tells.get(), "!", 1) == 1) ::pause();
    ::_exit(1);
  }
  tells = Fd();
  char byte = 0;
  EXPECT_EQ(::read(told.get(), &byte, 1), 1);
  EXPECT_NE(connectUnix(name).status().text().find("a process of another user listens on " + name), std::string::npos);
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST(Socket, KnowsConnectionsThatStayOnTheMachine) {
  EXPECT_TRUE(hasEndsOfOneHost(connectedTo("127.0.0.1").get()));
  EXPECT_TRUE(hasEndsOfOneHost(connectedTo("127.0.0.2").get())) << "begins at 127.0.0.1";
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const Fd one(pair[0]);
  const Fd other(pair[1]);
  EXPECT_FALSE(hasEndsOfOneHost(one.get()));
  const std::string own = addressOfAnInterface();
  if (own.empty()) return;
  EXPECT_TRUE(hasEndsOfOneHost(connectedTo(own).get())) << own;
  EXPECT_FALSE(hasEndsOfOneHost(connectedTo(own, "127.0.0.1").get())) << "two addresses, as those of two machines";
}

}  // namespace
}  // namespace kvpool::net
