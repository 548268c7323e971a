// SPDX-License-Identifier: Apache-2.0
// A whole pool with TLS on every TCP connection, through the C functions.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "certificate_authority.h"
#include "net/clock.h"
#include "pool/pool.h"
#include "pool/wiretap.h"

namespace kvpool::test {
namespace {

class TlsPoolTest : public testing::Test {
 protected:
  /// The certificate of a member as a directory.
  std::string directory(const std::string& path) const {
    std::string name = path;
    for (char& c : name)
      if (c == '/') c = '-';
    CertificateAuthority::Wish wish{{test::named(path)}};
    wish.endsInSeconds = lifeSeconds_;
    CertificateAuthority::write(authority_.issue(wish), files_.path() + "/" + name);
    return files_.path() + "/" + name;
  }

  int32_t start(const std::string& certificate, uint32_t mode, NodeHandle* node, std::string* why, uint32_t flags = 0,
                const char* id = "a") {
    kv_node_params params{};
    params.struct_size = sizeof params;
    params.pool_id = kPoolText;
    params.node_id = id;
    params.flags = flags;
    const std::string masters = masterAddress();
    params.masters = masters.c_str();
    params.listen_host = kIpv4;
    params.advertise_host = advertises_;
    const std::string data = data_.path() + "/" + id;
    std::filesystem::create_directory(data);
    if (flags == 0) params.data_dir = data.c_str();
    params.segment_bytes = 32 << 20;
    params.protocols = KV_PROTOCOL_TCP;
    const std::string tls = certificate.empty() ? "" : directory(certificate);
    params.tls_dir = tls.c_str();
    params.tls_mode = mode;
    params.payloads = payloads_;
    char err[1024] = "";
    kv_node* started = nullptr;
    const int32_t status = kv_node_start(&params, &started, err, sizeof err);
    node->reset(started);
    *why = err;
    return status;
  }

  [[nodiscard]] std::string masterAddress() const { return other_ == nullptr ? master_.address() : other_->address(); }

  ClientHandle client(const std::string& certificate, uint32_t readyTimeoutMs = 5000, std::string* why = nullptr) {
    kv_client_params params{};
    params.struct_size = sizeof params;
    params.protocols = KV_PROTOCOL_TCP;
    const std::string masters = masterAddress();
    params.masters = masters.c_str();
    params.ready_timeout_ms = readyTimeoutMs;
    const std::string tls = certificate.empty() ? "" : directory(certificate);
    params.tls_dir = tls.c_str();
    params.payloads = clientsPayloads_;
    char err[2048] = "";
    kv_client* made = nullptr;
    const int32_t status = kv_client_create(&params, &made, err, sizeof err);
    EXPECT_EQ(status == KV_OK, made != nullptr);
    if (why != nullptr) *why = err;
    return ClientHandle(made);
  }

  /// A value that comes in parts keeps the client from giving its connection to the node up by itself.
  static void beginPutInParts(kv_client* client) {
    std::vector<kv_op> open{line("open", nullptr, 1000)};
    kv_object_id object{};
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.objects = &object;
    run(client, KV_OP_PUT_START, open, &options);
    EXPECT_EQ(open[0].status, KV_OK) << explain(client);
  }

  /// One line that is expected to fail, and is tried again until its time is over.
  static int32_t soon(kv_client* client, int32_t op, const std::string& key) {
    std::string value(8, 'v');
    std::vector<kv_op> table{line(key, value.data(), value.size())};
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.timeout_ms = 1500;
    run(client, op, table, &options);
    return table[0].status;
  }

  static constexpr uint64_t kObjects = 8;

  void putToNodeAndToOneWithTlsOff(uint32_t mode, NodeHandle* node, NodeHandle* off) {
    std::string why;
    ASSERT_EQ(start("node/a", mode, node, &why), KV_OK) << why;
    ASSERT_TRUE(master_.awaitNodes(1));
    master_.in([](MasterServer& server) { server.secure({}); });
    ASSERT_EQ(start("", KV_TLS_OFF, off, &why, 0, "b"), KV_OK) << why;
    ASSERT_TRUE(master_.awaitNodes(2));
    const ClientHandle plain = client("", 5000, &why);
    ASSERT_TRUE(plain) << why;
    for (uint64_t i = 0; i < kObjects; ++i)
      ASSERT_EQ(put(plain.get(), "k" + std::to_string(i), pattern(1, 5000)), KV_OK) << explain(plain.get());
  }

