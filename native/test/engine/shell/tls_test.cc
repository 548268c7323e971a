// SPDX-License-Identifier: Apache-2.0
// Transfer engines with certificates.
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "certificate_authority.h"
#include "engine/shell/engine_fixture.h"
#include "engine/shell/hostile_dialer.h"
#include "net/clock.h"
#include "pool/wiretap.h"
#include "temporary_directory.h"

// Memory stands before the engines in each test, as it outlives them.

namespace kvpool::test {
namespace {

constexpr const char* kMarker = "the quick brown fox jumps over the lazy dog";

/// Bytes in which somebody on the way would find kMarker.
Buffer marked(size_t size) {
  const std::string text = kMarker;
  Buffer buffer(size);
  for (size_t i = 0; i < size; ++i)
    buffer[i] = static_cast<uint8_t>(text[i % text.size()]);
  return buffer;
}

bool until(const std::function<bool()>& done) {
  for (const int64_t end = net::steadyMs() + 30'000; net::steadyMs() < end && !done();)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return done();
}

class EngineTls : public testing::Test {
 protected:
  /// A new directory with the certificate of this member.
  std::string directory(const CertificateAuthority& authority, const std::string& path, long lifeSeconds = 3600) {
    std::string name = files_.path() + "/" + std::to_string(++directories_);
    write(authority, path, lifeSeconds, name);
    return name;
  }
  static void write(const CertificateAuthority& authority, const std::string& path, long lifeSeconds,
                    const std::string& name) {
    CertificateAuthority::Wish wish{{named(path)}};
    wish.endsInSeconds = lifeSeconds;
    CertificateAuthority::write(authority.issue(wish), name);
  }
  std::string directory(const std::string& path) { return directory(authority_, path); }

  /// Empty: without a certificate.
  static kv_engine_params with(const std::string& directory, uint32_t payloads = KV_PAYLOADS_DEFAULT) {
    kv_engine_params params{};
    params.tls_dir = directory.c_str();
    params.payloads = payloads;
    return params;
  }
  static std::string refusalOf(kv_engine_params params) {
    params.struct_size = sizeof params;
    params.listen_host = "127.0.0.1";
    char err[1024] = "";
    kv_engine* made = nullptr;
    EXPECT_EQ(kv_engine_create(&params, &made, err, sizeof err), KV_INVALID_ARGUMENT) << err;
    EXPECT_EQ(made, nullptr);
    kv_engine_destroy(made);
    return err;
  }
  static int32_t probe(TestEngine& from, const TestEngine& to) {
    const std::string peer = to.address();
    std::vector<kv_transfer> line{{peer.c_str(), nullptr, 0, 0, KV_INTERNAL, 0}};
    from.run(KV_TRANSFER_PROBE, line);
    return line[0].status;
  }
  static void expectNothingHappened(const TestEngine& engine, const Buffer& memory) {
    EXPECT_EQ(memory, Buffer(memory.size()));
    EXPECT_EQ(engine.stats().served_writes + engine.stats().served_reads + engine.stats().notifies_received, 0U);
  }

  const TemporaryDirectory files_;
  int directories_ = 0;
  const CertificateAuthority authority_;
  const std::string chat_ = directory("tenant/chat/rw/one");
  const std::string chatToo_ = directory("tenant/chat/rw/two");
};

TEST_F(EngineTls, BytesOfOneTenantGoAndComeAndAreNotSeenOnTheWay) {
  Buffer remote((5 << 20) + 7);
  const Buffer sent = marked(remote.size());
  Buffer got(remote.size());
  for (const uint32_t payloads : {uint32_t{KV_PAYLOADS_DEFAULT}, uint32_t{KV_PAYLOADS_AUTHENTICATED}}) {
    TestEngine here(with(chat_, payloads));
    TestEngine there(with(chatToo_, payloads));
    ASSERT_EQ(there.add(remote), KV_OK);
    const Wiretap tap(static_cast<uint16_t>(there.port()));
    const std::string peer = std::string(Wiretap::kHost) + ":" + std::to_string(there.port());
    Buffer local = sent;
    std::vector<kv_transfer> lines{
        {peer.c_str(), local.data(), TestEngine::addressOf(remote), local.size(), KV_INTERNAL, 0}};
    here.run(KV_TRANSFER_WRITE, lines, 30000, "a notification");
    ASSERT_EQ(lines[0].status, KV_OK) << here.explain();
    EXPECT_EQ(remote, sent);
    got.assign(got.size(), 0);
    ASSERT_EQ(here.read(peer, got, TestEngine::addressOf(remote)), KV_OK) << here.explain();
    EXPECT_EQ(got, sent);
    EXPECT_EQ(there.stats().notifies_received, 1U);
    EXPECT_GT(tap.seenBytes(), 2 * sent.size());
    const bool bare = payloads == KV_PAYLOADS_AUTHENTICATED;
    EXPECT_EQ(tap.saw(kMarker), bare) << payloads;
    EXPECT_EQ(tap.saw("a notification"), bare) << payloads;
    remote.assign(remote.size(), 0);
  }
}

TEST_F(EngineTls, WhatIsProvenByCertificatesGoesFromMemoryToMemoryOnOneMachine) {
  Buffer remote((5 << 20) + 7);
  for (const uint32_t payloads : {uint32_t{KV_PAYLOADS_DEFAULT}, uint32_t{KV_PAYLOADS_AUTHENTICATED}}) {
    TestEngine here(with(chat_, payloads));
    TestEngine there(with(chatToo_, payloads));
    ASSERT_EQ(there.add(remote), KV_OK);
    Buffer sent = marked(remote.size());
    Buffer got(remote.size());
    ASSERT_EQ(here.write(there.address(), sent, TestEngine::addressOf(remote)), KV_OK) << here.explain();
    EXPECT_EQ(remote, sent);
    ASSERT_EQ(here.read(there.address(), got, TestEngine::addressOf(remote)), KV_OK) << here.explain();
    EXPECT_EQ(got, sent);
    EXPECT_EQ(here.stats().same_machine_bytes, 2 * sent.size());
    remote.assign(remote.size(), 0);
  }
}

TEST_F(EngineTls, OneSideAloneMakesNoConnectionBare) {
  Buffer remote(1 << 16);
  for (const bool dialer : {false, true}) {
    TestEngine here(with(chat_, dialer ? KV_PAYLOADS_AUTHENTICATED : KV_PAYLOADS_ENCRYPTED));
    TestEngine there(with(chatToo_, dialer ? KV_PAYLOADS_ENCRYPTED : KV_PAYLOADS_AUTHENTICATED));
    ASSERT_EQ(there.add(remote), KV_OK);
    const Wiretap tap(static_cast<uint16_t>(there.port()));
    const std::string peer = std::string(Wiretap::kHost) + ":" + std::to_string(there.port());
    Buffer local = marked(remote.size());
    ASSERT_EQ(here.write(peer, local, TestEngine::addressOf(remote)), KV_OK) << here.explain();
    EXPECT_EQ(remote, local);
    EXPECT_FALSE(tap.saw(kMarker));
  }
}

TEST_F(EngineTls, AnotherTenantReachesNothing) {
  Buffer memory(4096);
  Buffer local = pattern(4096, 1);
  const std::string search = directory("tenant/search/rw/one");
  TestEngine theirs(with(search));
  TestEngine ours(with(chat_));
  ASSERT_EQ(ours.add(memory), KV_OK);
  for (const int32_t op : {KV_TRANSFER_WRITE, KV_TRANSFER_READ, KV_TRANSFER_CONNECT}) {
    EXPECT_EQ(theirs.one(op, ours.address(), local, TestEngine::addressOf(memory)), KV_NOT_PERMITTED);
  }
  EXPECT_NE(theirs.explain().find("tenant/chat/rw/one is of tenant chat and tenant/search/rw/one of tenant search"),
            std::string::npos)
      << theirs.explain();
  EXPECT_EQ(probe(theirs, ours), KV_NOT_PERMITTED);
  kv_region region{};
  uint32_t count = 7;
  EXPECT_EQ(kv_engine_describe(theirs.get(), ours.address().c_str(), &region, 1, &count, 0), KV_NOT_PERMITTED);
  EXPECT_EQ(count, 7U);
  EXPECT_EQ(local, pattern(4096, 1));
  expectNothingHappened(ours, memory);
}

/// The listener itself looks at who dials, whatever that one thinks of it.
TEST_F(EngineTls, ACertificateForReadingDoesNotWrite) {
  Buffer memory = pattern(4096, 2);
  Buffer local(4096);
  const std::string readers = directory("tenant/chat/ro/viewer");
  TestEngine reader(with(readers));
  TestEngine ours(with(chat_));
  ASSERT_EQ(ours.add(memory), KV_OK);
  EXPECT_EQ(reader.read(ours.address(), local, TestEngine::addressOf(memory)), KV_OK) << reader.explain();
  EXPECT_EQ(local, memory);
  local.assign(local.size(), 0);
  EXPECT_EQ(reader.write(ours.address(), local, TestEngine::addressOf(memory)), KV_NOT_PERMITTED);
  EXPECT_NE(reader.explain().find("tenant/chat/ro/viewer may read and not write"), std::string::npos)
      << reader.explain();
  EXPECT_EQ(memory, pattern(4096, 2));
}

TEST_F(EngineTls, StrangersReachNothing) {
  Buffer memory(4096);
  Buffer local(4096);
  const CertificateAuthority stranger("another root");
  const std::string foreign = directory(stranger, "tenant/chat/rw/one", 3600);
  // It takes the certificate of the engine that it dials, which does not take its own.
  const std::string trusting = directory(stranger, "tenant/chat/rw/one", 3600);
  std::ofstream(trusting + "/ca.crt") << authority_.roots() << stranger.roots();
  const std::string otherPool = files_.path() + "/other-pool";
  CertificateAuthority::write(
      authority_.issue(CertificateAuthority::Wish{{std::string("spiffe://") + kOtherPool + "/tenant/chat/rw/one"}}),
      otherPool);
  const std::vector<std::pair<std::string, std::string>> strangers{
      {foreign, "its certificate"}, {otherPool, "is the address right?"}, {trusting, "does not take our certificate"}};
  for (const auto& [certificate, why] : strangers) {
    TestEngine ours(with(chat_));
    ASSERT_EQ(ours.add(memory), KV_OK);
    TestEngine theirs(with(certificate));
    testing::internal::CaptureStderr();
    EXPECT_EQ(theirs.write(ours.address(), local, TestEngine::addressOf(memory)), KV_CONNECT_FAILED);
    EXPECT_NE(theirs.explain().find(why), std::string::npos) << theirs.explain();
    EXPECT_EQ(ours.stats().clients_connected, 0U);
    expectNothingHappened(ours, memory);
    EXPECT_TRUE(until([&] { return ours.stats().peers_refused == 1; }));  // perhaps after the other side has its answer
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("refused transfer engine 127.0.0.1"), std::string::npos) << why << ": " << log;
  }
}

TEST_F(EngineTls, PlainAndSecuredEnginesTellEachOtherWhatIsMissing) {
  Buffer memory(4096);
  Buffer local(4096);
  TestEngine plain;
  TestEngine secured(with(chat_));
  ASSERT_EQ(plain.add(memory), KV_OK);
  testing::internal::CaptureStderr();
  EXPECT_EQ(plain.write(secured.address(), local, TestEngine::addressOf(memory)), KV_PROTOCOL);
  EXPECT_NE(
      plain.explain().find("TLS is required here; give this side a certificate (KVPOOL_IDENTITY_DIR, KVPOOL_TLS_DIR"),
      std::string::npos)
      << plain.explain();
  EXPECT_TRUE(until([&] { return secured.stats().peers_refused == 1; }));
  std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("does not speak TLS, which is required here"), std::string::npos) << log;

