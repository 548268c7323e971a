// SPDX-License-Identifier: Apache-2.0
#include "secure/session.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "certificate_authority.h"
#include "seed.h"

namespace kvpool::secure {
namespace {

using Bytes = std::vector<uint8_t>;
using State = Session::State;
using test::CertificateAuthority;
using test::named;

/// All that was sealed for the peer, taken out.
Bytes take(Session& session) {
  const std::span<const uint8_t> out = session.outgoing();
  Bytes bytes(out.begin(), out.end());
  session.sent(bytes.size());
  return bytes;
}

/// Gives it the bytes, and keeps what it did not consume.
void give(Session& session, const Bytes& bytes) {
  session.received(bytes);
  session.advance();
  session.keepRest();
}

Bytes openAll(Session& session) {
  Bytes all;
  Bytes room(1 << 20);
  while (const size_t count = session.open(room))
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
  session.keepRest();
  return all;
}

bool seal(Session& session, Bytes& bytes) {
  const iovec piece{bytes.data(), bytes.size()};
  return session.seal(std::span(&piece, 1));
}

Bytes pattern(size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

class SessionTest : public testing::Test {
 protected:
  void pair(std::shared_ptr<const Credentials> dialer, std::shared_ptr<const Credentials> listener,
            const Expected& expected = {}, Payloads dialers = Payloads::Encrypted,
            Payloads listeners = Payloads::Encrypted) {
    dialer_ = std::make_unique<Session>(std::move(dialer), Session::Side::Dialer, expected, dialers);
    listener_ = std::make_unique<Session>(std::move(listener), Session::Side::Listener, Expected{}, listeners);
  }
  void pair(Payloads dialers, Payloads listeners) {
    pair(authority_.credentials("node/a"), authority_.credentials("master/m"), {}, dialers, listeners);
  }
  /// Both may leave TLS; the dialer has said its goodbye, and the listener has heard nothing of that flight. It is
  /// returned.
  Bytes leaving() {
    pair(Payloads::Authenticated, Payloads::Authenticated);
    give(*listener_, take(*dialer_));
    give(*dialer_, take(*listener_));
    EXPECT_EQ(dialer_->state(), State::Handshaking) << "it does not know yet whether its certificate was taken";
    return take(*dialer_);
  }
  void pair() { pair(authority_.credentials("node/a"), authority_.credentials("master/m"), {}); }
  /// Carries what they say to each other until both are silent; the most bytes in one flight.
  void talk() {
    for (int round = 0; round < 10; ++round) {
      const Bytes there = take(*dialer_);
      give(*listener_, there);
      const Bytes back = take(*listener_);
      give(*dialer_, back);
      if (there.empty() && back.empty()) return;
    }
    FAIL() << "they do not come to an end";
  }
  void connected() {
    pair();
    talk();
    ASSERT_EQ(dialer_->state(), State::Authenticated) << dialer_->refusal();
    ASSERT_EQ(listener_->state(), State::Authenticated) << listener_->refusal();
  }
  /// The dialer learns of a refusal of its certificate only with the next bytes.
  void dialerListens() {
    Bytes room(16);
    while (dialer_->open(room) > 0) {
    }
  }

  const CertificateAuthority authority_;
  std::unique_ptr<Session> dialer_;
  std::unique_ptr<Session> listener_;
};

TEST_F(SessionTest, BothKnowWhoIsThere) {
  connected();
  EXPECT_EQ(kvpool::toString(dialer_->peer()), "master/m");
  EXPECT_EQ(kvpool::toString(listener_->peer()), "node/a");
  EXPECT_GT(listener_->peer().notAfterMs, int64_t{::time(nullptr)} * 1000);
}

/// The certificate says the role, not which storage node it is: who dials one takes any of them, and nothing else.
TEST_F(SessionTest, ThoseOfOthersAreKnownByTheirServiceAccounts) {
  const auto member = [this](const std::string& account) {
    PemTriple triple = authority_.issue(CertificateAuthority::Wish{{"spiffe://cluster.local/ns/ns/sa/" + account}});
    triple.names = std::string("pool ") + test::kPool +
                   "\ntrust-domain cluster.local\nns/master master\nns/node node\nns/a tenant t rw\n";
    auto parsed = Credentials::parse(triple, "DIR");
    EXPECT_TRUE(parsed.ok()) << parsed.status().text();
    return parsed.value();
  };
  pair(member("a"), member("node"), Expected::storageNode("n-0", false));
  talk();
  EXPECT_EQ(kvpool::toString(listener_->peer()), "tenant/t/rw/ns.a");
  EXPECT_EQ(kvpool::toString(dialer_->peer()), "node/*");
  pair(member("a"), member("master"), Expected::storageNode("n-0", false));
  talk();
  EXPECT_EQ(dialer_->state(), State::Refused);
  EXPECT_NE(dialer_->refusal().find("it is master/* by its certificate"), std::string::npos) << dialer_->refusal();
  // One without these rules.
  pair(authority_.credentials("tenant/t/rw/a"), member("node"), Expected::storageNode("n-0", false));
  talk();
  EXPECT_NE(dialer_->refusal().find("'spiffe://cluster.local/ns/ns/sa/node'"), std::string::npos) << dialer_->refusal();
}

TEST_F(SessionTest, BeginsAsNoFrameDoes) {
  pair();
  EXPECT_TRUE(Session::begins(dialer_->outgoing()));
  EXPECT_FALSE(Session::begins({}));
  const Bytes javas = {0x16, 0x03, 0x03};
  EXPECT_TRUE(Session::begins(javas));
  const Bytes frame = {0x16, 0x03, 0x00};
  EXPECT_FALSE(Session::begins(frame));
}

TEST_F(SessionTest, BytesGoThroughWhateverTheyAreCutInto) {
  connected();
  const uint64_t seed = test::seed(7);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (const size_t size : {1u, 60u, 16383u, 16384u, 16385u, 100'000u, 262'144u}) {
    Bytes sent = pattern(size);
    std::vector<iovec> pieces;
    for (size_t at = 0; at < size;) {
      const size_t part = std::min<size_t>(size - at, dice.oneIn(3) ? dice.below(100) : dice.below(60'000));
      pieces.push_back({sent.data() + at, part});
      at += part;
    }
    ASSERT_TRUE(listener_->seal(pieces));
    const Bytes sealed = take(*listener_);
    Bytes got;
    for (size_t at = 0; at < sealed.size();) {
      const size_t part = std::min<size_t>(sealed.size() - at, 1 + dice.below(40'000));
      const Bytes cut(sealed.begin() + static_cast<std::ptrdiff_t>(at),
                      sealed.begin() + static_cast<std::ptrdiff_t>(at + part));
      give(*dialer_, cut);
      at += part;
      if (dice.oneIn(4)) continue;  // it is not asked each time
      const Bytes opened = openAll(*dialer_);
      got.insert(got.end(), opened.begin(), opened.end());
    }
    const Bytes opened = openAll(*dialer_);
    got.insert(got.end(), opened.begin(), opened.end());
    ASSERT_EQ(got.size(), sent.size());
    EXPECT_TRUE(got == sent) << size;
  }
}

TEST_F(SessionTest, SmallPiecesShareARecord) {
  connected();
  Bytes small = pattern(64);
  const std::vector<iovec> pieces(100, iovec{small.data(), small.size()});
  ASSERT_TRUE(dialer_->seal(pieces));
  EXPECT_LT(dialer_->outgoing().size(), 64u * 100 + 64) << "one header and tag, not a hundred";
}

TEST_F(SessionTest, HalfARecordWaits) {
  connected();
  EXPECT_FALSE(listener_->midRecord());
  Bytes sent = pattern(1000);
  ASSERT_TRUE(seal(*dialer_, sent));
  const Bytes sealed = take(*dialer_);
  give(*listener_, {sealed.begin(), sealed.begin() + 500});
  EXPECT_TRUE(openAll(*listener_).empty());
  EXPECT_TRUE(listener_->midRecord());
  give(*listener_, {sealed.begin() + 500, sealed.end()});
  EXPECT_EQ(openAll(*listener_), sent);
  EXPECT_FALSE(listener_->midRecord());
}

TEST_F(SessionTest, GoodbyeIsTheEndOfAll) {
  connected();
  Bytes sent = pattern(10);
  ASSERT_TRUE(seal(*dialer_, sent));
  dialer_->close();
  EXPECT_FALSE(seal(*dialer_, sent)) << "nothing goes behind a goodbye";
  give(*listener_, take(*dialer_));
  EXPECT_EQ(openAll(*listener_), sent);
  EXPECT_EQ(listener_->state(), State::Closed);
}

TEST_F(SessionTest, AChangedByteEndsIt) {
  connected();
  Bytes sent = pattern(100);
  ASSERT_TRUE(seal(*dialer_, sent));
  Bytes sealed = take(*dialer_);
  sealed[50] ^= 1;
  give(*listener_, sealed);
  EXPECT_TRUE(openAll(*listener_).empty());
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("failed in TLS"), std::string::npos) << listener_->refusal();
}

TEST_F(SessionTest, NothingIsSealedOrOpenedBeforeTheEndOfTheHandshake) {
  pair();
  Bytes some = pattern(10);
  EXPECT_FALSE(seal(*dialer_, some));
  EXPECT_FALSE(seal(*listener_, some));
  EXPECT_EQ(listener_->open(some), 0u);
  give(*listener_, take(*dialer_));
  EXPECT_EQ(listener_->state(), State::Handshaking);
  EXPECT_FALSE(seal(*listener_, some)) << "it does not know yet who that is";
}

struct Refusal {
  const char* what;
  CertificateAuthority::Wish dialer;
  CertificateAuthority::Wish listener;
  Expected expected;
  bool otherRoot;          // the dialer's is not the listener's
  const char* dialerSays;  // part of its refusal; nullptr: it is content
  const char* listenerSays;
};

TEST_F(SessionTest, WhoDoesNotDoIsRefusedInPlainWords) {
  const CertificateAuthority other("another root");
  const CertificateAuthority::Wish node{{named("node/a")}};
  const CertificateAuthority::Wish master{{named("master/m")}};
  const CertificateAuthority::Wish stranger{{std::string("spiffe://") + test::kOtherPool + "/node/a"}};
  const std::vector<Refusal> table = {
      {"other root", node, master, {}, true, "signed by none of the roots in ca.crt", "no root that signed it"},
      {"other pool", stranger, master, {}, false, "is the address right?", "another role, name or pool is expected"},
      {"other role", node, node, Expected::master(), false, "where a master is expected", "another role, name or pool"},
      {"other node", master, node, Expected::storageNode("b", false), false,
       "it is node/a by its certificate, where node/b", "another role, name or pool"},
  };
  for (const Refusal& one : table) {
    SCOPED_TRACE(one.what);
    auto dialer = (one.otherRoot ? other : authority_).credentials(one.dialer);
    pair(std::move(dialer), authority_.credentials(one.listener), one.expected);
    talk();
    dialerListens();
    EXPECT_EQ(dialer_->state(), State::Refused);
    EXPECT_NE(dialer_->refusal().find(one.dialerSays), std::string::npos) << dialer_->refusal();
    EXPECT_EQ(listener_->state(), State::Refused);
    EXPECT_NE(listener_->refusal().find(one.listenerSays), std::string::npos) << listener_->refusal();
  }
}

/// A certificate that its own process would not load: the peer has to find out.
std::shared_ptr<const Credentials> later(const CertificateAuthority& authority,
                                         const CertificateAuthority::Wish& wish) {
  auto parsed = Credentials::parse(authority.issue(wish), "DIR");
  EXPECT_TRUE(parsed.ok()) << parsed.status().text();
  return parsed.ok() ? parsed.value() : nullptr;
}

TEST_F(SessionTest, AnExpiredCertificateIsRefusedByTheOtherSide) {
  CertificateAuthority::Wish brief{{named("node/a")}};
  brief.endsInSeconds = 1;
  auto credentials = later(authority_, brief);
  ::sleep(2);
  pair(std::move(credentials), authority_.credentials("master/m"));
  talk();
  dialerListens();
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("has expired; renew it"), std::string::npos) << listener_->refusal();
  EXPECT_NE(dialer_->refusal().find("it has expired; renew it"), std::string::npos) << dialer_->refusal();
}

TEST_F(SessionTest, ACertificateForServersAloneDoesNotDoForADialer) {
  CertificateAuthority::Wish server{{named("node/a")}};
  server.purposes = "serverAuth";
  pair(authority_.credentials(server), authority_.credentials("master/m"));
  talk();
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("extended key usage must allow clientAuth"), std::string::npos)
      << listener_->refusal();
}

TEST_F(SessionTest, AnOversizedHandshakeIsCutOff) {
  CertificateAuthority::Wish huge{{named("node/a")}};
  huge.padding = 20'000;
  pair(authority_.credentials(huge), authority_.credentials("master/m"));
  talk();
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("16 KiB"), std::string::npos) << listener_->refusal();
}

TEST_F(SessionTest, WhatIsNoTlsIsNamed) {
  pair();
  const std::string plain = "HTTP/1.1 400 Bad Request\r\n\r\n";
  give(*dialer_, Bytes(plain.begin(), plain.end()));
  EXPECT_EQ(dialer_->state(), State::Refused);
  EXPECT_NE(dialer_->refusal().find("does not speak TLS, or has it off"), std::string::npos) << dialer_->refusal();
  EXPECT_TRUE(dialer_->peerIsPlain());
  give(*listener_, Bytes(100, 0));
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("does not speak TLS"), std::string::npos) << listener_->refusal();
}

TEST_F(SessionTest, APeerThatHasBegunTlsIsNotPlainWhateverFollows) {
  const std::string plain = "HTTP/1.1 400 Bad Request\r\n\r\n";
  for (const bool isServerHello : {true, false}) {
    pair();
    give(*listener_, take(*dialer_));
    Bytes said = take(*listener_);
    said.resize(5 + (size_t{said[3]} << 8 | said[4]));  // its first record
    if (!isServerHello) said = {20, 3, 3, 0, 1, 1};     // a change of the cipher, which is skipped
    said.insert(said.end(), plain.begin(), plain.end());
    give(*dialer_, said);
    EXPECT_EQ(dialer_->state(), State::Refused);
    EXPECT_FALSE(dialer_->peerIsPlain()) << dialer_->refusal();
    EXPECT_NE(dialer_->refusal().find("sent what is no TLS"), std::string::npos) << dialer_->refusal();
  }
}

TEST_F(SessionTest, AnOlderTlsAndOneWithoutACertificateAreRefused) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, version);
    SSL* const ssl = SSL_new(context);
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
    pair();
    for (int round = 0; round < 4; ++round) {
      SSL_do_handshake(ssl);
      Bytes said(65'536);
      const int count = BIO_read(out, said.data(), static_cast<int>(said.size()));
      said.resize(static_cast<size_t>(std::max(count, 0)));
      give(*listener_, said);
      const Bytes answer = take(*listener_);
      if (!answer.empty()) BIO_write(in, answer.data(), static_cast<int>(answer.size()));
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    EXPECT_EQ(listener_->state(), State::Refused);
    const char* const why = version == TLS1_2_VERSION ? "this is TLS 1.3" : "shows no certificate; give it";
    EXPECT_NE(listener_->refusal().find(why), std::string::npos) << listener_->refusal();
  }
}

// ---- leaving TLS ----

TEST_F(SessionTest, TlsEndsBehindTheHandshakeWhereBothWantThat) {
  for (const Payloads dialers : {Payloads::Encrypted, Payloads::Authenticated}) {
    for (const Payloads listeners : {Payloads::Encrypted, Payloads::Authenticated}) {
      const bool raw = dialers == Payloads::Authenticated && listeners == Payloads::Authenticated;
      SCOPED_TRACE(std::to_string(static_cast<int>(dialers)) + std::to_string(static_cast<int>(listeners)));
      pair(dialers, listeners);
      talk();
      EXPECT_EQ(dialer_->state(), raw ? State::Raw : State::Authenticated) << dialer_->refusal();
      EXPECT_EQ(listener_->state(), raw ? State::Raw : State::Authenticated) << listener_->refusal();
      EXPECT_EQ(kvpool::toString(dialer_->peer()), "master/m");
      EXPECT_EQ(kvpool::toString(listener_->peer()), "node/a");
      EXPECT_GT(listener_->peer().notAfterMs, int64_t{::time(nullptr)} * 1000);
      Bytes value = pattern(100);
      ASSERT_EQ(seal(*dialer_, value), !raw) << "what is raw does not go through here";
      give(*listener_, raw ? value : take(*dialer_));
      EXPECT_EQ(openAll(*listener_), value);
      EXPECT_FALSE(listener_->midRecord());
    }
  }
}

TEST_F(SessionTest, WhatComesWithTheGoodbyeIsNotLostWhereverItIsCut) {
  const Bytes value = pattern(60);
  size_t lengthMax = 1;
  constexpr size_t kHandshake = 800;  // the first bytes of about 880 are no part of the goodbye
  for (size_t cut = 0; cut < lengthMax; cut += cut < kHandshake ? 16 : 1) {
    SCOPED_TRACE(cut);
    Bytes flight = leaving();
    const size_t tls = flight.size();  // not always the same: of the signature
    flight.insert(flight.end(), value.begin(), value.end());
    lengthMax = std::max(lengthMax, flight.size() + 1);
    const auto at = static_cast<std::ptrdiff_t>(std::min(cut, flight.size()));
    give(*listener_, {flight.begin(), flight.begin() + at});
    ASSERT_EQ(listener_->state(), cut < tls ? State::Handshaking : State::Raw) << listener_->refusal();
    Bytes got = openAll(*listener_);
    EXPECT_EQ(got.size(), cut > tls ? static_cast<size_t>(at) - tls : 0);
    give(*listener_, {flight.begin() + at, flight.end()});
    EXPECT_EQ(listener_->state(), State::Raw) << listener_->refusal();
    EXPECT_EQ(listener_->midRecord(), static_cast<size_t>(at) < flight.size());
    const Bytes rest = openAll(*listener_);
    got.insert(got.end(), rest.begin(), rest.end());
    EXPECT_EQ(got, value);
    EXPECT_FALSE(listener_->midRecord());
  }
}

TEST_F(SessionTest, WhatIsRawIsOpenedInPiecesAsLargeAsTheirRoom) {
  Bytes flight = leaving();
  const Bytes value = pattern(1000);
  flight.insert(flight.end(), value.begin(), value.end());
  give(*listener_, flight);
  Bytes got;
  Bytes room(7);
  while (const size_t count = listener_->open(room))
    got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
  EXPECT_EQ(got, value);
}

TEST_F(SessionTest, ADialerIsNotThereBeforeItsCertificateWasTaken) {
  const CertificateAuthority other("another root");
  auto dialers = authority_.issue("node/a");
  const auto trusting = other.issue("master/m");
  dialers.roots += trusting.roots;  // it takes the listener's, which does not take its
  pair(Credentials::parse(dialers, "DIR").value(), Credentials::parse(trusting, "DIR").value(), {},
       Payloads::Authenticated, Payloads::Authenticated);
  give(*listener_, take(*dialer_));
  give(*dialer_, take(*listener_));
  EXPECT_EQ(dialer_->state(), State::Handshaking);
  give(*listener_, take(*dialer_));
  EXPECT_EQ(listener_->state(), State::Refused);
  give(*dialer_, take(*listener_));
  EXPECT_EQ(dialer_->state(), State::Refused);
  EXPECT_NE(dialer_->refusal().find("no root that signed it"), std::string::npos) << dialer_->refusal();
}

/// A peer that agrees to leave TLS, made of OpenSSL alone, so that it can do what no session does.
class FalseLeaver {
 public:
  explicit FalseLeaver(const Credentials& credentials) : ssl_(SSL_new(credentials.context())) {
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_verify(ssl_, SSL_VERIFY_NONE, nullptr);
    const std::string_view offer = "\x0akvpool-raw";
    SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(offer.data()),
                        static_cast<unsigned>(offer.size()));
    SSL_set_connect_state(ssl_);
    SSL_do_handshake(ssl_);
  }
  ~FalseLeaver() { SSL_free(ssl_); }
  FalseLeaver(const FalseLeaver&) = delete;
  FalseLeaver& operator=(const FalseLeaver&) = delete;

