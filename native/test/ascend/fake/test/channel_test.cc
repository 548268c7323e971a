// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <thread>

#include "frames.h"
#include "scene.h"

namespace fake_ascend {
namespace {

/// Two engines with memory, of which the first is to connect.
class FakeChannel : public Scene {
 protected:
  FakeChannel() : own_(one_.device(kMega1)), remote_(other_->device(kMega1)) {}

  [[nodiscard]] adxl::Status write(int ms = 200000) {
    return one_.move(adxl::WRITE, peer_, own_, address_, kMega1, ms);
  }
  [[nodiscard]] adxl::Status connect(int ms = 20000) { return one_.engine.Connect(peer_.c_str(), ms); }
  [[nodiscard]] adxl::Status disconnect(int ms = 20000) { return one_.engine.Disconnect(peer_.c_str(), ms); }

  void restartOther(const std::string& name) {
    other_.reset();
    other_.emplace(plain(), name);
    remote_ = other_->device(kMega1);
    address_ = addressOf(remote_);
    peer_ = name;
  }

  Node one_;
  std::optional<Node> other_{std::in_place};
  const char* own_;
  const char* remote_;
  uintptr_t address_ = addressOf(remote_);
  std::string peer_ = other_->name();
};

TEST_F(FakeChannel, ConnectsOnce) {
  EXPECT_EQ(connect(0), kParamInvalidStatus);
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(connect(), kAlreadyConnectedStatus);
  EXPECT_EQ(write(), kOk);
  EXPECT_EQ(disconnect(), kOk);
  EXPECT_EQ(disconnect(), kNotConnectedStatus);
  EXPECT_EQ(write(), kNotConnectedStatus);
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(write(), kOk);
}

TEST_F(FakeChannel, NobodyListensThere) {
  EXPECT_EQ(one_.engine.Connect(freeAddress().c_str(), 20000), kFailedStatus);
  EXPECT_EQ(one_.engine.Connect("nowhere", 500), kParamInvalidStatus);
}

TEST_F(FakeChannel, AConnectThatTimedOutIsNoChannel) {
  control("hang listener 1");
  EXPECT_EQ(connect(30), kTimeoutStatus);
  control("");
  EXPECT_EQ(disconnect(), kNotConnectedStatus);
  EXPECT_EQ(connect(), kOk);
  control("hang Connect 1");
  EXPECT_EQ(one_.engine.Connect(freeAddress().c_str(), 30), kTimeoutStatus);
}

TEST_F(FakeChannel, MemoryRegisteredAfterConnectIsInvisible) {
  ASSERT_EQ(connect(), kOk);
  const char* later = other_->device(kMega1);
  EXPECT_EQ(one_.write(*other_, own_, later, kMega1), kFailedStatus);
  control("set unknown_memory_status 103900");
  EXPECT_EQ(one_.write(*other_, own_, later, kMega1), kParamInvalidStatus);
  EXPECT_EQ(disconnect(), kOk);
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(one_.write(*other_, own_, later, kMega1), kOk);
}

TEST_F(FakeChannel, MemoryDeregisteredAfterConnectIsNotTouched) {
  adxl::MemHandle handle = nullptr;
  ASSERT_EQ(other_->add(remote_, kMega1, adxl::MEM_DEVICE, &handle), kOk);
  ASSERT_EQ(connect(), kOk);
  ASSERT_EQ(other_->engine.DeregisterMem(handle), kOk);
  EXPECT_EQ(write(), kFailedStatus);
}

TEST_F(FakeChannel, ATimeoutMakesTheChannelUnusableUntilDisconnect) {
  ASSERT_EQ(connect(), kOk);
  control("hang transfer *");
  EXPECT_EQ(write(30), kTimeoutStatus);
  EXPECT_EQ(write(500), kFailedStatus) << "at once";
  control("");
  EXPECT_EQ(write(), kFailedStatus);
  EXPECT_EQ(connect(), kAlreadyConnectedStatus);
  EXPECT_EQ(disconnect(), kOk);
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(write(), kOk);
  control("hang TransferSync 1");
  EXPECT_EQ(write(30), kTimeoutStatus);
  EXPECT_EQ(write(), kFailedStatus) << "no matter where the time went";
}

TEST_F(FakeChannel, APeerThatDoesNotAnswerTimesOut) {
  ASSERT_EQ(connect(), kOk);
  control("hang listener 1");
  EXPECT_EQ(write(50), kTimeoutStatus);
  control("");
}

TEST_F(FakeChannel, AnUnreachablePeerKeepsTheChannel) {
  ASSERT_EQ(connect(), kOk);
  other_.reset();
  EXPECT_EQ(write(), kFailedStatus);
  EXPECT_EQ(disconnect(), kFailedStatus);
  EXPECT_EQ(connect(), kAlreadyConnectedStatus);
  EXPECT_EQ(fake_ascend_live("channel"), 1U);
}

TEST_F(FakeChannel, APeerRestartedAtTheSamePortIsAnother) {
  ASSERT_EQ(connect(), kOk);
  restartOther(peer_);
  EXPECT_EQ(write(), kFailedStatus) << "the old channel";
  EXPECT_EQ(connect(), kAlreadyConnectedStatus);
  EXPECT_EQ(disconnect(), kOk) << "the port is reachable again";
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(write(), kOk);
}

TEST_F(FakeChannel, APeerRestartedAtAnotherPortLeavesAChannelBehind) {
  ASSERT_EQ(connect(), kOk);
  const std::string old = peer_;
  restartOther(freeAddress());
  EXPECT_EQ(one_.engine.Disconnect(old.c_str(), 20000), kFailedStatus);
  EXPECT_EQ(connect(), kOk);
  EXPECT_EQ(write(), kOk);
  EXPECT_EQ(fake_ascend_live("channel"), 2U);
}

TEST_F(FakeChannel, ARequestMeantForAnEngineBeforeThisOneIsRefused) {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(static_cast<uint16_t>(std::stoi(peer_.substr(peer_.find(':') + 1))));
  ASSERT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  Header request;
  request.frame = Frame::kRead;
  request.generation = 2;
  request.count = 1;
  const RemotePiece piece{address_, 1};
  ASSERT_EQ(::send(file, &request, sizeof request, 0), static_cast<ssize_t>(sizeof request));
  ASSERT_EQ(::send(file, &piece, sizeof piece, 0), static_cast<ssize_t>(sizeof piece));
  Header reply;
  ASSERT_EQ(::recv(file, &reply, sizeof reply, MSG_WAITALL), static_cast<ssize_t>(sizeof reply));
  EXPECT_EQ(reply.status, kNotConnectedStatus);
  EXPECT_EQ(::close(file), 0);
}

TEST_F(FakeChannel, AnAddressCanBeMadeUnreachable) {
  control("set unreachable 127.0.0.1:1," + peer_);
  EXPECT_EQ(connect(), kFailedStatus);
  control("");
  EXPECT_EQ(connect(), kOk);
}

TEST_F(FakeChannel, LinksAreLimited) {
  control("set links 1");
  const Node third;
  ASSERT_EQ(connect(), kOk);
  EXPECT_EQ(one_.connect(third), kResourceExhaustedStatus);
  EXPECT_EQ(disconnect(), kOk);
  EXPECT_EQ(one_.connect(third), kOk);
  Node newer(plain({{"adxl.LocalCommRes", R"({"version":"1.3"})"}}));
  EXPECT_EQ(newer.connect(third), kOk);
  EXPECT_EQ(newer.connect(*other_), kResourceExhaustedStatus) << "also without communicators of HCCL";
}

TEST_F(FakeChannel, AutoConnectConnectsAndDisconnectsByItself) {
  Node automatic(autoConnect());
  const char* own = automatic.device(kMega1);
  EXPECT_EQ(automatic.write(*other_, own, remote_, kMega1), kOk);
  EXPECT_EQ(automatic.connect(*other_), kAlreadyConnectedStatus);
  control("fail transfer 1 503900");
  EXPECT_EQ(automatic.write(*other_, own, remote_, kMega1), kFailedStatus);
  EXPECT_EQ(automatic.disconnect(*other_), kNotConnectedStatus) << "it did so itself";
  EXPECT_EQ(automatic.write(*other_, own, remote_, kMega1), kOk);
  control("fail transfer 1 103905");
  EXPECT_EQ(automatic.write(*other_, own, remote_, kMega1), kUnsupportedStatus);
  EXPECT_EQ(automatic.disconnect(*other_), kOk) << "this error is not one of the link";
}

TEST_F(FakeChannel, AutoConnectReplacesTheErrorByThatOfItsDisconnect) {
  Node automatic(autoConnect());
  const char* own = automatic.device(kMega1);
  ASSERT_EQ(automatic.write(*other_, own, remote_, kMega1), kOk);
  control("fail transfer 1 500001\nset unreachable " + peer_);
  EXPECT_EQ(automatic.write(*other_, own, remote_, kMega1), kFailedStatus);
}

TEST_F(FakeChannel, TheServerDropsASilentChannel) {
  ASSERT_EQ(connect(), kOk);
  control("set silent_ms 100");
  ASSERT_EQ(write(), kOk) << "from then on it has been silent";
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(write(), kFailedStatus);
}

TEST_F(FakeChannel, TheHeartbeatIsSentUntilDisconnectFails) {
  control("set heartbeat_ms 10");
  Node beating;
  const char* own = beating.device(kMega1);
  ASSERT_EQ(beating.connect(*other_), kOk);
  while (fake_ascend_calls("heartbeat") < 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(beating.write(*other_, own, remote_, kMega1), kOk);
  control("set heartbeat_ms 10\nset unreachable " + peer_);
  EXPECT_EQ(beating.disconnect(*other_), kFailedStatus);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const uint64_t beats = fake_ascend_calls("heartbeat");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(fake_ascend_calls("heartbeat"), beats);
}

}  // namespace
}  // namespace fake_ascend
