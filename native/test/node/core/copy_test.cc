// SPDX-License-Identifier: Apache-2.0
// Copies from other nodes: what the leader asks for is fetched, checked and committed under its own id, or not at all.
#include <gtest/gtest.h>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kLeader;
using test::kMaster;
using test::kOther;

constexpr ConnectionId kSource = 100;
constexpr uint64_t kSourceIncarnation = 815;
const std::string kCopied = std::string(5000, 'v');

wire::Welcome sourceWelcome(uint64_t incarnation = kSourceIncarnation) {
  wire::Welcome welcome;
  welcome.self.role = wire::Role::Node;
  welcome.self.poolId = test::kPool;
  welcome.self.incarnation = incarnation;
  welcome.self.name = "node-1";
  welcome.self.product = "0.1.0";
  welcome.wireChosen = 1;
  return welcome;
}

class CopyTest : public ::testing::Test {
 protected:
  CopyTest() : node(2) {
    node.connectMaster(kMaster, 0);
    node.connectMaster(kOther, 1);
    node.fence(kMaster, kLeader);
    forget();
  }
  void forget() {
    node.inbox(kMaster).clear();
    node.inbox(kOther).clear();
  }

  /// The key is not copied: it must outlive what is made of it.
  static Copy copyOf(uint64_t counter, std::string_view key = "key") {
    Copy copy;
    copy.requestId = counter;
    copy.authority = kLeader;
    copy.objectId = {3, counter};
    copy.payloadLength = kCopied.size();
    copy.payloadCrc = crc32c(kCopied);
    copy.retention = {kPinHard, 0, 77};
    copy.sourceIncarnation = kSourceIncarnation;
    copy.sourceExtent = {0, 9, 99};
    copy.key = key;
    copy.sourceTcp = "10.0.0.2:50061";
    return copy;
  }
  void command(const Copy& copy) {
    node.frame(kMaster, [&](wire::Bytes& out) { test::appendCopy(out, copy); });
  }
  [[nodiscard]] bool answered() {
    const std::vector<uint16_t> types = node.types(kMaster);
    return std::find(types.begin(), types.end(), test::sbe::CommandAck::SBE_TEMPLATE_ID) != types.end();
  }
  CommandAck ack() { return test::readCommandAck(node.last(kMaster, test::sbe::CommandAck::SBE_TEMPLATE_ID)); }

