// SPDX-License-Identifier: Apache-2.0
// A real pool whose payloads go by CANN, which is the fake of test/ascend/fake, and what is used when CANN is missing
// on one side.
#include "pool/pool.h"

#include <thread>

#include "ascend/cann/engine.h"
#include "ascend/core/settings.h"
#include "ascend/fake_cann.h"
#include "ascend/pool/npu_memory.h"
#include "certificate_authority.h"
#include "net/socket.h"

namespace kvpool::test {
namespace {

constexpr uint32_t kAscend = KV_PROTOCOL_ASCEND | KV_PROTOCOL_TCP;
/// Of the fake: CANN is there, and cannot be used.
constexpr const char* kClosed = "set closed_devices 0";
constexpr const char* kClosedText = "NPU 0 cannot be used";

int32_t startAscendNode(const std::string& masters, const std::string& directory, uint32_t protocols, NodeHandle& node,
                        std::string* why = nullptr, const std::string& certificate = "", uint32_t flags = 0,
                        const std::string& ssd = "") {
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.pool_id = kPoolText;
  params.node_id = "node-0";
  params.masters = masters.c_str();
  params.listen_host = "127.0.0.1";
  params.advertise_host = "127.0.0.1";
  params.data_dir = (flags & KV_NODE_TRANSIENT) == 0 ? directory.c_str() : nullptr;
  params.segment_bytes = 160 << 20;
  params.protocols = protocols;
  params.connect_timeout_ms = 5000;
  params.tls_dir = certificate.c_str();
  params.flags = flags;
  params.ssd_path = ssd.c_str();
  params.ssd_bytes = ssd.empty() ? 0 : uint64_t{256} << 20;
  char err[2048] = "";
  kv_node* started = nullptr;
  const int32_t status = kv_node_start(&params, &started, err, sizeof err);
  node.reset(started);
  if (why != nullptr) *why = err;
  return status;
}

int32_t connectAscend(const std::string& masters, uint32_t protocols, ClientHandle& client, std::string* why = nullptr,
                      const std::string& certificate = "") {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.protocols = protocols;
  params.masters = masters.c_str();
  params.connect_timeout_ms = 30000;
  params.tls_dir = certificate.c_str();
  char err[2048] = "";
  kv_client* connected = nullptr;
  const int32_t status = kv_client_create(&params, &connected, err, sizeof err);
  client.reset(connected);
  if (why != nullptr) *why = err;
  return status;
}

class AscendPool : public testing::Test {
 protected:
  void SetUp() override {
    (void)ascend::runtime();
    ascend::functionOf<void (*)()>("fake_ascend_reset")();
  }
  void TearDown() override {
    client_.reset();
    node_.reset();
    for (const char* kind : {"engine", "channel", "region", "request", "host_memory", "device_memory", "context"})
      EXPECT_EQ(ascend::live(kind), 0U) << kind;
  }
  void startNode(uint32_t protocols = kAscend) {
    std::string why;
    ASSERT_EQ(startAscendNode(master_.address(), directory_.path(), protocols, node_, &why, "", 0, ssd_), KV_OK) << why;
    ASSERT_TRUE(master_.awaitNodes(1));
  }
  void start(uint32_t ofNode = kAscend, uint32_t ofClient = kAscend) {
    ASSERT_NO_FATAL_FAILURE(startNode(ofNode));
    std::string why;
    ASSERT_EQ(connectAscend(master_.address(), ofClient, client_, &why), KV_OK) << why;
  }

  /// Puts and reads one value, and says how many of its bytes CANN moved.
  uint64_t roundTrip(const std::string& key, size_t length) {
    const uint64_t before = statsOf(client_.get()).ascend_bytes;
    const std::string value = pattern(length, length);
    EXPECT_EQ(put(client_.get(), key, value), KV_OK) << explain(client_.get());
    const Got got = get(client_.get(), key, length + 1);
    EXPECT_EQ(got.status, KV_OK) << explain(client_.get());
    EXPECT_TRUE(got.value == value) << length;
    return statsOf(client_.get()).ascend_bytes - before;
  }