  const TemporaryDirectory files_;
  const TemporaryDirectory data_;
  const CertificateAuthority authority_;
  long lifeSeconds_ = 3600;  // of certificates that are issued from now on
  const char* advertises_ = kIpv4;
  uint32_t payloads_ = KV_PAYLOADS_DEFAULT;
  uint32_t clientsPayloads_ = KV_PAYLOADS_DEFAULT;
  const TestMaster* other_ = nullptr;  // that is to be used instead of the next
  TestMaster master_{{}, 0, kIpv4, authority_.credentials("master/m")};
};

TEST_F(TlsPoolTest, ValuesGoAndComeAndRolesAreKept) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_DEFAULT, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const ClientHandle writer = client("tenant/default/rw/engine");
  ASSERT_TRUE(writer) << "no client";
  const std::string large = pattern(1, (5 << 20) + 7);
  ASSERT_EQ(put(writer.get(), "large", large), KV_OK) << explain(writer.get());
  ASSERT_EQ(put(writer.get(), "small", "x"), KV_OK);
  EXPECT_EQ(get(writer.get(), "large", large.size()).value, large);

  const ClientHandle reader = client("tenant/default/ro/viewer");
  ASSERT_TRUE(reader);
  EXPECT_EQ(get(reader.get(), "small").value, "x");
  EXPECT_EQ(put(reader.get(), "forbidden", "y"), KV_NOT_PERMITTED) << explain(reader.get());

  // The master of the tests does not look at roles; the node does.
  const ClientHandle monitor = client("monitor");
  ASSERT_TRUE(monitor);
  EXPECT_NE(soon(monitor.get(), KV_OP_GET, "small"), KV_OK);
  EXPECT_NE(explain(monitor.get()).find("monitor may not read from storage nodes"), std::string::npos)
      << explain(monitor.get());

  const kv_node_stats stats = statsOf(node.get());
  EXPECT_GE(stats.tls_handshakes, 4u) << "one to the master, three of clients";
  EXPECT_EQ(stats.tls_handshake_failures, 0u);
  EXPECT_GE(stats.auth_refusals, 2u);
  EXPECT_GT(stats.tls_not_after_ms, 1'700'000'000'000u);
}

TEST_F(TlsPoolTest, TenantsHaveTheirOwnObjectsUnderTheSameKeys) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const std::vector<std::string> names = {"default", "a", "ab", "b"};
  constexpr size_t kKeys = 20;
  std::vector<ClientHandle> clients;
  for (const std::string& name : names) {
    clients.push_back(client("tenant/" + name + "/rw/engine"));
    ASSERT_TRUE(clients.back()) << name;
  }
  const auto keyOf = [](size_t key) { return "key-" + std::to_string(key); };
  const auto valueOf = [](size_t tenant, size_t key) { return pattern(100 * tenant + key, 1000 * key + tenant + 1); };
  for (size_t tenant = 0; tenant < names.size(); ++tenant) {
    for (size_t key = 0; key < kKeys; ++key) {
      EXPECT_EQ(get(clients[tenant].get(), keyOf(key)).status, KV_NOT_FOUND) << names[tenant] << " before its put";
      ASSERT_EQ(put(clients[tenant].get(), keyOf(key), valueOf(tenant, key)), KV_OK) << explain(clients[tenant].get());
    }
  }
  EXPECT_EQ(remove(clients[1].get(), keyOf(0), true), KV_OK);
  uint64_t removed = 0;
  ASSERT_EQ(kv_client_remove_all(clients[3].get(), 1, 5000, &removed), KV_OK);
  EXPECT_EQ(removed, kKeys);
  for (size_t tenant = 0; tenant < names.size(); ++tenant) {
    for (size_t key = 0; key < kKeys; ++key) {
      const std::string value = valueOf(tenant, key);
      const Got found = get(clients[tenant].get(), keyOf(key), value.size());
      const bool gone = tenant == 3 || (tenant == 1 && key == 0);
      EXPECT_EQ(found.status, gone ? KV_NOT_FOUND : KV_OK) << names[tenant] << " " << key;
      EXPECT_EQ(found.value, gone ? "" : value) << names[tenant] << " " << key;
    }
  }
}

