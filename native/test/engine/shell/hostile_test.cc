// SPDX-License-Identifier: Apache-2.0
// Peers that speak the engines' protocol wrongly, on both ends of a connection.
#include <functional>
#include <thread>

#include "engine/core/limits.h"
#include "engine/core/messages.h"
#include "engine/shell/hostile_dialer.h"

namespace kvpool::test {
namespace {

using namespace engine;
namespace sbe = wire::sbe;

/// A victim with one page of registered memory in the middle of three.
struct Victim {
  Buffer memory = Buffer(3 * 4096);
  TestEngine engine;
  kv_region region{TestEngine::addressOf(memory) + 4096, 4096};
  Victim() { EXPECT_EQ(kv_engine_register(engine.get(), &region, 1, nullptr), KV_OK); }

  void expectUnharmed() {
    // With nothing registered nobody is still writing there.
    EXPECT_EQ(kv_engine_unregister(engine.get(), &region, 1), KV_OK);
    EXPECT_EQ(memory, Buffer(memory.size()));
    EXPECT_EQ(kv_engine_register(engine.get(), &region, 1, nullptr), KV_OK);
    TestEngine friendly;
    Buffer got(4096);
    EXPECT_EQ(friendly.read(engine.address(), got, region.address), KV_OK) << friendly.explain();
  }
};

TEST(HostileDialer, MustSayHelloAsAnEngine) {
  Victim victim;
  {
    Peer peer = dial(victim.engine);
    peer.send(describeFrame(1));
    const auto refused = peer.receive();
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(wire::readRefused(*refused).code, wire::Refusal::Protocol);
    EXPECT_TRUE(peer.closedByOther());
  }
  {
    Peer peer = dial(victim.engine);
    const std::string http = "GET / HTTP/1.1\r\n\r\n";
    peer.send({reinterpret_cast<const uint8_t*>(http.data()), http.size()});
    ASSERT_TRUE(peer.receive().has_value()) << "it is told why";
    peer.send(wire::Bytes(size_t{1} << 20, 'x'));  // what it says after that is dropped, not taken for a frame's length
    EXPECT_TRUE(peer.closedByOther());
    victim.expectUnharmed();
  }
  for (const wire::Role role : {wire::Role::Client, wire::Role::Node, wire::Role::Master}) {
    Peer peer = dial(victim.engine);
    peer.sendFrames([&](wire::Bytes& out) { wire::appendHello(out, {stranger(role), 0, wire::kMagic}); });
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::WrongRole);
    EXPECT_TRUE(peer.closedByOther());
  }
  {
    Peer peer = dial(victim.engine);
    wire::Identity future = stranger();
    future.wire = {7, 9};
    peer.sendFrames([&](wire::Bytes& out) { wire::appendHello(out, {future, 0, wire::kMagic}); });
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::WireVersion);
  }
  victim.expectUnharmed();
}

TEST(HostileDialer, NamesOnlyWhatIsRegistered) {
  Victim victim;
  Peer peer = dial(victim.engine);
  sayHello(peer);
  const Region region = onlyRegion(peer);
  const uint64_t base = region.base;
  const std::vector<RemotePiece> wrong{
      {region.id, base - 1, 2}, {region.id, base + 4095, 2}, {region.id, base - 4096, 16}, {region.id, base + 4096, 1},
      {region.id, 0, 1},        {region.id, UINT64_MAX, 2},  {region.id + 1, base, 1},     {0, base, 1},
      {UINT64_MAX, base, 1}};
  uint64_t id = 10;
  for (const RemotePiece& piece : wrong) {
    // One good piece before it: nothing of the request may be done.
    const std::vector<RemotePiece> pieces{{region.id, base, 8}, piece};
    peer.send(writeFrame(++id, pieces));
    peer.sendPayload(std::string(8 + piece.length, 'x'));
    Reply reply = readReply(*peer.receive());
    EXPECT_EQ(reply.id, id);
    EXPECT_EQ(reply.status, KV_NOT_REGISTERED);
    peer.send(readFrame(++id, pieces));
    reply = readReply(*peer.receive());
    EXPECT_EQ(reply.status, KV_NOT_REGISTERED);
    EXPECT_EQ(reply.payloadLength, 0u);
  }
  EXPECT_EQ(victim.engine.stats().refused_requests, 2 * wrong.size());
  victim.expectUnharmed();
}