  TemporaryDirectory directory_;
  std::string ssd_;  // directory; empty: none
  TestMaster master_;
  NodeHandle node_;
  ClientHandle client_;
};

TEST_F(AscendPool, LinkFabricMovesValuesThroughFabricMemoryOfBothSides) {
  const Environment fabric("ASCEND_ENABLE_USE_FABRIC_MEM", "1");
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(ascend::live("physical"), 2U) << "of the node and of the client";
  ASSERT_TRUE(eventually([this] { return roundTrip("first", 65536) > 0; }));
  for (const size_t length : {4097u, 65536u, 5000001u})
    EXPECT_EQ(roundTrip("moved-" + std::to_string(length), length), 2 * length);
  EXPECT_EQ(ascend::live("physical"), 2U);
  EXPECT_EQ(ascend::live("host_memory"), 0U) << "no other memory is registered";
  client_.reset();
  node_.reset();
  EXPECT_EQ(ascend::live("physical"), 0U);
}

TEST_F(AscendPool, AStorageNodeOfAHostWithLittleMemoryMovesValuesAllTheSame) {
  ascend::control("set free_host " + std::to_string(150 << 20));
  ASSERT_NO_FATAL_FAILURE(startNode());
  ascend::control("");
  std::string why;
  ASSERT_EQ(connectAscend(master_.address(), kAscend, client_, &why), KV_OK) << why;
  ASSERT_TRUE(eventually([this] { return roundTrip("first", 65536) > 0; }));
  EXPECT_EQ(roundTrip("large", 50000000), 2u * 50000000);
}

TEST_F(AscendPool, ADriverWithoutFabricMemoryIsToldAndTcpIsUsed) {
  const Environment fabric("ASCEND_ENABLE_USE_FABRIC_MEM", "1");
  ascend::control("set hdk 25.2");
  std::string why;
  EXPECT_EQ(startAscendNode(master_.address(), directory_.path(), KV_PROTOCOL_ASCEND, node_, &why), KV_IO);
  EXPECT_NE(why.find("103905 (unsupported). Link Fabric needs chip A3, CANN 9.0, HDK 26.0 and LingQu 1.5"),
            std::string::npos)
      << why;
  ASSERT_NO_FATAL_FAILURE(startNode());
  EXPECT_EQ(connectAscend(master_.address(), KV_PROTOCOL_ASCEND, client_, &why), KV_IO);
  EXPECT_NE(why.find("tcp is not among the protocols"), std::string::npos) << why;
  EXPECT_NE(why.find("103905 (unsupported). Link Fabric needs chip A3"), std::string::npos) << why;
  ASSERT_EQ(connectAscend(master_.address(), kAscend, client_, &why), KV_OK) << why;
  EXPECT_EQ(roundTrip("key", 65536), 0u);
  EXPECT_EQ(statsOf(node_.get()).protocols & KV_PROTOCOL_ASCEND, 0u);
}

/// The endpoint of the one engine whose ports begin at `base`.
std::string engineAt(uint16_t base) {
  for (uint16_t port = base; port < base + 100; ++port) {
    const Result<Fd> taken = net::listenTcp("127.0.0.1", port);
    if (!taken.ok()) return "127.0.0.1:" + std::to_string(port);
  }
  return "";
}

TEST_F(AscendPool, TheFirstPortThatAStorageNodeTriesIsThatOfItsPoolAndName) {
  constexpr uint16_t kNodes = 31000;
  const Environment ports("ASCEND_BASE_PORT", std::to_string(kNodes).c_str());
  ASSERT_NO_FATAL_FAILURE(startNode());
  const ascend::PortSlot slot = ascend::portSlot(kNodes, 0).value();
  const uint16_t port = ascend::preferredPort(slot, std::string(kPoolText) + "/node-0");
  EXPECT_EQ(engineAt(kNodes), "127.0.0.1:" + std::to_string(port));
}

/// As where its machine is lost: CANN cannot tell it of the end, and keeps the channel until it can.
TEST_F(AscendPool, TheChannelToAClientThatGoesEndsAsSoonAsCannCanEndIt) {
  constexpr uint16_t kClients = 30500;
  const auto failures = ascend::functionOf<uint64_t (*)(const char*)>("fake_ascend_failures");
  for (const char* connectsByItself : {"0", "1"}) {
    const Environment way("ASCEND_AUTO_CONNECT", connectsByItself);
    ASSERT_NO_FATAL_FAILURE(startNode());
    const Environment ports("ASCEND_BASE_PORT", std::to_string(kClients).c_str());
    ASSERT_EQ(connectAscend(master_.address(), kAscend, client_), KV_OK);
    ASSERT_TRUE(eventually([this] { return roundTrip("key", 65536) > 0; }));
    const std::string client = engineAt(kClients);
    ascend::control("set unreachable " + client);
    const uint64_t before = failures("Disconnect");
    client_.reset();
    EXPECT_TRUE(eventually([&] { return failures("Disconnect") > before; })) << connectsByItself;
    EXPECT_EQ(ascend::live("channel"), 1U);
    ascend::Device device;
    const auto again = ascend::Engine::open(ascend::runtime(), {device.context(), client, {}});
    ASSERT_TRUE(again.ok()) << again.status().text();
    ascend::control("");
    EXPECT_TRUE(eventually([] { return ascend::live("channel") == 0; })) << connectsByItself;
    node_.reset();
  }
}

TEST_F(AscendPool, ValuesOfAllSizesComeBackAsTheyWerePut) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(statsOf(node_.get()).protocols, kAscend);
  for (const size_t length : {0u, 1u, 4096u})
    EXPECT_EQ(roundTrip("inline-" + std::to_string(length), length), 0u);
  for (const size_t length : {4097u, 65536u, 1048577u, 5000001u})
    EXPECT_EQ(roundTrip("moved-" + std::to_string(length), length), 2 * length);

