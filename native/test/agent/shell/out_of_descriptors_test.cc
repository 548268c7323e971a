// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "no_descriptors.h"
#include "pool/pool.h"

namespace kvpool::test {
namespace {

TEST(OutOfDescriptors, AnAgentSaysSoOnceAndServesAfterwards) {
  const TemporaryDirectory directory;
  TestMaster master;
  const NodeHandle node = startNode("node-0", master.address(), directory.path());
  ASSERT_TRUE(master.awaitNodes(1));
  const std::string path = directory.path() + "/agent.sock";
  const AgentHandle agent = startAgent(master.address(), path);
  // With its connections made it needs no descriptor but for clients.
  EXPECT_EQ(put(attach(path).get(), "k", "value"), KV_OK);

  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const CapturedLog log;
  const std::string line = "cannot accept a connection; raise the limit of open files";
  {
    const NoDescriptors none;
    connectUnix(socket, path);
    EXPECT_TRUE(eventually([&] { return log.count(line) > 0; }));
    // Ticks enough for a line each.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(get(attach(path).get(), "k").value, "value");
  EXPECT_EQ(log.count(line), 1u) << log.text();
}

}  // namespace
}  // namespace kvpool::test
