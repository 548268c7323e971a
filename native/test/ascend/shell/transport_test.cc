// SPDX-License-Identifier: Apache-2.0
// The transport over CANN's functions, two engines of this process beside each other. CANN is the fake of
// test/ascend/fake.
#include "ascend/shell/transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ascend/core/settings.h"
#include "ascend/fake_cann.h"
#include "base/log.h"

namespace kvpool::ascend {
namespace {

constexpr size_t kBytes = size_t{4} << 20;

/// A port of loopback on which nothing listens now.
std::string freeEndpoint() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(probe, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ::close(probe);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

/// Memory of the host as ACL gives it.
class HostMemory {
 public:
  explicit HostMemory(size_t bytes = kBytes) : bytes_(bytes) {
    void* memory = nullptr;
    EXPECT_EQ(runtime().acl.mallocHost(&memory, bytes), kAclOk);
    at_ = static_cast<uint8_t*>(memory);
  }
  ~HostMemory() { EXPECT_EQ(runtime().acl.freeHost(at_), kAclOk); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  [[nodiscard]] uint8_t* at(size_t offset = 0) const { return at_ + offset; }
  [[nodiscard]] uintptr_t address() const { return reinterpret_cast<uintptr_t>(at_); }
  void fill(uint32_t seed) {
    for (size_t i = 0; i < bytes_; ++i)
      at_[i] = static_cast<uint8_t>((i * 2654435761U + seed) >> 13);
  }

 private:
  size_t bytes_;
  uint8_t* at_ = nullptr;
};

/// One life of a peer: an engine and its memory.
class Peer {
 public:
  Peer(AclContext context, const std::string& endpoint, bool connectsByItself = false) {
    const Capabilities capabilities{connectsByItself, false};
    auto opened =
        Engine::open(runtime(), {context, endpoint, optionsOf({}, capabilities, runtime().adxl.optionPrefix)});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    engine_ = std::move(opened.value());
    add(memory_);
  }
  void add(const HostMemory& memory) {
    const auto handle = engine_->registerMemory(memory.address(), kBytes, MemoryType::Host);
    EXPECT_TRUE(handle.ok()) << handle.status().text();
    ++registrations_;
  }
  [[nodiscard]] Place place() const { return {engine_->endpoint(), registrations_}; }
  [[nodiscard]] HostMemory& memory() { return memory_; }
  [[nodiscard]] const HostMemory& memory() const { return memory_; }
  [[nodiscard]] Engine& engine() { return *engine_; }

 private:
  HostMemory memory_;
  std::unique_ptr<Engine> engine_;
  uint64_t registrations_ = 0;
};

bool eventually(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 3000 && !condition(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

class TransportTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    (void)runtime();
    functionOf<void (*)()>("fake_ascend_reset")();
    device_.emplace();
    here_ = std::make_unique<Peer>(device_->context(), freeEndpoint());
    there_ = std::make_unique<Peer>(device_->context(), freeEndpoint());
    begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 5000});
  }
  void TearDown() override {
    transport_.reset();
    here_.reset();
    there_.reset();
    device_.reset();
    for (const char* kind : {"engine", "channel", "region", "request", "host_memory", "context"})
      EXPECT_EQ(live(kind), 0U) << kind;
  }
  void begin(const RouteSettings& routes) {
    transport_.reset();
    transport_ = std::make_unique<Transport>(here_->engine(), Transport::Terms{routes, 4, GetParam()});
  }

  /// From the beginning of this machine's memory to that of a peer.
  Status write(const Peer& peer, Time timeoutMs = 5000) {
    std::promise<Status> end;
    transport_->submit(peer.place(), Direction::Write, {{here_->memory().address(), peer.memory().address(), 64}},
                       timeoutMs, [&end](const Status& status) { end.set_value(status); });
    return end.get_future().get();
  }
  std::future<Status> start(Direction direction, std::vector<Piece> pieces, Time timeoutMs = 5000) {
    auto promise = std::make_shared<std::promise<Status>>();
    std::future<Status> end = promise->get_future();
    transport_->submit(there_->place(), direction, std::move(pieces), timeoutMs,
                       [promise](const Status& status) { promise->set_value(status); });
    return end;
  }
  Status move(Direction direction, std::vector<Piece> pieces, Time timeoutMs = 5000) {
    return start(direction, std::move(pieces), timeoutMs).get();
  }
  [[nodiscard]] Piece piece(size_t offset, size_t length) const {
    return {here_->memory().address() + offset, there_->memory().address() + offset, length};
  }
  [[nodiscard]] bool same(size_t bytes = kBytes) const {
    return std::equal(here_->memory().at(), here_->memory().at(bytes), there_->memory().at());
  }
  void restart(const std::string& endpoint) {
    there_.reset();
    there_ = std::make_unique<Peer>(device_->context(), endpoint);
  }

  std::optional<Device> device_;
  std::unique_ptr<Peer> here_;
  std::unique_ptr<Peer> there_;
  std::unique_ptr<Transport> transport_;
};

TEST_P(TransportTest, BytesAreWrittenAndRead) {
  here_->memory().fill(1);
  EXPECT_TRUE(move(Direction::Write, {piece(0, kBytes)}).ok());
  EXPECT_TRUE(same());
  there_->memory().fill(2);
  EXPECT_FALSE(same());
  EXPECT_TRUE(move(Direction::Read, {piece(0, kBytes)}).ok());
  EXPECT_TRUE(same());
  EXPECT_EQ(calls("Connect"), 1U);
}

TEST_P(TransportTest, ABatchMayHaveManyPieces) {
  for (const size_t count : {size_t{1}, size_t{4096}, size_t{4097}, size_t{10000}}) {
    here_->memory().fill(static_cast<uint32_t>(count));
    std::vector<Piece> pieces;
    for (size_t i = 0; i < count; ++i)
      pieces.push_back(piece(i * 256, 256));
    EXPECT_TRUE(move(Direction::Write, std::move(pieces)).ok()) << count;
    EXPECT_TRUE(same(count * 256)) << count;
  }
}

TEST_P(TransportTest, APeerThatRestartsAtItsPortIsConnectedAgain) {
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  restart(there_->place().endpoint);
  const Status lost = move(Direction::Write, {piece(0, 64)});
  EXPECT_EQ(lost.code(), KV_TRANSFER_FAILED) << lost.text();
  here_->memory().fill(3);
  const Status again = move(Direction::Write, {piece(0, kBytes)});
  EXPECT_TRUE(again.ok()) << again.text();
  EXPECT_TRUE(same());
}

TEST_P(TransportTest, APeerThatRestartsAtAnotherPortIsConnectedThere) {
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  restart(freeEndpoint());
  here_->memory().fill(4);
  const Status again = move(Direction::Write, {piece(0, kBytes)});
  EXPECT_TRUE(again.ok()) << again.text();
  EXPECT_TRUE(same());
}

TEST_P(TransportTest, APeerThatIsNotThereIsAFailureThatNamesIt) {
  const Place gone{freeEndpoint(), 1};
  std::promise<Status> promise;
  transport_->submit(gone, Direction::Read, {piece(0, 64)}, 5000,
                     [&](const Status& status) { promise.set_value(status); });
  const Status status = promise.get_future().get();
  EXPECT_EQ(status.code(), KV_CONNECT_FAILED);
  EXPECT_EQ(status.text().find(gone.endpoint + " cannot be connected: "), 0U) << status.text();
}

uint64_t total(const Durations& durations) {
  return std::accumulate(durations.counts.begin(), durations.counts.end(), uint64_t{0});
}

TEST_P(TransportTest, ATransferThatHangsTimesOutAndTheNextHasAnotherChannel) {
  begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 300});
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  control("hang transfer 1");
  const Status late = move(Direction::Write, {piece(0, 64)});
  EXPECT_EQ(late.code(), KV_TIMEOUT) << late.text();
  control("");
  here_->memory().fill(5);
  EXPECT_TRUE(move(Direction::Write, {piece(0, kBytes)}).ok());
  EXPECT_TRUE(same());
  EXPECT_EQ(calls("Connect"), 2U);
  EXPECT_EQ(transport_->counters().timeouts, 1U);
  EXPECT_EQ(transport_->counters().failures, 1U);
  EXPECT_EQ(transport_->counters().transfers, 2U);
  const RouteCounters counters = transport_->counters();
  EXPECT_GE(counters.transferring.us, 100000U) << "the one that hung";
  EXPECT_EQ(total(counters.transferring), 3U);
  EXPECT_GE(counters.transferring.counts[4] + counters.transferring.counts[5], 1U) << "more than 100 ms";
  EXPECT_EQ(total(counters.connecting), 2U);
}

