// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/checked.h"
#include "base/ids.h"
#include "base/status.h"
#include "base/utf8.h"

namespace kvpool {
namespace {

TEST(Status, EveryCodeHasANameAndASentence) {
  for (int32_t code = 0; code > -1000; --code) {
    const std::string name = statusName(code);
    if (name == "KV_UNKNOWN") continue;
    EXPECT_EQ(name.substr(0, 3), "KV_");
    EXPECT_EQ(statusText(code)[std::strlen(statusText(code)) - 1], '.') << name;
  }
  EXPECT_STREQ(statusName(KV_NOT_FENCED), "KV_NOT_FENCED");
  EXPECT_STREQ(statusName(-102030), "KV_UNKNOWN");
}

TEST(Checked, SaysSoInsteadOfWrapping) {
  EXPECT_EQ(checkedAdd(1, 2), 3u);
  EXPECT_EQ(checkedAdd(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checkedAlignUp(0, 64), 0u);
  EXPECT_EQ(checkedAlignUp(65, 64), 128u);
  EXPECT_EQ(checkedAlignUp(UINT64_MAX - 5, 64), std::nullopt);
  EXPECT_TRUE(rangeInside(10, 5, 10, 15));
  EXPECT_FALSE(rangeInside(10, 6, 10, 15));
  EXPECT_FALSE(rangeInside(9, 2, 10, 15));
  EXPECT_FALSE(rangeInside(12, UINT64_MAX, 10, 15));
  EXPECT_TRUE(rangeInside(15, 0, 10, 15));
}

TEST(Utf8, AcceptsWhatIsWellFormedOnly) {
  for (const char* good : {"", "key", "\x7f", "\u00e4", "\u20ac", "\U0001F600", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(isUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC1\x81", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "a\xE2\x82", "\xC3", "\xC3(", "\xE2\x28\xA1"}) {
    EXPECT_FALSE(isUtf8(bad)) << bad;
  }
  EXPECT_TRUE(isUtf8(std::string_view("\0", 1)));
}

TEST(PoolId, ParsesAUuidAndNothingElse) {
  const std::optional<PoolId> id = parsePoolId("0123abcd-4567-89ab-CDEF-0123456789ab");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->high, 0x0123abcd456789abu);
  EXPECT_EQ(id->low, 0xcdef0123456789abu);
  EXPECT_EQ(toString(*id), "0123abcd-4567-89ab-cdef-0123456789ab");
  for (const char* bad :
       {"", "0123abcd", "0123abcd-4567-89ab-cdef-0123456789a", "0123abcd-4567-89ab-cdef-0123456789abc",
        "0123abcd_4567-89ab-cdef-0123456789ab", "g123abcd-4567-89ab-cdef-0123456789ab"}) {
    EXPECT_FALSE(parsePoolId(bad)) << bad;
  }
}

TEST(ObjectId, EpochCountsFirst) {
  EXPECT_LT((ObjectId{1, 9}), (ObjectId{2, 0}));
  EXPECT_LT((ObjectId{2, 0}), (ObjectId{2, 1}));
}

}  // namespace
}  // namespace kvpool
