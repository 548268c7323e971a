// SPDX-License-Identifier: Apache-2.0
// Memory that is exposed, and memory that a peer exposed, over a UCX that does as it is told.
#include <gtest/gtest.h>

#include "ucx/exposed_memory.h"
#include "ucx/fake_ucx.h"
#include "ucx/library.h"
#include "ucx/remote_memory.h"

namespace kvpool::ucx {
namespace {

using test::FakeUcx;

std::span<uint8_t> bytesOf(std::string& text) {
  return {reinterpret_cast<uint8_t*>(text.data()), text.size()};
}

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    auto made = Worker::create(FakeUcx::api());
    if (!made.ok()) throw std::runtime_error(made.status().text());
    worker_ = std::move(made.value());
  }
  std::unique_ptr<RemoteMemory> open() {
    const StagingOffer offer{there_.size(), reinterpret_cast<uintptr_t>(there_.data()), "worker", "key"};
    auto opened = RemoteMemory::open(*worker_, offer);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return std::move(opened.value());
  }
  /// Completions as "NUMBER good" and "NUMBER bad", one behind the other.
  std::string settle(RemoteMemory& remote, int rounds = 4) {
    std::string text;
    for (int round = 0; round < rounds; ++round) {
      (void)worker_->settle();
      (void)remote.advance();
      for (const auto& one : remote.takeCompletions())
        text += std::to_string(one.operation) + (one.good ? " good " : " bad ");
    }
    return text;
  }

  FakeUcx fake_;
  std::unique_ptr<Worker> worker_;
  std::string there_ = "memory of the peer, far away";
};

TEST_F(MemoryTest, BytesAreReadAndWrittenAtTheirOffsets) {
  const auto remote = open();
  std::string into(4, '.');
  remote->read(1, 14, bytesOf(into));
  EXPECT_EQ(settle(*remote), "1 good ");
  EXPECT_EQ(into, "peer");
  std::string from = "PEER";
  remote->write(2, 14, bytesOf(from));
  EXPECT_EQ(settle(*remote), "2 good ");
  EXPECT_EQ(there_, "memory of the PEER, far away");
  remote->close();
  EXPECT_TRUE(remote->closed());
}

TEST_F(MemoryTest, OneFlushMakesSureOfAllWritesBeforeIt) {
  const auto remote = open();
  std::string from = "x";
  for (uint64_t number = 1; number <= 10; ++number)
    remote->write(number, number, bytesOf(from));
  EXPECT_EQ(settle(*remote), "1 good 2 good 3 good 4 good 5 good 6 good 7 good 8 good 9 good 10 good ");
  EXPECT_EQ(fake_.flushes, 1);
  remote->close();
}

TEST_F(MemoryTest, AWriteWhoseFlushFailsIsNotThere) {
  const auto remote = open();
  std::string from = "x";
  remote->write(1, 0, bytesOf(from));
  (void)worker_->settle();
  fake_.failingOperations = 1;
  EXPECT_EQ(settle(*remote), "1 bad ");
  fake_.refusedOperations = 2;
  remote->write(2, 0, bytesOf(from));
  remote->read(3, 0, bytesOf(from));
  EXPECT_EQ(settle(*remote), "2 bad 3 bad ");
  remote->close();
}

TEST_F(MemoryTest, ClosingEndsWhatIsUnderWayExactlyOnce) {
  auto remote = open();
  fake_.hangs = true;
  std::string one(8, '.');
  std::string two = "x";
  remote->read(1, 0, bytesOf(one));
  remote->write(2, 0, bytesOf(two));
  EXPECT_EQ(settle(*remote), "");
  fake_.closingTakes = 3;
  remote->close();
  EXPECT_FALSE(remote->closed()) << "UCX is not through with it";
  EXPECT_EQ(settle(*remote), "1 bad 2 bad ");
  EXPECT_TRUE(remote->closed());
  remote->close();
  remote->read(3, 0, bytesOf(one));
  EXPECT_EQ(settle(*remote), "3 bad ");
  remote.reset();
  EXPECT_EQ(one, "........");
  EXPECT_EQ(fake_.requestsAlive, 0);
  EXPECT_EQ(fake_.endpointsAlive, 0);
  EXPECT_EQ(fake_.keysAlive, 0);
}

TEST_F(MemoryTest, ALostPeerHasUcxsReason) {
  const auto remote = open();
  EXPECT_EQ(remote->failure(), "");
  fake_.losePeer();
  EXPECT_EQ(remote->failure(), "what the fake was told to say");
  remote->close();
}

TEST_F(MemoryTest, EachThingThatIsMissingHasItsSentence) {
  const StagingOffer offer{1, 0, "worker", "key"};
  fake_.noTransport = true;
  EXPECT_NE(RemoteMemory::open(*worker_, offer).status().text().find("no transport to the peer"), std::string::npos);
  fake_.noTransport = false;
  fake_.noKey = true;
  EXPECT_NE(RemoteMemory::open(*worker_, offer).status().text().find("key of the peer"), std::string::npos);
  EXPECT_EQ(fake_.endpointsAlive, 0);
  fake_.noMemory = true;
  EXPECT_NE(ExposedMemory::create(*worker_, 4096).status().text().find("ulimit -l"), std::string::npos);
  fake_.noDevice = true;
  EXPECT_NE(Worker::create(FakeUcx::api()).status().text().find("UCX_NET_DEVICES"), std::string::npos);
}

TEST_F(MemoryTest, ExposedAddressesAreOnlyEverExposedAgain) {
  constexpr uint64_t kBytes = 3 << 20;
  const uint8_t* before = nullptr;
  {
    auto first = ExposedMemory::create(*worker_, kBytes);
    ASSERT_TRUE(first.ok());
    before = first.value()->at(0);
    *first.value()->at(kBytes - 1) = 7;
    EXPECT_EQ(first.value()->offer().address, reinterpret_cast<uintptr_t>(before));
    EXPECT_EQ(first.value()->offer().bytes, kBytes);
    EXPECT_EQ(fake_.mapped, 1);
  }
  EXPECT_EQ(fake_.mapped, 0);
  EXPECT_EQ(*(before + kBytes - 1), 0) << "still memory, without its old pages";
  auto second = ExposedMemory::create(*worker_, kBytes);
  EXPECT_EQ(second.value()->at(0), before);
}

TEST(Library, AFileThatIsNoUcxIsNamedWithTheWayOut) {
  ::setenv(kLibraryVariable, "libc.so.6", 1);
  const Status why = load().status();
  EXPECT_NE(why.text().find("libc.so.6 cannot be used: it has no function ucp_init_version"), std::string::npos)
      << why.text();
  EXPECT_NE(why.text().find(kLibraryVariable), std::string::npos);
  ::unsetenv(kLibraryVariable);
  const auto real = load();
  EXPECT_TRUE(real.ok()) << real.status().text();
}

}  // namespace
}  // namespace kvpool::ucx
