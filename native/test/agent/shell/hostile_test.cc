// SPDX-License-Identifier: Apache-2.0
// Agent clients that do everything wrong, over a real socket, while a decent one goes on.
#include <fcntl.h>
#include <sys/mman.h>

#include "agent/core/limits.h"
#include "agent/core/messages.h"
#include "client/shell/staging_memory.h"
#include "dev_kvpool_wire/AgentState.h"
#include "peer.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

using agent::Request;
using client::OpCode;

constexpr uint64_t kBytes = 1 << 20;

wire::Identity stranger(wire::Role role = wire::Role::Client) {
  wire::Identity identity;
  identity.role = role;
  identity.incarnation = 99;
  identity.name = "stranger";
  identity.product = "0.1.0";
  return identity;
}

Request ask(OpCode op, std::string_view key, uint64_t offset, uint64_t length) {
  Request request;
  request.id = 1;
  request.op = op;
  request.timeoutMs = 10000;
  request.lines.push_back({key, offset, length, 0});
  return request;
}

class HostileAgentClient : public testing::Test {
 protected:
  void SetUp() override {
    node_ = startNode("node-0", master_.address(), directory_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
    agent_ = startAgent(master_.address(), socket_, 64 << 20);
    decent_ = attach(socket_, kBytes);
    ASSERT_TRUE(decent_);
  }
  /// After everything the decent client goes on, and nothing of the others is left.
  void TearDown() override {
    EXPECT_EQ(put(decent_.get(), "after", "all"), KV_OK) << explain(decent_.get());
    EXPECT_EQ(get(decent_.get(), "after").value, "all");
    EXPECT_TRUE(eventually([&] {
      const kv_agent_stats stats = statsOf(agent_.get());
      return stats.clients == 1 && stats.staging_bytes == kBytes && stats.running == 0;
    }));
  }

  Peer dial() { return Peer::unixSocket(socket_); }
  static void sayHello(Peer& peer) {
    peer.sendFrames([](wire::Bytes& out) { wire::appendHello(out, {stranger(), 0, wire::kMagic}); });
    const auto welcome = peer.receive();
    ASSERT_TRUE(welcome.has_value());
    EXPECT_EQ(wire::readWelcome(*welcome).self.role, wire::Role::Agent);
  }
  /// The next answer to a request; what the agent tells of the pool may come before it.
  static agent::Reply replyOf(Peer& peer) {
    for (;;) {
      const auto body = peer.receive();
      if (!body) throw std::logic_error("the agent closed the connection");
      if (wire::templateOf(*body) != wire::sbe::AgentState::sbeTemplateId()) return agent::readReply(*body);
    }
  }
  /// What attaching with this descriptor is answered.
  agent::Attached attachWith(Peer& peer, int descriptor, uint64_t bytes = kBytes) {
    sayHello(peer);
    peer.sendWith(agent::attachFrame(bytes), descriptor);
    const auto answer = peer.receive();
    EXPECT_TRUE(answer.has_value());
    return answer ? agent::readAttached(*answer) : agent::Attached{KV_IO, "closed"};
  }
  std::unique_ptr<client::StagingMemory> attached(Peer& peer) {
    auto memory = client::StagingMemory::create(kBytes);
    EXPECT_TRUE(memory.ok());
    EXPECT_EQ(attachWith(peer, memory.value()->descriptor()).status, KV_OK);
    EXPECT_TRUE(agent::readState(*peer.receive()).leaderKnown);
    return std::move(memory.value());
  }

  TemporaryDirectory directory_;
  const std::string socket_ = directory_.path() + "/agent.sock";
  TestMaster master_;
  NodeHandle node_;
  AgentHandle agent_;
  ClientHandle decent_;
};

TEST_F(HostileAgentClient, SaysNoHello) {
  {
    Peer peer = dial();
    peer.send(agent::attachFrame(kBytes));
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::Protocol);
    EXPECT_TRUE(peer.closedByOther());
  }
  {
    Peer peer = dial();
    const std::string http = "GET / HTTP/1.1\r\n\r\n";
    peer.send({reinterpret_cast<const uint8_t*>(http.data()), http.size()});
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::Protocol);
    EXPECT_TRUE(peer.closedByOther());
  }
  for (const wire::Role role : {wire::Role::Agent, wire::Role::Node, wire::Role::Engine}) {
    Peer peer = dial();
    peer.sendFrames([&](wire::Bytes& out) { wire::appendHello(out, {stranger(role), 0, wire::kMagic}); });
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::WrongRole);
    EXPECT_TRUE(peer.closedByOther());
  }
}

