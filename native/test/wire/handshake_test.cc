// SPDX-License-Identifier: Apache-2.0
#include "wire/handshake.h"

#include <gtest/gtest.h>

#include "wire/frame.h"

namespace kvpool::wire {
namespace {

constexpr PoolId kPool{1, 2};

Identity node() {
  return {Role::Node, kPool, 77, kWireVersions, kLayoutVersions, kAbiVersions, "demo-default-0", "0.1.0"};
}

Hello client() {
  Hello hello;
  hello.self = {Role::Client, kPool, 5, kWireVersions, kLayoutVersions, kAbiVersions, "host-a", "0.2.0"};
  hello.expectedPeer = 77;
  return hello;
}

const Admission kClients{Role::Client, false, true};

Refused refused(const Hello& hello, const Admission& admission = kClients) {
  const auto answer = judgeHello(hello, node(), admission);
  const Refused* no = std::get_if<Refused>(&answer);
  EXPECT_NE(no, nullptr);
  return no == nullptr ? Refused{} : *no;
}

TEST(Handshake, SurvivesTheWire) {
  Bytes out;
  appendHello(out, client());
  appendWelcome(out, {node(), 1});
  appendRefused(out, {Refusal::Limit, {1, 3}, "1024 connections"});
  FrameDecoder decoder;
  std::copy(out.begin(), out.end(), decoder.writable().begin());
  decoder.received(out.size());
  const Hello hello = readHello(*decoder.next());
  EXPECT_EQ(hello.expectedPeer, 77u);
  EXPECT_EQ(hello.self.name, "host-a");
  EXPECT_EQ(hello.self.product, "0.2.0");
  EXPECT_EQ(hello.self.poolId, kPool);
  const Welcome welcome = readWelcome(*decoder.next());
  EXPECT_EQ(welcome.self.incarnation, 77u);
  EXPECT_EQ(welcome.wireChosen, 1);
  const Refused no = readRefused(*decoder.next());
  EXPECT_EQ(no.code, Refusal::Limit);
  EXPECT_EQ(no.wire, (VersionRange{1, 3}));
  EXPECT_EQ(no.message, "1024 connections");
}

TEST(Handshake, FittingPeersAreWelcome) {
  const auto answer = judgeHello(client(), node(), kClients);
  ASSERT_TRUE(std::holds_alternative<Welcome>(answer));
  EXPECT_TRUE(judgeWelcome(std::get<Welcome>(answer), Role::Node, client()).ok());
}

TEST(Handshake, TheHighestCommonVersionIsChosen) {
  Hello hello = client();
  hello.self.wire = {1, 4};
  Identity self = node();
  self.wire = {1, 3};
  EXPECT_EQ(std::get<Welcome>(judgeHello(hello, self, kClients)).wireChosen, 3);
}

TEST(Handshake, TheActiveVersionIsSpokenAndMustBeKnown) {
  Identity self = node();
  self.wire = {1, 2};
  self.layout = {1, 2};
  struct Row {
    VersionRange wire;
    VersionRange layout;
    ActiveVersions active;
    uint16_t chosen;  // 0: refused
    Refusal why;
  };
  const Refusal none{};
  for (const Row& row : {
           Row{{1, 2}, {1, 2}, {1, 1}, 1, none},  // both know more than the pool speaks
           Row{{1, 2}, {1, 2}, {2, 2}, 2, none},
           Row{{1, 2}, {1, 2}, {0, 0}, 2, none},  // not known: the highest
           Row{{1, 1}, {1, 1}, {1, 1}, 1, none},
           Row{{1, 1}, {1, 2}, {2, 1}, 0, Refusal::WireVersion},
           Row{{2, 2}, {1, 2}, {1, 1}, 0, Refusal::WireVersion},
           Row{{1, 2}, {1, 1}, {1, 2}, 0, Refusal::LayoutVersion},
           Row{{1, 2}, {2, 2}, {1, 1}, 0, Refusal::LayoutVersion},
       }) {
    Hello hello = client();
    hello.self.wire = row.wire;
    hello.self.layout = row.layout;
    const auto answer = judgeHello(hello, self, {Role::Client, false, true, row.active});
    const std::string what = toString(row.wire) + toString(row.layout);
    if (const auto* welcome = std::get_if<Welcome>(&answer)) {
      EXPECT_EQ(welcome->wireChosen, row.chosen) << what;
    } else {
      const Refused& no = std::get<Refused>(answer);
      EXPECT_EQ(row.chosen, 0) << what << ": " << no.message;
      EXPECT_EQ(no.code, row.why) << what;
      const uint16_t active = row.why == Refusal::WireVersion ? row.active.wire : row.active.layout;
      EXPECT_NE(no.message.find("version is " + std::to_string(active)), std::string::npos) << no.message;
      EXPECT_NE(no.message.find("host-a"), std::string::npos);
      EXPECT_NE(no.message.find("demo-default-0"), std::string::npos);
    }
  }
}

TEST(Handshake, ARefusalNamesBothSides) {
  Hello newer = client();
  newer.self.wire = {2, 3};
  const Refused versions = refused(newer);
  EXPECT_EQ(versions.code, Refusal::WireVersion);
  for (const char* part : {"host-a", "0.2.0", "[2, 3]", "demo-default-0", "0.1.0", "[1, 1]"}) {
    EXPECT_NE(versions.message.find(part), std::string::npos) << part << " in: " << versions.message;
  }
  EXPECT_EQ(refusalStatus(versions, "10.0.0.1:50061").code(), KV_VERSION_MISMATCH);
}

TEST(Handshake, EachMismatchHasItsCode) {
  Hello hello = client();
  hello.magic = 1;
  EXPECT_EQ(refused(hello).code, Refusal::Protocol);
  hello = client();
  hello.self.wire = {3, 1};
  EXPECT_EQ(refused(hello).code, Refusal::WireVersion) << "an empty range has nothing in common";
  hello = client();
  hello.self.role = Role::Master;
  EXPECT_EQ(refused(hello).code, Refusal::WrongRole);
  hello = client();
  hello.self.poolId = {9, 9};
  EXPECT_EQ(refused(hello).code, Refusal::PoolMismatch);
  hello.self.poolId = {};
  EXPECT_EQ(refused(hello).code, Refusal::PoolMismatch) << "a node wants to be told the pool";
  EXPECT_TRUE(std::holds_alternative<Welcome>(judgeHello(hello, node(), {Role::Client, true, true})));
  hello = client();
  hello.expectedPeer = 78;
  EXPECT_EQ(refused(hello).code, Refusal::IdentityMismatch);
  hello = client();
  hello.self.layout = {2, 2};
  EXPECT_EQ(refused(hello).code, Refusal::LayoutVersion);
  EXPECT_TRUE(std::holds_alternative<Welcome>(judgeHello(hello, node(), {Role::Client, false, false})))
      << "over tcp nobody reads the segment file";
}

TEST(Handshake, TheDialerChecksTheWelcome) {
  const Hello sent = client();
  Welcome welcome{node(), 1};
  EXPECT_EQ(judgeWelcome(welcome, Role::Master, sent).code(), KV_IDENTITY_MISMATCH);
  welcome.wireChosen = 2;
  EXPECT_EQ(judgeWelcome(welcome, Role::Node, sent).code(), KV_VERSION_MISMATCH);
  welcome = {node(), 1};
  welcome.self.poolId = {};
  EXPECT_EQ(judgeWelcome(welcome, Role::Node, sent).code(), KV_IDENTITY_MISMATCH);
  welcome = {node(), 1};
  welcome.self.incarnation = 78;
  EXPECT_EQ(judgeWelcome(welcome, Role::Node, sent).code(), KV_IDENTITY_MISMATCH);
  Hello anyPool = sent;
  anyPool.self.poolId = {};
  EXPECT_TRUE(judgeWelcome({node(), 1}, Role::Node, anyPool).ok());
}

TEST(Handshake, TextsOfPeersMustBeUtf8AndBounded) {
  Bytes out;
  Hello hello = client();
  hello.self.name = "\xFF";
  appendHello(out, hello);
  EXPECT_THROW((void)readHello(Body(out).subspan(kFrameHeaderBytes)), Malformed);
  out.clear();
  hello.self.name = std::string(300, 'n');
  appendHello(out, hello);
  EXPECT_THROW((void)readHello(Body(out).subspan(kFrameHeaderBytes)), Malformed);
}

}  // namespace
}  // namespace kvpool::wire
