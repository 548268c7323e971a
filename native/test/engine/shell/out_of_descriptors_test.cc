// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "engine/core/messages.h"
#include "engine/shell/engine_fixture.h"
#include "no_descriptors.h"
#include "peer.h"

namespace kvpool::test {
namespace {

TEST(OutOfDescriptors, AnEngineSaysSoOnceAndServesAfterwards) {
  const TestEngine engine;
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const CapturedLog log;
  const std::string line = "cannot accept a connection; raise the limit of open files";
  {
    const NoDescriptors none;
    connectLoopback(socket, static_cast<uint16_t>(engine.port()));
    for (int i = 0; i < kWaitMs / 10 && log.count(line) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Ticks enough for a line each.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  Peer peer(std::move(socket));
  wire::Identity identity;
  identity.role = wire::Role::Engine;
  identity.incarnation = 99;
  identity.name = "peer";
  identity.product = "0.1.0";
  peer.sendFrames([&](wire::Bytes& out) { wire::appendHello(out, {identity, 0, wire::kMagic}); });
  const std::optional<wire::Bytes> welcome = peer.receive();
  ASSERT_TRUE(welcome);
  EXPECT_EQ(wire::readWelcome(*welcome).self.role, wire::Role::Engine);
  EXPECT_EQ(log.count(line), 1u) << log.text();
}

}  // namespace
}  // namespace kvpool::test
