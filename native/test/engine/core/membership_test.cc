// SPDX-License-Identifier: Apache-2.0
// Who is let in by certificates, and connections that are replaced because newer ones are there.
#include "engine/core/membership.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors.h"
#include "base/rights.h"
#include "core_harness.h"
#include "dev_kvpool_wire/EngineRegions.h"
#include "dev_kvpool_wire/EngineReply.h"
#include "dev_kvpool_wire/Refused.h"

namespace kvpool::engine {
namespace {

namespace sbe = wire::sbe;

Principal member(const std::string& tenant, bool readsOnly = false) {
  Principal who;
  who.name = "engine";
  who.tenant = tenant;
  who.readsOnly = readsOnly;
  return who;
}

Principal of(Principal::Role role) {
  Principal who;
  who.role = role;
  who.name = "a";
  return who;
}

TEST(Membership, IsOneTenants) {
  const Principal chat = member("chat");
  const Principal search = member("search");
  EXPECT_TRUE(judgeMembers(nullptr, nullptr).ok()) << "without certificates all are let in";
  EXPECT_TRUE(judgeMembers(&chat, &chat).ok());
  EXPECT_EQ(judgeMembers(&chat, nullptr).code(), KV_NOT_PERMITTED);
  EXPECT_EQ(judgeMembers(&chat, &search).code(), KV_NOT_PERMITTED);
  const std::string why = judgeMembers(&chat, &search).text();
  EXPECT_NE(why.find("tenant/search/rw/engine is of tenant search"), std::string::npos) << why;
  EXPECT_NE(why.find("are both certificates those of one tenant?"), std::string::npos) << why;
}

/// The table of schema/rights.txt.
TEST(Membership, IsOfWhoMayTransfer) {
  const auto allows = [](const Principal& who, Verb verb) {
    return kRights.at(static_cast<size_t>(verb)).at(static_cast<size_t>(actorOf(who)));
  };
  for (const Principal& who : test::certifiedActors()) {
    SCOPED_TRACE(toString(who));
    const Principal ofItsTenant = member(who.tenant);
    const int32_t expected = allows(who, Verb::Transfer) ? KV_OK : KV_NOT_PERMITTED;
    EXPECT_EQ(judgeOwn(who).code(), expected);
    EXPECT_EQ(judgeMembers(&ofItsTenant, &who).code(), expected);
    EXPECT_EQ(judgeMembers(&who, &ofItsTenant).code(), expected);
    EXPECT_EQ(judgeWriter(&who).code(), allows(who, Verb::TransferWrite) ? KV_OK : KV_NOT_PERMITTED);
  }
}

// ---- peers that we dial ----

class MemberTest : public testing::Test, protected CoreHarness {
 protected:
  MemberTest() { core.identify(now, chat_); }

  void answerAs(const Principal& who) {
    open(&who);
    greet(7);
    describe(3);
  }

  const Principal chat_ = member("chat");
  const Principal search_ = member("search");
};

TEST_F(MemberTest, APeerOfOurTenantIsWrittenTo) {
  const BatchId batch = submit(TransferOp::Write, 5000);
  answerAs(chat_);
  done();
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MemberTest, APeerOfAnotherTenantHearsNothing) {
  for (const TransferOp op : {TransferOp::Write, TransferOp::Read, TransferOp::Probe, TransferOp::Connect}) {
    const BatchId batch = submit(op, 5000);
    open(&search_);
    EXPECT_EQ(ended.at(batch).status, KV_NOT_PERMITTED);
    EXPECT_EQ(closes.back(), connection);
  }
  EXPECT_EQ(requests, 0U);
  EXPECT_EQ(question, 0U);
  EXPECT_NE(core.explanation().find("is of tenant search"), std::string::npos) << core.explanation();
}

TEST_F(MemberTest, NorDoesOneWithoutACertificate) {
  const BatchId batch = submit(TransferOp::Write, 5000);
  open();
  EXPECT_EQ(ended.at(batch).status, KV_NOT_PERMITTED);
}

TEST_F(MemberTest, WhoBecomesOfAnotherTenantLosesItsConnections) {
  const BatchId before = submit(TransferOp::Write, 5000);
  answerAs(chat_);
  core.identify(now, member("chat"));
  EXPECT_FALSE(ended.contains(before)) << "a new certificate with the same name changes nothing";
  core.identify(now, search_);
  const BatchId after = submit(TransferOp::Write, 5000);
  EXPECT_EQ(ended.at(before).status, KV_NOT_PERMITTED);
  answerAs(search_);
  done();
  EXPECT_EQ(ended.at(after).status, KV_OK);
}

// ---- newer certificates ----

TEST_F(MemberTest, AnIdleConnectionIsReplacedWhenItIsNeeded) {
  submit(TransferOp::Write, 5000);
  answerAs(chat_);
  done();
  core.renew(now, connection);
  const BatchId batch = submit(TransferOp::Write, 5000);
  EXPECT_EQ(closes, std::vector<ConnectionId>{1});
  EXPECT_EQ(dials.size(), 2U);
  answerAs(chat_);
  done();
  EXPECT_EQ(ended.at(batch).status, KV_OK);
}

TEST_F(MemberTest, WhatIsUnderWayEndsOnItsConnectionAndTheNextTaskWaitsForTheNext) {
  const BatchId first = submit(TransferOp::Write, 5000);
  answerAs(chat_);
  core.renew(now, connection);
  const BatchId second = submit(TransferOp::Write, 5000);
  EXPECT_TRUE(closes.empty());
  EXPECT_EQ(requests, 1U) << "the second has not begun";
  done();
  EXPECT_EQ(ended.at(first).status, KV_OK);
  EXPECT_EQ(dials.size(), 2U);
  answerAs(chat_);
  EXPECT_EQ(requests, 2U);
  done();
  EXPECT_EQ(ended.at(second).status, KV_OK);
  EXPECT_EQ(core.counters().retries, 0U) << "no attempt was lost";
}

TEST_F(MemberTest, TheNextConnectionMayTakeAMoment) {
  submit(TransferOp::Write, 5000);
  answerAs(chat_);
  core.renew(now, connection);
  const BatchId waiting = submit(TransferOp::Write, 5000);
  done();
  lose("connection refused");
  EXPECT_FALSE(ended.contains(waiting));
  pass(100);
  EXPECT_EQ(dials.size(), 3U);
  answerAs(chat_);
  done();
  EXPECT_EQ(ended.at(waiting).status, KV_OK);
}

// ---- peers that dial us ----

/// A connection of a peer, and what it is answered.
class Dialler {
 public:
  Dialler(EngineCore& core, std::optional<Principal> who) : core_(core), id_(core.newConnection()) {
    core_.accepted(0, id_, "a peer", std::move(who));
    look();
    wire::Bytes hello;
    wire::appendHello(hello, {CoreHarness::identity(9), 0, wire::kMagic});
    deliver(hello);
  }

