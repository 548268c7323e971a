// SPDX-License-Identifier: Apache-2.0
// Kinds of memory, pools of huge pages, places on NUMA nodes. Pools are directories of this test with the kernel's
// files in them, as machines that run tests have none as a rule.
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "store/huge_pages.h"
#include "store/memory_lock.h"
#include "store/numa.h"
#include "store/segment_file.h"
#include "store/segment_in_memory.h"
#include "temporary_directory.h"

namespace kvpool::store {
namespace {

using Policy = NumaPlacement::Policy;
constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(MemoryKind, FollowsFromTheFileSystem) {
  EXPECT_EQ(memoryOf(TMPFS_MAGIC, 4096, 4096).kind, MemoryKind::Tmpfs);
  const Memory huge = memoryOf(HUGETLBFS_MAGIC, 2 * kMiB, 4096);
  EXPECT_EQ(huge.kind, MemoryKind::HugePages);
  EXPECT_EQ(huge.pageBytes, 2 * kMiB);
  const Memory disk = memoryOf(0xEF53, 1024, 16384);
  EXPECT_EQ(disk.kind, MemoryKind::Disk);
  EXPECT_EQ(disk.pageBytes, 16384u) << "blocks of a disk are no pages";
}

class HugePages : public ::testing::Test {
 protected:
  HugePagePool pool(uint64_t pageBytes, uint64_t total, uint64_t free, uint64_t promised) {
    const std::string size = directory_.path() + "/hugepages-" + std::to_string(pageBytes >> 10) + "kB";
    std::filesystem::create_directory(size);
    std::ofstream(size + "/nr_hugepages") << total << '\n';
    std::ofstream(size + "/free_hugepages") << free << '\n';
    std::ofstream(size + "/resv_hugepages") << promised << '\n';
    return readHugePagePool(directory_.path(), pageBytes);
  }
  test::TemporaryDirectory directory_;
};

TEST_F(HugePages, AreCountedWithoutThoseThatOthersWerePromised) {
  EXPECT_TRUE(checkHugePages(pool(2 * kMiB, 100, 60, 10), 100 * kMiB, "segment-0.kvs").ok());
  const Status short1 = checkHugePages(pool(2 * kMiB, 100, 60, 11), 100 * kMiB, "segment-0.kvs");
  EXPECT_EQ(short1.code(), KV_IO);
  EXPECT_NE(short1.text().find("needs 50 huge pages of 2 MiB, but 49 of 100 are free"), std::string::npos)
      << short1.text();
  EXPECT_NE(short1.text().find("echo 101 > " + directory_.path() + "/hugepages-2048kB/nr_hugepages"), std::string::npos)
      << short1.text();
}

TEST_F(HugePages, OfAGibibyteAreNamedSo) {
  const Status none = checkHugePages(pool(1024 * kMiB, 0, 0, 0), 1025 * kMiB, "s");
  EXPECT_NE(none.text().find("needs 2 huge pages of 1 GiB, but 0 of 0 are free"), std::string::npos) << none.text();
  EXPECT_NE(none.text().find("echo 2 > "), std::string::npos) << none.text();
}

TEST_F(HugePages, OfASizeTheKernelDoesNotHaveAreNone) {
  EXPECT_EQ(readHugePagePool(directory_.path(), 512 * kMiB).free, 0u);
}

TEST(Numa, PlacementsAreReadFromText) {
  EXPECT_EQ(parseNumaPlacement("").value().policy, Policy::Inherited);
  EXPECT_EQ(parseNumaPlacement("local").value().policy, Policy::Local);
  EXPECT_EQ(parseNumaPlacement("interleave").value().policy, Policy::Interleave);
  EXPECT_EQ(parseNumaPlacement("3").value(), (NumaPlacement{Policy::Node, 3}));
  for (const char* wrong : {"Local", "-1", "1024", "1 ", "0x1", "99999999999999", "node0"}) {
    EXPECT_EQ(parseNumaPlacement(wrong).status().code(), KV_INVALID_ARGUMENT) << wrong;
  }
}

TEST(Numa, NodesAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parseNumaNodes("0\n"), (std::vector<uint32_t>{0}));
  EXPECT_EQ(parseNumaNodes("0-2,8\n"), (std::vector<uint32_t>{0, 1, 2, 8}));
  EXPECT_EQ(parseNumaNodes("\n"), std::vector<uint32_t>{});
  EXPECT_EQ(parseNumaNodes("x,2-y,1"), (std::vector<uint32_t>{1})) << "what is not understood is left out";
  EXPECT_LE(parseNumaNodes("0-4294967295").size(), 1024u);
}

TEST(Numa, RoomOfANodeIsWhatIsFreeOrHoldsFilesOnDisk) {
  const char* text =
      "Node 0 MemTotal:       24731708 kB\nNode 0 MemFree:            1000 kB\nNode 0 Active(file):   20 kB\n"
      "Node 0 Inactive(file):        4 kB\nNode 0 Active(anon): 5 kB\nHugePages_Free: 3\n";
  EXPECT_EQ(numaRoomBytes(text), 1024u * 1024);
  EXPECT_EQ(numaRoomBytes(""), 0u);
}

TEST(Numa, BindingsNameTheNodesTheyAreAbout) {
  const std::vector<uint32_t> nodes = {0, 1, 70};
  const NumaBinding local = planNumaBinding({Policy::Local, 0}, nodes, 1).value();
  EXPECT_EQ(local.mode, MPOL_PREFERRED);
  EXPECT_EQ(local.nodes, (std::vector<unsigned long>{2}));
  const NumaBinding all = planNumaBinding({Policy::Interleave, 0}, nodes, 0).value();
  EXPECT_EQ(all.mode, MPOL_INTERLEAVE);
  EXPECT_EQ(all.nodes, (std::vector<unsigned long>{3, 1UL << 6}));
  const NumaBinding one = planNumaBinding({Policy::Node, 70}, nodes, 0).value();
  EXPECT_EQ(one.mode, MPOL_BIND);
  EXPECT_EQ(one.nodes, (std::vector<unsigned long>{0, 1UL << 6}));
}

TEST(Numa, ANodeThatIsNotThereIsRefusedWithThoseThatAre) {
  const std::vector<uint32_t> nodes = {0, 2};
  const Result<NumaBinding> refused = planNumaBinding({Policy::Node, 1}, nodes, 0);
  EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(refused.status().text(), "this machine has no memory on NUMA node 1; nodes with memory: 0, 2");
}

TEST(LockedMemory, ARefusalNamesTheLimitAndHowToRaiseIt) {
  const Status refused = lockRefused(64 * kMiB, 8 * kMiB, ENOMEM, "in /dev/shm/x");
  EXPECT_EQ(refused.code(), KV_IO);
  for (const char* part : {"64 MiB", "/dev/shm/x", "may lock 8 MiB", "ulimit -l unlimited", "LimitMEMLOCK", "IPC_LOCK"})
    EXPECT_NE(refused.text().find(part), std::string::npos) << part << " in " << refused.text();
  const Status strange = lockRefused(64 * kMiB, RLIM_INFINITY, ENOMEM, "s");
  EXPECT_EQ(strange.text().find("may lock"), std::string::npos) << "there is no limit to raise";
}

/// 1 MiB is within what every process may lock; what is not mapped never is.
TEST(LockedMemory, PagesThatComeAreLocked) {
  const auto lockedKiB = [] {
    std::ifstream status("/proc/self/status");
    uint64_t amount = 0;
    for (std::string word; status >> word;) {
      if (word == "VmLck:") status >> amount;
    }
    return amount;
  };
  const Fd file(::memfd_create("lock-test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), kMiB), 0);
  const Result<Mapping> mapping = Mapping::map(file.get(), kMiB, true);
  ASSERT_TRUE(mapping.ok());
  const uint64_t before = lockedKiB();
  ASSERT_TRUE(lockMemory(mapping.value().bytes(), "s").ok());
  EXPECT_EQ(lockedKiB(), before + 1024);
}

/// The real call, on a node that every machine has as far as it has NUMA at all.
TEST(Numa, ASegmentOnNode0CanBeMadeAndOneOnNode999Not) {
  test::TemporaryDirectory directory;
  StoreGate gate;
  const SegmentIdentity identity{{1, 2}, "node-0", 0};
  const auto open = [&](const NumaPlacement& numa) {
    return openSegment(directory.path(), identity, kSegmentBytesMin, "t", test::kBoot, gate, numa);
  };
  const Result<SegmentFile> refused = open({Policy::Node, 999});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().text().find("node 999"), std::string::npos) << refused.status().text();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "nothing half-made stays";
  if (!std::filesystem::exists(numaNodeDirectory(0))) return;
  for (const NumaPlacement& numa :
       {NumaPlacement{Policy::Local, 0}, NumaPlacement{Policy::Interleave, 0}, NumaPlacement{Policy::Node, 0}}) {
    const Result<SegmentFile> segment = open(numa);
    ASSERT_TRUE(segment.ok()) << segment.status().text();
    EXPECT_EQ(segment.value().mapping.bytes().size(), kSegmentBytesMin);
    std::filesystem::remove(directory.path() + "/segment-0.kvs");
  }
}

}  // namespace
}  // namespace kvpool::store
