// SPDX-License-Identifier: Apache-2.0
// Clients of a whole node that know its protocol and break its rules. Others are served all the same.
#include <fcntl.h>
#include <sys/mman.h>

#include <functional>

#include "client/core/requests.h"
#include "node/shell/shell_fixture.h"

namespace kvpool::node {
namespace {

class HostileClientTest : public ShellTest {
 protected:
  /// A node that obeys kLeader and has one object, {3, 1}.
  void begin(const NodeSettings& settings) {
    node_ = start(settings);
    ASSERT_TRUE(node_);
    leader_.emplace(master_.accept());
    FakeMaster::fence(*leader_, kLeader);
    friend_.emplace(stranger());
    const WriteReply written = put(*friend_, 1, "key", value_);
    ASSERT_EQ(written.status, KV_OK);
    extent_ = written.extent;
  }
  Peer stranger() { return greeted(Peer::tcp(static_cast<uint16_t>(node_->stats().listen_port))); }
  void expectServed() { EXPECT_EQ(get(*friend_, extent_, {3, 1}, value_.size()), value_); }

  const std::string value_ = std::string(size_t{1} << 20, 'v');
  std::unique_ptr<Node> node_;
  std::optional<Peer> leader_;
  std::optional<Peer> friend_;
  ExtentRef extent_;
};

TEST_F(HostileClientTest, AttachesASecondTime) {
  begin(settings());
  constexpr size_t kStaging = 8192;
  const auto memory = [] {
    Fd memfd(::memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(memfd.get(), kStaging), 0);
    EXPECT_EQ(::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return memfd;
  };
  uint64_t errors = 0;
  for (const uint64_t first : {uint64_t{0}, uint64_t{kStaging}}) {
    for (const uint64_t second : {uint64_t{0}, uint64_t{kStaging}}) {
      Peer client = greeted(Peer::unixSocket(directory_.path() + "/shm.sock"));
      const auto attach = [&](uint64_t bytes) {
        wire::Bytes out;
        test::appendShmAttach(out, 1, bytes);
        if (bytes == 0) return client.send(out);
        client.sendWith(out, memory().get());
      };
      attach(first);
      ASSERT_EQ(test::readShmAttached(*client.receive()).status, KV_OK);
      attach(second);
      EXPECT_TRUE(client.closedByOther()) << first << " " << second;
      ++errors;
      eventually([&] { return node_->stats().protocol_errors == errors; });
    }
  }
  expectServed();
}

/// No bytes lie in any memory, so also in one that is not there.
TEST_F(HostileClientTest, WritesPartsFromStagingMemoryThatItHasNot) {
  begin(settings());
  Peer client = stranger();
  client.sendFrames([](wire::Bytes& out) {
    test::appendWrite(out, {1, kLeader, {3, 2}, 4, false, 0, 0, "parts", {}, true});
  });
  const WriteReply room = test::readWriteReply(*client.receive());
  ASSERT_EQ(room.status, KV_OK);
  const std::vector<kv_piece> ofNoBytes{{nullptr, 0}};
  const std::vector<uint64_t> offsets{0};
  for (const std::vector<kv_piece>& pieces : {std::vector<kv_piece>{}, ofNoBytes}) {
    client.send(client::stagedParts(2, {room.extent, {3, 2}, pieces, offsets.data()}, {}));
    EXPECT_EQ(test::readWriteReply(*client.receive()).status, KV_INVALID_ARGUMENT);
  }
  expectServed();
}

TEST_F(HostileClientTest, CommandsLikeAMaster) {
  begin(settings());
  static constexpr Authority kUsurper{9, 99};
  Copy copy;
  copy.requestId = 1;
  copy.authority = kLeader;
  copy.objectId = {3, 2};
  copy.key = "copy";
  copy.sourceTcp = "127.0.0.1:1";
  const std::vector<std::function<void(wire::Bytes&)>> commands{
      [](wire::Bytes& out) { test::appendFence(out, 1, kUsurper, 10000); },
      [&](wire::Bytes& out) {
        test::appendFree(out, 1, kLeader, {{extent_, {3, 1}}});
      },
      [](wire::Bytes& out) {
        test::appendPurge(out, {1, kLeader, {3, 9}});
      },
      [](wire::Bytes& out) {
        test::appendKeepTombstones(out, {1, kLeader, {{{3, 1}, "key"}}});
      },
      [&](wire::Bytes& out) { test::appendCopy(out, copy); },
      [](wire::Bytes& out) {
        test::appendActivate(out, {1, kLeader, {}});
      },
      [](wire::Bytes& out) { test::appendLeaderLeaves(out, kLeader); },
  };
  for (size_t i = 0; i < commands.size(); ++i) {
    Peer client = stranger();
    client.sendFrames(commands[i]);
    EXPECT_TRUE(client.closedByOther()) << i;
  }
  eventually([&] { return node_->stats().protocol_errors == commands.size(); });
  EXPECT_EQ(node_->stats().epoch, kLeader.epoch);
  EXPECT_EQ(node_->stats().objects, 1u);
  expectServed();
  EXPECT_EQ(put(*friend_, 2, "other", "x").status, KV_OK) << "the leader's grants still count";
}

}  // namespace
}  // namespace kvpool::node