  const kv_client_stats client = statsOf(client_.get());
  EXPECT_EQ(client.ascend_lanes, 1u);
  EXPECT_EQ(client.ascend_refusals, 0u);
  EXPECT_EQ(client.ucx_bytes, 0u);
  EXPECT_EQ(client.checksum_failures, 0u);
  ASSERT_TRUE(eventually([&] { return statsOf(node_.get()).ascend_read_bytes == client.ascend_bytes / 2; }));
  const kv_node_stats node = statsOf(node_.get());
  EXPECT_EQ(node.ascend_write_bytes, client.ascend_bytes / 2);
  EXPECT_EQ(node.ascend_clients, 1u);
  EXPECT_EQ(node.ascend_refusals, 0u);
  EXPECT_GT(node.ascend_transfers, 8u);
  EXPECT_EQ(node.ascend_transfer_failures + node.ascend_transfer_timeouts + node.ascend_retries, 0u);
  EXPECT_GT(node.ascend_transfer_us, 0u);
  EXPECT_EQ(node.ascend_channels_max, 128u);
  ASSERT_TRUE(eventually([&] { return statsOf(node_.get()).ascend_channels == 1; }));
  EXPECT_EQ(statsOf(node_.get()).ascend_connects, 1u);
  client_.reset();
  // CANN keeps the channel where the client's end of it is gone before the node's is.
  EXPECT_TRUE(eventually([&] {
    const kv_node_stats now = statsOf(node_.get());
    return now.ascend_disconnects == 1 && now.ascend_channels == now.ascend_channels_kept;
  })) << statsOf(node_.get()).ascend_channels
      << " channels, " << statsOf(node_.get()).ascend_channels_kept << " kept, "
      << statsOf(node_.get()).ascend_disconnects << " ended";
  EXPECT_EQ(statsOf(node_.get()).ascend_renewals, 0u);
}

TEST_F(AscendPool, WhereTlsIsRequiredItIsUsedOnATrustedFabricOnly) {
  const CertificateAuthority authority;
  const TemporaryDirectory files;
  const auto certificate = [&](const char* path, const char* name) {
    CertificateAuthority::write(authority.issue(path), files.path() + "/" + name);
    return files.path() + "/" + name;
  };
  const std::string ofNode = certificate("node/node-0", "node");
  const std::string ofClient = certificate("tenant/default/rw/engine", "client");
  master_.in([&](MasterServer& server) { server.secure(authority.credentials("master/m")); });
  const auto begin = [&](uint32_t flags) {
    client_.reset();
    node_.reset();
    std::string why;
    ASSERT_EQ(startAscendNode(master_.address(), directory_.path(), kAscend, node_, &why,
                              (flags & KV_NODE_TRANSIENT) == 0 ? ofNode : ofClient, flags),
              KV_OK)
        << why;
    ASSERT_TRUE(master_.awaitNodes(1));
    ASSERT_EQ(connectAscend(master_.address(), kAscend, client_, &why, ofClient), KV_OK) << why;
  };

  ASSERT_NO_FATAL_FAILURE(begin(0));
  EXPECT_EQ(statsOf(node_.get()).protocols, uint32_t{KV_PROTOCOL_TCP});
  char problem[1024] = "";
  EXPECT_EQ(kv_node_explain(node_.get(), problem, sizeof problem), KV_OK);
  EXPECT_NE(std::string(problem).find("every host on its network is trusted (--trusted-fabric)"), std::string::npos)
      << problem;
  EXPECT_EQ(roundTrip("by tcp", 100000), 0u);

  for (const uint32_t memoryOfAnEngine : {uint32_t{0}, uint32_t{KV_NODE_TRANSIENT}}) {
    ASSERT_NO_FATAL_FAILURE(begin(memoryOfAnEngine | KV_NODE_TRUSTED_FABRIC));
    EXPECT_EQ(statsOf(node_.get()).protocols, kAscend);
    EXPECT_EQ(roundTrip("by CANN " + std::to_string(memoryOfAnEngine), 100000), 200000u);
  }
}

TEST_F(AscendPool, AValueMayBeAsLargeAsTheStagingMemory) {
  ASSERT_NO_FATAL_FAILURE(start());
  // A slow machine under a sanitizer may take longer for it than a node is waited for: then it is moved once more.
  constexpr uint64_t kLength = 64 << 20;
  const uint64_t moved = roundTrip("as large as staging memory", kLength);
  EXPECT_GE(moved, 2 * kLength);
  EXPECT_EQ(moved % kLength, 0u);
}

TEST_F(AscendPool, LargeBatchesShareTheStagingMemory) {
  ASSERT_NO_FATAL_FAILURE(start());
  constexpr size_t kLines = 200;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  std::vector<std::string> memory(kLines, std::string(160000, '\0'));
  for (uint64_t i = 0; i < kLines; ++i) {
    keys.push_back("key/" + std::to_string(i));
    values.push_back(pattern(i, 3000 + (i * 977) % 150000));
  }
  std::vector<kv_op> puts;
  std::vector<kv_op> gets;
  for (size_t i = 0; i < kLines; ++i) {
    puts.push_back(line(keys[i], values[i].data(), values[i].size()));
    gets.push_back(line(keys[i], memory[i].data(), memory[i].size()));
  }
  run(client_.get(), KV_OP_PUT, puts);
  for (const kv_op& op : puts)
    ASSERT_EQ(op.status, KV_OK) << explain(client_.get());
  run(client_.get(), KV_OP_GET, gets);
  for (size_t i = 0; i < kLines; ++i) {
    ASSERT_EQ(gets[i].status, KV_OK) << explain(client_.get());
    ASSERT_TRUE(memory[i].substr(0, gets[i].result_length) == values[i]) << keys[i];
  }
  EXPECT_GT(statsOf(client_.get()).ascend_bytes, 0u);
}

TEST_F(AscendPool, ARestartedNodeIsAttachedAgain) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_GT(roundTrip("before", 100000), 0u);
  node_.reset();
  ASSERT_TRUE(master_.awaitNodes(0));
  ASSERT_NO_FATAL_FAILURE(startNode());
  EXPECT_TRUE(get(client_.get(), "before").value == pattern(100000, 100000)) << explain(client_.get());
  EXPECT_GT(roundTrip("after", 100000), 0u);
  EXPECT_EQ(statsOf(client_.get()).ascend_lanes, 2u);
}