  testing::internal::CaptureStderr();
  EXPECT_EQ(secured.write(plain.address(), local, TestEngine::addressOf(memory)), KV_CONNECT_FAILED);
  EXPECT_NE(
      secured.explain().find("does not speak TLS, or has it off; both ends need a certificate (KVPOOL_IDENTITY_DIR"),
      std::string::npos)
      << secured.explain();
  EXPECT_TRUE(until([&] { return plain.stats().protocol_errors == 1; }));
  log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("TLS where it is off; give this side a certificate (KVPOOL_IDENTITY_DIR"), std::string::npos)
      << log;
  expectNothingHappened(plain, memory);
}

TEST_F(EngineTls, WhoSaysNothingIsClosedAndOthersAreServed) {
  Buffer memory(4096);
  Buffer local = pattern(4096, 3);
  TestEngine here(with(chat_));
  TestEngine there(with(chatToo_));
  ASSERT_EQ(there.add(memory), KV_OK);
  Peer silent = dial(there);
  EXPECT_EQ(here.write(there.address(), local, TestEngine::addressOf(memory)), KV_OK) << here.explain();
  EXPECT_EQ(there.stats().clients_connected, 1U) << "the silent one is no client yet";
  EXPECT_TRUE(silent.closedByOther());
  EXPECT_EQ(memory, local);
}

