// SPDX-License-Identifier: Apache-2.0
// What a node bears: peers that do not fit, restarts, stalls, masters that come back.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "node/shell/shell_fixture.h"
#include "store/segment_guard.h"

namespace kvpool::node {
namespace {

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
    auto node = start(settings());
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
    node.reset();  // before the master's end, which it would answer by dialling again
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
  EXPECT_EQ(put(client, 59, "before", "the fence").status, KV_NOT_FENCED);
  master_.fence(master, kLeader);
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
  const node::CommandAck freed = test::readCommandAck(FakeMaster::next(master, test::sbe::CommandAck::SBE_TEMPLATE_ID));
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
  NodeSettings elsewhere = settings(true);
  elsewhere.numa = {store::NumaPlacement::Policy::Node, 999};
  EXPECT_NE(Node::start(elsewhere).status().text().find("999"), std::string::npos);
}

TEST_F(ShellTest, TheSegmentsPagesAreMadePresentUnlessItIsSwitchedOff) {
  for (const bool prefault : {true, false}) {
    NodeSettings wanted = settings(true);
    wanted.prefault = prefault;
    const auto node = start(wanted);
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(node->stats().prefault_bytes, prefault ? store::kSegmentBytesMin : 0);
    eventually([&] { return node->stats().prefaulted_bytes == node->stats().prefault_bytes; });
    EXPECT_EQ(node->stats().page_bytes, static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  }
}

TEST_F(ShellTest, ASegmentOnADiskIsNotPrefaulted) {
  const std::string here = std::filesystem::current_path() / "prefault-XXXXXX";
  std::string onDisk = here;
  ASSERT_NE(::mkdtemp(onDisk.data()), nullptr);
  {
    NodeSettings wanted = settings();
    wanted.dataDir = onDisk;
    wanted.shm = false;  // its path may be too long for a socket
    const auto node = start(wanted);
    ASSERT_NE(node, nullptr);
    const Fd file(::open((onDisk + "/segment-0.kvs").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(store::memoryOf(file.get()).value().kind, store::MemoryKind::Disk) << "run the tests where a disk is";
    EXPECT_EQ(node->stats().prefault_bytes, 0u) << "each start would write the whole segment to the disk";
  }
  std::filesystem::remove_all(onDisk);
}

TEST_F(ShellTest, ASegmentFileThatIsCutShortEndsTheNodeAndNotTheProcess) {
  const std::unique_ptr<Node> node = start(settings());
  ASSERT_NE(node, nullptr);
  Peer master = master_.accept();
  FakeMaster::fence(master, kLeader);
  Peer client = greeted(Peer::tcp(static_cast<uint16_t>(node->stats().listen_port)));
  const std::string value(100'000, 'v');
  const WriteReply written = put(client, 1, "key", value);
  ASSERT_EQ(written.status, KV_OK);
  ASSERT_EQ(::truncate((directory_.path() + "/segment-0.kvs").c_str(), 4096), 0);
  // A write needs a record and bytes that are not there any more. It is not acknowledged, whatever comes first.
  client.sendFrames([&](wire::Bytes& out) {
    test::appendWrite(out, {2, kLeader, {kLeader.epoch, 2}, value.size(), false, 0, 0, "other"});
  });
  EXPECT_TRUE(client.closedByOther());
  while (master.receive()) {
  }
  eventually([&] { return !node->running(); });
}

TEST(SegmentGuard, OtherFaultsGoWhereTheyWentBefore) {
  const Fd file(::memfd_create("guarded", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 8192), 0);
  Result<store::Mapping> mapping = store::Mapping::map(file.get(), 8192, true);
  Result<store::Mapping> stranger = store::Mapping::map(file.get(), 8192, true);
  ASSERT_TRUE(mapping.ok() && stranger.ok());
  const store::SegmentGuard guard(mapping.value().bytes());
  ASSERT_TRUE(guard.guarded());
  mapping.value().bytes()[5000] = 7;
  EXPECT_FALSE(guard.lost());
  ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
  volatile uint8_t* gone = mapping.value().bytes().data() + 5000;
  EXPECT_EQ(*gone, 0);
  EXPECT_TRUE(guard.lost());
  EXPECT_DEATH(
      {
        volatile uint8_t* unguarded = stranger.value().bytes().data() + 5000;
        static_cast<void>(*unguarded);
      },
      "");
}

}  // namespace
}  // namespace kvpool::node
