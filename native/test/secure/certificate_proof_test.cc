// SPDX-License-Identifier: Apache-2.0
#include "secure/certificate_proof.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "certificate_authority.h"
#include "secure/session.h"

namespace kvpool::secure {
namespace {

using test::CertificateAuthority;
using test::named;
using Bytes = std::vector<uint8_t>;

/// A dialer and a listener that know each other.
struct Pair {
  Pair(const std::shared_ptr<const Credentials>& dialers, const std::shared_ptr<const Credentials>& listeners)
      : dialer(dialers, Session::Side::Dialer, {}), listener(listeners, Session::Side::Listener, {}) {
    for (int round = 0; round < 4; ++round) {
      carry(dialer, listener);
      carry(listener, dialer);
    }
    EXPECT_EQ(dialer.state(), Session::State::Authenticated) << dialer.refusal();
    EXPECT_EQ(listener.state(), Session::State::Authenticated) << listener.refusal();
  }
  static void carry(Session& from, Session& to) {
    const auto out = from.outgoing();
    const Bytes bytes(out.begin(), out.end());
    from.sent(bytes.size());
    to.received(bytes);
    to.advance();
    to.keepRest();
  }

  Session dialer;
  Session listener;
};

class CertificateProofTest : public testing::Test {
 protected:
  std::shared_ptr<const Credentials> brief(const std::string& path, long endsInSeconds = 60) const {
    CertificateAuthority::Wish wish{{named(path)}};
    wish.endsInSeconds = endsInSeconds;
    return authority_.credentials(wish);
  }
  /// Proves to the listener, which must not take it: nothing changes, and the reason has this text.
  void refused(const CertificateProof& proof, const std::string& why) { refused(proof, why, *masters_); }
  void refused(const CertificateProof& proof, const std::string& why, const Credentials& own) {
    const int64_t before = pair_.listener.peer().notAfterMs;
    const Status status = pair_.listener.prove(proof, own);
    EXPECT_EQ(status.code(), KV_NOT_PERMITTED);
    EXPECT_NE(status.text().find(why), std::string::npos) << status.text();
    EXPECT_EQ(pair_.listener.peer().notAfterMs, before);
    EXPECT_EQ(kvpool::toString(pair_.listener.peer()), "node/a");
  }
  CertificateProof proof(const Credentials& of) const { return pair_.dialer.proof(of).value(); }