/// More than may be in the middle of a handshake at a time: each gives its place back, whether it is let in or not.
TEST_F(EngineTls, HandshakesThatAreOverDoNotKeepOthersOut) {
  constexpr uint64_t kStrangers = 300;
  constexpr int kMembers = 140;
  Buffer memory(4096);
  Buffer local = pattern(4096, 3);
  TestEngine there(with(chatToo_));
  ASSERT_EQ(there.add(memory), KV_OK);
  for (uint64_t i = 0; i < kStrangers; ++i)
    Peer stranger = dial(there);
  EXPECT_TRUE(until([&] { return there.stats().peers_refused == kStrangers; }));
  for (int i = 0; i < kMembers; ++i) {
    TestEngine here(with(chat_));
    ASSERT_EQ(here.write(there.address(), local, TestEngine::addressOf(memory)), KV_OK) << i << ": " << here.explain();
  }
  EXPECT_EQ(there.stats().peers_refused, kStrangers);
}

TEST_F(EngineTls, AnEngineIsThatOfAClient) {
  const std::string node = directory("node/a");
  kv_engine_params params{};
  params.tls_dir = node.c_str();
  params.struct_size = sizeof params;
  params.listen_host = "127.0.0.1";
  char err[1024] = "";
  kv_engine* made = nullptr;
  EXPECT_EQ(kv_engine_create(&params, &made, err, sizeof err), KV_NOT_PERMITTED);
  EXPECT_NE(std::string(err).find("node/a has no transfer engine"), std::string::npos) << err;
}

