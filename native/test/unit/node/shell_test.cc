// SPDX-License-Identifier: Apache-2.0
// A whole node behind real sockets: a master and clients made of a few lines, on loopback and the unix socket.
#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>
#include <thread>

#include "node/node.h"
#include "peer.h"
#include "peer_messages.h"
#include "temporary_directory.h"

namespace kvpool::node {
namespace {

using test::kPool;
using test::Peer;

constexpr Authority kLeader{3, 33};

/// Listens as a master would and keeps the connection of the node that dialled.
class FakeMaster {
 public:
  FakeMaster() : listener_(std::move(net::listenTcp("127.0.0.1", 0).value())) {}

  [[nodiscard]] uint16_t port() const { return net::boundPort(listener_.get()); }

  /// Waits for the node, answers its Hello and reads up to the end of its snapshot.
  Peer accept() {
    Peer::wait(listener_.get(), POLLIN);
    net::SocketAddress address;
    Peer peer(std::move(net::acceptOne(listener_.get(), &address).value()));
    hello_ = wire::readHello(*peer.receive());
    peer.sendFrames([](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
    info_ = test::readNodeInfo(*peer.receive());
    snapshot_.clear();
    for (;;) {
      const wire::Bytes body = *peer.receive();
      const uint16_t type = wire::templateOf(body);
      if (type == test::sbe::SnapshotEnd::SBE_TEMPLATE_ID) return peer;
      if (type != test::sbe::DirectoryRecords::SBE_TEMPLATE_ID) continue;
      const test::Records records = test::readRecords(body);
      snapshot_.insert(snapshot_.end(), records.records.begin(), records.records.end());
    }
  }

  static wire::Bytes next(Peer& peer, uint16_t type) {
    for (;;) {
      const std::optional<wire::Bytes> body = peer.receive();
      if (!body) {
        ADD_FAILURE() << "the node closed the connection";
        return {};
      }
      if (wire::templateOf(*body) == type) return *body;
    }
  }

  static void fence(Peer& peer, const Authority& authority) {
    peer.sendFrames([&](wire::Bytes& out) { test::appendFence(out, 1, authority, 10000); });
    const FenceAck ack = test::readFenceAck(next(peer, test::sbe::FenceAck::SBE_TEMPLATE_ID));
    ASSERT_TRUE(ack.accepted);
    ASSERT_EQ(ack.seen, authority);
  }

  wire::Hello hello_;
  NodeInfo info_;
  std::vector<test::Record> snapshot_;

 private:
  Fd listener_;
};

class ShellTest : public ::testing::Test {
 protected:
  NodeSettings settings(bool transient = false) {
    NodeSettings settings;
    if (!transient) settings.poolId = kPool;
    settings.nodeId = "node-0";
    settings.masters = {{"127.0.0.1", master_.port()}};
    settings.listenHost = "127.0.0.1";
    settings.advertiseHost = "127.0.0.1";
    settings.dataDir = transient ? "" : directory_.path();
    settings.segmentBytes = store::kSegmentBytesMin;
    settings.shm = !transient;
    return settings;
  }

  std::unique_ptr<Node> start(const NodeSettings& settings) {
    Result<std::unique_ptr<Node>> node = Node::start(settings);
    EXPECT_TRUE(node.ok()) << node.status().text();
    return node.ok() ? std::move(node.value()) : nullptr;
  }

  static Peer greeted(Peer peer) {
    peer.sendFrames([](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
    const std::optional<wire::Bytes> body = peer.receive();
    EXPECT_TRUE(body && wire::templateOf(*body) == 2) << "no Welcome";
    return peer;
  }

  static WriteReply put(Peer& peer, uint64_t counter, std::string_view key, std::string_view value,
                        const Authority& authority = kLeader) {
    peer.sendFrames([&](wire::Bytes& out) {
      test::appendWrite(out, {counter, authority, {authority.epoch, counter}, value.size(), false, 0, 0, key});
    });
    peer.sendPayload(value);
    return test::readWriteReply(*peer.receive());
  }

  static std::optional<std::string> get(Peer& peer, const ExtentRef& extent, const ObjectId& id, uint64_t length) {
    peer.sendFrames([&](wire::Bytes& out) { test::appendRead(out, {5, extent, id, length}); });
    const test::ReadReply reply = test::readReadReply(*peer.receive());
    if (reply.status != KV_OK) return std::nullopt;
    auto [payload, right] = peer.receivePayload(reply.payloadLength);
    EXPECT_TRUE(right);
    return payload;
  }

  /// Waits until the node has seen to something on its own time.
  template <typename Condition>
  static void eventually(Condition condition) {
    for (int i = 0; i < test::kWaitMs / 10 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(condition());
  }

  test::TemporaryDirectory directory_;
  FakeMaster master_;
};

TEST_F(ShellTest, WritesAndReadsOverTcp) {
  const auto node = start(settings());
  Peer master = master_.accept();
  EXPECT_EQ(master_.hello_.self.name, "node-0");
  EXPECT_EQ(master_.info_.tcp, "127.0.0.1:" + std::to_string(node->stats().listen_port));
  FakeMaster::fence(master, kLeader);

  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  const std::string large(3'000'000, 'x');
  uint64_t counter = 0;
  for (const std::string& value : {std::string("value"), std::string(), large}) {
    ++counter;
    const WriteReply reply = put(client, counter, "key-" + std::to_string(counter), value);
    ASSERT_EQ(reply.status, KV_OK);
    const test::Records delta =
        test::readRecords(FakeMaster::next(master, test::sbe::DirectoryRecords::SBE_TEMPLATE_ID));
    EXPECT_EQ(delta.sequence, counter);
    EXPECT_EQ(delta.records.front().key, "key-" + std::to_string(counter));
    EXPECT_EQ(get(client, reply.extent, {3, counter}, value.size()), value);
  }
  eventually([&] { return node->stats().reads == 3; });
  const kv_node_stats stats = node->stats();
  EXPECT_EQ(stats.objects, 3u);
  EXPECT_EQ(stats.writes, 3u);
  EXPECT_EQ(stats.write_bytes, large.size() + 5);
  EXPECT_EQ(stats.epoch, 3u);
  EXPECT_EQ(stats.fenced, 1u);
  EXPECT_EQ(stats.masters_connected, 1u);
}

TEST_F(ShellTest, PipelinedRequestsAreAnsweredInOrder) {
  const auto node = start(settings());
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  const std::string value(4096, 'v');
  constexpr uint64_t kCount = 500;
  std::thread writer([&] {
    for (uint64_t i = 1; i <= kCount; ++i) {
      client.sendFrames([&](wire::Bytes& out) {
        test::appendWrite(out, {i, kLeader, {3, i}, value.size(), false, 0, 0, "key"});
      });
      client.sendPayload(value);
    }
  });
  std::vector<ExtentRef> extents;
  for (uint64_t i = 1; i <= kCount; ++i) {
    const WriteReply reply = test::readWriteReply(*client.receive());
    ASSERT_EQ(reply.requestId, i);
    ASSERT_EQ(reply.status, KV_OK);
    extents.push_back(reply.extent);
  }
  writer.join();
  std::thread reader([&] {
    for (uint64_t i = 1; i <= kCount; ++i) {
      client.sendFrames([&](wire::Bytes& out) { test::appendRead(out, {i, extents[i - 1], {3, i}, value.size()}); });
    }
  });
  for (uint64_t i = 1; i <= kCount; ++i) {
    ASSERT_EQ(test::readReadReply(*client.receive()).requestId, i);
    ASSERT_EQ(client.receivePayload(value.size()).first, value);
  }
  reader.join();
}

TEST_F(ShellTest, SharedMemoryWritesComeFromSealedStagingAndReadsFromTheFile) {
  const auto node = start(settings());
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::unixSocket(directory_.path() + "/shm.sock"));

  constexpr size_t kStaging = 8 << 20;
  Fd memfd(::memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(memfd.get(), kStaging), 0);
  ASSERT_EQ(::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  const auto staging = store::Mapping::map(memfd.get(), kStaging, true);
  ASSERT_TRUE(staging.ok());
  wire::Bytes attach;
  test::appendShmAttach(attach, 1, kStaging);
  client.sendWith(attach, memfd.get());
  const test::ShmAttached attached = test::readShmAttached(*client.receive());
  ASSERT_EQ(attached.status, KV_OK);
  EXPECT_EQ(attached.fileBytes, store::kSegmentBytesMin);
  ASSERT_EQ(client.descriptors().size(), 1u);
  const int segmentFd = client.descriptors().front().get();
  EXPECT_FALSE(store::Mapping::map(segmentFd, attached.fileBytes, true).ok()) << "must not be mapped for writing";
  const auto segment = store::Mapping::map(segmentFd, attached.fileBytes, false);
  ASSERT_TRUE(segment.ok());

  const std::string value(5'000'000, 'q');  // more than one piece of copying
  std::copy(value.begin(), value.end(), staging.value().bytes().begin() + 4096);
  client.sendFrames([&](wire::Bytes& out) {
    test::appendWrite(out, {1, kLeader, {3, 1}, value.size(), true, 4096, crc32c(value), "shared"});
  });
  const WriteReply reply = test::readWriteReply(*client.receive());
  ASSERT_EQ(reply.status, KV_OK);
  const auto record = store::readIntactRecord(segment.value().bytes().data(), reply.extent.slot);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, static_cast<uint32_t>(store::SlotState::Committed));
  EXPECT_EQ(record->generation, reply.extent.generation);
  EXPECT_EQ(record->payloadLength, value.size());
  const auto payload = segment.value().bytes().subspan(record->offset + store::payloadDistance(record->keyLength),
                                                       record->payloadLength);
  EXPECT_EQ(crc32c(payload.data(), payload.size()), record->payloadCrc);
  EXPECT_EQ(crc32c(value), record->payloadCrc);

  client.sendFrames([&](wire::Bytes& out) {
    test::appendWrite(out, {2, kLeader, {3, 2}, 100, true, kStaging - 50, 0, "outside"});
    test::appendWrite(out, {3, kLeader, {3, 3}, 100, true, 0, 12345, "wrong checksum"});
  });
  EXPECT_EQ(test::readWriteReply(*client.receive()).status, KV_INVALID_ARGUMENT);
  EXPECT_EQ(test::readWriteReply(*client.receive()).status, KV_CHECKSUM);
}

TEST_F(ShellTest, StagingMemoryThatIsNotSealedOrTooSmallIsRefused) {
  const auto node = start(settings());
  Peer master = master_.accept();
  const std::string path = directory_.path() + "/shm.sock";
  const auto attach = [&](int descriptor, uint64_t bytes) {
    Peer client = greeted(Peer::unixSocket(path));
    wire::Bytes out;
    test::appendShmAttach(out, 1, bytes);
    if (descriptor >= 0) {
      client.sendWith(out, descriptor);
    } else {
      client.send(out);
    }
    return test::readShmAttached(*client.receive()).status;
  };
  Fd unsealed(::memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 8192), 0);
  EXPECT_EQ(attach(unsealed.get(), 8192), KV_INVALID_ARGUMENT);
  ASSERT_EQ(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_EQ(attach(unsealed.get(), 8192), KV_INVALID_ARGUMENT) << "seals could still be added";
  ASSERT_EQ(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SEAL), 0);
  EXPECT_EQ(attach(unsealed.get(), 8193), KV_INVALID_ARGUMENT);
  EXPECT_EQ(attach(unsealed.get(), 8192), KV_OK);
  EXPECT_EQ(attach(-1, 8192), KV_INVALID_ARGUMENT);
  Fd plainFile(::open((directory_.path() + "/plain").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(plainFile.get(), 8192), 0);
  EXPECT_EQ(attach(plainFile.get(), 8192), KV_INVALID_ARGUMENT);
  EXPECT_EQ(attach(-1, 0), KV_OK) << "reading needs no staging memory";
}

TEST_F(ShellTest, GarbageGetsARefusalAndOthersAreServed) {
  const auto node = start(settings());
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  const auto port = static_cast<uint16_t>(node->stats().listen_port);
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(100000, 'g');
  Peer browser = Peer::tcp(port);
  browser.send(std::span(reinterpret_cast<const uint8_t*>(request.data()), request.size()));
  const std::optional<wire::Bytes> answer = browser.receive();
  ASSERT_TRUE(answer);
  const wire::Refused refused = wire::readRefused(*answer);
  EXPECT_EQ(refused.code, wire::Refusal::Protocol);
  EXPECT_NE(refused.message.find("node-0"), std::string::npos);
  EXPECT_TRUE(browser.closedByOther());

  Peer cut = greeted(Peer::tcp(port));
  cut.sendFrames([](wire::Bytes& out) {
    test::appendWrite(out, {1, kLeader, {3, 1}, 1000, false, 0, 0, "cut"});
    out.resize(out.size() - 3);
  });
  cut.close();
  Peer damaged = greeted(Peer::tcp(port));
  damaged.sendFrames([](wire::Bytes& out) {
    test::appendRead(out, {1, {}, {}, 0});
    out.back() ^= 1;
  });
  EXPECT_TRUE(damaged.closedByOther());
  eventually([&] { return node->stats().protocol_errors == 2; });

  Peer client = greeted(Peer::tcp(port));
  EXPECT_EQ(put(client, 9, "still serving", "yes").status, KV_OK);
}

TEST_F(ShellTest, EachHelloThatDoesNotFitIsRefusedWithItsCode) {
  const auto node = start(settings());
  const uint64_t incarnation = node->stats().incarnation;
  const auto refusal = [&](const wire::Hello& hello) {
    Peer peer = Peer::tcp(static_cast<uint16_t>(node->stats().listen_port));
    peer.sendFrames([&](wire::Bytes& out) { wire::appendHello(out, hello); });
    const wire::Refused refused = wire::readRefused(*peer.receive());
    EXPECT_TRUE(peer.closedByOther());
    return refused.code;
  };
  EXPECT_EQ(refusal(test::clientHello(incarnation + 1)), wire::Refusal::IdentityMismatch);
  EXPECT_EQ(refusal(test::clientHello(0, {5, 5})), wire::Refusal::PoolMismatch);
  EXPECT_EQ(refusal(test::clientHello(0, {})), wire::Refusal::PoolMismatch);
  wire::Hello newer = test::clientHello();
  newer.self.wire = {2, 9};
  EXPECT_EQ(refusal(newer), wire::Refusal::WireVersion);
  wire::Hello master = test::clientHello();
  master.self.role = wire::Role::Master;
  EXPECT_EQ(refusal(master), wire::Refusal::WrongRole);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
}

TEST_F(ShellTest, ARestartBringsEveryObjectBack) {
  std::vector<ExtentRef> extents;
  {
    const auto node = start(settings());
    Peer master = master_.accept();
    FakeMaster::fence(master, kLeader);
    Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
    for (uint64_t i = 1; i <= 50; ++i) {
      extents.push_back(put(client, i, "key-" + std::to_string(i), "value-" + std::to_string(i)).extent);
    }
    // A write the restart finds unfinished.
    client.sendFrames([&](wire::Bytes& out) {
      test::appendWrite(out, {51, kLeader, {3, 51}, 1000, false, 0, 0, "unfinished"});
    });
    eventually([&] { return node->stats().used_bytes > 50 * 128; });
  }
  const auto node = start(settings());
  EXPECT_EQ(node->stats().restored_objects, 50u);
  EXPECT_EQ(node->stats().dropped_records, 0u);
  EXPECT_EQ(node->stats().epoch, 3u);
  EXPECT_EQ(node->stats().fenced, 0u);
  Peer master = master_.accept();
  EXPECT_EQ(master_.info_.seen, kLeader);
  EXPECT_EQ(master_.info_.objectLeaseMaxMs, 10000u);
  EXPECT_EQ(master_.info_.highestObject, (ObjectId{3, 50}));
  EXPECT_EQ(master_.snapshot_.size(), 50u);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  for (uint64_t i = 1; i <= 50; ++i) {
    const std::string value = "value-" + std::to_string(i);
    EXPECT_EQ(get(client, extents[i - 1], {3, i}, value.size()), value);
  }
  EXPECT_EQ(put(client, 60, "after", "restart").status, KV_OK) << "the persisted authority is obeyed";
}

TEST_F(ShellTest, ATransientNodeLearnsItsPoolAndLeavesNothing) {
  const auto node = start(settings(true));
  const auto port = static_cast<uint16_t>(node->stats().listen_port);
  Peer early = Peer::tcp(port);
  early.sendFrames([](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
  EXPECT_EQ(wire::readRefused(*early.receive()).code, wire::Refusal::PoolMismatch);
  Peer master = master_.accept();
  EXPECT_TRUE(master_.hello_.self.poolId.isAny());
  EXPECT_TRUE(master_.info_.isTransient);
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::tcp(port));
  EXPECT_EQ(put(client, 1, "key", "value").status, KV_OK);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(ShellTest, AStalledTransferEndsAndItsSpaceComesBack) {
  NodeSettings impatient = settings();
  impatient.transferTimeoutMs = 500;
  const auto node = start(impatient);
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  client.sendFrames([](wire::Bytes& out) {
    test::appendWrite(out, {1, kLeader, {3, 1}, 1 << 20, false, 0, 0, "stalled"});
    out.resize(out.size() + 1000);
  });
  eventually([&] { return node->stats().used_bytes > 0; });
  EXPECT_TRUE(client.closedByOther());
  eventually([&] { return node->stats().used_bytes == 0; });
  EXPECT_EQ(node->stats().write_failures, 1u);
}

TEST_F(ShellTest, ASlowReaderDoesNotHoldUpOthersAndItsFreedBytesStayItsOwn) {
  const auto node = start(settings());
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  const auto port = static_cast<uint16_t>(node->stats().listen_port);
  Peer client = greeted(Peer::tcp(port));
  const std::string large(9 << 20, 'L');
  const WriteReply written = put(client, 1, "large", large);
  ASSERT_EQ(written.status, KV_OK);

  Peer slow = greeted(Peer::tcp(port));
  slow.sendFrames([&](wire::Bytes& out) { test::appendRead(out, {1, written.extent, {3, 1}, large.size()}); });
  ASSERT_EQ(test::readReadReply(*slow.receive()).status, KV_OK);
  master.sendFrames([&](wire::Bytes& out) { test::appendFree(out, 2, kLeader, {{written.extent, {3, 1}}}); });
  const test::FreeAck freed = test::readFreeAck(FakeMaster::next(master, test::sbe::FreeAck::SBE_TEMPLATE_ID));
  EXPECT_TRUE(freed.accepted);
  EXPECT_EQ(put(client, 2, "too large while it is pinned", large).status, KV_NO_SPACE);
  for (uint64_t i = 3; i < 200; ++i)
    ASSERT_EQ(put(client, i, "other", std::string(20000, 'o')).status, KV_OK);
  const auto [payload, right] = slow.receivePayload(large.size());
  EXPECT_TRUE(right);
  EXPECT_EQ(payload, large);
}

TEST_F(ShellTest, AMasterThatReadsSlowlyIsStillObeyed) {
  const auto node = start(settings());
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  // More records than the buffers of the connection take, so that the rest waits in the node.
  const std::string key(4000, 'k');
  for (uint64_t i = 1; i <= 3400; ++i)
    ASSERT_EQ(put(client, i, key, "").status, KV_OK);
  master.sendFrames([](wire::Bytes& out) { test::appendFence(out, 2, {4, 44}, 0); });
  eventually([&] { return node->stats().epoch == 4; });
  EXPECT_EQ(put(client, 3401, key, "").status, KV_STALE_EPOCH);
  EXPECT_TRUE(test::readFenceAck(FakeMaster::next(master, test::sbe::FenceAck::SBE_TEMPLATE_ID)).accepted);
}

TEST_F(ShellTest, TheNodeDialsAgainAndTellsEverythingAnew) {
  const auto node = start(settings());
  {
    Peer master = master_.accept();
    FakeMaster::fence(master, kLeader);
    Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
    EXPECT_EQ(put(client, 1, "key", "value").status, KV_OK);
  }
  Peer again = master_.accept();
  EXPECT_EQ(master_.snapshot_.size(), 1u);
  EXPECT_EQ(master_.snapshot_.front().key, "key");
}

TEST_F(ShellTest, StartFailsWithASentence) {
  const auto node = start(settings());
  const auto second = Node::start(settings());
  EXPECT_EQ(second.status().code(), KV_SEGMENT_IN_USE);
  NodeSettings occupied = settings(true);
  occupied.listenPort = static_cast<uint16_t>(node->stats().listen_port);
  EXPECT_EQ(Node::start(occupied).status().code(), KV_IO);
  NodeSettings missing = settings();
  missing.dataDir = directory_.path() + "/missing";
  const auto failed = Node::start(missing);
  EXPECT_EQ(failed.status().code(), KV_IO);
  EXPECT_NE(failed.status().text().find("/missing"), std::string::npos);
}

}  // namespace
}  // namespace kvpool::node
