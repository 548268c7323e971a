// SPDX-License-Identifier: Apache-2.0
// Engines in several processes, and the control file and ledger that they share.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "scene.h"

extern char** environ;

namespace fake_ascend {
namespace {

constexpr size_t kPeerBytes = 100000;

/// The program of peer/main.cc, with variables of its environment in addition.
class Peer {
 public:
  explicit Peer(std::string name, const std::vector<std::string>& variables = {}) : name_(std::move(name)) {
    int in[2];
    int out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::string program = FAKE_ASCEND_PEER;
    std::string size = std::to_string(kPeerBytes);
    std::vector<char*> arguments{program.data(), name_.data(), size.data(), nullptr};
    std::vector<std::string> texts = variables;
    std::vector<char*> environment;
    for (std::string& text : texts)
      environment.push_back(text.data());
    for (char** entry = environ; *entry != nullptr; ++entry)
      environment.push_back(*entry);
    environment.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environment.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    in_ = ::fdopen(in[1], "w");
    out_ = ::fdopen(out[0], "r");
    address_ = number();
  }
  ~Peer() {
    std::fclose(in_);
    std::fclose(out_);
    EXPECT_TRUE(pid_ < 0 || wait() == 0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  uint64_t ask(const std::string& line) {
    std::fputs((line + "\n").c_str(), in_);
    std::fflush(in_);
    return number();
  }

  void signal(int which) const { EXPECT_EQ(::kill(pid_, which), 0); }

  /// Returns when the process does nothing any more.
  void stop() const {
    signal(SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }

  void kill() {
    signal(SIGKILL);
    wait();
  }

  [[nodiscard]] const char* name() const { return name_.c_str(); }
  [[nodiscard]] uint64_t address() const { return address_; }

 private:
  uint64_t number() {
    char line[64] = "";
    EXPECT_NE(std::fgets(line, sizeof line, out_), nullptr);
    return std::strtoull(line, nullptr, 10);
  }

  int wait() {
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return status;
  }

  std::string name_;
  pid_t pid_ = -1;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
  uint64_t address_ = 0;
};

class FakeProcesses : public Scene {
 protected:
  FakeProcesses() : own_(one_.device(kPeerBytes)) {
    std::string name = "/tmp/fake-ascend-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~FakeProcesses() override { std::filesystem::remove_all(directory_); }

  adxl::Status move(adxl::TransferOp operation, const Peer& peer, int ms = 200000) {
    return one_.move(operation, peer.name(), own_, peer.address(), kPeerBytes, ms);
  }

  Node one_;
  char* own_;
  std::string directory_;
};

TEST_F(FakeProcesses, BytesGoToAnotherProcessAndBack) {
  Peer peer(freeAddress());
  ASSERT_EQ(one_.engine.Connect(peer.name(), 20000), kOk);
  std::memset(own_, 3, kPeerBytes);
  EXPECT_EQ(move(adxl::WRITE, peer), kOk);
  EXPECT_EQ(peer.ask("sum"), 3 * kPeerBytes);
  peer.ask("fill z");
  EXPECT_EQ(move(adxl::READ, peer), kOk);
  EXPECT_EQ(own_[0], 'z');
  EXPECT_EQ(own_[kPeerBytes - 1], 'z');
}

TEST_F(FakeProcesses, AKilledProcessIsUnreachableUntilItIsBack) {
  const std::string name = freeAddress();
  {
    Peer peer(name);
    ASSERT_EQ(one_.engine.Connect(peer.name(), 20000), kOk);
    peer.kill();
    EXPECT_EQ(move(adxl::WRITE, peer), kFailedStatus);
    EXPECT_EQ(one_.engine.Disconnect(peer.name(), 20000), kFailedStatus);
  }
  const Peer again(name);
  EXPECT_EQ(one_.engine.Connect(again.name(), 20000), kAlreadyConnectedStatus);
  EXPECT_EQ(one_.engine.Disconnect(again.name(), 20000), kOk);
  EXPECT_EQ(one_.engine.Connect(again.name(), 20000), kOk);
  EXPECT_EQ(move(adxl::READ, again), kOk);
  EXPECT_EQ(own_[0], 'p');
}

TEST_F(FakeProcesses, AStoppedProcessTimesOut) {
  const Peer peer(freeAddress());
  ASSERT_EQ(one_.engine.Connect(peer.name(), 20000), kOk);
  peer.stop();
  EXPECT_EQ(move(adxl::READ, peer, 100), kTimeoutStatus);
  EXPECT_EQ(one_.engine.Disconnect(peer.name(), 100), kTimeoutStatus);
  EXPECT_EQ(one_.engine.Connect(peer.name(), 100), kAlreadyConnectedStatus);
  peer.signal(SIGCONT);
  EXPECT_EQ(one_.engine.Disconnect(peer.name(), 20000), kOk);
}

TEST_F(FakeProcesses, TheControlFileOfAProcessIsReadAgainAtEachCall) {
  const std::string file = directory_ + "/control";
  const Peer peer(freeAddress(), {"FAKE_ASCEND_CONTROL=" + file});
  ASSERT_EQ(one_.engine.Connect(peer.name(), 20000), kOk);
  EXPECT_EQ(move(adxl::READ, peer), kOk);
  std::ofstream(file) << "fail listener * 203900\n";
  EXPECT_EQ(move(adxl::READ, peer), kResourceExhaustedStatus);
  std::ofstream(file, std::ios::trunc) << "# nothing\n";
  EXPECT_EQ(move(adxl::READ, peer), kOk);
}

TEST_F(FakeProcesses, TheLedgerHoldsTheCallsOfAProcess) {
  const std::string file = directory_ + "/ledger";
  {
    const Peer peer(freeAddress(),
                    {"FAKE_ASCEND_LEDGER=" + file, "FAKE_ASCEND_RULES=delay aclrtMalloc 1 1;set devices 2"});
    ASSERT_EQ(one_.engine.Connect(peer.name(), 20000), kOk);
  }
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const char* line : {" aclrtSetDevice 0 0\n", " aclrtMalloc 0 100000\n", " Initialize 0 127.0.0.1:",
                           " RegisterMem 0 100000 device\n", " listener 0 \n", " Finalize 0 \n", " aclrtFree 0 \n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
}

}  // namespace
}  // namespace fake_ascend
