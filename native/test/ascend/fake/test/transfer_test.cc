// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <numeric>
#include <thread>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeTransfer : public Scene {
 protected:
  static void fill(char* memory, size_t size, unsigned seed) {
    for (size_t i = 0; i < size; ++i)
      memory[i] = static_cast<char>((i * 31 + seed) >> 3);
  }
};

TEST_F(FakeTransfer, WriteAndReadMoveBytes) {
  Node one;
  Node other;
  char* own = one.device(kMega1);
  char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  fill(own, kMega1, 5);
  EXPECT_EQ(one.write(other, own, remote, kMega1), kOk);
  EXPECT_EQ(std::memcmp(own, remote, kMega1), 0);
  fill(remote, kMega1, 1000);
  EXPECT_EQ(one.read(other, own, remote, kMega1), kOk);
  EXPECT_EQ(std::memcmp(own, remote, kMega1), 0);
}

TEST_F(FakeTransfer, AnyNumberOfPieces) {
  constexpr size_t kPiece = 64;
  Node one;
  Node other;
  char* own = one.device(kMega1);
  char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  for (const size_t count : {size_t{1}, size_t{4096}, size_t{4097}, size_t{10000}}) {
    fill(own, kMega1, static_cast<unsigned>(count));
    std::memset(remote, 0, kMega1);
    std::vector<adxl::TransferOpDesc> pieces;
    for (size_t i = 0; i < count; ++i)  // backwards, each at its own place
      pieces.push_back({addressOf(own) + i * kPiece, addressOf(remote) + (count - 1 - i) * kPiece, kPiece});
    ASSERT_EQ(one.engine.TransferSync(other.name(), adxl::WRITE, pieces, 10000), kOk);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(std::memcmp(own + i * kPiece, remote + (count - 1 - i) * kPiece, kPiece), 0) << i << " of " << count;
  }
}

TEST_F(FakeTransfer, RefusesWrongArguments) {
  Node one;
  Node other;
  const char* own = one.device(kMega1);
  const char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  EXPECT_EQ(one.write(other, own, remote, kMega1, 0), kParamInvalidStatus);
  EXPECT_EQ(one.write(other, own, remote, kMega1, -1), kParamInvalidStatus);
  EXPECT_EQ(one.write(other, nullptr, remote, kMega1), kParamInvalidStatus);
  EXPECT_EQ(one.write(other, own, nullptr, kMega1), kParamInvalidStatus);
  EXPECT_EQ(one.write(other, own, remote, 0), kParamInvalidStatus);
  EXPECT_EQ(one.engine.TransferSync(other.name(), adxl::READ, {}, 1000), kParamInvalidStatus);
  EXPECT_EQ(one.write(other, own, remote + 1, kMega1), kFailedStatus) << "beyond the registered memory";
  EXPECT_EQ(one.write(other, own + 1, remote, kMega1), kFailedStatus);
  EXPECT_EQ(one.write(other, own, remote, kMega1), kOk) << "the channel is as good as before";
}

TEST_F(FakeTransfer, HccsDoesNotReachHostMemoryOfAnother) {
  Node one;
  Node other;
  const char* own = one.device(kMega1);
  const char* ownHost = one.host(kMega1);
  const char* remoteHost = other.host(kMega1);
  const char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  EXPECT_EQ(one.write(other, own, remoteHost, kMega1), kFailedStatus);
  EXPECT_EQ(one.read(other, ownHost, remoteHost, kMega1), kFailedStatus);
  EXPECT_EQ(one.write(other, ownHost, remote, kMega1), kOk) << "its own host memory it may use";
  control("set hccs_host_status 103905");
  EXPECT_EQ(one.write(other, own, remoteHost, kMega1), kUnsupportedStatus);
}

TEST_F(FakeTransfer, RoceReachesHostMemoryOfAnother) {
  for (const bool byEnvironment : {false, true}) {
    ASSERT_EQ(::setenv("HCCL_INTRA_ROCE_ENABLE", byEnvironment ? "1" : "0", 1), 0);
    Node one(byEnvironment ? plain() : roce());
    ASSERT_EQ(::unsetenv("HCCL_INTRA_ROCE_ENABLE"), 0);
    Node other;
    char* own = one.device(kMega1);
    char* remote = other.host(kMega1);
    ASSERT_EQ(one.connect(other), kOk);
    fill(own, kMega1, 3);
    EXPECT_EQ(one.write(other, own, remote, kMega1), kOk);
    EXPECT_EQ(std::memcmp(own, remote, kMega1), 0);
  }
}

