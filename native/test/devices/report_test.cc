// SPDX-License-Identifier: Apache-2.0
#include "devices/report.h"

#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"

namespace kvpool::devices {
namespace {

using ascend::Absence;

Finding missing(const std::string& text) {
  return {"cann", Level::Missing, Absence::CannLibraryNotFound, text, "Install it"};
}

TEST(Report, LinesSayLevelCheckReasonAndRemedy) {
  EXPECT_EQ(text({missing("none"), {"driver", Level::Ok, std::nullopt, "HDK 25.5", ""}}),
            "missing\tcann (CannLibraryNotFound): none. Install it\nok\tdriver: HDK 25.5\n");
}

TEST(Report, JsonHasTheReasonOfTheWorst) {
  EXPECT_EQ(json({{{"driver", Level::Ok, std::nullopt, "HDK", ""}}, {3, 5}, false}),
            R"({"reason":"","blocking":false,"npus":[3,5],"findings":[)"
            R"({"check":"driver","level":"ok","reason":"","text":"HDK","remedy":""}]})");
  EXPECT_EQ(
      json({{missing("none")}, {}, true}),
      R"({"reason":"CannLibraryNotFound","blocking":true,"npus":[],"findings":[)"
      R"({"check":"cann","level":"missing","reason":"CannLibraryNotFound","text":"none","remedy":"Install it"}]})");
}

TEST(Report, BytesThatJsonHasNotAreWrittenOtherwise) {
  const std::string made = json({{missing("a\"b\\c\nd\x01")}, {}, false});
  EXPECT_NE(made.find(R"(a\"b\\c\u000ad\u0001)"), std::string::npos) << made;
  EXPECT_NE(json({{missing("not \xff text")}, {}, false}).find("not ? text"), std::string::npos);
}

TEST(Report, AMessageHasNothingThatIsOk) {
  const std::string made = message({{{"driver", Level::Ok, std::nullopt, "HDK", ""}}, {0}, false});
  EXPECT_EQ(made, R"({"reason":"","blocking":false,"npus":[0],"findings":[]})");
}

TEST(Report, AMessageIsWholeAndFits) {
  for (const std::string& unit :
       {std::string("x"), std::string("\""), std::string("\x01"), std::string("\xe4\xbd\xa0")}) {
    std::string huge;
    while (huge.size() < 20'000)
      huge += unit;
    std::vector<Finding> all(6, missing(huge));
    const std::string made = message({all, {}, false});
    EXPECT_LE(made.size(), kMessageBytesMax);
    EXPECT_GT(made.size(), 1000U) << "more fits";
    EXPECT_TRUE(isUtf8(made));
    EXPECT_TRUE(made.ends_with("]}")) << made;
    EXPECT_NE(made.find(" ..."), std::string::npos);
  }
  const std::string fits = message({{missing("short")}, {}, false});
  EXPECT_EQ(fits, json({{missing("short")}, {}, false})) << "nothing is cut that fits";
}

}  // namespace
}  // namespace kvpool::devices
