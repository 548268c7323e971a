// SPDX-License-Identifier: Apache-2.0
#include "wire/handshake.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/Hello.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/Welcome.h"
#include "wire/frame.h"

namespace kvpool::wire {
namespace {

/// What both sides of a connection use: the pool's active version if it is known, else the highest in both ranges.
std::optional<uint16_t> commonVersion(const VersionRange& a, const VersionRange& b, uint16_t active) {
  if (active != 0) return contains(a, active) && contains(b, active) ? std::optional(active) : std::nullopt;
  const uint16_t low = std::max(a.min, b.min);
  const uint16_t high = std::min(a.max, b.max);
  if (low > high) return std::nullopt;
  return high;
}

std::string describe(const Identity& identity) {
  return std::string(roleName(identity.role)) + " " + identity.name + " (product " + identity.product + ")";
}

std::string versionsDiffer(const char* what, const Identity& peer, const VersionRange& peerRange, const Identity& self,
                           const VersionRange& selfRange, uint16_t active) {
  const std::string both =
      describe(peer) + " knows " + toString(peerRange) + ", " + describe(self) + " knows " + toString(selfRange);
  if (active == 0) return std::string("no common ") + what + " version: " + both + "; upgrade the older one";
  return std::string("the pool's active ") + what + " version is " + std::to_string(active) + ": " + both +
         "; use a build that knows " + std::to_string(active);
}

template <typename Message>
Identity readIdentity(Reader<Message>& reader) {
  Identity identity;
  const uint8_t role = reader->roleRaw();
  if (role < 1 || role > 5) throw Malformed("unknown role " + std::to_string(role));
  identity.role = static_cast<Role>(role);
  identity.poolId = toPoolId(reader->poolId());
  identity.incarnation = reader->incarnation();
  identity.wire = toVersionRange(reader->wire());
  identity.layout = toVersionRange(reader->layout());
  identity.abi = toVersionRange(reader->abi());
  identity.name = text(reader.bytes(kNameBytesMax), "name");
  identity.product = text(reader.bytes(kNameBytesMax), "product");
  return identity;
}

template <typename Message>
void fillBlock(Message& message, const Identity& identity) {
  message.role(static_cast<sbe::Role::Value>(identity.role)).incarnation(identity.incarnation);
  put(message.poolId(), identity.poolId);
  put(message.wire(), identity.wire);
  put(message.layout(), identity.layout);
  put(message.abi(), identity.abi);
}

size_t identityRoom(const Identity& identity) {
  return textRoom(identity.name.size()) + textRoom(identity.product.size());
}

}  // namespace

const char* roleName(Role role) {
  switch (role) {
    case Role::Master:
      return "master";
    case Role::Node:
      return "node";
    case Role::Client:
      return "client";
    case Role::Engine:
      return "transfer engine";
    case Role::Agent:
      return "agent";
  }
  return "peer";
}

void appendHello(Bytes& out, const Hello& hello) {
  appendFrame<sbe::Hello>(out, identityRoom(hello.self), [&](sbe::Hello& message) {
    fillBlock(message, hello.self);
    message.magic(hello.magic).expectedPeer(hello.expectedPeer).putName(hello.self.name).putProduct(hello.self.product);
  });
}

void appendWelcome(Bytes& out, const Welcome& welcome) {
  appendFrame<sbe::Welcome>(out, identityRoom(welcome.self), [&](sbe::Welcome& message) {
    fillBlock(message, welcome.self);
    message.wireChosen(welcome.wireChosen).putName(welcome.self.name).putProduct(welcome.self.product);
  });
}

void appendRefused(Bytes& out, const Refused& refused) {
  const std::string_view text = std::string_view(refused.message).substr(0, kTextBytesMax);
  appendFrame<sbe::Refused>(out, textRoom(text.size()), [&](sbe::Refused& message) {
    message.code(static_cast<sbe::RefusalCode::Value>(refused.code));
    put(message.wire(), refused.wire);
    message.putMessage(text);
  });
}

Heartbeat readHeartbeat(Body body) {
  Reader<sbe::Heartbeat> reader(body);
  return {reader->beat(), toObjectId(reader->oldestGrant())};
}

void appendHeartbeat(Bytes& out, const Heartbeat& heartbeat) {
  appendFrame<sbe::Heartbeat>(out, 0, [&](sbe::Heartbeat& m) {
    m.beat(heartbeat.beat);
    put(m.oldestGrant(), heartbeat.oldestGrant);
  });
}

Hello readHello(Body body) {
  Reader<sbe::Hello> reader(body);
  Hello hello;
  hello.magic = reader->magic();
  hello.expectedPeer = reader->expectedPeer();
  hello.self = readIdentity(reader);
  return hello;
}

Welcome readWelcome(Body body) {
  Reader<sbe::Welcome> reader(body);
  Welcome welcome;
  welcome.wireChosen = reader->wireChosen();
  welcome.self = readIdentity(reader);
  return welcome;
}

Refused readRefused(Body body) {
  Reader<sbe::Refused> reader(body);
  Refused refused;
  const uint16_t code = reader->codeRaw();
  if (code < 1 || code > 8) throw Malformed("unknown refusal " + std::to_string(code));
  refused.code = static_cast<Refusal>(code);
  refused.wire = toVersionRange(reader->wire());
  refused.message = text(reader.bytes(), "refusal");
  return refused;
}

std::variant<Welcome, Refused> judgeHello(const Hello& hello, const Identity& self, const Admission& admission) {
  const auto refuse = [&](Refusal code, std::string message) { return Refused{code, self.wire, std::move(message)}; };
  const Identity& peer = hello.self;
  if (hello.magic != kMagic) return refuse(Refusal::Protocol, "the first frame is not a kvpool Hello");
  const ActiveVersions& active = admission.active;
  const std::optional<uint16_t> wire = commonVersion(peer.wire, self.wire, active.wire);
  if (!wire) {
    return refuse(Refusal::WireVersion, versionsDiffer("wire", peer, peer.wire, self, self.wire, active.wire));
  }
  if (peer.role != admission.role) {
    return refuse(Refusal::WrongRole, describe(self) + " serves a " + roleName(admission.role) + " here, not " +
                                          describe(peer) + "; check the port");
  }
  const bool poolFits = peer.poolId == self.poolId || (peer.poolId.isAny() && admission.anyPool);
  if (!poolFits) {
    return refuse(Refusal::PoolMismatch, describe(peer) + " belongs to pool " + toString(peer.poolId) + ", " +
                                             describe(self) + " to pool " + toString(self.poolId) +
                                             "; ask a master of the right pool for addresses");
  }
  if (hello.expectedPeer != 0 && hello.expectedPeer != self.incarnation) {
    return refuse(Refusal::IdentityMismatch, describe(peer) + " looks for incarnation " + hex16(hello.expectedPeer) +
                                                 ", here is " + describe(self) + " with incarnation " +
                                                 hex16(self.incarnation) + "; ask the leader again");
  }
  if (admission.sharesLayout && !commonVersion(peer.layout, self.layout, active.layout)) {
    return refuse(Refusal::LayoutVersion,
                  versionsDiffer("layout", peer, peer.layout, self, self.layout, active.layout));
  }
  return Welcome{self, *wire};
}

Status judgeWelcome(const Welcome& welcome, Role expected, const Hello& sent) {
  const Identity& peer = welcome.self;
  const Identity& self = sent.self;
  if (peer.role != expected) {
    return {KV_IDENTITY_MISMATCH, std::string(expected == Role::Agent ? "expected an " : "expected a ") +
                                      roleName(expected) + ", found " + describe(peer)};
  }
  if (welcome.wireChosen < self.wire.min || welcome.wireChosen > self.wire.max) {
    return {KV_VERSION_MISMATCH, describe(peer) + " chose wire version " + std::to_string(welcome.wireChosen) + ", " +
                                     describe(self) + " knows " + toString(self.wire)};
  }
  const bool belongsToPool = expected != Role::Engine && expected != Role::Agent;
  if ((belongsToPool && peer.poolId.isAny()) || (!self.poolId.isAny() && peer.poolId != self.poolId)) {
    return {KV_IDENTITY_MISMATCH, describe(peer) + " belongs to pool " + toString(peer.poolId) + ", " + describe(self) +
                                      " to pool " + toString(self.poolId)};
  }
  if (sent.expectedPeer != 0 && peer.incarnation != sent.expectedPeer) {
    return {KV_IDENTITY_MISMATCH,
            describe(peer) + " has incarnation " + hex16(peer.incarnation) + ", expected " + hex16(sent.expectedPeer)};
  }
  return {};
}

Status refusalStatus(const Refused& refused, const std::string& peer) {
  int32_t code = KV_PROTOCOL;
  switch (refused.code) {
    case Refusal::Protocol:
    case Refusal::WrongRole:
      code = KV_PROTOCOL;
      break;
    case Refusal::WireVersion:
    case Refusal::LayoutVersion:
      code = KV_VERSION_MISMATCH;
      break;
    case Refusal::PoolMismatch:
    case Refusal::IdentityMismatch:
      code = KV_IDENTITY_MISMATCH;
      break;
    case Refusal::SetApart:
      code = KV_UNAVAILABLE;
      break;
    case Refusal::Limit:
      code = KV_QUEUE_FULL;
      break;
  }
  return {code, peer + " refused the connection: " + refused.message};
}

}  // namespace kvpool::wire