TEST_F(TlsPoolTest, WhoHasNoCertificateIsRefusedAndHearsWhy) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const CertificateAuthority other("another root");
  CertificateAuthority::write(other.issue("tenant/default/rw/engine"), files_.path() + "/other");
  EXPECT_FALSE(client("", 500, &why));

  // Whom the master lets in without TLS comes to the node without it, and hears why not.
  master_.in([](MasterServer& server) { server.secure({}); });
  const ClientHandle plain = client("", 5000, &why);
  ASSERT_TRUE(plain) << why;
  EXPECT_NE(soon(plain.get(), KV_OP_PUT, "k"), KV_OK);
  EXPECT_NE(explain(plain.get()).find("TLS is required here"), std::string::npos) << explain(plain.get());
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).tls_plain_refusals > 0; }));
}

TEST_F(TlsPoolTest, APermissiveNodeServesBoth) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_PERMISSIVE, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const ClientHandle secured = client("tenant/default/rw/engine");
  ASSERT_TRUE(secured);
  ASSERT_EQ(put(secured.get(), "k", "v"), KV_OK) << explain(secured.get());
  master_.in([](MasterServer& server) { server.secure({}); });
  const ClientHandle plain = client("", 5000, &why);
  ASSERT_TRUE(plain) << why;
  EXPECT_EQ(get(plain.get(), "k").value, "v") << explain(plain.get());
}

TEST_F(TlsPoolTest, APermissiveNodeCopiesFromOneThatHasTlsOff) {
  NodeHandle permissive;
  NodeHandle off;
  putToNodeAndToOneWithTlsOff(KV_TLS_PERMISSIVE, &permissive, &off);
  testing::internal::CaptureStderr();
  master_.in([](MasterServer& server) { server.model().spreadAll(); });
  EXPECT_TRUE(eventually([&] { return statsOf(permissive.get()).objects == kObjects; }));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find(" has TLS off: copies from it are neither encrypted nor authenticated"), std::string::npos) << log;
  EXPECT_TRUE(eventually([&] { return statsOf(off.get()).objects == kObjects; }));
}

TEST_F(TlsPoolTest, ANodeThatRequiresTlsDoesNotCopyFromOneThatHasItOff) {
  NodeHandle required;
  NodeHandle off;
  putToNodeAndToOneWithTlsOff(KV_TLS_REQUIRED, &required, &off);
  ASSERT_TRUE(eventually([&] { return statsOf(off.get()).objects == kObjects; })) << "plain writers get no further";
  const kv_node_stats before = statsOf(required.get());
  master_.in([](MasterServer& server) { server.model().spreadAll(); });
  EXPECT_TRUE(eventually(
      [&] { return statsOf(required.get()).tls_handshake_failures >= before.tls_handshake_failures + kObjects; }));
  EXPECT_EQ(statsOf(required.get()).objects, 0U);
  EXPECT_EQ(statsOf(required.get()).tls_plain_refusals, before.tls_plain_refusals) << "it was not dialled";
}

TEST_F(TlsPoolTest, AnEngineIsTakenForTheMemoryThatItLendsAndForNoStorageNode) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("tenant/default/rw/lender", KV_TLS_REQUIRED, &node, &why, KV_NODE_TRANSIENT), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const ClientHandle lent = client("tenant/default/rw/engine");
  ASSERT_TRUE(lent);
  ASSERT_EQ(put(lent.get(), "k", "v"), KV_OK) << explain(lent.get());

  // As if it had the address of a storage node of the pool.
  master_.in([](MasterServer& server) { server.model().callAllLasting(); });
  const ClientHandle deceived = client("tenant/default/rw/engine");
  ASSERT_TRUE(deceived);
  EXPECT_NE(soon(deceived.get(), KV_OP_GET, "k"), KV_OK);
  EXPECT_NE(explain(deceived.get()).find("it is tenant/default/rw/lender by its certificate, where node/a is expected"),
            std::string::npos)
      << explain(deceived.get());
}

