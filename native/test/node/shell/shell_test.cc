// SPDX-License-Identifier: Apache-2.0
// What a node does for clients over tcp and shared memory.
#include <fcntl.h>
#include <sys/mman.h>

#include "node/shell/shell_fixture.h"

namespace kvpool::node {
namespace {

/// Behind the payload of a record there are the sums of its blocks.
void expectSums(std::span<const uint8_t> segment, const store::DirectoryRecord& record) {
  const uint8_t* payload = segment.data() + record.offset + store::payloadDistance(record.keyLength);
  for (uint64_t block = 0; block < sumCount(record.payloadLength); ++block) {
    EXPECT_EQ(sumAt(sumsBehind(payload, record.payloadLength), block), crc32c(payload, (block + 1) * kSumBlockBytes));
  }
}

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
  expectSums(segment.value().bytes(), *record);

  const auto sent = store::readIntactRecord(segment.value().bytes().data(), put(client, 4, "sent", value).extent.slot);
  ASSERT_TRUE(sent);
  expectSums(segment.value().bytes(), *sent);

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
  Fd huge(::memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (huge.valid()) {  // a kernel without huge pages has none to refuse
    ASSERT_EQ(::ftruncate(huge.get(), 1 << 30), 0);
    ASSERT_EQ(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    EXPECT_EQ(attach(huge.get(), 8192), KV_INVALID_ARGUMENT) << "one of its pages may be missing";
  }
  Fd plainFile(::open((directory_.path() + "/plain").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(plainFile.get(), 8192), 0);
  EXPECT_EQ(attach(plainFile.get(), 8192), KV_INVALID_ARGUMENT);
  EXPECT_EQ(attach(-1, 0), KV_OK) << "reading needs no staging memory";
}

}  // namespace
}  // namespace kvpool::node
