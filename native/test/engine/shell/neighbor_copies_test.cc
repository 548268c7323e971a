// SPDX-License-Identifier: Apache-2.0
// Copies from the memory of another process, against a kernel that the test plays: it refuses, copies a part, finds the
// process gone, or another one under its number.
#include "engine/shell/neighbor_copies.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace kvpool::engine {
namespace {

constexpr ConnectionId kConnection = 7;
constexpr Challenge kChallenge{0xc1, 0xc2};
constexpr uint64_t kProof = 0x500000;
constexpr uint64_t kSource = 0x100000;
constexpr int kSocket = 42;

/// Bytes of the other process at an address.
uint8_t byteAt(uint64_t address) {
  return static_cast<uint8_t>(address * 31 + address / 251 + 1);
}

class PlayedProcess : public OtherProcess {
 public:
  Result<Fd> atTheOtherEnd(int socket, uint32_t pid, uint32_t descriptor) override {
    ++looks;
    EXPECT_EQ(socket, kSocket);
    EXPECT_EQ(pid, 200U);
    EXPECT_EQ(descriptor, 5U);
    if (!refusal.empty()) return Status(KV_UNAVAILABLE, refusal);
    return Fd(::dup(0));
  }
  bool lives(const Fd&) override { return alive; }
  ssize_t read(uint32_t pid, std::span<const iovec> to, std::span<const iovec> from) override {
    EXPECT_EQ(pid, 200U);
    ++reads;
    if (before) before();
    if (error != 0) return -error;
    EXPECT_EQ(to.size(), from.size());
    EXPECT_LE(to.size(), 1024U) << "the kernel takes no more";
    size_t copied = 0;
    uint64_t inThisCall = 0;
    for (size_t i = 0; i < to.size(); ++i) {
      const auto address = reinterpret_cast<uintptr_t>(from[i].iov_base);
      EXPECT_EQ(to[i].iov_len, from[i].iov_len);
      const size_t length = std::min(to[i].iov_len, most - copied);
      if (address == kProof) {
        EXPECT_EQ(i + 1, to.size()) << "behind all that it is to prove";
        std::memcpy(to[i].iov_base, &shown, length);
      } else {
        for (size_t k = 0; k < length; ++k)
          static_cast<uint8_t*>(to[i].iov_base)[k] = byteAt(address + k);
        inThisCall += length;
      }
      copied += length;
    }
    largest = std::max(largest, inThisCall);
    return static_cast<ssize_t>(copied);
  }

  std::string refusal;
  bool alive = true;
  int error = 0;
  size_t most = SIZE_MAX;
  ShownProof shown{kChallenge, 0};
  std::function<void()> before;
  int looks = 0;
  int reads = 0;
  uint64_t largest = 0;
};

class NeighborCopiesTest : public testing::Test {
 protected:
  NeighborCopiesTest() { meet(kConnection); }

  void meet(ConnectionId connection) { copies.meet({connection, {{1, 2, 200}, 5, kProof, {}}, kChallenge}, kSocket); }
  void add(PayloadId pull, std::vector<uint8_t>& to, uint64_t withdrawn = 0, ConnectionId connection = kConnection) {
    copies.add({connection, pull, {{to.data(), to.size()}}, {kSource}, withdrawn});
  }
  void turn() {
    copies.turn([this](ConnectionId, PayloadId pull, const Pulled& end) {
      EXPECT_FALSE(ends.contains(pull));
      ends[pull] = end;
      order.push_back(pull);
    });
  }
  static bool isCopied(const std::vector<uint8_t>& memory, uint64_t from = kSource) {
    for (size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] != byteAt(from + i)) return false;
    }
    return true;
  }
  static bool isEmpty(const std::vector<uint8_t>& memory) {
    return std::all_of(memory.begin(), memory.end(), [](uint8_t byte) { return byte == 0; });
  }

  PlayedProcess process;
  NeighborCopies copies{process};
  std::map<PayloadId, Pulled> ends;
  std::vector<PayloadId> order;
};

constexpr uint64_t kTurn = NeighborCopies::kTurnBytes;

TEST_F(NeighborCopiesTest, ASmallOneIsDoneInOneCall) {
  std::vector<uint8_t> to(5000);
  add(1, to);
  EXPECT_FALSE(copies.idle());
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Done);
  EXPECT_TRUE(isCopied(to));
  EXPECT_TRUE(copies.idle());
  EXPECT_EQ(process.reads, 1);
}

TEST_F(NeighborCopiesTest, ALargeOneTakesTurnsAndIsToldAtItsEnd) {
  std::vector<uint8_t> to(3 * kTurn + 17);
  add(1, to);
  for (int i = 0; i < 3; ++i) {
    turn();
    EXPECT_TRUE(ends.empty());
    EXPECT_FALSE(copies.idle());
  }
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Done);
  EXPECT_TRUE(isCopied(to));
  EXPECT_EQ(process.largest, kTurn) << "more would hold up sockets";
}

TEST_F(NeighborCopiesTest, EachGetsItsShare) {
  std::vector<uint8_t> large(8 * kTurn);
  std::vector<uint8_t> small(100);
  add(1, large);
  add(2, small);
  turn();
  turn();
  EXPECT_EQ(order, std::vector<PayloadId>{2}) << "a small one does not wait for the end of a large one";
}