TEST_F(HostileAgentClient, SharesNoMemoryThatCouldBeTakenAway) {
  const auto memfd = [](unsigned flags, off_t bytes) {
    const Fd fd(::memfd_create("hostile", MFD_CLOEXEC | flags));
    EXPECT_EQ(::ftruncate(fd.get(), bytes), 0);
    return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  };
  constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const auto expectRefused = [&](int descriptor, const char* why) {
    Peer peer = dial();
    const agent::Attached answer = attachWith(peer, descriptor);
    EXPECT_EQ(answer.status, KV_INVALID_ARGUMENT) << why;
    EXPECT_TRUE(peer.closedByOther());
  };
  expectRefused(memfd(0, kBytes).get(), "not sealed");
  expectRefused(memfd(MFD_ALLOW_SEALING, kBytes).get(), "sealable, but not sealed");
  const Fd tooShort = memfd(MFD_ALLOW_SEALING, kBytes - 1);
  ASSERT_EQ(::fcntl(tooShort.get(), F_ADD_SEALS, kAll), 0);
  expectRefused(tooShort.get(), "shorter than announced");
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  expectRefused(file.get(), "no memfd");
  const Fd readOnly = memfd(MFD_ALLOW_SEALING, kBytes);
  ASSERT_EQ(::fcntl(readOnly.get(), F_ADD_SEALS, kAll | F_SEAL_WRITE), 0);
  {
    Peer peer = dial();
    EXPECT_NE(attachWith(peer, readOnly.get()).status, KV_OK) << "cannot be written";
  }
  {
    Peer peer = dial();
    sayHello(peer);
    peer.send(agent::attachFrame(kBytes));  // without a descriptor
    EXPECT_EQ(agent::readAttached(*peer.receive()).status, KV_INVALID_ARGUMENT);
  }
}

TEST_F(HostileAgentClient, NamesMemoryOutside) {
  for (const auto& [offset, length] : {std::pair<uint64_t, uint64_t>{kBytes, 1}, {0, kBytes + 1}, {UINT64_MAX, 2}}) {
    Peer peer = dial();
    const auto memory = attached(peer);
    peer.send(agent::requestFrame(ask(OpCode::Put, "k", offset, length)));
    EXPECT_EQ(wire::readRefused(*peer.receive()).code, wire::Refusal::Protocol);
    EXPECT_TRUE(peer.closedByOther());
  }
  EXPECT_EQ(exists(decent_.get(), "k"), KV_NOT_FOUND);
}

TEST_F(HostileAgentClient, ScribblesWhileItsValueIsPut) {
  Peer peer = dial();
  const auto memory = attached(peer);
  std::atomic<bool> stop{false};
  std::thread scribbler([&] {
    // Relaxed atomic stores: what is tested is the agent, not this thread.
    for (uint8_t value = 0; !stop; ++value) {
      for (uint64_t at = 0; at < kBytes; at += 4096)
        __atomic_store_n(memory->at(at), value, __ATOMIC_RELAXED);
    }
  });
  std::vector<std::string> stored;
  for (int i = 0; i < 10; ++i) {
    const std::string key = "scribbled/" + std::to_string(i);
    peer.send(agent::requestFrame(ask(OpCode::Put, key, 0, kBytes)));
    const agent::Reply reply = replyOf(peer);
    ASSERT_EQ(reply.lines.size(), 1u);
    if (reply.lines[0].status == KV_OK) stored.push_back(key);
  }
  stop = true;
  scribbler.join();
  for (const std::string& key : stored) {
    const Got got = get(connect(master_.address()).get(), key, kBytes);
    EXPECT_EQ(got.status, KV_OK) << "whatever was stored matches its checksum";
  }
}

TEST_F(HostileAgentClient, StopsInTheMiddle) {
  const wire::Bytes request = agent::requestFrame(ask(OpCode::Get, "k", 0, kBytes));
  for (size_t cut = 1; cut < request.size(); cut += 7) {
    Peer peer = dial();
    const auto memory = attached(peer);
    peer.send({request.data(), cut});
    peer.close();
  }
}

TEST_F(HostileAgentClient, AsksWithoutReadingAnswers) {
  Peer peer = dial();
  const auto memory = attached(peer);
  // The agent takes the next request only while fewer than 16 are running, so a burst may end the connection or not,
  // depending on how fast it is; either way it holds no more than that.
  for (int i = 0; i < 200; ++i) {
    const wire::Bytes frame = agent::requestFrame(ask(OpCode::Exists, "k", 0, 0));
    if (::send(peer.fd(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) break;
  }
  EXPECT_LE(statsOf(agent_.get()).running, agent::kRequestsInFlight);
}

TEST_F(HostileAgentClient, SendsDescriptorsWithoutEnd) {
  Peer peer = dial();
  const auto memory = attached(peer);
  const wire::Bytes frame = agent::requestFrame(ask(OpCode::Exists, "k", 0, 0));
  for (int i = 0; i < 50; ++i) {
    peer.sendWith(frame, memory->descriptor());
    ASSERT_EQ(replyOf(peer).lines[0].status, KV_NOT_FOUND);
  }
}

}  // namespace
}  // namespace kvpool::test