TEST_F(AscendPool, ManyClientsComeAndGo) {
  ASSERT_NO_FATAL_FAILURE(start());
  for (int round = 0; round < 4; ++round) {
    const std::string key = "of client " + std::to_string(round);
    ClientHandle other;
    ASSERT_EQ(connectAscend(master_.address(), kAscend, other), KV_OK);
    ASSERT_EQ(put(other.get(), key, pattern(7, 70000)), KV_OK) << explain(other.get());
    EXPECT_EQ(statsOf(other.get()).ascend_bytes, 70000u);
    ASSERT_TRUE(get(client_.get(), key).value == pattern(7, 70000)) << explain(client_.get());
  }
  EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ascend_clients == 1; }));
}

// ---- without CANN on one side ----

TEST_F(AscendPool, ANodeWithoutCannIsUsedByTcpAndBothSaySo) {
  ascend::control(kClosed);
  ASSERT_NO_FATAL_FAILURE(startNode());
  ascend::control("");
  EXPECT_EQ(statsOf(node_.get()).protocols, uint32_t{KV_PROTOCOL_TCP});
  ASSERT_EQ(connectAscend(master_.address(), kAscend, client_), KV_OK);
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  EXPECT_EQ(statsOf(client_.get()).ascend_refusals, 1u);
  const std::string why = explain(client_.get());
  EXPECT_NE(why.find("node node-0 is used by tcp, not by ascend"), std::string::npos) << why;
  EXPECT_NE(why.find(kClosedText), std::string::npos) << why;
  EXPECT_EQ(statsOf(node_.get()).ascend_refusals, 1u);
}

TEST_F(AscendPool, AClientWithoutCannUsesTcpAndSaysSo) {
  ASSERT_NO_FATAL_FAILURE(startNode());
  const Environment wrong("ASCEND_TRANSFER_TIMEOUT", "soon");
  ASSERT_EQ(connectAscend(master_.address(), kAscend, client_), KV_OK);
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  EXPECT_EQ(statsOf(client_.get()).ascend_refusals, 1u);
  EXPECT_EQ(statsOf(client_.get()).ascend_lanes, 0u);
  const std::string why = explain(client_.get());
  EXPECT_NE(why.find("node node-0 is used by tcp, not by ascend"), std::string::npos) << why;
  EXPECT_NE(why.find("ASCEND_TRANSFER_TIMEOUT"), std::string::npos) << why;
}

