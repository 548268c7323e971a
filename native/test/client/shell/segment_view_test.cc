// SPDX-License-Identifier: Apache-2.0
// A segment as a client on the same machine reads it, while its node goes over to another layout.
#include "client/shell/segment_view.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/mapping.h"
#include "store/segment_in_memory.h"

namespace kvpool::client {
namespace {

class SegmentViewTest : public ::testing::Test {
 protected:
  SegmentViewTest() : file(::memfd_create("segment", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(store::kSegmentBytesMin)), 0);
    mapping = std::move(store::Mapping::map(file.get(), store::kSegmentBytesMin, true).value());
    store::formatSegment(mapping.bytes(), geometry, {{1, 2}, "node-0", 0, {{1, 2}, {1, 2}}}, gate);
    state.emplace(mapping.bytes(), gate);
    directory.emplace(mapping.bytes(), geometry, *state, gate);
    directory->recover();
  }
  ExtentRef put(const ObjectId& id, const std::string& key, const std::string& value) {
    const uint32_t slot = directory->reserve(id, key, value.size()).value();
    std::memcpy(mapping.bytes().data() + directory->slot(slot).payloadOffset(), value.data(), value.size());
    directory->commit(slot, crc32c(value));
    return {0, slot, directory->slot(slot).generation};
  }
  std::string read(SegmentView& view, const ExtentRef& extent, const ObjectId& id, size_t length) {
    const uint64_t offset = directory->slot(extent.slot).payloadOffset();
    const uint8_t* payload = view.find(extent, id, offset, length);
    return payload == nullptr ? "nothing" : std::string(reinterpret_cast<const char*>(payload), length);
  }
  Result<std::unique_ptr<SegmentView>> view(const wire::VersionRange& layouts) {
    return SegmentView::map(file, store::kSegmentBytesMin, layouts);
  }

  Fd file;
  store::Mapping mapping;
  const store::Geometry geometry = *store::planGeometry(store::kSegmentBytesMin);
  store::StoreGate gate;
  std::optional<store::StatePages> state;
  std::optional<store::Directory> directory;
};

TEST_F(SegmentViewTest, FollowsItsNodeToAnotherLayout) {
  const auto both = view({1, 2});
  ASSERT_TRUE(both.ok()) << both.status().text();
  const ExtentRef before = put({1, 1}, "before", "one");
  EXPECT_EQ(read(*both.value(), before, {1, 1}, 3), "one");
  directory->activate({1, 2});
  const ExtentRef after = put({1, 2}, "after", "two");
  EXPECT_EQ(read(*both.value(), after, {1, 2}, 3), "two");
  EXPECT_EQ(read(*both.value(), before, {1, 1}, 3), "one");
}

TEST_F(SegmentViewTest, MissesWhatIsWrittenInALayoutItDoesNotKnow) {
  const auto old = view({1, 1});
  ASSERT_TRUE(old.ok()) << old.status().text();
  const ExtentRef before = put({1, 1}, "before", "one");
  directory->activate({1, 2});
  const ExtentRef after = put({1, 2}, "after", "two");
  EXPECT_EQ(read(*old.value(), after, {1, 2}, 3), "nothing");
  EXPECT_EQ(read(*old.value(), before, {1, 1}, 3), "one");
  EXPECT_EQ(view({1, 1}).status().code(), KV_SEGMENT_LAYOUT) << "and does not begin anew";
  EXPECT_TRUE(view({2, 2}).ok());
}

}  // namespace
}  // namespace kvpool::client
