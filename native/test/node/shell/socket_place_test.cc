// SPDX-License-Identifier: Apache-2.0
#include "node/shell/socket_place.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "net/socket.h"
#include "node/shell/shell_fixture.h"

namespace kvpool::node {
namespace {

namespace fs = std::filesystem;

NodeSettings place(const std::string& socketDir, const std::string& id) {
  NodeSettings settings;
  settings.dataDir = "/data";
  settings.socketDir = socketDir;
  settings.nodeId = id;
  return settings;
}

TEST(SocketPlace, IsBesideTheSegmentUnlessThereIsADirectoryForSockets) {
  EXPECT_EQ(socketPath(place("", "demo-a-0")).value(), "/data/shm.sock");
  EXPECT_EQ(socketPath(place("/run/kvpool/ns.demo", "demo-a-0")).value(), "/run/kvpool/ns.demo/demo-a-0.sock");
  EXPECT_EQ(socketPath(place("/run", "a.node.example_1")).value(), "/run/a.node.example_1.sock");
}

TEST(SocketPlace, AnIdThatIsTooLongOrNoFileNameBecomesANumber) {
  const std::string longId(99, 'n');
  EXPECT_EQ(socketPath(place("/a", longId)).value().size(), net::kSocketPathBytesMax);
  std::set<std::string> paths;
  for (const std::string& id : {longId + "n", longId + "m", std::string("../escape"), std::string(".hidden")}) {
    const std::string path = socketPath(place("/a", id)).value();
    EXPECT_EQ(path.size(), std::string("/a/0123456789abcdef.sock").size()) << path;
    EXPECT_EQ(path, socketPath(place("/a", id)).value()) << "the same after every start";
    paths.insert(path);
  }
  EXPECT_EQ(paths.size(), 4u);
}

TEST(SocketPlace, ADirectoryWithoutRoomForAnyNameIsRefusedWithTheBound) {
  constexpr size_t kRoom = 85;
  EXPECT_TRUE(socketPath(place("/" + std::string(kRoom - 1, 'd'), std::string(40, 'n'))).ok());
  const auto refused = socketPath(place("/" + std::string(kRoom, 'd'), std::string(40, 'n')));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().text().find("has 86 bytes, and at most 85 leave room"), std::string::npos)
      << refused.status().text();
}

class DeadSockets : public testing::Test {
 protected:
  std::string path(const std::string& name) { return directory_.path() + "/" + name; }
  /// Made two minutes ago.
  void age(const std::string& name) {
    timespec times[2]{};
    times[0].tv_sec = times[1].tv_sec = std::time(nullptr) - 120;
    ASSERT_EQ(::utimensat(AT_FDCWD, path(name).c_str(), times, 0), 0);
  }
  Fd listenAt(const std::string& name) { return std::move(net::listenUnix(path(name)).value()); }

  test::TemporaryDirectory directory_;
};

TEST_F(DeadSockets, AreRemovedAndNothingElseIs) {
  (void)listenAt("dead.sock");
  (void)listenAt("dead.other");
  (void)listenAt("new.sock");
  const Fd alive = listenAt("alive.sock");
  std::ofstream(path("file.sock")) << "text";
  for (const char* old : {"dead.sock", "dead.other", "alive.sock", "file.sock"})
    age(old);
  removeDeadSockets(directory_.path());
  EXPECT_FALSE(fs::exists(path("dead.sock")));
  for (const char* kept : {"dead.other", "new.sock", "alive.sock", "file.sock"})
    EXPECT_TRUE(fs::exists(path(kept))) << kept;
}

TEST_F(DeadSockets, ADirectoryThatIsNotThereIsLeftToWhoListensInIt) {
  removeDeadSockets(directory_.path() + "/missing");
  EXPECT_FALSE(fs::exists(path("missing")));
}

TEST_F(ShellTest, NodesShareADirectoryOfSocketsAndRemoveTheirOwn) {
  test::TemporaryDirectory sockets;
  test::TemporaryDirectory otherData;
  NodeSettings first = settings();
  first.socketDir = sockets.path();
  NodeSettings second = first;
  second.nodeId = "node-1";
  second.dataDir = otherData.path();
  auto one = start(first);
  Peer master = master_.accept();
  EXPECT_TRUE(master_.info_.shm.ends_with(":" + sockets.path() + "/node-0.sock")) << master_.info_.shm;
  {
    const auto two = start(second);
    (void)greeted(Peer::unixSocket(sockets.path() + "/node-0.sock"));
    EXPECT_TRUE(fs::exists(sockets.path() + "/node-1.sock"));
  }
  EXPECT_FALSE(fs::exists(sockets.path() + "/node-1.sock"));
  one.reset();
  EXPECT_TRUE(fs::is_empty(sockets.path()));
  EXPECT_FALSE(fs::exists(directory_.path() + "/shm.sock"));
}

TEST_F(ShellTest, ADirectoryOfSocketsThatIsNotThereIsNamed) {
  NodeSettings wanted = settings();
  wanted.socketDir = directory_.path() + "/missing";
  const auto refused = Node::start(wanted);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().text().find("missing/node-0.sock: No such file"), std::string::npos)
      << refused.status().text();
}

}  // namespace
}  // namespace kvpool::node
