// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <gtest/gtest.h>

namespace kvpool {
namespace {

TEST(HostPort, ReadsNamesAndBothFamilies) {
  EXPECT_EQ(parseHostPort("demo-master-0.demo-master.ns.svc:50051").value(),
            (HostPort{"demo-master-0.demo-master.ns.svc", 50051}));
  EXPECT_EQ(parseHostPort("10.0.0.7:1").value(), (HostPort{"10.0.0.7", 1}));
  EXPECT_EQ(parseHostPort("[::1]:65535").value(), (HostPort{"::1", 65535}));
  EXPECT_EQ(toString(HostPort{"::1", 5}), "[::1]:5");
  EXPECT_EQ(toString(HostPort{"host", 5}), "host:5");
}

TEST(HostPort, SaysWhatIsWrong) {
  for (const char* bad : {"", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "host:1x", "::1:5", "[]:5",
                          "ho st:5", "[::1:5", "http://host:5"}) {
    const Result<HostPort> parsed = parseHostPort(bad);
    EXPECT_EQ(parsed.status().code(), KV_INVALID_ARGUMENT) << bad;
    EXPECT_NE(parsed.status().text().find("HOST:PORT"), std::string::npos) << bad;
  }
  EXPECT_FALSE(parseHostPort(std::string(254, 'h') + ":1").ok());
}

TEST(HostPort, ReadsLists) {
  const auto list = parseHostPorts("a:1,[::2]:2", 4);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value(), (std::vector<HostPort>{{"a", 1}, {"::2", 2}}));
  for (const char* bad : {"", "a:1,", ",a:1", "a:1,,b:2", "a:1,a:1", "a:1,b:2,c:3"}) {
    EXPECT_EQ(parseHostPorts(bad, 2).status().code(), KV_INVALID_ARGUMENT) << bad;
  }
}

TEST(HostPort, ReadsNumericAddresses) {
  EXPECT_EQ(parseIpPort("10.0.0.7:20000"), (HostPort{"10.0.0.7", 20000}));
  EXPECT_EQ(parseIpPort("[fe80::1]:1"), (HostPort{"fe80::1", 1}));
  for (const char* bad : {"", "localhost:1", "10.0.0.7", "10.0.0:1", "10.0.0.256:1", "[fe80::1%eth0]:1", "fe80::1:1",
                          "10.0.0.7:0", "10.0.0.7:65536", "[10.0.0.7:1"}) {
    EXPECT_EQ(parseIpPort(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace kvpool
