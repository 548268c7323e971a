// SPDX-License-Identifier: Apache-2.0
// Memory of NPUs, as callers of the library have it. CANN is the fake of test/ascend/fake.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ascend/fake_cann.h"
#include "environment.h"
#include "pool/pool.h"

namespace kvpool::test {

/// Of the device of this thread's context.
class NpuMemory {
 public:
  explicit NpuMemory(const std::string& bytes) : size_(bytes.size()) {
    void* at = nullptr;
    EXPECT_EQ(ascend::functionOf<ascend::AclError (*)(void**, size_t, int)>("aclrtMalloc")(&at, size_, 0),
              ascend::kAclOk);
    at_ = static_cast<uint8_t*>(at);
    EXPECT_EQ(ascend::runtime().acl.memcpy(at_, size_, bytes.data(), size_, ascend::CopyKind::HostToDevice),
              ascend::kAclOk);
  }
  ~NpuMemory() { EXPECT_EQ(ascend::functionOf<ascend::AclError (*)(void*)>("aclrtFree")(at_), ascend::kAclOk); }
  NpuMemory(const NpuMemory&) = delete;
  NpuMemory& operator=(const NpuMemory&) = delete;

  [[nodiscard]] uint8_t* at(size_t offset = 0) const { return at_ + offset; }
  [[nodiscard]] std::string bytes() const {
    std::string copy(size_, '\0');
    EXPECT_EQ(ascend::runtime().acl.memcpy(copy.data(), size_, at_, size_, ascend::CopyKind::DeviceToHost),
              ascend::kAclOk);
    return copy;
  }

 private:
  size_t size_;
  uint8_t* at_ = nullptr;
};

/// Puts values of an NPU's memory, in one run and in pieces, and reads them into another.
inline void roundTripOfNpu(kv_client* client) {
  const std::string value = pattern(3, 300000);
  const NpuMemory from(value);
  const NpuMemory into(std::string(value.size(), 'x'));
  for (const NpuMemory* memory : {&from, &into})
    ASSERT_EQ(kv_client_register(client, memory->at(), value.size()), KV_OK) << explain(client);
  kv_batch_options options{};
  options.struct_size = sizeof options;
  options.flags = KV_BATCH_REGISTERED;
  std::vector<kv_op> lines{line("whole", from.at(), value.size())};
  run(client, KV_OP_PUT, lines, &options);
  ASSERT_EQ(lines[0].status, KV_OK) << explain(client);
  lines = {line("whole", into.at(), value.size())};
  run(client, KV_OP_GET, lines, &options);
  ASSERT_EQ(lines[0].status, KV_OK) << explain(client);
  EXPECT_EQ(lines[0].result_length, value.size());
  EXPECT_TRUE(into.bytes() == value);
  EXPECT_TRUE(get(client, "whole", value.size()).value == value) << "into memory of the host";

  // Of the host and of the NPU, in turn.
  std::string host = pattern(4, 5000);
  std::vector<kv_piece> pieces{{from.at(100000), 7000}, {host.data(), host.size()}, {from.at(), 100}};
  const std::string expected = value.substr(100000, 7000) + host + value.substr(0, 100);
  options.flags = KV_BATCH_PIECES;
  lines = {line("pieces", pieces.data(), pieces.size())};
  run(client, KV_OP_PUT, lines, &options);
  ASSERT_EQ(lines[0].status, KV_OK) << explain(client);
  EXPECT_TRUE(get(client, "pieces", expected.size()).value == expected);
  std::string read(5000, '\0');
  pieces = {{into.at(), 7000}, {read.data(), read.size()}, {into.at(10000), 1000}};
  lines = {line("pieces", pieces.data(), pieces.size())};
  run(client, KV_OP_GET, lines, &options);
  ASSERT_EQ(lines[0].status, KV_OK) << explain(client);
  EXPECT_EQ(read, host);
  EXPECT_TRUE(into.bytes().substr(0, 7000) == expected.substr(0, 7000));
  EXPECT_TRUE(into.bytes().substr(10000, 100) == expected.substr(12000, 100));
  EXPECT_TRUE(into.bytes().substr(10100, 900) == value.substr(10100, 900)) << "no byte behind the value";
  for (const NpuMemory* memory : {&from, &into})
    EXPECT_EQ(kv_client_unregister(client, memory->at()), KV_OK);
}

}  // namespace kvpool::test