TEST_F(AscendPool, WithAscendAloneAClientWithoutCannDoesNotConnect) {
  ascend::control(kClosed);
  std::string why;
  EXPECT_EQ(connectAscend(master_.address(), KV_PROTOCOL_ASCEND, client_, &why), KV_IO);
  EXPECT_NE(why.find("tcp is not among the protocols"), std::string::npos) << why;
  EXPECT_NE(why.find(kClosedText), std::string::npos) << why;
}

TEST_F(AscendPool, WithAscendAloneANodeWithoutCannDoesNotStart) {
  ascend::control(kClosed);
  std::string why;
  EXPECT_EQ(startAscendNode(master_.address(), directory_.path(), KV_PROTOCOL_ASCEND, node_, &why), KV_IO);
  EXPECT_NE(why.find("node node-0 cannot serve ascend"), std::string::npos) << why;
  EXPECT_NE(why.find(kClosedText), std::string::npos) << why;
}

TEST_F(AscendPool, WithAscendAloneANodeThatDoesNotServeItIsNotUsed) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_TCP, KV_PROTOCOL_ASCEND));
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.timeout_ms = 2000;
  const std::string value = pattern(1, 100000);
  std::vector<kv_op> puts{line("k", value.data(), value.size())};
  run(client_.get(), KV_OP_PUT, puts, &options);
  EXPECT_NE(puts[0].status, KV_OK);
  const std::string why = explain(client_.get());
  EXPECT_NE(why.find("is not reached by ascend, and tcp is not among the protocols"), std::string::npos) << why;
  EXPECT_NE(why.find("it was not asked to"), std::string::npos) << why;
}

TEST_F(AscendPool, WithAscendAloneItIsUsed) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_ASCEND, KV_PROTOCOL_ASCEND));
  EXPECT_EQ(roundTrip("k", 100000), 200000u);
}

TEST_F(AscendPool, UcxAndAscendExcludeEachOther) {
  std::string why;
  EXPECT_EQ(connectAscend(master_.address(), kAscend | KV_PROTOCOL_UCX, client_, &why), KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("exclude each other"), std::string::npos) << why;
  EXPECT_EQ(startAscendNode(master_.address(), directory_.path(), kAscend | KV_PROTOCOL_UCX, node_, &why),
            KV_INVALID_ARGUMENT);
  EXPECT_NE(why.find("exclude each other"), std::string::npos) << why;
}

// ---- memory of NPUs ----

class NpuPool : public AscendPool {
 protected:
  void SetUp() override {
    AscendPool::SetUp();
    device_.emplace();
  }
  void TearDown() override {
    client_.reset();
    node_.reset();
    device_.reset();
    AscendPool::TearDown();
  }
  std::optional<ascend::Device> device_;
};

TEST_F(NpuPool, ItsMemoryIsPutAndRead) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
  EXPECT_GT(statsOf(client_.get()).ascend_bytes, 600000u);
  EXPECT_EQ(statsOf(client_.get()).checksum_failures, 0u);
}

TEST_F(NpuPool, ItsMemoryIsPutAndReadByTcpWhereTheNodeHasNoCann) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_TCP));
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
  EXPECT_EQ(statsOf(client_.get()).ascend_bytes, 0u);
}

TEST_F(NpuPool, ItsMemoryIsPutAndReadThroughSharedMemory) {
  ASSERT_NO_FATAL_FAILURE(start(kAscend | KV_PROTOCOL_SHM, kAscend | KV_PROTOCOL_SHM));
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
  EXPECT_GT(statsOf(client_.get()).shm_bytes, 600000u);
}

TEST_F(NpuPool, ItsMemoryNeedsAclAloneWhereTheClientDoesNotUseCann) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_TCP, KV_PROTOCOL_TCP));
  ascend::control("set hidden_memory 1");
  ASSERT_NO_FATAL_FAILURE(roundTripOfNpu(client_.get()));
  EXPECT_EQ(ascend::live("engine"), 0u);
}

TEST_F(NpuPool, ACopyThatFailsIsAFailureOfItsLine) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string value = pattern(3, 100000);
  const NpuMemory memory(value);
  ASSERT_EQ(put(client_.get(), "there", value), KV_OK);
  ascend::control("partial aclrtMemcpyBatchAsync * 0 507011");
  std::vector<kv_op> lines{line("k", memory.at(), value.size()), line("of the host", value.data(), value.size())};
  run(client_.get(), KV_OP_PUT, lines);
  EXPECT_EQ(lines[0].status, KV_TRANSFER_FAILED);
  EXPECT_NE(explain(client_.get()).find("aclrtMemcpyBatchAsync"), std::string::npos) << explain(client_.get());
  EXPECT_EQ(lines[1].status, KV_OK);
  lines = {line("there", memory.at(), value.size())};
  run(client_.get(), KV_OP_GET, lines);
  EXPECT_EQ(lines[0].status, KV_TRANSFER_FAILED);
  ascend::control("");
  EXPECT_EQ(exists(client_.get(), "k"), KV_NOT_FOUND);
}

