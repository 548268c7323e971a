// SPDX-License-Identifier: Apache-2.0
// Nodes from which a whole node is to copy, over real sockets, and that say anything but what they should. What the
// leader asked for is copied as it is or not at all, and the node goes on.
#include <functional>
#include <string>
#include <vector>

#include "node/shell/shell_fixture.h"

namespace kvpool::node {
namespace {

constexpr uint64_t kLiarsIncarnation = 815;
const std::string kWanted(5000, 'v');

wire::Welcome welcomeOf(wire::Role role, const PoolId& pool = kPool, uint64_t incarnation = kLiarsIncarnation) {
  wire::Welcome welcome;
  welcome.self.role = role;
  welcome.self.poolId = pool;
  welcome.self.incarnation = incarnation;
  welcome.self.name = "node-1";
  welcome.self.product = "0.1.0";
  welcome.wireChosen = 1;
  return welcome;
}

/// Listens as another node would.
class FakeSource {
 public:
  FakeSource() : listener_(std::move(net::listenTcp("127.0.0.1", 0).value())) {}

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(net::boundPort(listener_.get())); }
  /// The connection of the node that dialled, behind its Hello.
  Peer accept() {
    Peer::wait(listener_.get(), POLLIN);
    net::SocketAddress address;
    Peer peer(std::move(net::acceptOne(listener_.get(), &address).value()));
    (void)wire::readHello(*peer.receive());
    return peer;
  }
  static void welcome(Peer& peer, const wire::Welcome& welcome = welcomeOf(wire::Role::Node)) {
    peer.sendFrames([&](wire::Bytes& out) { wire::appendWelcome(out, welcome); });
  }
  /// Up to the question, which is the same for every copy.
  static uint64_t asked(Peer& peer) {
    welcome(peer);
    return readReadRequest(*peer.receive()).requestId;
  }
  static void reply(Peer& peer, uint64_t request, int32_t status, uint64_t length) {
    peer.sendFrames([&](wire::Bytes& out) { appendReadReply(out, request, status, length); });
  }

 private:
  Fd listener_;
};

struct Lie {
  const char* name;
  std::function<void(Peer&)> tell;
  int32_t status;
};

const std::vector<Lie> kLies{
    {"a client's Welcome", [](Peer& peer) { FakeSource::welcome(peer, welcomeOf(wire::Role::Client)); },
     KV_IDENTITY_MISMATCH},
    {"of another pool",
     [](Peer& peer) {
       FakeSource::welcome(peer, welcomeOf(wire::Role::Node, {7, 7}));
     },
     KV_IDENTITY_MISMATCH},
    {"another life", [](Peer& peer) { FakeSource::welcome(peer, welcomeOf(wire::Role::Node, kPool, 816)); },
     KV_IDENTITY_MISMATCH},
    {"no Welcome", [](Peer& peer) { FakeSource::reply(peer, 1, KV_OK, kWanted.size()); }, KV_PROTOCOL},
    {"no protocol", [](Peer& peer) { peer.send(wire::Bytes(4096, 'x')); }, KV_PROTOCOL},
    {"a frame without end",
     [](Peer& peer) {
       FakeSource::asked(peer);
       peer.send(wire::Bytes{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0});
     },
     KV_PROTOCOL},
    {"an answer to another question",
     [](Peer& peer) { FakeSource::reply(peer, FakeSource::asked(peer) + 1, KV_OK, kWanted.size()); }, KV_PROTOCOL},
    {"a longer payload",
     [](Peer& peer) { FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size() + 1); }, KV_PROTOCOL},
    {"a payload larger than anything",
     [](Peer& peer) { FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, UINT64_MAX); }, KV_PROTOCOL},
    {"other bytes, with their checksum",
     [](Peer& peer) {
       FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size());
       peer.sendPayload(std::string(kWanted.size(), 'x'));
     },
     KV_CHECKSUM},
    {"the bytes, with another checksum",
     [](Peer& peer) {
       FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size());
       peer.sendPayload(kWanted, 1);
     },
     KV_CHECKSUM},
    {"half of the bytes",
     [](Peer& peer) {
       FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size());
       peer.send(wire::Bytes(kWanted.size() / 2, 'v'));
     },
     KV_TRANSFER_FAILED},
    {"it is damaged", [](Peer& peer) { FakeSource::reply(peer, FakeSource::asked(peer), KV_CHECKSUM, 0); },
     KV_CHECKSUM},
};

class LyingSourceTest : public ShellTest {
 protected:
  void SetUp() override {
    node_ = start(settings());
    ASSERT_TRUE(node_);
    leader_.emplace(master_.accept());
    FakeMaster::fence(*leader_, kLeader);
  }
  void command(uint64_t counter, const std::string& address) {
    const std::string key = "key-" + std::to_string(counter);
    Copy copy;
    copy.requestId = counter;
    copy.authority = kLeader;
    copy.objectId = {3, counter};
    copy.payloadLength = kWanted.size();
    copy.payloadCrc = crc32c(kWanted);
    copy.sourceIncarnation = kLiarsIncarnation;
    copy.sourceExtent = {0, 9, 99};
    copy.key = key;
    copy.sourceTcp = address;
    leader_->sendFrames([&](wire::Bytes& out) { test::appendCopy(out, copy); });
  }
  int32_t answer(uint64_t counter) {
    const CommandAck ack = test::readCommandAck(FakeMaster::next(*leader_, test::sbe::CommandAck::SBE_TEMPLATE_ID));
    EXPECT_EQ(ack.requestId, counter);
    return ack.status;
  }

  std::unique_ptr<Node> node_;
  std::optional<Peer> leader_;
};

TEST_F(LyingSourceTest, NothingIsKeptOfALieAndTheTruthIsTakenAfterIt) {
  uint64_t counter = 0;
  for (const Lie& lie : kLies) {
    SCOPED_TRACE(lie.name);
    FakeSource source;
    command(++counter, source.address());
    {
      Peer peer = source.accept();
      lie.tell(peer);
      if (lie.status == KV_TRANSFER_FAILED) peer = Peer(Fd());  // it leaves
      EXPECT_STREQ(statusName(answer(counter)), statusName(lie.status));
    }
    EXPECT_EQ(node_->stats().objects, 0U);
  }
  FakeSource source;
  command(++counter, source.address());
  Peer peer = source.accept();
  FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size());
  peer.sendPayload(kWanted);
  EXPECT_EQ(answer(counter), KV_OK);
  eventually([&] { return node_->stats().objects == 1; });
}

TEST_F(LyingSourceTest, WhatItSaysUnaskedBehindACopyEndsItsConnectionAndNotTheCopy) {
  FakeSource source;
  command(1, source.address());
  Peer peer = source.accept();
  FakeSource::reply(peer, FakeSource::asked(peer), KV_OK, kWanted.size());
  peer.sendPayload(kWanted);
  EXPECT_EQ(answer(1), KV_OK);
  FakeSource::reply(peer, 1, KV_OK, kWanted.size());
  EXPECT_TRUE(peer.closedByOther());
  eventually([&] { return node_->stats().protocol_errors == 1; });
  EXPECT_EQ(node_->stats().objects, 1U);
}

}  // namespace
}  // namespace kvpool::node