TEST_F(TlsPoolTest, ACertificateThatIsAnothersIsNamedAtTheStart) {
  NodeHandle node;
  std::string why;
  EXPECT_EQ(start("node/b", KV_TLS_REQUIRED, &node, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("is of node/b of pool"), std::string::npos) << why;
  EXPECT_EQ(start("", KV_TLS_REQUIRED, &node, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("tls_mode needs a certificate"), std::string::npos) << why;
  EXPECT_EQ(start("node/a", 9, &node, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("none of KV_TLS_*"), std::string::npos) << why;
  payloads_ = 9;
  EXPECT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("none of KV_PAYLOADS_*"), std::string::npos) << why;
  for (payloads_ = KV_PAYLOADS_ENCRYPTED; payloads_ <= KV_PAYLOADS_AUTHENTICATED; ++payloads_) {
    EXPECT_EQ(start("", KV_TLS_OFF, &node, &why), KV_INVALID_ARGUMENT);
    EXPECT_NE(why.find("neither encrypted nor authenticated without TLS"), std::string::npos) << why;
  }
}

TEST_F(TlsPoolTest, ValuesAreBareOnTheWireWhereNodeAndClientTakeThat) {
  for (uint32_t nodes = KV_PAYLOADS_DEFAULT; nodes <= KV_PAYLOADS_AUTHENTICATED; ++nodes) {
    for (uint32_t clients = KV_PAYLOADS_DEFAULT; clients <= KV_PAYLOADS_AUTHENTICATED; ++clients) {
      SCOPED_TRACE("node " + std::to_string(nodes) + ", client " + std::to_string(clients));
      const bool bare = nodes == KV_PAYLOADS_AUTHENTICATED && clients != KV_PAYLOADS_ENCRYPTED;
      payloads_ = nodes;
      clientsPayloads_ = clients;
      advertises_ = Wiretap::kHost;
      NodeHandle node;
      std::string why;
      ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
      const Wiretap wiretap(static_cast<uint16_t>(statsOf(node.get()).listen_port));
      ASSERT_TRUE(master_.awaitNodes(1));
      const ClientHandle client = this->client("tenant/default/rw/engine");
      ASSERT_TRUE(client);
      const std::string key = "key-" + std::to_string(nodes) + std::to_string(clients);
      const std::string value = pattern(nodes * 10 + clients, (2 << 20) + 7);
      ASSERT_EQ(put(client.get(), key, value), KV_OK) << explain(client.get());
      ASSERT_EQ(get(client.get(), key, value.size()).value, value);
      EXPECT_GT(wiretap.seenBytes(), 2 * value.size()) << "it went another way";
      EXPECT_EQ(wiretap.saw(value.substr(1'000'000, 40)), bare);
      EXPECT_EQ(wiretap.saw(key), bare);

      // Rights and names are what they are with TLS.
      const ClientHandle reader = this->client("tenant/default/ro/viewer");
      ASSERT_TRUE(reader);
      EXPECT_EQ(get(reader.get(), key, value.size()).value, value);
      EXPECT_EQ(put(reader.get(), "forbidden", "y"), KV_NOT_PERMITTED) << explain(reader.get());
      EXPECT_GE(statsOf(node.get()).tls_handshakes, 3u);
      ASSERT_EQ(remove(client.get(), key, true), KV_OK);
    }
  }
}

TEST_F(TlsPoolTest, WhereValuesAreBareAStrangerIsRefusedToo) {
  payloads_ = KV_PAYLOADS_AUTHENTICATED;
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const ClientHandle trusted = client("tenant/default/rw/engine");
  ASSERT_TRUE(trusted);
  ASSERT_EQ(put(trusted.get(), "k", "v"), KV_OK) << explain(trusted.get());
  master_.in([](MasterServer& server) { server.secure({}); });
  const ClientHandle stranger = client("");
  ASSERT_TRUE(stranger);
  EXPECT_NE(soon(stranger.get(), KV_OP_GET, "k"), KV_OK);
  EXPECT_NE(explain(stranger.get()).find("TLS is required here"), std::string::npos) << explain(stranger.get());
}

TEST_F(TlsPoolTest, AConnectionThatIsBareEndsWithTheCertificateOfItsPeer) {
  payloads_ = KV_PAYLOADS_AUTHENTICATED;
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  lifeSeconds_ = 2;
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);
  beginPutInParts(client.get());
  EXPECT_EQ(statsOf(node.get()).clients_connected, 1u);
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).clients_connected == 0; })) << "it stays open";
}

TEST_F(TlsPoolTest, AClientThatMeetsAnotherPoolsMasterSaysSo) {
  const CertificateAuthority::Wish stranger{{std::string("spiffe://") + kOtherPool + "/tenant/default/rw/engine"}};
  CertificateAuthority::write(authority_.issue(stranger), files_.path() + "/tenant-default-rw-stranger");
  kv_client_params params{};
  params.struct_size = sizeof params;
  const std::string masters = master_.address();
  params.masters = masters.c_str();
  params.ready_timeout_ms = 1000;
  const std::string tls = files_.path() + "/tenant-default-rw-stranger";
  params.tls_dir = tls.c_str();
  char err[2048] = "";
  kv_client* made = nullptr;
  EXPECT_NE(kv_client_create(&params, &made, err, sizeof err), KV_OK);
  EXPECT_NE(std::string(err).find("is the address right?"), std::string::npos) << err;
  kv_client_destroy(made);
}