TEST_F(NpuPool, MemoryThatWasUnregisteredIsNotWrittenAnyMore) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string value = pattern(3, 100000);
  ASSERT_EQ(put(client_.get(), "k", value), KV_OK);
  const std::string others(value.size(), 'x');
  const NpuMemory memory(others);
  const NpuMemory kept(others);
  for (const NpuMemory* one : {&memory, &kept})
    ASSERT_EQ(kv_client_register(client_.get(), one->at(), value.size()), KV_OK);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REGISTERED;
  std::vector<kv_op> lines{line("k", memory.at(), value.size()), line("k", kept.at(), value.size())};
  uint64_t batch = 0;
  ASSERT_EQ(kv_client_submit(client_.get(), KV_OP_GET, lines.data(), 2, &options, &batch), KV_OK);
  EXPECT_EQ(kv_client_unregister(client_.get(), memory.at()), KV_OK) << "without a wait for the batch";
  ASSERT_EQ(kv_client_wait(client_.get(), batch, 30000), KV_OK);
  EXPECT_EQ(lines[0].status, KV_NOT_REGISTERED);
  EXPECT_TRUE(memory.bytes() == others) << "it may be another's by now";
  EXPECT_EQ(lines[1].status, KV_OK);
  EXPECT_TRUE(kept.bytes() == value);
}

TEST_F(NpuPool, ACopyThatHangsIsAFailureOfItsLineAfterTheTimeout) {
  const Environment timeout("ASCEND_TRANSFER_TIMEOUT", "200");
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string value = pattern(3, 100000);
  const NpuMemory memory(value);
  ascend::control("hang stream *");
  std::vector<kv_op> lines{line("k", memory.at(), value.size())};
  run(client_.get(), KV_OP_PUT, lines);
  EXPECT_EQ(lines[0].status, KV_TIMEOUT);
  EXPECT_NE(explain(client_.get()).find("not done within "), std::string::npos) << explain(client_.get());
  ascend::control("");
  run(client_.get(), KV_OP_PUT, lines);
  EXPECT_EQ(lines[0].status, KV_OK) << explain(client_.get());
}

/// One that hangs takes its time once, and memory of the host for no other.
TEST_F(NpuPool, CopiesThatHangTakeNeitherTimeNorMemoryForEachLine) {
  const Environment timeout("ASCEND_TRANSFER_TIMEOUT", "200");
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string value = pattern(3, 1 << 20);
  const NpuMemory memory(value);
  const auto lines = [&](uint64_t bytes) {
    return std::vector<kv_op>{line("a", memory.at(), bytes), line("b", memory.at(), bytes),
                              line("c", memory.at(), bytes)};
  };
  std::vector<kv_op> three = lines(100000);
  run(client_.get(), KV_OP_PUT, three);
  for (const kv_op& one : three)
    EXPECT_EQ(one.status, KV_OK) << explain(client_.get());
  ascend::control("hang stream *");
  for (const int32_t op : {KV_OP_GET, KV_OP_PUT}) {
    const uint64_t before = ascend::calls("aclrtMemcpyBatchAsync");
    run(client_.get(), op, three);
    for (const kv_op& one : three)
      EXPECT_EQ(one.status, KV_TIMEOUT) << op;
    EXPECT_EQ(ascend::calls("aclrtMemcpyBatchAsync"), before + 1) << op;
  }
  ascend::control("hang stream *\nfail aclrtStreamAbort * 507000");
  run(client_.get(), KV_OP_GET, three);
  const uint64_t before = ascend::live("host_memory");
  for (const uint64_t bytes : {200000U, 500000U, 1000000U}) {
    for (const int32_t op : {KV_OP_GET, KV_OP_PUT}) {
      three = lines(bytes);
      run(client_.get(), op, three);
      EXPECT_EQ(three[0].status, KV_TIMEOUT) << op;
      EXPECT_NE(explain(client_.get()).find("its stream may still copy"), std::string::npos) << explain(client_.get());
    }
  }
  EXPECT_EQ(ascend::live("host_memory"), before);
  ascend::control("");
  ASSERT_TRUE(eventually([&] {
    three = lines(100000);
    run(client_.get(), KV_OP_GET, three);
    return three[0].status == KV_OK && three[2].status == KV_OK;
  })) << explain(client_.get());
}

// ---- what fails ----