  void dialled(ConnectionId id = kSource, size_t number = 0) {
    node.core->sourceDialled(node.nowMs, id, node.sources.at(number).source, "source 10.0.0.2:50061");
    node.act();
  }
  void welcome(ConnectionId id = kSource) {
    node.frame(id, [](wire::Bytes& out) { wire::appendWelcome(out, sourceWelcome()); });
  }
  ReadRequest asked(ConnectionId id = kSource) {
    return readReadRequest(node.last(id, test::sbe::ReadRequest::SBE_TEMPLATE_ID));
  }
  void reply(uint64_t requestId, int32_t status, uint64_t length, ConnectionId id = kSource) {
    node.others.clear();
    node.frame(id, [&](wire::Bytes& out) { appendReadReply(out, requestId, status, length); });
  }
  /// The payload comes; `crcOff` damages the checksum that was sent, other bytes than kCopied the payload.
  void payload(const std::string& value = kCopied, uint32_t crcOff = 0, ConnectionId id = kSource) {
    const auto& receive = std::get<ReceivePayload>(node.others.back());
    ASSERT_EQ(receive.connection, id);
    ASSERT_EQ(receive.length, value.size());
    const uint32_t crc = node.segment.storePayload(receive.offset, value);
    node.core->payloadReceived(id, crc, crc ^ crcOff);
    node.act();
  }
  /// Up to where the payload comes.
  void begin(uint64_t counter, const std::string& key = "key") {
    command(copyOf(counter, key));
    dialled();
    welcome();
    reply(counter, KV_OK, kCopied.size());
  }
  /// Masters go on being heard, or silence would end their connections first.
  void wait(uint64_t milliseconds) {
    for (uint64_t waited = 0; waited < milliseconds; waited += 1000) {
      for (const ConnectionId master : {kMaster, kOther})
        node.frame(master, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
      node.tick(1000);
    }
  }
  [[nodiscard]] uint64_t usedBytes() const { return node.segment.directory->usedBytes(); }

  CoreInMemory node;
};

TEST_F(CopyTest, FetchesChecksCommitsAndAnswersBehindTheRecord) {
  command(copyOf(1));
  ASSERT_EQ(node.sources.size(), 1u);
  EXPECT_EQ(node.sources[0].address, "10.0.0.2:50061");
  dialled();
  const wire::Hello hello = wire::readHello(node.inbox(kSource).front());
  EXPECT_EQ(hello.self.role, wire::Role::Client);
  EXPECT_EQ(hello.self.name, "node-0");
  EXPECT_EQ(hello.self.poolId, test::kPool);
  EXPECT_EQ(hello.expectedPeer, kSourceIncarnation);
  welcome();
  EXPECT_EQ(asked().extent, (ExtentRef{0, 9, 99}));
  EXPECT_EQ(asked().objectId, (ObjectId{3, 1}));
  EXPECT_EQ(asked().payloadLength, kCopied.size());
  reply(1, KV_OK, kCopied.size());
  EXPECT_FALSE(answered());
  payload();

  EXPECT_EQ(node.types(kMaster), (std::vector<uint16_t>{12, 23}));
  EXPECT_TRUE(ack().accepted);
  EXPECT_EQ(ack().status, KV_OK);
  const test::Record record = node.records(kOther).at(0).records.at(0);
  EXPECT_TRUE(record.committed);
  EXPECT_EQ(record.objectId, (ObjectId{3, 1}));
  EXPECT_EQ(record.key, "key");
  EXPECT_EQ(record.payloadCrc, crc32c(kCopied));
  EXPECT_EQ(record.retention, (Retention{kPinHard, 0, 77}));
  EXPECT_EQ(node.segment.get(record.extent, record.objectId), kCopied);
  EXPECT_EQ(node.core->snapshot().counters.copiesIn, 1u);
  EXPECT_EQ(node.core->snapshot().counters.copiesInBytes, kCopied.size());
  EXPECT_EQ(node.core->snapshot().copiesRunning, 0u);
}

TEST_F(CopyTest, TheNextCopyFromThereTakesTheSameConnection) {
  begin(1);
  payload();
  command(copyOf(2, "other"));
  EXPECT_EQ(node.sources.size(), 1u) << "no second dial";
  EXPECT_EQ(asked().objectId, (ObjectId{3, 2}));
  reply(2, KV_OK, kCopied.size());
  payload();
  EXPECT_EQ(ack().status, KV_OK);
  Copy elsewhere = copyOf(3, "third");
  elsewhere.sourceIncarnation = 816;
  command(elsewhere);
  EXPECT_EQ(node.sources.size(), 2u) << "another life of the source is another source";
  node.tick(Copies::kIdleMs);
  EXPECT_TRUE(node.closeReasons.contains(kSource)) << "an idle connection is not kept for ever";
}

TEST_F(CopyTest, NoFurtherCopyBeginsOnAConnectionWhoseCertificatesEndSoon) {
  begin(1);
  node.core->renew(kSource);
  node.act();
  EXPECT_FALSE(node.closeReasons.contains(kSource)) << "the copy that is under way ends first";
  payload();
  EXPECT_EQ(ack().status, KV_OK);
  EXPECT_TRUE(node.closeReasons.contains(kSource));
  command(copyOf(2, "other"));
  EXPECT_EQ(node.sources.size(), 2u);
}

TEST_F(CopyTest, AnIdleConnectionWhoseCertificatesEndSoonIsClosedAtOnce) {
  begin(1);
  payload();
  node.core->renew(kSource);
  node.act();
  ASSERT_TRUE(node.closeReasons.contains(kSource));
  EXPECT_EQ(node.closeReasons[kSource].find("source 10.0.0.2:50061: "), 0u) << node.closeReasons[kSource];
}

TEST_F(CopyTest, WhatIsHereAlreadyIsSaidAtOnce) {
  node.segment.put({3, 1}, "key", kCopied);
  command(copyOf(1));
  EXPECT_EQ(ack().status, KV_EXISTS);
  command(copyOf(2));
  command(copyOf(2));
  EXPECT_EQ(ack().status, KV_BUSY);
  Copy large = copyOf(3);
  large.payloadLength = uint64_t{1} << 40;
  command(large);
  EXPECT_EQ(ack().status, KV_TOO_LARGE);
  large.payloadLength = node.segment.geometry.dataBytes - 2048;  // its key and its sums have room, but for the others
  command(large);
  EXPECT_EQ(ack().status, KV_NO_SPACE);
  EXPECT_EQ(node.sources.size(), 1u);
}

TEST_F(CopyTest, OnlyTheLeaderCopies) {
  Copy copy = copyOf(1);
  copy.authority = {4, 44};
  command(copy);
  EXPECT_FALSE(ack().accepted);
  EXPECT_TRUE(node.sources.empty());
  EXPECT_EQ(usedBytes(), 0u);
}

TEST_F(CopyTest, ASourceThatDoesNotHaveItLeavesNothing) {
  struct Case {
    const char* name;
    std::function<void()> happens;
    int32_t status;
  };
  const std::vector<Case> cases = {
      {"nobody listens",
       [&] {
         node.core->sourceDialFailed(node.sources.back().source, "refused");
         node.act();
       },
       KV_CONNECT_FAILED},
      {"another life",
       [&] {
         dialled(200, node.sources.size() - 1);
         node.frame(200, [](wire::Bytes& out) {
           wire::appendRefused(out, {wire::Refusal::IdentityMismatch, wire::kWireVersions, "another incarnation"});
         });
       },
       KV_IDENTITY_MISMATCH},
      {"a master behind the address",
       [&] {
         dialled(201, node.sources.size() - 1);
         node.frame(201, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
       },
       KV_IDENTITY_MISMATCH},
      {"freed meanwhile",
       [&] {
         dialled(202, node.sources.size() - 1);
         welcome(202);
         reply(4, KV_NOT_FOUND, 0, 202);
       },
       KV_NOT_FOUND},
      {"damaged there", [&] { reply(5, KV_CHECKSUM, 0, 202); }, KV_CHECKSUM},
      {"another length", [&] { reply(6, KV_OK, 4, 202); }, KV_PROTOCOL},
      {"cut off",
       [&] {
         dialled(203, node.sources.size() - 1);
         welcome(203);
         reply(7, KV_OK, kCopied.size(), 203);
         node.core->closed(node.nowMs, 203);
         node.act();
       },
       KV_TRANSFER_FAILED},
  };
  uint64_t counter = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    forget();
    command(copyOf(++counter));
    EXPECT_GT(usedBytes(), 0u);
    one.happens();
    ASSERT_TRUE(answered());
    EXPECT_TRUE(ack().accepted);
    EXPECT_EQ(ack().status, one.status) << statusName(ack().status);
    EXPECT_EQ(ack().requestId, counter);
    EXPECT_EQ(usedBytes(), 0u);
    EXPECT_EQ(node.core->snapshot().objects, 0u);
  }
}

TEST_F(CopyTest, OtherBytesAreNeverCommitted) {
  begin(1);
  payload(std::string(kCopied.size(), 'x'));
  EXPECT_EQ(ack().status, KV_CHECKSUM) << "whole, but not what the leader knows";
  command(copyOf(2));
  reply(2, KV_OK, kCopied.size());
  payload(kCopied, 1);
  EXPECT_EQ(ack().status, KV_CHECKSUM) << "damaged on the way";
  EXPECT_EQ(usedBytes(), 0u);
  EXPECT_EQ(node.core->snapshot().counters.checksumFailures, 2u);
}

TEST_F(CopyTest, AuthorityAndRemovalAreAskedAgainBeforeTheCommit) {
  begin(1);
  node.command(kMaster, [](wire::Bytes& out) {
    test::appendKeepTombstones(out, {8, kLeader, std::vector<store::Tombstone>{{{3, 1}, "key"}}});
  });
  payload();
  EXPECT_EQ(ack().status, KV_STALE_EPOCH) << "kept meanwhile";
  command(copyOf(2));
  reply(2, KV_OK, kCopied.size());
  node.command(kMaster, [](wire::Bytes& out) { test::appendPurge(out, {9, kLeader, {4, 0}}); });
  payload();
  EXPECT_EQ(ack().status, KV_STALE_EPOCH) << "purged meanwhile";
  Copy copy = copyOf(3);
  copy.objectId = {4, 3};
  command(copy);
  reply(3, KV_OK, kCopied.size());
  node.fence(kOther, {6, 66});
  payload();
  EXPECT_FALSE(ack().accepted) << "another leader meanwhile";
  EXPECT_EQ(ack().status, KV_STALE_EPOCH);
  EXPECT_EQ(node.core->snapshot().objects, 0u);
  EXPECT_EQ(usedBytes(), 0u);
}

TEST_F(CopyTest, EightAtATime) {
  for (uint64_t i = 1; i <= Copies::kRunningMax; ++i)
    command(copyOf(i, "key-" + std::to_string(i)));
  EXPECT_FALSE(answered());
  EXPECT_EQ(node.core->snapshot().copiesRunning, 8u);
  command(copyOf(9, "one too many"));
  EXPECT_EQ(ack().status, KV_QUEUE_FULL);
  node.core->sourceDialFailed(node.sources.at(0).source, "refused");
  node.act();
  forget();
  command(copyOf(10, "room again"));
  EXPECT_FALSE(answered());
}

TEST_F(CopyTest, EverythingElseHasItsTime) {
  command(copyOf(1));
  dialled();
  wait(Copies::kAnswerMs);
  EXPECT_EQ(ack().status, KV_TIMEOUT) << "no welcome";
  EXPECT_TRUE(node.closeReasons.contains(kSource));
  node.core->closed(node.nowMs, kSource);
  command(copyOf(2));
  dialled(101, 1);
  welcome(101);
  wait(Copies::kAnswerMs);
  EXPECT_EQ(ack().status, KV_TIMEOUT) << "no answer to the read";
  node.core->closed(node.nowMs, 101);
  EXPECT_EQ(usedBytes(), 0u);
}

TEST_F(CopyTest, BytesThatMayStillComeKeepTheirExtentUntilTheConnectionIsClosed) {
  begin(1);
  wait(Copies::kTransferMs + 5000);
  EXPECT_EQ(ack().status, KV_TIMEOUT);
  EXPECT_GT(usedBytes(), 0u);
  node.core->payloadReceived(kSource, 0, 0);
  node.core->closed(node.nowMs, kSource);
  EXPECT_EQ(usedBytes(), 0u);
  EXPECT_EQ(node.core->snapshot().objects, 0u);
}

TEST_F(CopyTest, ARestartInTheMiddleDropsIt) {
  begin(1);
  const store::Recovery recovery = node.restart();
  EXPECT_EQ(recovery.unfinished, 1u);
  EXPECT_EQ(recovery.dropped(), 0u);
  EXPECT_EQ(usedBytes(), 0u);
}

TEST_F(CopyTest, TheMasterThatAskedMayGo) {
  begin(1);
  node.core->closed(node.nowMs, kMaster);
  payload();
  EXPECT_EQ(node.core->snapshot().objects, 1u) << "the others hear of it in the stream";
  EXPECT_EQ(node.records(kOther).size(), 1u);
}

}  // namespace
}  // namespace kvpool::node