  void deliver(const wire::Bytes& frame) {
    core_.frame(0, id_, std::span(frame).subspan(wire::kFrameHeaderBytes));
    look();
  }
  int32_t status(const wire::Bytes& asked) {
    deliver(asked);
    return replies.back();
  }
  void look() {
    for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
      for (const Action& action : actions) {
        if (const auto* close = std::get_if<Close>(&action)) closed = closed || close->connection == id_;
        if (const auto* told = std::get_if<PeerRefused>(&action)) warning = told->peer + ": " + told->why;
        if (const auto* receive = std::get_if<ReceivePayload>(&action)) {
          taken = taken || receive->pieces.has_value();
          core_.payloadReceived(0, id_, 1, 1);
        }
        const auto* send = std::get_if<SendFrame>(&action);
        if (send == nullptr || send->connection != id_) continue;
        const wire::Body body = std::span(send->frame).subspan(wire::kFrameHeaderBytes);
        ++frames;
        if (wire::templateOf(body) == sbe::EngineReply::sbeTemplateId()) replies.push_back(readReply(body).status);
        if (wire::templateOf(body) == sbe::Refused::sbeTemplateId()) refusal = wire::readRefused(body);
        if (wire::templateOf(body) == sbe::EngineRegions::sbeTemplateId()) regions = readRegions(body).regions.size();
      }
    }
  }

  bool closed = false;
  bool taken = false;  // a payload went to memory
  size_t frames = 0;
  size_t regions = 0;
  std::vector<int32_t> replies;
  std::optional<wire::Refused> refusal;
  std::string warning;

 private:
  EngineCore& core_;
  const ConnectionId id_;
};

class ServedMemberTest : public testing::Test {
 protected:
  ServedMemberTest() {
    EXPECT_TRUE(core_.registerRegions({&region_, 1}).ok());
    core_.identify(0, member("chat"));
  }

  const kv_region region_{0x10000, 64};
  const std::vector<RemotePiece> all_{{1, 0x10000, 64}};
  EngineCore core_{CoreHarness::configuration()};
};

TEST_F(ServedMemberTest, OneOfOurTenantIsServed) {
  Dialler peer(core_, member("chat"));
  peer.deliver(describeFrame(1));
  EXPECT_EQ(peer.regions, 1U);
  EXPECT_EQ(peer.status(writeFrame(2, all_)), KV_OK);
  EXPECT_TRUE(peer.taken);
}

TEST_F(ServedMemberTest, StrangersAreRefusedBeforeTheySayAnything) {
  const std::vector<std::optional<Principal>> strangers{member("search"), of(Principal::Role::Node), std::nullopt};
  for (const std::optional<Principal>& who : strangers) {
    Dialler peer(core_, who);
    ASSERT_TRUE(peer.refusal.has_value());
    EXPECT_EQ(peer.refusal->code, wire::Refusal::IdentityMismatch);
    EXPECT_TRUE(peer.closed);
    EXPECT_NE(peer.warning.find(peer.refusal->message), std::string::npos) << peer.warning;
    peer.deliver(describeFrame(1));
    peer.deliver(readFrame(2, all_));
    peer.deliver(notifyFrame(3, {"n", "m"}));
    EXPECT_EQ(peer.frames, 1U) << "nothing but the refusal";
    EXPECT_EQ(core_.clientsConnected(), 0U);
  }
  EXPECT_TRUE(core_.notifications().empty());
}

TEST_F(ServedMemberTest, OneThatMayOnlyReadDoesNotWrite) {
  Dialler peer(core_, member("chat", true));
  peer.deliver(describeFrame(1));
  EXPECT_EQ(peer.regions, 1U);
  EXPECT_EQ(peer.status(writeFrame(2, all_)), KV_NOT_PERMITTED);
  EXPECT_FALSE(peer.taken) << "its bytes go nowhere";
  EXPECT_EQ(peer.status(readFrame(3, all_)), KV_OK);
  EXPECT_EQ(peer.status(notifyFrame(4, {"n", "m"})), KV_OK);
  EXPECT_EQ(core_.counters().refusedRequests, 1U);
}

TEST_F(ServedMemberTest, WhoIsOfAnotherTenantByNowIsCut) {
  Dialler peer(core_, member("chat"));
  core_.identify(0, member("search"));
  peer.look();
  EXPECT_TRUE(peer.closed);
  EXPECT_EQ(core_.clientsConnected(), 0U);
}

}  // namespace
}  // namespace kvpool::engine
