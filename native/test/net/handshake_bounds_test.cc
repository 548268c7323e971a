// SPDX-License-Identifier: Apache-2.0
#include "net/handshake_bounds.h"

#include <gtest/gtest.h>

#include <string>

namespace kvpool::net {
namespace {

Host sourceAt(const std::string& host, uint16_t port = 1) {
  return hostOf(resolve({host, port}).value().front());
}

TEST(HandshakeBounds, CountAddressesAndNotPorts) {
  EXPECT_EQ(sourceAt("10.0.0.1", 1), sourceAt("10.0.0.1", 2));
  EXPECT_NE(sourceAt("10.0.0.1"), sourceAt("10.0.0.2"));
  EXPECT_EQ(sourceAt("::ffff:10.0.0.1"), sourceAt("10.0.0.1"));
  EXPECT_NE(sourceAt("2001:db8::1"), sourceAt("2001:db8::2"));
}

TEST(HandshakeBounds, AllAddressesOfANetworkHaveAsMuchAsEight) {
  HandshakeBounds bounds(HandshakesOfAddress{2, 100});
  const auto numbered = [](int i) { return sourceAt("2001:db8::" + std::to_string(i)); };
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(bounds.begin(numbered(i), 1000), "");
  EXPECT_EQ(bounds.begin(numbered(16), 1000), "16 other handshakes from its network of 64 bits are open");
  EXPECT_EQ(bounds.begin(sourceAt("2001:db8:0:1::1"), 1000), "");
  bounds.end(numbered(0));
  EXPECT_EQ(bounds.begin(numbered(16), 1000), "");
}

TEST(HandshakeBounds, OneAddressHasSoManyOpen) {
  HandshakeBounds bounds;
  for (uint32_t i = 0; i < HandshakesOfAddress().openMax; ++i)
    EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "");
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "32 other handshakes from its address are open");
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.2"), 1000), "") << "others are not concerned";
  bounds.tick(9000);
  EXPECT_NE(bounds.begin(sourceAt("10.0.0.1"), 9000), "") << "what is open counts however long";
  bounds.end(sourceAt("10.0.0.1"));
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 9000), "");
}

TEST(HandshakeBounds, OneAddressBeginsSoManyASecond) {
  HandshakeBounds bounds;
  for (uint32_t i = 0; i < HandshakesOfAddress().perSecondMax; ++i) {
    EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000 + i), "");
    bounds.end(sourceAt("10.0.0.1"));
  }
  bounds.tick(1999);
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1999), "more than 100 handshakes a second from its address");
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.2"), 1999), "");
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 2000), "");
}

TEST(HandshakeBounds, AddressesMayHaveBoundsOfTheirOwn) {
  HandshakeBounds bounds(HandshakesOfAddress{2, 3});
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "");
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "2 other handshakes from its address are open");
  bounds.end(sourceAt("10.0.0.1"));
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "");
  bounds.end(sourceAt("10.0.0.1"));
  EXPECT_EQ(bounds.begin(sourceAt("10.0.0.1"), 1000), "more than 3 handshakes a second from its address");
}

TEST(HandshakeBounds, AllTogetherHaveSoManyOpen) {
  HandshakeBounds bounds;
  for (uint32_t i = 0; i < HandshakeBounds::kOpenMax; ++i)
    EXPECT_EQ(bounds.begin(sourceAt("10.0." + std::to_string(i / 8) + ".1"), 1000), "");
  EXPECT_EQ(bounds.begin(sourceAt("10.9.9.9"), 1000), "512 other handshakes are open");
  bounds.end(sourceAt("10.0.0.1"));
  EXPECT_EQ(bounds.begin(sourceAt("10.9.9.9"), 1000), "");
}

}  // namespace
}  // namespace kvpool::net