TEST_P(TransportTest, WhatWaitsBehindTransfersThatHangDoesNotHangToo) {
  begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 300});
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  const uint64_t before = calls("TransferSync");
  control("hang transfer *");
  std::vector<std::future<Status>> ends;
  for (int i = 0; i < 40; ++i)
    ends.push_back(start(Direction::Write, {piece(0, 64)}));
  for (auto& end : ends)
    EXPECT_FALSE(end.get().ok());
  control("");
  EXPECT_EQ(calls("TransferSync") - before, GetParam() ? 0U : 4U) << "one for each thread";
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
}

TEST_P(TransportTest, LinesAboutTransfersAreForDebugAlone) {
  const auto logged = [&] {
    begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 5000});
    testing::internal::CaptureStderr();
    EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
    return testing::internal::GetCapturedStderr();
  };
  setLogLevel(LogLevel::Info);
  EXPECT_EQ(logged(), "") << "they would be on the way of each value";
  setLogLevel(LogLevel::Debug);
  const std::string text = logged();
  setLogLevel(LogLevel::Warning);
  EXPECT_NE(text.find("ascend: a channel to " + there_->place().endpoint + " took "), std::string::npos) << text;
  EXPECT_NE(text.find("ascend: a transfer took "), std::string::npos) << text;
}