TEST_F(EngineTls, CertificatesAreAskedForClearly) {
  const std::string none = files_.path() + "/none";
  kv_engine_params params = with(none);
  params.struct_size = sizeof params;
  char err[1024] = "";
  kv_engine* made = nullptr;
  EXPECT_EQ(kv_engine_create(&params, &made, err, sizeof err), KV_IO);
  EXPECT_NE(std::string(err).find(none + "/tls.crt"), std::string::npos) << err;
  const std::string nowhere;
  EXPECT_NE(refusalOf(with(nowhere, KV_PAYLOADS_AUTHENTICATED)).find("without TLS"), std::string::npos);
}

// ---- certificates that end ----

TEST_F(EngineTls, AConnectionEndsWithTheCertificateAndNoneIsMadeAfterIt) {
  Buffer memory(4096);
  Buffer local = pattern(4096, 4);
  const std::string brief = directory(authority_, "tenant/chat/rw/brief", 3);
  TestEngine here(with(brief));
  TestEngine there(with(chat_));
  ASSERT_EQ(there.add(memory), KV_OK);
  ASSERT_EQ(here.write(there.address(), local, TestEngine::addressOf(memory)), KV_OK) << here.explain();
  EXPECT_TRUE(until([&] {
    return there.stats().clients_connected == 0 &&
           here.write(there.address(), local, TestEngine::addressOf(memory)) == KV_CONNECT_FAILED;
  }));
  EXPECT_NE(here.explain().find("it has expired"), std::string::npos) << here.explain();
}