  /// Up to its end of the handshake; what it says then is still in said().
  void shakeHands(Session& listener) {
    give(listener, said());
    hear(take(listener));
    ASSERT_EQ(SSL_do_handshake(ssl_), 1);
  }
  Bytes said() {
    Bytes bytes(65'536);
    const int count = BIO_read(SSL_get_wbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    bytes.resize(static_cast<size_t>(std::max(count, 0)));
    return bytes;
  }
  void hear(const Bytes& bytes) { BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size())); }
  ssl_st* ssl() { return ssl_; }

 private:
  SSL* ssl_;
};

TEST_F(SessionTest, WhatIsSealedBeforeTheGoodbyeIsRefused) {
  const auto credentials = authority_.credentials("node/a");
  pair(Payloads::Authenticated, Payloads::Authenticated);
  FalseLeaver peer(*credentials);
  peer.shakeHands(*listener_);
  ASSERT_EQ(SSL_write(peer.ssl(), "x", 1), 1);
  SSL_shutdown(peer.ssl());
  give(*listener_, peer.said());
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("encrypted bytes where it had agreed to leave TLS"), std::string::npos)
      << listener_->refusal();
  Bytes room(10);
  EXPECT_EQ(listener_->open(room), 0u);
}

TEST_F(SessionTest, NothingOfTlsFollowsOurGoodbye) {
  const auto credentials = authority_.credentials("node/a");
  pair(Payloads::Authenticated, Payloads::Authenticated);
  FalseLeaver peer(*credentials);
  peer.shakeHands(*listener_);
  give(*listener_, peer.said());
  ASSERT_EQ(listener_->state(), State::Handshaking) << listener_->refusal();
  EXPECT_FALSE(take(*listener_).empty()) << "its goodbye";
  // It asks for an answer, which the peer would take for the first frame.
  ASSERT_EQ(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
  SSL_do_handshake(peer.ssl());
  SSL_shutdown(peer.ssl());
  give(*listener_, peer.said());
  EXPECT_TRUE(listener_->outgoing().empty());
}

TEST_F(SessionTest, BareBytesInsteadOfTheGoodbyeAreRefused) {
  const auto credentials = authority_.credentials("node/a");
  pair(Payloads::Authenticated, Payloads::Authenticated);
  FalseLeaver peer(*credentials);
  peer.shakeHands(*listener_);
  give(*listener_, peer.said());
  ASSERT_EQ(listener_->state(), State::Handshaking);
  EXPECT_FALSE(take(*listener_).empty()) << "its goodbye";
  give(*listener_, pattern(100));
  EXPECT_TRUE(listener_->outgoing().empty()) << "an alert would be a frame to the peer";
  EXPECT_EQ(listener_->state(), State::Refused);
  EXPECT_NE(listener_->refusal().find("before it had left TLS"), std::string::npos) << listener_->refusal();
}

TEST_F(SessionTest, TheChoiceCannotBeChangedOnTheWay) {
  // In front of the listener the name of the other choice takes the place of the first in the dialer's offer.
  pair(Payloads::Authenticated, Payloads::Authenticated);
  Bytes hello = take(*dialer_);
  const std::string_view raw = "kvpool-raw";
  const auto found = std::search(hello.begin(), hello.end(), raw.begin(), raw.end());
  ASSERT_NE(found, hello.end());
  *found = 'x';
  give(*listener_, hello);
  give(*dialer_, take(*listener_));
  EXPECT_EQ(dialer_->state(), State::Refused) << "what both have seen must be the same";

  pair(Payloads::Encrypted, Payloads::Authenticated);
  hello = take(*dialer_);
  EXPECT_EQ(std::search(hello.begin(), hello.end(), raw.begin(), raw.end()), hello.end()) << "it was offered";
}

}  // namespace
}  // namespace kvpool::secure
