// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <gtest/gtest.h>

#include <optional>

namespace kvpool::net {
namespace {

class ResolverTest : public testing::Test {
 protected:
  void ask(const HostPort& address) {
    answer.reset();
    resolver.resolve(address, [this](Result<std::vector<SocketAddress>> found) { answer.emplace(std::move(found)); });
  }

  EventLoop loop;
  Resolver resolver{loop};
  std::optional<Result<std::vector<SocketAddress>>> answer;
};

/// DNS takes seconds for each name while one of its servers is gone.
TEST_F(ResolverTest, LiteralsDoNotWaitForNames) {
  for (size_t i = 0; i < Resolver::kQuestionsMax; ++i)
    resolver.resolve({"name-" + std::to_string(i) + ".invalid", 1}, [](const auto&) {});
  for (const char* host : {"127.0.0.1", "::1"}) {
    ask({host, 50051});
    EXPECT_FALSE(answer) << "later, not now";
    loop.runOnce(0);
    ASSERT_TRUE(answer) << host;
    ASSERT_TRUE(answer->ok()) << answer->status().text();
    ASSERT_EQ(answer->value().size(), 1u);
    EXPECT_EQ(toString(answer->value().front()), toString(HostPort{host, 50051}));
  }
}

TEST_F(ResolverTest, NamesAreAnsweredInTheLoopsThread) {
  ask({"localhost", 50051});
  while (!answer)
    loop.runOnce(100);
  ASSERT_TRUE(answer->ok()) << answer->status().text();
  EXPECT_FALSE(answer->value().empty());
}

TEST_F(ResolverTest, AnswersInTheLoopAndSaysWhatItCannotResolve) {
  int answers = 0;
  resolver.resolve({"127.0.0.1", 80}, [&](Result<std::vector<SocketAddress>> found) {
    ++answers;
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(toString(found.value().front()), "127.0.0.1:80");
  });
  resolver.resolve({"no-such-host.invalid", 80}, [&](Result<std::vector<SocketAddress>> found) {
    ++answers;
    EXPECT_EQ(found.status().code(), KV_CONNECT_FAILED);
    EXPECT_NE(found.status().text().find("no-such-host.invalid:80"), std::string::npos);
  });
  while (answers < 2)
    loop.runOnce(1000);
}

TEST(LiteralTest, NamesAreNone) {
  EXPECT_FALSE(literal({"localhost", 1}));
  EXPECT_FALSE(literal({"", 1}));
  EXPECT_TRUE(literal({"10.0.0.7", 1}));
  EXPECT_TRUE(literal({"fe80::1", 1}));
}

}  // namespace
}  // namespace kvpool::net
