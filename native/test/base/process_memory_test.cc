// SPDX-License-Identifier: Apache-2.0
#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace kvpool::test {
namespace {

const uint64_t kPage = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));

/// Pages of this process, unmapped in the end.
class Pages {
 public:
  explicit Pages(uint64_t count, int file = -1)
      : bytes_(count * kPage),
        at_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, file, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(at_, bytes_); }

  [[nodiscard]] uint64_t page(uint64_t number) const { return reinterpret_cast<uint64_t>(at_) + number * kPage; }
  void forbid(uint64_t number) const {
    ASSERT_EQ(::mprotect(static_cast<char*>(at_) + number * kPage, kPage, PROT_NONE), 0);
  }
  void unmap(uint64_t number) const { ASSERT_EQ(::munmap(static_cast<char*>(at_) + number * kPage, kPage), 0); }

 private:
  uint64_t bytes_;
  void* at_;
};

int32_t judge(uint64_t address, uint64_t length) {
  return ProcessMemory().judge(address, length).code();
}

TEST(ProcessMemory, MemoryOfTheProcessIsReadable) {
  const Pages pages(3);
  char onStack = 0;
  EXPECT_EQ(judge(pages.page(0), 3 * kPage), KV_OK);
  EXPECT_EQ(judge(pages.page(1) + 17, kPage), KV_OK);
  EXPECT_EQ(judge(reinterpret_cast<uint64_t>(&onStack), 1), KV_OK);
  EXPECT_EQ(judge(reinterpret_cast<uint64_t>(&judge), 1), KV_OK) << "code, of a file, read only";
}

TEST(ProcessMemory, APageWithoutAccessOrWithoutAMappingIsFoundWhereverItLies) {
  constexpr uint64_t kMany = 1 << 18;  // a GiB, none of which is there
  for (const uint64_t hole : {uint64_t{0}, kMany / 3, kMany - 1}) {
    const Pages pages(kMany);
    EXPECT_EQ(judge(pages.page(0), kMany * kPage), KV_OK);
    pages.forbid(hole);
    EXPECT_EQ(judge(pages.page(0), kMany * kPage), KV_INVALID_ARGUMENT) << hole;
    pages.unmap(hole);
    EXPECT_EQ(judge(pages.page(0), kMany * kPage), KV_INVALID_ARGUMENT) << hole;
    EXPECT_EQ(judge(pages.page(hole) + 1, 1), KV_INVALID_ARGUMENT) << hole;
  }
}

TEST(ProcessMemory, PagesBehindTheEndOfAFileAreNone) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::ftruncate(::fileno(file), static_cast<off_t>(kPage)), 0);
  {
    const Pages pages(2, ::fileno(file));
    EXPECT_EQ(judge(pages.page(0), kPage), KV_OK);
    EXPECT_EQ(judge(pages.page(0), 2 * kPage), KV_INVALID_ARGUMENT);
  }
  std::fclose(file);
}

TEST(ProcessMemory, WhatIsNoRangeIsForOthersToRefuse) {
  EXPECT_EQ(judge(0, 0), KV_OK);
  EXPECT_EQ(judge(4096, UINT64_MAX), KV_OK);
}

TEST(ProcessMemory, TheSentenceSaysWhichMemory) {
  const Pages pages(1);
  pages.forbid(0);
  const Status status = ProcessMemory().judge(pages.page(0), 5);
  EXPECT_NE(status.text().find("the 5 bytes at 0x"), std::string::npos);
}

}  // namespace
}  // namespace kvpool::test