TEST_P(TransportTest, HalfATransferIsAFailure) {
  here_->memory().fill(6);
  control("partial transfer 1 1000 503900");
  const Status status = move(Direction::Write, {piece(0, kBytes)});
  EXPECT_EQ(status.code(), KV_TRANSFER_FAILED) << status.text();
  EXPECT_FALSE(same());
}

TEST_P(TransportTest, MemoryThatWasRegisteredAfterTheConnectionIsReached) {
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  HostMemory later;
  there_->add(later);
  here_->memory().fill(7);
  EXPECT_TRUE(move(Direction::Write, {{here_->memory().address(), later.address(), kBytes}}).ok());
  EXPECT_TRUE(std::equal(later.at(), later.at(kBytes), here_->memory().at()));
  EXPECT_EQ(calls("Connect"), 2U);
  transport_.reset();
  there_.reset();
}

TEST_P(TransportTest, MemoryIsTakenBackWhileTransfersWait) {
  HostMemory borrowed;
  const auto handle = here_->engine().registerMemory(borrowed.address(), kBytes, MemoryType::Host);
  ASSERT_TRUE(handle.ok());
  transport_->registered();
  EXPECT_TRUE(move(Direction::Read, {{borrowed.address(), there_->memory().address(), kBytes}}).ok());
  std::atomic<bool> ending = false;
  std::thread others([&] {
    while (!ending)
      EXPECT_TRUE(move(Direction::Write, {piece(0, 4096)}).ok());
  });
  Status taken;
  transport_->withoutChannels([&] {
    EXPECT_EQ(live("channel"), 0U);
    taken = here_->engine().deregisterMemory(handle.value());
  });
  EXPECT_TRUE(taken.ok()) << taken.text();
  ending = true;
  others.join();
  EXPECT_FALSE(move(Direction::Read, {{borrowed.address(), there_->memory().address(), kBytes}}).ok());
}