/// Whatever CANN does, a value is there as it was put, or not at all.
TEST_F(AscendPool, ATransferThatFailsIsALineOfTheNodesLog) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(eventually([this] { return roundTrip("before", 65536) > 0; }));
  testing::internal::CaptureStderr();
  ascend::control("fail TransferSync * 503900");
  (void)put(client_.get(), "key", pattern(1, 300000));
  ascend::control("");
  const std::string text = testing::internal::GetCapturedStderr();
  const size_t line = text.find("ascend: a transfer of 300000 bytes took ");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.find(" ms and failed: ", line), std::string::npos) << text;
}

class FailingAscend : public AscendPool, public testing::WithParamInterface<const char*> {};

TEST_P(FailingAscend, ValuesAreWholeOrMissing) {
  const Environment transfer("ASCEND_TRANSFER_TIMEOUT", "300");
  const Environment connect("ASCEND_CONNECT_TIMEOUT", "1000");
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_GT(roundTrip("before", 100000), 0u);
  ascend::control(GetParam());
  for (int round = 0; round < 4; ++round) {
    const std::string key = "key/" + std::to_string(round);
    const std::string value = pattern(static_cast<uint64_t>(round), 300000);
    const int32_t status = put(client_.get(), key, value);
    const Got got = get(client_.get(), key, value.size());
    if (status == KV_OK) {
      EXPECT_EQ(got.status, KV_OK) << explain(client_.get());
    }
    if (got.status == KV_OK) {
      EXPECT_TRUE(got.value == value) << key;
    }
  }
  ascend::control("");
  EXPECT_TRUE(get(client_.get(), "before", 100000).value == pattern(100000, 100000)) << explain(client_.get());
  (void)roundTrip("after", 100000);
}

INSTANTIATE_TEST_SUITE_P(Ways, FailingAscend,
                         testing::Values("fail transfer 1 503900", "fail transfer * 503900",
                                         "fail TransferSync 2 103901", "partial transfer * 1000 503900",
                                         "hang transfer 1", "hang transfer *", "fail Disconnect * 103904"));

// ---- values on the SSD ----

/// In a directory that knows O_DIRECT, if the machine has one.
class SsdPool : public NpuPool {
 protected:
  SsdPool() { ssd_ = disk_.path(); }

  /// Puts a value that is on the SSD alone then.
  std::string putOnSsd(const std::string& key, size_t length) {
    std::string value = pattern(length, length);
    EXPECT_EQ(put(client_.get(), key, value), KV_OK) << explain(client_.get());
    EXPECT_TRUE(master_.demote(key)) << key;
    return value;
  }
  /// Reads one, and says how many of its bytes CANN moved.
  uint64_t read(const std::string& key, const std::string& value) {
    const kv_client_stats before = statsOf(client_.get());
    const kv_node_stats node = statsOf(node_.get());
    const Got got = get(client_.get(), key, value.size());
    EXPECT_EQ(got.status, KV_OK) << explain(client_.get());
    EXPECT_TRUE(got.value == value) << key;
    EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ssd_reads == node.ssd_reads + 1; }));
    return statsOf(client_.get()).ascend_bytes - before.ascend_bytes;
  }

 private:
  TemporaryDirectory disk_{"/tmp"};
};

TEST_F(SsdPool, ValuesAreMovedByCann) {
  ASSERT_NO_FATAL_FAILURE(start());
  uint64_t moved = 0;
  for (const size_t length : {1u, 4096u, 4097u, 65536u, 1048577u, 5000001u, 64u << 20}) {
    const std::string key = std::to_string(length);
    const std::string value = putOnSsd(key, length);
    const uint64_t before = statsOf(node_.get()).ascend_read_bytes;
    const uint64_t expected = length > 4096 ? length : 0;
    EXPECT_EQ(read(key, value), expected) << length;
    EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ascend_read_bytes == before + expected; })) << length;
    moved += expected;
  }
  EXPECT_GT(moved, 0U);
  EXPECT_EQ(statsOf(node_.get()).ascend_transfer_failures, 0U);
  EXPECT_EQ(statsOf(client_.get()).checksum_failures, 0U);
}

TEST_F(SsdPool, ValuesAreMovedFromFabricMemory) {
  const Environment fabric("ASCEND_ENABLE_USE_FABRIC_MEM", "1");
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(ascend::live("physical"), 2U) << "of the node and of the client";
  const std::string value = putOnSsd("k", 300000);
  EXPECT_EQ(read("k", value), value.size());
  client_.reset();
  node_.reset();
}

TEST_F(SsdPool, WithAscendAloneTooAndIntoMemoryOfAnNpu) {
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_ASCEND, KV_PROTOCOL_ASCEND));
  const std::string value = putOnSsd("k", 300000);
  const NpuMemory into(std::string(value.size(), 'x'));
  ASSERT_EQ(kv_client_register(client_.get(), into.at(), value.size()), KV_OK) << explain(client_.get());
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REGISTERED;
  std::vector<kv_op> lines{line("k", into.at(), value.size())};
  const uint64_t before = statsOf(client_.get()).ascend_bytes;
  run(client_.get(), KV_OP_GET, lines, &options);
  EXPECT_EQ(lines[0].status, KV_OK) << explain(client_.get());
  EXPECT_TRUE(into.bytes() == value);
  EXPECT_EQ(statsOf(client_.get()).ascend_bytes - before, value.size());
}