TEST_F(NeighborCopiesTest, ManyPiecesAreCutAtTheBoundOfTheKernel) {
  constexpr size_t kPieces = 1024;
  std::vector<uint8_t> to(kPieces * 8);
  Pull pull{kConnection, 1, {}, {}, 0};
  for (size_t i = 0; i < kPieces; ++i) {
    pull.to.push_back({to.data() + i * 8, 8});
    pull.from.push_back(kSource + (kPieces - 1 - i) * 16);
  }
  copies.add(std::move(pull));
  turn();
  ASSERT_EQ(ends.at(1).how, Pulled::How::Done);
  for (size_t i = 0; i < kPieces; ++i)
    ASSERT_EQ(to[i * 8 + 7], byteAt(kSource + (kPieces - 1 - i) * 16 + 7)) << i;
}

TEST_F(NeighborCopiesTest, WhetherItIsTheProcessAtTheOtherEndIsAskedBeforeAnyByte) {
  process.refusal = "process 200 does not have the other end of the connection";
  std::vector<uint8_t> to(100);
  for (PayloadId pull = 1; pull < 4; ++pull)
    add(pull, to);
  turn();
  EXPECT_EQ(ends.at(3).how, Pulled::How::Refused);
  EXPECT_EQ(ends.at(1).why, process.refusal);
  EXPECT_EQ(process.looks, 1) << "once";
  EXPECT_EQ(process.reads, 0);
}

TEST_F(NeighborCopiesTest, WhatTheKernelRefusesIsSaid) {
  for (const int error : {EPERM, ENOSYS, EFAULT, ENOMEM}) {
    std::vector<uint8_t> to(100);
    process.error = error;
    add(static_cast<PayloadId>(error), to);
    turn();
    const Pulled& end = ends.at(static_cast<PayloadId>(error));
    EXPECT_EQ(end.how, Pulled::How::Refused);
    EXPECT_NE(end.why.find(std::strerror(error)), std::string::npos) << end.why;
  }
}

TEST_F(NeighborCopiesTest, APartIsNoCopyAndIsWiped) {
  std::vector<uint8_t> to(5000);
  for (const size_t most : {size_t{1}, size_t{4096}, to.size(), to.size() + sizeof(ShownProof) - 1}) {
    process.most = most;
    add(most, to);
    turn();
    EXPECT_EQ(ends.at(most).how, Pulled::How::Refused) << most;
    EXPECT_TRUE(isEmpty(to)) << most;
  }
}

TEST_F(NeighborCopiesTest, MemoryThatDoesNotShowTheChallengeIsOfAnother) {
  std::vector<uint8_t> to(5000);
  process.shown.challenge[1] ^= 1;
  add(1, to);
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Refused);
  EXPECT_TRUE(isEmpty(to)) << "bytes of a stranger are not kept";
}

TEST_F(NeighborCopiesTest, AProcessThatEndedIsNotReadAgain) {
  std::vector<uint8_t> to(2 * kTurn);
  add(1, to);
  turn();
  process.alive = false;
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Gone);
  EXPECT_EQ(process.reads, 1);
}

TEST_F(NeighborCopiesTest, OneThatEndsJustThenIsGone) {
  std::vector<uint8_t> to(100);
  process.error = ESRCH;
  add(1, to);
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Gone);
}

TEST_F(NeighborCopiesTest, ANumberThatIsGivenAgainJustThenIsNoticedAndItsBytesAreWiped) {
  std::vector<uint8_t> to(2 * kTurn);
  add(1, to);
  turn();
  // Between the look at the process and the call of the kernel.
  process.before = [this] { process.shown = {}; };
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Gone);
  EXPECT_TRUE(isEmpty({to.begin() + kTurn, to.end()}));
}

TEST_F(NeighborCopiesTest, WhatIsWithdrawnInTheMiddleDoesNotCount) {
  std::vector<uint8_t> to(2 * kTurn);
  add(1, to);
  turn();
  process.shown.withdrawn = 3;
  turn();
  EXPECT_EQ(ends.at(1).how, Pulled::How::Withdrawn);
  EXPECT_TRUE(isEmpty({to.begin() + kTurn, to.end()}));
  std::vector<uint8_t> later(100);
  add(2, later, 3);
  turn();
  EXPECT_EQ(ends.at(2).how, Pulled::How::Done) << "asked for after that";
}

TEST_F(NeighborCopiesTest, WhatIsDroppedIsNotTouchedAgain) {
  std::vector<uint8_t> dropped(2 * kTurn);
  std::vector<uint8_t> other(100);
  add(1, dropped);
  add(2, other);
  turn();
  const std::vector<uint8_t> before = dropped;
  copies.drop(kConnection, 1);
  turn();
  turn();
  EXPECT_EQ(dropped, before);
  EXPECT_FALSE(ends.contains(1));
  EXPECT_EQ(ends.at(2).how, Pulled::How::Done);
}

TEST_F(NeighborCopiesTest, TheEndOfAConnectionEndsItsCopiesOnly) {
  meet(8);
  std::vector<uint8_t> one(2 * kTurn);
  std::vector<uint8_t> other(2 * kTurn);
  add(1, one);
  add(2, other, 0, 8);
  turn();
  copies.forget(kConnection);
  for (int i = 0; i < 4; ++i)
    turn();
  EXPECT_EQ(order, std::vector<PayloadId>{2});
  EXPECT_TRUE(copies.idle());
}

TEST_F(NeighborCopiesTest, WhatComesOfAnEndMayChangeTheRest) {
  std::vector<uint8_t> to(100);
  add(1, to);
  add(2, to);
  copies.turn([&](ConnectionId, PayloadId pull, const Pulled&) {
    EXPECT_EQ(pull, 1U);
    copies.forget(kConnection);
  });
  EXPECT_TRUE(copies.idle());
}

}  // namespace
}  // namespace kvpool::engine
