// SPDX-License-Identifier: Apache-2.0
// Clients that see the socket of a node on their machine, and clients that do not.
#include <filesystem>

#include "pool/pool.h"

namespace kvpool::test {
namespace {

class Sockets : public testing::Test {
 protected:
  void SetUp() override {
    node_ = startNode("node-0", master_.address(), directory_.path(), 32 << 20, 0, 0, kIpv4, sockets_.path());
    ASSERT_TRUE(master_.awaitNodes(1));
  }

  TemporaryDirectory directory_;
  TemporaryDirectory sockets_;
  TestMaster master_;
  NodeHandle node_;
};

TEST_F(Sockets, BytesGoThroughMemoryByASocketThatIsNotBesideTheSegment) {
  const ClientHandle client = connect(master_.address());
  ASSERT_EQ(put(client.get(), "key", "value"), KV_OK);
  EXPECT_EQ(get(client.get(), "key", 5).value, "value");
  EXPECT_EQ(statsOf(client.get()).shm_bytes, 10u);
  EXPECT_EQ(statsOf(client.get()).shm_refusals, 0u);
}

TEST_F(Sockets, WhereTheSocketIsNotMountedTcpIsUsedAndTheWayOutIsSaid) {
  const std::string elsewhere = sockets_.path() + "-moved";
  std::filesystem::rename(sockets_.path(), elsewhere);
  const ClientHandle client = connect(master_.address());
  ASSERT_EQ(put(client.get(), "key", "value"), KV_OK);
  EXPECT_EQ(get(client.get(), "key", 5).value, "value");
  const kv_client_stats stats = statsOf(client.get());
  EXPECT_EQ(stats.shm_bytes, 0u);
  EXPECT_EQ(stats.shm_refusals, 1u);
  const std::string why = explain(client.get());
  EXPECT_NE(why.find(sockets_.path() + "/node-0.sock: No such file or directory (a container must mount"),
            std::string::npos)
      << why;
  std::filesystem::rename(elsewhere, sockets_.path());
}

}  // namespace
}  // namespace kvpool::test