  const CertificateAuthority authority_;
  const std::shared_ptr<const Credentials> masters_ = brief("master/m");
  const std::shared_ptr<const Credentials> nodes_ = brief("node/a");
  const std::shared_ptr<const Credentials> newer_ = brief("node/a", 3600);
  Pair pair_{nodes_, masters_};
};

TEST_F(CertificateProofTest, BothEndsProveNewerCertificates) {
  ASSERT_TRUE(pair_.listener.prove(proof(*newer_), *masters_).ok());
  EXPECT_EQ(pair_.listener.peer().notAfterMs, newer_->self().principal.notAfterMs);
  EXPECT_GT(pair_.listener.peer().notAfterMs, nodes_->self().principal.notAfterMs);
  const auto mastersNewer = brief("master/m", 3600);
  ASSERT_TRUE(pair_.dialer.prove(pair_.listener.proof(*mastersNewer).value(), *newer_).ok());
  EXPECT_EQ(pair_.dialer.peer().notAfterMs, mastersNewer->self().principal.notAfterMs);
  EXPECT_EQ(kvpool::toString(pair_.dialer.peer()), "master/m");
}

TEST_F(CertificateProofTest, TheSameAgainChangesNothing) {
  const CertificateProof first = proof(*newer_);
  ASSERT_TRUE(pair_.listener.prove(first, *masters_).ok());
  ASSERT_TRUE(pair_.listener.prove(first, *masters_).ok());
  EXPECT_EQ(pair_.listener.peer().notAfterMs, newer_->self().principal.notAfterMs);
}

TEST_F(CertificateProofTest, KeysOfRsaProveToo) {
  CertificateAuthority::Wish wish{{named("node/a")}};
  wish.curve = "";
  const auto rsa = authority_.credentials(wish);
  const Status proven = pair_.listener.prove(proof(*rsa), *masters_);
  EXPECT_TRUE(proven.ok()) << proven.text();
}

/// A member that was told a proof by its owner, over a connection of theirs, cannot use it on its own.
TEST_F(CertificateProofTest, AProofIsOfOneConnection) {
  const Pair other(nodes_, masters_);
  refused(other.dialer.proof(*newer_).value(), "is not its own");
}

TEST_F(CertificateProofTest, AProofIsOfOneEnd) {
  const auto both = brief("node/a", 3600);
  // What the listener would sign, shown by the dialer.
  refused(pair_.listener.proof(*both).value(), "is not its own");
}

TEST_F(CertificateProofTest, ACertificateWithoutItsKeyProvesNothing) {
  CertificateProof stolen = proof(*newer_);
  stolen.signature = proof(*nodes_).signature;
  refused(stolen, "is not its own");
  CertificateProof other = proof(*nodes_);
  other.chain = proof(*newer_).chain;
  refused(other, "is not its own");
}

TEST_F(CertificateProofTest, AnotherNameRoleOrPoolProvesNothing) {
  refused(proof(*brief("node/b", 3600)), "is of node/b of pool");
  refused(proof(*brief("master/a", 3600)), "is of master/a of pool");
  refused(proof(*brief("tenant/default/rw/a", 3600)), "is of tenant/default/rw/a of pool");
  CertificateAuthority::Wish wish{{std::string("spiffe://") + test::kOtherPool + "/node/a"}};
  refused(proof(*authority_.credentials(wish)), std::string("of pool ") + test::kOtherPool);
}

TEST_F(CertificateProofTest, OneThatHasEndedOrNotBegunProvesNothing) {
  refused(proof(*[this] {
            CertificateAuthority::Wish wish{{named("node/a")}};
            wish.endsInSeconds = 1;
            auto made = authority_.credentials(wish);
            timespec second{2, 100'000'000};
            nanosleep(&second, nullptr);
            return made;
          }()),
          "has expired");
}

TEST_F(CertificateProofTest, AnotherRootProvesNothing) {
  const CertificateAuthority stranger("another root");
  refused(proof(*stranger.credentials("node/a")), "none of the roots in ca.crt");
}

/// ca.crt has another root than the handshake knew: proofs are judged by what is believed now.
TEST_F(CertificateProofTest, TheRootsOfTheMomentCount) {
  const CertificateAuthority next("next root");
  const auto master = next.credentials("master/m");
  refused(proof(*newer_), "none of the roots in ca.crt", *master);
  const auto node = next.credentials("node/a");
  ASSERT_FALSE(master->trusts(pair_.listener.peersRoot()));
  ASSERT_TRUE(pair_.listener.prove(proof(*node), *master).ok());
  EXPECT_TRUE(master->trusts(pair_.listener.peersRoot()));
}

TEST_F(CertificateProofTest, WhatIsNoProofIsRefused) {
  const CertificateProof good = proof(*newer_);
  refused({}, "is missing");
  refused({{{1, 2, 3}}, good.signature}, "cannot be read");
  refused({{Bytes()}, good.signature}, "cannot be read");
  refused({good.chain, {}}, "is not its own");
  CertificateProof longer = good;
  longer.chain[0].push_back(0);
  refused(longer, "cannot be read");
  for (size_t at = 0; at < good.chain[0].size(); at += 7) {
    CertificateProof cut = good;
    cut.chain[0].resize(at);
    EXPECT_FALSE(pair_.listener.prove(cut, *masters_).ok()) << at;
    CertificateProof changed = good;
    changed.chain[0][at] ^= 0x40;
    EXPECT_FALSE(pair_.listener.prove(changed, *masters_).ok()) << at;
  }
  CertificateProof many = good;
  many.chain.resize(9, good.chain[0]);
  refused(many, "too long");
}

/// What they prove has no part in what goes over the connection.
TEST_F(CertificateProofTest, OutsideOfTlsNothingIsProven) {
  Session early(nodes_, Session::Side::Dialer, {});
  EXPECT_FALSE(early.proof(*newer_).ok());
  EXPECT_FALSE(early.prove(proof(*newer_), *masters_).ok());
}

}  // namespace
}  // namespace kvpool::secure