TEST_F(FakeTransfer, ABufferPoolStagesWhatIsNotRegistered) {
  Node one(Options{});
  Node other(Options{});
  ASSERT_EQ(one.connect(other), kOk);
  std::vector<char> own(kMega1);
  std::vector<char> remote(kMega1);
  fill(own.data(), kMega1, 9);
  EXPECT_EQ(one.write(other, own.data(), remote.data(), kMega1), kOk);
  EXPECT_EQ(own, remote);
  fill(own.data(), kMega1, 10);
  EXPECT_EQ(one.read(other, own.data(), remote.data(), kMega1), kOk);
  EXPECT_EQ(own, remote);
  EXPECT_EQ(one.move(adxl::WRITE, other.name(), own.data(), 4096, 10), kFailedStatus) << "no memory there";
}

TEST_F(FakeTransfer, ABufferPoolStagesSmallPiecesToHostMemoryByHccs) {
  constexpr size_t kSmall = (256 << 10) - 1;
  Node one(Options{});
  Node other(Options{});
  const char* own = one.device(kMega1);
  const char* remote = other.host(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  EXPECT_EQ(one.write(other, own, remote, kSmall), kOk);
  EXPECT_EQ(one.write(other, own, remote, kSmall + 1), kFailedStatus);
}

TEST_F(FakeTransfer, ABufferPoolHasOneTypePerTransfer) {
  Node one(Options{});
  Node other(Options{});
  const char* device = one.device(kMega1);
  const char* host = one.host(kMega1);
  const char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  EXPECT_EQ(one.engine.TransferSync(
                other.name(), adxl::WRITE,
                {{addressOf(device), addressOf(remote), 100}, {addressOf(host), addressOf(remote) + 100, 100}}, 1000),
            kParamInvalidStatus);
  EXPECT_EQ(one.engine.TransferSync(
                other.name(), adxl::WRITE,
                {{addressOf(host), addressOf(remote), 100}, {addressOf(host), addressOf(remote) + 100, 100}}, 1000),
            kOk);
}

TEST_F(FakeTransfer, APartOfTheBytesThenAnError) {
  Node one;
  Node other;
  char* own = one.device(kMega1);
  char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  std::memset(own, 'x', kMega1);
  control("partial transfer 1 1000 503900");
  EXPECT_EQ(one.write(other, own, remote, kMega1), kFailedStatus);
  EXPECT_EQ(std::accumulate(remote, remote + kMega1, 0), 1000 * 'x');
  EXPECT_EQ(one.write(other, own, remote, kMega1), kOk);
}

TEST_F(FakeTransfer, APartOfTheBytesThenATimeout) {
  Node one;
  Node other;
  const char* own = one.device(kMega1);
  const char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  control("partial transfer 1 1000 103901");
  EXPECT_EQ(one.read(other, own, remote, kMega1), kTimeoutStatus);
  EXPECT_EQ(one.read(other, own, remote, kMega1), kFailedStatus);
}

TEST_F(FakeTransfer, LatencyAndBandwidthTakeTime) {
  Node one;
  Node other;
  const char* own = one.device(kMega1);
  const char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  control("set bandwidth 10485760\ndelay transfer * 50000");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(one.write(other, own, remote, kMega1), kOk);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(150));
  EXPECT_EQ(one.read(other, own, remote, kMega1, 70), kTimeoutStatus);
}

TEST_F(FakeTransfer, ThePeerMayFailToServe) {
  Node one;
  Node other;
  char* own = one.device(kMega1);
  char* remote = other.device(kMega1);
  ASSERT_EQ(one.connect(other), kOk);
  std::memset(own, 1, kMega1);
  control("fail listener 1 503900");
  EXPECT_EQ(one.write(other, own, remote, kMega1), kFailedStatus);
  EXPECT_EQ(remote[0], 0);
  EXPECT_EQ(one.write(other, own, remote, kMega1), kOk);
}

TEST_F(FakeTransfer, ThreadsShareAChannel) {
  constexpr size_t kThreads = 4;
  constexpr size_t kPart = kMega1 / kThreads;
  Node one;
  Node other;
  char* own = one.device(kMega1);
  char* remote = other.device(kMega1);
  fill(own, kMega1, 77);
  ASSERT_EQ(one.connect(other), kOk);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { EXPECT_EQ(one.write(other, own + i * kPart, remote + i * kPart, kPart), kOk); });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(std::memcmp(own, remote, kMega1), 0);
}

}  // namespace
}  // namespace fake_ascend