TEST_F(EngineTls, WhoGetsTheCertificateOfAnotherTenantIsThatOneFromThenOn) {
  Buffer memory(4096);
  Buffer local = pattern(4096, 6);
  const std::string changing = directory(authority_, "tenant/chat/rw/changing", 10);  // looked at twice a second
  const std::string search = directory("tenant/search/rw/one");
  TestEngine here(with(changing));
  TestEngine there(with(chat_));
  TestEngine later(with(search));
  ASSERT_EQ(there.add(memory), KV_OK);
  ASSERT_EQ(here.write(there.address(), local, TestEngine::addressOf(memory)), KV_OK) << here.explain();
  EXPECT_EQ(probe(here, later), KV_NOT_PERMITTED);
  write(authority_, "tenant/search/rw/changing", 3600, changing);
  EXPECT_TRUE(until([&] { return there.stats().clients_connected == 0; }));
  EXPECT_EQ(here.write(there.address(), local, TestEngine::addressOf(memory)), KV_NOT_PERMITTED) << here.explain();
  EXPECT_EQ(probe(here, later), KV_OK) << here.explain();
}

/// There is always a transfer under way, so that a connection which is cut would be noticed.
TEST_F(EngineTls, ANewCertificateTakesOverWithoutAFailedTransfer) {
  constexpr size_t kBytes = 1 << 20;
  Buffer memory(2 * kBytes);
  Buffer local = pattern(2 * kBytes, 5);
  const std::string brief = directory(authority_, "tenant/chat/rw/brief", 4);
  const int64_t endMs = net::steadyMs() + 4'000;
  TestEngine here(with(brief));
  TestEngine there(with(chat_));
  ASSERT_EQ(there.add(memory), KV_OK);
  const std::string peer = there.address();
  std::vector<kv_transfer> lines[2];
  uint64_t batches[2] = {};
  const auto begin = [&](size_t which) {
    lines[which].assign(1, kv_transfer{peer.c_str(), local.data() + which * kBytes,
                                       TestEngine::addressOf(memory) + which * kBytes, kBytes, KV_INTERNAL, 0});
    ASSERT_EQ(kv_engine_submit(here.get(), KV_TRANSFER_WRITE, lines[which].data(), 1, nullptr, &batches[which]), KV_OK);
  };
  begin(0);
  write(authority_, "tenant/chat/rw/brief", 3600, brief);
  size_t oldest = 0;
  while (net::steadyMs() < endMs + 1'500) {  // until the first certificate has ended for sure
    begin(1 - oldest);
    ASSERT_EQ(kv_engine_wait(here.get(), batches[oldest], 30000), KV_OK);
    ASSERT_EQ(lines[oldest][0].status, KV_OK) << here.explain();
    oldest = 1 - oldest;
  }
  ASSERT_EQ(kv_engine_wait(here.get(), batches[oldest], 30000), KV_OK);
  EXPECT_EQ(here.stats().retries, 0U) << "no transfer was interrupted: " << here.explain();
  EXPECT_EQ(here.stats().failed_lines, 0U);
  EXPECT_EQ(memory, local);
}

}  // namespace
}  // namespace kvpool::test
