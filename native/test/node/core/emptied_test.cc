// SPDX-License-Identifier: Apache-2.0
// What a node says in its segment about whether objects are in it: at its start, before the first object, at its end.
#include <gtest/gtest.h>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;

class NodeEmptiedTest : public ::testing::Test {
 protected:
  NodeEmptiedTest() { meet(); }

  void meet() {
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
  }
  void restart() {
    node.config.self.incarnation++;
    node.restart();
    node.connectMaster(kMaster);
  }
  ExtentRef put() { return node.write(kClient, kLeader, {5, 1}, "key", "value").extent; }
  bool said() { return store::saysEmptied(node.segment.memory); }

  CoreInMemory node;
};

TEST_F(NodeEmptiedTest, ANewNodeIsUntilAnObjectComes) {
  EXPECT_TRUE(said()) << "also after a leader was obeyed";
  put();
  EXPECT_FALSE(said());
  node.core->ended();
  EXPECT_FALSE(said());
  restart();
  EXPECT_FALSE(said());
}

TEST_F(NodeEmptiedTest, ADrainedNodeIsWhenItEnds) {
  node.free(kMaster, kLeader, {{put(), {5, 1}}});
  EXPECT_FALSE(said()) << "more may come";
  node.core->ended();
  EXPECT_TRUE(said());
  restart();
  EXPECT_TRUE(said()) << "it holds nothing yet";
}

TEST_F(NodeEmptiedTest, ADrainedNodeThatIsKilledIsWhenItStartsAgain) {
  node.free(kMaster, kLeader, {{put(), {5, 1}}});
  restart();
  EXPECT_TRUE(said());
}

TEST_F(NodeEmptiedTest, AnObjectThatIsBeingWrittenIsNoObject) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 2}, "slow", 100));
  EXPECT_FALSE(said()) << "its record is there";
  node.core->ended();
  EXPECT_TRUE(said()) << "nobody was told that it is stored";
  restart();
  EXPECT_TRUE(said());
}

TEST_F(NodeEmptiedTest, ARemovedKeyIsNoObject) {
  node.command(kMaster, [](wire::Bytes& out) { test::appendKeepTombstones(out, {8, kLeader, {{{5, 9}, "gone"}}}); });
  ASSERT_EQ(node.segment.directory->tombstones(), 1U);
  node.core->ended();
  EXPECT_TRUE(said()) << "leaders write it again on a node that lacks it";
}

}  // namespace
}  // namespace kvpool::node