// ---- the end of certificates ----

TEST_F(TlsPoolTest, AConnectionEndsWithTheCertificateOfItsPeer) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  lifeSeconds_ = 2;
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);
  ASSERT_EQ(put(client.get(), "k", "v"), KV_OK) << explain(client.get());
  beginPutInParts(client.get());
  EXPECT_EQ(statsOf(node.get()).clients_connected, 1u);
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).clients_connected == 0; })) << "it stays open";
  EXPECT_NE(soon(client.get(), KV_OP_PUT, "later"), KV_OK) << "by a certificate that has ended";
  EXPECT_EQ(soon(this->client("tenant/default/rw/other").get(), KV_OP_EXISTS, "k"), KV_OK)
      << "others are not concerned";
}

/// Two ends of the node's certificate and of the master's go by.
TEST_F(TlsPoolTest, AConnectionToAMasterStaysBeyondTheCertificatesByWhichItWasOpened) {
  constexpr int64_t kLifeSeconds = 4;
  const auto masters = [this] {
    CertificateAuthority::Wish wish{{test::named("master/m")}};
    wish.endsInSeconds = kLifeSeconds;
    return authority_.credentials(wish);
  };
  TestMaster brief({}, 0, kIpv4, masters());
  other_ = &brief;
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);
  lifeSeconds_ = kLifeSeconds;
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(brief.awaitNodes(1));
  ASSERT_EQ(put(client.get(), "k", "v"), KV_OK) << explain(client.get());
  const int64_t from = net::steadyMs();
  for (int64_t half = 1; half <= 6; ++half) {
    std::this_thread::sleep_for(std::chrono::milliseconds(from + half * kLifeSeconds * 500 - net::steadyMs()));
    EXPECT_EQ(statsOf(node.get()).masters_connected, 1u);
    EXPECT_EQ(get(client.get(), "k").value, "v") << explain(client.get());
    directory("node/a");
    brief.in([&](MasterServer& master) { master.renew(masters()); });
  }
  EXPECT_EQ(statsOf(node.get()).masters_connected, 1u);
  int proven = 0;
  std::vector<std::string> problems;
  brief.in([&](MasterServer& master) {
    proven = master.proven();
    problems = master.problems();
    EXPECT_EQ(master.model().directories(), 1u) << "the directory came again";
  });
  EXPECT_GE(proven, 3);
  EXPECT_LE(proven, 6) << "one was proven twice";
  EXPECT_TRUE(problems.empty()) << problems.front();
}

TEST_F(TlsPoolTest, AConnectionToAMasterEndsWithTheCertificateOfTheMasterThatProvesNoOther) {
  CertificateAuthority::Wish wish{{test::named("master/m")}};
  wish.endsInSeconds = 3;
  TestMaster brief({}, 0, kIpv4, authority_.credentials(wish));
  other_ = &brief;
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(brief.awaitNodes(1));
  // That of another master is none for this connection, and a node does not take it.
  brief.in([&](MasterServer& master) { master.renew(authority_.credentials("master/other")); });
  std::vector<std::string> problems;
  EXPECT_TRUE(eventually([&] {
    uint64_t directories = 0;
    brief.in([&](MasterServer& master) {
      directories = master.model().directories();
      problems = master.problems();
    });
    return directories == 2;
  })) << "it stays open";
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("of master/other"), std::string::npos) << problems[0];
}

