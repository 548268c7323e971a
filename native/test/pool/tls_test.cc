// SPDX-License-Identifier: Apache-2.0
// A whole pool with TLS on every TCP connection, through the C functions.
#include <gtest/gtest.h>

#include <string>

#include "certificate_authority.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

class TlsPoolTest : public testing::Test {
 protected:
  /// The certificate of a member as a directory.
  std::string directory(const std::string& path) const {
    std::string name = path;
    for (char& c : name)
      if (c == '/') c = '-';
    CertificateAuthority::write(authority_.issue(path), files_.path() + "/" + name);
    return files_.path() + "/" + name;
  }

  int32_t start(const std::string& certificate, uint32_t mode, NodeHandle* node, std::string* why, uint32_t flags = 0) {
    kv_node_params params{};
    params.struct_size = sizeof params;
    params.pool_id = kPoolText;
    params.node_id = "a";
    params.flags = flags;
    const std::string masters = master_.address();
    params.masters = masters.c_str();
    params.listen_host = kIpv4;
    params.advertise_host = kIpv4;
    if (flags == 0) params.data_dir = data_.path().c_str();
    params.segment_bytes = 32 << 20;
    params.protocols = KV_PROTOCOL_TCP;
    const std::string tls = certificate.empty() ? "" : directory(certificate);
    params.tls_dir = tls.c_str();
    params.tls_mode = mode;
    char err[1024] = "";
    kv_node* started = nullptr;
    const int32_t status = kv_node_start(&params, &started, err, sizeof err);
    node->reset(started);
    *why = err;
    return status;
  }

  ClientHandle client(const std::string& certificate, uint32_t readyTimeoutMs = 5000, std::string* why = nullptr) {
    kv_client_params params{};
    params.struct_size = sizeof params;
    params.protocols = KV_PROTOCOL_TCP;
    const std::string masters = master_.address();
    params.masters = masters.c_str();
    params.ready_timeout_ms = readyTimeoutMs;
    const std::string tls = certificate.empty() ? "" : directory(certificate);
    params.tls_dir = tls.c_str();
    char err[2048] = "";
    kv_client* made = nullptr;
    const int32_t status = kv_client_create(&params, &made, err, sizeof err);
    EXPECT_EQ(status == KV_OK, made != nullptr);
    if (why != nullptr) *why = err;
    return ClientHandle(made);
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

  const TemporaryDirectory files_;
  const TemporaryDirectory data_;
  const CertificateAuthority authority_;
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

}  // namespace
}  // namespace kvpool::test