TEST_P(TransportTest, AChannelThatWasLeftByAnotherIsTakenOver) {
  EXPECT_EQ(here_->engine().connect(there_->place().endpoint, 1000), kTransportOk);
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  EXPECT_EQ(calls("Disconnect"), 1U);
}

TEST_P(TransportTest, ManyCallersAreServedAtOnce) {
  here_->memory().fill(8);
  std::vector<std::future<Status>> ends;
  constexpr size_t kPart = kBytes / 512;
  for (size_t i = 0; i < 512; ++i)
    ends.push_back(start(Direction::Write, {piece(i * kPart, kPart)}, 30000));
  for (auto& end : ends)
    EXPECT_TRUE(end.get().ok());
  EXPECT_TRUE(same());
}

/// CANN has room for two channels; `channelsMax` is what the transport thinks.
class ChannelRoomTest : public TransportTest {
 protected:
  void fill(bool connectsByItself, size_t channelsMax) {
    SCOPED_TRACE((connectsByItself ? "CANN connects, " : "we connect, ") + std::to_string(channelsMax) + " channels");
    control("set links 2");
    transport_.reset();
    here_ = std::make_unique<Peer>(device_->context(), freeEndpoint(), connectsByItself);
    begin({.connectTimeoutMs = 1000,
           .transferTimeoutMs = 5000,
           .connectsByItself = connectsByItself,
           .channelsMax = channelsMax});
    std::vector<std::unique_ptr<Peer>> peers;
    for (int i = 0; i < 5; ++i)
      peers.push_back(std::make_unique<Peer>(device_->context(), freeEndpoint(), connectsByItself));
    for (int round = 0; round < 3; ++round) {
      for (const auto& peer : peers) {
        const Status moved = write(*peer);
        EXPECT_TRUE(moved.ok()) << moved.text();
        EXPECT_LE(live("channel"), 2U);
      }
    }
    EXPECT_EQ(transport_->counters().roomMade, 13U) << "all but the first two, as each peer had the longest rest";
    transport_.reset();
    EXPECT_EQ(live("channel"), 0U);
    here_.reset();
  }
};

TEST_P(ChannelRoomTest, MorePeersAreReachedThanThereIsRoomFor) {
  for (const bool connectsByItself : {false, true}) {
    fill(connectsByItself, 2);
    for (const char* call : {"Connect", "TransferSync", "TransferAsync"})
      EXPECT_EQ(functionOf<uint64_t (*)(const char*)>("fake_ascend_failures")(call), 0U) << call;
  }
}

TEST_P(ChannelRoomTest, CannThatHasLessRoomThanThoughtIsBelieved) {
  for (const bool connectsByItself : {false, true})
    fill(connectsByItself, 512);
}

INSTANTIATE_TEST_SUITE_P(Ways, ChannelRoomTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Asynchronous" : "Synchronous"; });

TEST_P(TransportTest, AForgottenPeersChannelEnds) {
  EXPECT_TRUE(write(*there_).ok());
  EXPECT_EQ(live("channel"), 1U);
  transport_->forget(there_->place().endpoint);
  EXPECT_TRUE(eventually([] { return live("channel") == 0; }));
}

TEST_P(TransportTest, PeersThatGoTogetherKeepNoThreadsFromTransfers) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 12; ++i) {
    peers.push_back(std::make_unique<Peer>(device_->context(), freeEndpoint()));
    EXPECT_TRUE(write(*peers.back()).ok());
  }
  EXPECT_TRUE(write(*there_).ok());
  control("hang Disconnect *");
  for (const auto& peer : peers)
    transport_->forget(peer->place().endpoint);
  EXPECT_TRUE(write(*there_).ok());
  EXPECT_LT(calls("Disconnect"), 9U) << "of four threads each had to end its share before the transfer";
  control("");
  EXPECT_TRUE(eventually([] { return live("channel") == 1; }));
}