TEST_F(TlsPoolTest, CertificatesThatAreRenewedUnderLoadCostNoCall) {
  constexpr long kLifeSeconds = 4;
  constexpr int64_t kRenewals = 3;  // of the client and of the node
  lifeSeconds_ = kLifeSeconds;
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);

  std::atomic<bool> over = false;
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> load;
  for (uint64_t thread = 0; thread < 3; ++thread) {
    load.emplace_back([&, thread] {
      for (uint64_t i = 0; !over; ++i) {
        const std::string key = std::to_string(thread) + "/" + std::to_string(i);
        const std::string value = pattern(i, i % 8 == 0 ? 1 << 20 : 1000);
        const bool good = put(client.get(), key, value) == KV_OK &&
                          get(client.get(), key, value.size()).value == value &&
                          remove(client.get(), key, true) == KV_OK;
        calls += 3;
        if (good) continue;
        ++failures;
        ADD_FAILURE() << key << ": " << explain(client.get());
      }
    });
  }
  const int64_t from = net::steadyMs();
  for (int64_t i = 1; i <= 2 * kRenewals; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(from + i * kLifeSeconds * 500 - net::steadyMs()));
    directory("tenant/default/rw/engine");
    directory("node/a");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(kLifeSeconds * 500));
  over = true;
  for (std::thread& thread : load)
    thread.join();
  EXPECT_EQ(failures, 0) << "of " << calls;
  EXPECT_GT(calls, 100);
  EXPECT_EQ(statsOf(client.get()).leader_changes, 0u) << "the same leader by a newer connection is none";
  const kv_node_stats stats = statsOf(node.get());
  EXPECT_GE(stats.tls_handshakes, 1u + 1u + kRenewals) << "to the master, and of the client again and again";
  EXPECT_EQ(stats.tls_handshake_failures, 0u);
  printf("%d calls over %lld lives of certificates, %llu handshakes\n", calls.load(), static_cast<long long>(kRenewals),
         static_cast<unsigned long long>(stats.tls_handshakes));
}

// ---- strangers ----

/// A connection to the node from this address of the machine; invalid when there is none.
Fd dialFrom(const std::string& from, uint32_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  inet_pton(AF_INET, from.c_str(), &own.sin_addr);
  sockaddr_in node{};
  node.sin_family = AF_INET;
  node.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, kIpv4, &node.sin_addr);
  const timeval patience{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool connected = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
                         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&node), sizeof node) == 0;
  return connected ? std::move(socket) : Fd();
}

TEST_F(TlsPoolTest, OneAddressHasABoundOfHandshakesAndTakesNoPlaceOfOthers) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  std::vector<Fd> open;
  for (int i = 0; i < 40; ++i)
    open.push_back(dialFrom("127.0.0.9", statsOf(node.get()).listen_port));
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).tls_handshake_failures == 8; })) << "32 may be open";
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);
  EXPECT_EQ(put(client.get(), "k", "v"), KV_OK) << explain(client.get());
}

TEST_F(TlsPoolTest, AClientsCallsGoOnInAStormOfStrangers) {
  NodeHandle node;
  std::string why;
  ASSERT_EQ(start("node/a", KV_TLS_REQUIRED, &node, &why), KV_OK) << why;
  ASSERT_TRUE(master_.awaitNodes(1));
  const uint32_t port = statsOf(node.get()).listen_port;
  const ClientHandle client = this->client("tenant/default/rw/engine");
  ASSERT_TRUE(client);
  const std::string value = pattern(1, 100'000);
  ASSERT_EQ(put(client.get(), "before", value), KV_OK);

  // Each begins a handshake as good as any, for which the node has to sign.
  secure::Session stranger(CertificateAuthority("another root").credentials("tenant/default/rw/stranger"),
                           secure::Session::Side::Dialer, {});
  const std::vector<uint8_t> hello(stranger.outgoing().begin(), stranger.outgoing().end());
  std::atomic<bool> over = false;
  std::vector<std::thread> storm;
  for (int thread = 0; thread < 3; ++thread) {
    storm.emplace_back([&, thread] {
      std::vector<Fd> open;
      for (int i = 0; !over; ++i) {
        open.push_back(dialFrom("127.0.1." + std::to_string(1 + (thread * 60 + i % 60)), port));
        if (open.back().valid()) (void)::send(open.back().get(), hello.data(), hello.size(), MSG_NOSIGNAL);
        if (open.size() == 150) open.clear();
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return statsOf(node.get()).tls_handshake_failures > 500; })) << "no storm";
  for (int i = 0; i < 100; ++i) {
    const std::string key = "storm/" + std::to_string(i);
    ASSERT_EQ(put(client.get(), key, value), KV_OK) << explain(client.get());
    ASSERT_EQ(get(client.get(), key).value, value) << explain(client.get());
  }
  over = true;
  for (std::thread& thread : storm)
    thread.join();
  const kv_node_stats stats = statsOf(node.get());
  EXPECT_EQ(stats.clients_connected, 1u) << "the same connection as before";
  EXPECT_EQ(stats.protocol_errors, 0u);
  printf("%llu handshakes of strangers failed meanwhile\n",
         static_cast<unsigned long long>(stats.tls_handshake_failures));
}

}  // namespace
}  // namespace kvpool::test