TEST(HostileDialer, WrongChecksumIsAFailureOfThatRequest) {
  Victim victim;
  Peer peer = dial(victim.engine);
  sayHello(peer);
  const Region region = onlyRegion(peer);
  peer.send(writeFrame(5, std::vector<RemotePiece>{{region.id, region.base, 4}}));
  peer.sendPayload("evil", 1);
  EXPECT_EQ(readReply(*peer.receive()).status, KV_CHECKSUM);
  peer.send(writeFrame(6, std::vector<RemotePiece>{{region.id, region.base, 4}}));
  peer.sendPayload(std::string(4, '\0'));
  EXPECT_EQ(readReply(*peer.receive()).status, KV_OK);
  EXPECT_EQ(victim.engine.stats().checksum_failures, 1u);
  victim.expectUnharmed();
}

TEST(HostileDialer, RequestsBeyondTheBoundsEndTheConnection) {
  Victim victim;
  const RemotePiece one{1, victim.region.address, 1};
  const std::vector<wire::Bytes> frames{
      writeFrame(1, {}),
      readFrame(1, {}),
      readFrame(1, std::vector<RemotePiece>{{1, victim.region.address, 0}}),
      readFrame(1, std::vector<RemotePiece>(kPiecesPerRequest + 1, one)),
      writeFrame(1, std::vector<RemotePiece>{{1, victim.region.address, UINT32_MAX}}),
      readFrame(1, std::vector<RemotePiece>(2, {1, victim.region.address, uint32_t{kRequestBytes} / 2 + 1})),
      notifyFrame(1, {std::string(KV_NOTIFY_NAME_BYTES_MAX + 1, 'n'), ""}),
      notifyFrame(1, {"n", std::string(KV_NOTIFY_BYTES_MAX + 1, 'm')}),
      notifyFrame(1, {"\xff", ""}),
      replyFrame({1, KV_OK, 0, ""}),
      regionsFrame(1, {}),
  };
  for (size_t i = 0; i < frames.size(); ++i) {
    Peer peer = dial(victim.engine);
    sayHello(peer);
    peer.send(frames[i]);
    EXPECT_TRUE(peer.closedByOther()) << i;
  }
  EXPECT_EQ(victim.engine.stats().protocol_errors, frames.size());
  victim.expectUnharmed();
}

TEST(HostileDialer, BrokenFramesEndTheConnection) {
  Victim victim;
  for (const bool greeted : {false, true}) {
    Peer peer = dial(victim.engine);
    if (greeted) sayHello(peer);
    wire::Bytes frame = describeFrame(1);
    frame.back() ^= 1;
    peer.send(frame);
    while (peer.receive()) {
    }
    Peer huge = dial(victim.engine);
    if (greeted) sayHello(huge);
    const wire::Bytes length{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    huge.send(length);
    while (huge.receive()) {
    }
  }
  victim.expectUnharmed();
}

TEST(HostileDialer, LeavesInTheMiddleOfAPayload) {
  Victim victim;
  for (int i = 0; i < 8; ++i) {
    Peer peer = dial(victim.engine);
    sayHello(peer);
    const Region region = onlyRegion(peer);
    peer.send(writeFrame(1, std::vector<RemotePiece>{{region.id, region.base, 4096}}));
    peer.send(wire::Bytes(100, 0));
  }
  victim.expectUnharmed();
}

/// Listens as an engine would and answers wrongly.
class HostileListener {
 public:
  HostileListener() : listener_(std::move(net::listenTcp("127.0.0.1", 0).value())) {}
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(net::boundPort(listener_.get())); }

  Peer accept() {
    Peer::wait(listener_.get(), POLLIN);
    net::SocketAddress address;
    return Peer(std::move(net::acceptOne(listener_.get(), &address).value()));
  }
  /// Up to the question for regions, whose number is returned.
  static uint64_t greet(Peer& peer, wire::Role role = wire::Role::Engine) {
    wire::readHello(*peer.receive());
    peer.sendFrames([&](wire::Bytes& out) { wire::appendWelcome(out, {stranger(role), 1}); });
    const auto question = peer.receive();
    return question ? readDescribe(*question) : 0;
  }
  /// Serves one region at address 4096 and returns the id of the request that follows.
  static uint64_t serve(Peer& peer) {
    peer.send(regionsFrame(greet(peer), std::vector<Region>{{1, 4096, 1 << 20}}));
    const auto request = peer.receive();
    return request ? readRead(*request).id : 0;
  }

 private:
  Fd listener_;
};

