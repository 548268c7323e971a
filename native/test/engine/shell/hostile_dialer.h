// SPDX-License-Identifier: Apache-2.0
// A peer that dials an engine and goes on as the test likes.
#pragma once

#include "engine/core/messages.h"
#include "engine/shell/engine_fixture.h"
#include "peer.h"

namespace kvpool::test {

inline wire::Identity stranger(wire::Role role = wire::Role::Engine) {
  wire::Identity identity;
  identity.role = role;
  identity.incarnation = 99;
  identity.name = "stranger";
  identity.product = "0.1.0";
  return identity;
}

inline Peer dial(const TestEngine& engine) {
  return Peer::tcp(static_cast<uint16_t>(engine.port()));
}

inline void sayHello(Peer& peer) {
  peer.sendFrames([](wire::Bytes& out) { wire::appendHello(out, {stranger(), 0, wire::kMagic}); });
  const auto welcome = peer.receive();
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(wire::readWelcome(*welcome).self.role, wire::Role::Engine);
}

/// The region of the engine under attack, as it describes it.
inline engine::Region onlyRegion(Peer& peer) {
  peer.send(engine::describeFrame(1));
  return engine::readRegions(*peer.receive()).regions.at(0);
}

}  // namespace kvpool::test