TEST_P(TransportTest, CannIsNotAskedForATransferWhoseTimeEndedWhileItWaitedForAThread) {
  transport_ = std::make_unique<Transport>(
      here_->engine(), Transport::Terms{{.connectTimeoutMs = 60000, .transferTimeoutMs = 5000}, 1, GetParam()});
  EXPECT_TRUE(write(*there_).ok());
  const uint64_t before = calls("TransferSync") + calls("TransferAsync");
  control("hang Connect *");
  std::promise<Status> lost;
  transport_->submit({freeEndpoint(), 1}, Direction::Read, {piece(0, 64)}, 60000,
                     [&](const Status& status) { lost.set_value(status); });
  std::future<Status> late = start(Direction::Write, {piece(0, 64)}, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  control("");
  EXPECT_EQ(late.get().code(), KV_TIMEOUT);
  EXPECT_EQ(lost.get_future().get().code(), KV_CONNECT_FAILED);
  EXPECT_EQ(calls("TransferSync") + calls("TransferAsync"), before);
  const uint64_t connects = calls("Connect");
  EXPECT_TRUE(write(*there_).ok());
  EXPECT_EQ(calls("Connect"), connects) << "its channel is as it was";
}

TEST_P(TransportTest, MemoryIsTakenBackByTwoAtATimeWhileTransfersWait) {
  std::atomic<bool> ending = false;
  std::thread others([&] {
    while (!ending)
      EXPECT_TRUE(move(Direction::Write, {piece(0, 4096)}, 30000).ok());
  });
  std::vector<std::thread> takers;
  takers.reserve(2);
  for (int i = 0; i < 2; ++i) {
    takers.emplace_back([&] {
      for (int round = 0; round < 30; ++round)
        transport_->withoutChannels([] { EXPECT_EQ(live("channel"), 0U); });
    });
  }
  for (std::thread& taker : takers)
    taker.join();
  ending = true;
  others.join();
}

class AsynchronousTransfers : public TransportTest {};

TEST_P(AsynchronousTransfers, AHundredAreUnderWayAndTheOthersWait) {
  begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 60000});
  EXPECT_TRUE(move(Direction::Write, {piece(0, 64)}).ok());
  control("hang transfer *");
  std::vector<std::future<Status>> ends;
  for (int i = 0; i < 150; ++i)
    ends.push_back(start(Direction::Write, {piece(0, 64)}, 60000));
  EXPECT_TRUE(eventually([] { return live("request") >= 100; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // in which more could begin
  EXPECT_EQ(live("request"), 100U);
  control("");
  for (auto& end : ends)
    EXPECT_TRUE(end.get().ok());
}

INSTANTIATE_TEST_SUITE_P(Way, AsynchronousTransfers, testing::Values(true), [](const auto&) { return "Asynchronous"; });

TEST_P(TransportTest, ShuttingDownEndsAllThatIsUnderWayAndAllThatWaits) {
  begin({.connectTimeoutMs = 1000, .transferTimeoutMs = 300, .underWayMax = 2});
  control("hang transfer *");
  std::vector<std::future<Status>> ends;
  for (int i = 0; i < 8; ++i)
    ends.push_back(start(Direction::Write, {piece(0, 64)}));
  transport_->shutDown();
  size_t closed = 0;
  for (auto& end : ends) {
    const Status status = end.get();
    EXPECT_FALSE(status.ok());
    if (status.code() == KV_CLOSED) ++closed;
  }
  EXPECT_GE(closed, 6U);
  EXPECT_EQ(start(Direction::Write, {piece(0, 64)}).get().code(), KV_CLOSED);
}

INSTANTIATE_TEST_SUITE_P(Ways, TransportTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Asynchronous" : "Synchronous"; });

}  // namespace
}  // namespace kvpool::ascend