/// What a read of 8 bytes from a listener that behaves like `misbehave` comes to.
template <typename Misbehave>
int32_t readFrom(Misbehave misbehave, int connections, uint32_t timeoutMs = 10000) {
  kv_engine_params params{};
  params.connect_timeout_ms = 1000;
  params.sockets_only = 1;  // peers here say what they say by the connection
  TestEngine engine(params);
  HostileListener listener;
  std::thread other([&] {
    for (int i = 0; i < connections; ++i) {
      Peer peer = listener.accept();
      misbehave(peer);
    }
  });
  Buffer local(8);
  const int32_t status = engine.one(KV_TRANSFER_READ, listener.address(), local, 4096, timeoutMs);
  EXPECT_EQ(local, Buffer(8));
  engine.end();
  other.join();
  return status;
}

TEST(HostileListener, IsNoEngine) {
  EXPECT_EQ(readFrom([](Peer& peer) { peer.send(wire::Bytes(100, 'x')); }, 1), KV_PROTOCOL);
  EXPECT_EQ(readFrom([](Peer& peer) { HostileListener::greet(peer, wire::Role::Node); }, 1), KV_IDENTITY_MISMATCH);
  EXPECT_EQ(readFrom(
                [](Peer& peer) {
                  peer.sendFrames([](wire::Bytes& out) {
                    wire::appendRefused(out, {wire::Refusal::WireVersion, {7, 9}, "too old"});
                  });
                },
                1),
            KV_VERSION_MISMATCH);
  EXPECT_EQ(readFrom([](Peer& peer) { peer.close(); }, 1), KV_CONNECT_FAILED);
  EXPECT_EQ(readFrom(
                [](Peer& peer) {
                  while (peer.receive()) {
                  }
                },
                1),
            KV_CONNECT_FAILED)
      << "never answers";
}

TEST(HostileListener, DescribesWhatCannotBe) {
  const std::vector<std::vector<Region>> impossible{
      {{1, 4096, 0}}, {{1, UINT64_MAX, 2}}, {{1, 4096, 4096}, {2, 5000, 1}}, {{1, 4096, 1}, {1, 8192, 1}}};
  for (const auto& regions : impossible) {
    EXPECT_EQ(readFrom([&](Peer& peer) { peer.send(regionsFrame(HostileListener::greet(peer), regions)); }, 1),
              KV_PROTOCOL);
  }
  EXPECT_EQ(readFrom([](Peer& peer) { peer.send(regionsFrame(HostileListener::greet(peer) + 1, {})); }, 1),
            KV_PROTOCOL);
}

TEST(HostileListener, AnswersWhatWasNotAsked) {
  using Answer = std::function<wire::Bytes(uint64_t)>;
  const std::vector<Answer> answers{
      [](uint64_t id) {
        return replyFrame({id + 1, KV_OK, 8, ""});
      },  // to another request
      [](uint64_t id) {
        return replyFrame({id, KV_OK, 9, ""});
      },  // more than asked for
      [](uint64_t id) {
        return replyFrame({id, KV_OK, 0, ""});
      },  // less
      [](uint64_t id) {
        return replyFrame({id, KV_NO_SPACE, 8, ""});
      },  // a payload behind a failure
      [](uint64_t id) {
        return replyFrame({id, KV_CHECKSUM, 0, "\xff"});
      },  // no text
      [](uint64_t id) {
        return readFrame(id, std::vector<RemotePiece>{{1, 4096, 8}});
      },
      [](uint64_t) { return wire::Bytes(64, 0xff); },
  };
  for (const Answer& answer : answers) {
    EXPECT_EQ(readFrom(
                  [&](Peer& peer) {
                    peer.send(answer(HostileListener::serve(peer)));
                    while (peer.receive()) {
                    }
                  },
                  2),
              KV_TRANSFER_FAILED)
        << "after one more attempt";
  }
}

TEST(HostileListener, ClosesInTheMiddleOrSaysNothing) {
  EXPECT_EQ(readFrom([](Peer& peer) { HostileListener::serve(peer); }, 2), KV_TRANSFER_FAILED);
  EXPECT_EQ(readFrom(
                [](Peer& peer) {
                  HostileListener::serve(peer);
                  while (peer.receive()) {
                  }
                },
                1, 300),
            KV_TIMEOUT);
}

}  // namespace
}  // namespace kvpool::test