TEST_F(SsdPool, ABatchThatIsLargerThanTheStagingMemoryIsReadWhole) {
  ASSERT_NO_FATAL_FAILURE(start());
  constexpr size_t kLines = 40;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (size_t i = 0; i < kLines; ++i) {
    keys.push_back("key/" + std::to_string(i));
    values.push_back(putOnSsd(keys.back(), 4000000 + i));
  }
  std::vector<std::string> memory(kLines, std::string(4000000 + kLines, '\0'));
  std::vector<kv_op> gets;
  for (size_t i = 0; i < kLines; ++i)
    gets.push_back(line(keys[i], memory[i].data(), memory[i].size()));
  const uint64_t before = statsOf(client_.get()).ascend_bytes;
  run(client_.get(), KV_OP_GET, gets);
  uint64_t bytes = 0;
  for (size_t i = 0; i < kLines; ++i) {
    ASSERT_EQ(gets[i].status, KV_OK) << explain(client_.get());
    ASSERT_TRUE(memory[i].substr(0, gets[i].result_length) == values[i]) << keys[i];
    bytes += values[i].size();
  }
  EXPECT_EQ(statsOf(client_.get()).ascend_bytes - before, bytes);
}

/// Transfers that fail or hang never give wrong bytes, and what comes afterwards is moved again.
TEST_F(SsdPool, WhateverFailsValuesAreWholeOrMissing) {
  const Environment transfer("ASCEND_TRANSFER_TIMEOUT", "300");
  const Environment connect("ASCEND_CONNECT_TIMEOUT", "1000");
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_ASCEND, KV_PROTOCOL_ASCEND));
  const std::string value = putOnSsd("k", 300000);
  EXPECT_EQ(read("k", value), value.size());
  for (const char* way : {"fail transfer 1 503900", "partial transfer 1 1000 503900", "hang transfer 1"}) {
    const uint64_t failures = statsOf(node_.get()).ascend_transfer_failures;
    ascend::control(way);
    const Got got = get(client_.get(), "k", value.size());
    EXPECT_TRUE(got.status != KV_OK || got.value == value) << way;
    ascend::control("");
    EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ascend_transfer_failures > failures; })) << way;
    const Got again = get(client_.get(), "k", value.size());
    EXPECT_EQ(again.status, KV_OK) << way << ": " << explain(client_.get());
    EXPECT_TRUE(again.value == value) << way;
  }
}

TEST_F(SsdPool, ANodeMayEndWhileItMovesValuesAndOthersWaitForStagingMemory) {
  const Environment transfer("ASCEND_TRANSFER_TIMEOUT", "1000");
  ASSERT_NO_FATAL_FAILURE(start(KV_PROTOCOL_ASCEND, KV_PROTOCOL_ASCEND));
  constexpr size_t kLines = 24;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kLines; ++i) {
    keys.push_back("key/" + std::to_string(i));
    (void)putOnSsd(keys.back(), 5000000);
  }
  ascend::control("hang transfer *");
  const uint64_t reads = statsOf(node_.get()).ssd_reads;
  std::thread reader([&] {
    std::vector<std::string> memory(kLines, std::string(5000000, '\0'));
    std::vector<kv_op> gets;
    for (size_t i = 0; i < kLines; ++i)
      gets.push_back(line(keys[i], memory[i].data(), memory[i].size()));
    kv_batch_options options{};
    options.struct_size = sizeof options;
    options.timeout_ms = 3000;
    run(client_.get(), KV_OP_GET, gets, &options);
    for (const kv_op& get : gets)
      EXPECT_NE(get.status, KV_OK);
  });
  EXPECT_TRUE(eventually([&] { return statsOf(node_.get()).ssd_reads > reads + 4; }));
  node_.reset();
  reader.join();
  ascend::control("");
}

TEST_F(AscendPool, AClientThatCannIsNotReachedAtIsUsedByTcp) {
  ASSERT_NO_FATAL_FAILURE(startNode());
  ascend::control("fail TransferSync * 103901");
  ASSERT_EQ(connectAscend(master_.address(), kAscend, client_), KV_OK);
  EXPECT_EQ(roundTrip("k", 100000), 0u);
  const std::string why = explain(client_.get());
  EXPECT_NE(why.find("CANN does not reach the client"), std::string::npos) << why;
}

}  // namespace
}  // namespace kvpool::test
