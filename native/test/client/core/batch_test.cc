// SPDX-License-Identifier: Apache-2.0
// Batches: what their lines share, and what keeps them apart.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

TEST(CoreBatch, ManyKeysShareTheRoundTrips) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "v";
  std::vector<std::string> keys;
  for (int i = 0; i < 32; ++i)
    keys.push_back("key-" + std::to_string(i));
  std::vector<client::Operation> lines;
  for (const std::string& key : keys)
    lines.push_back(operation(key, value.data(), 1, KV_OK));
  const uint64_t batch = h.submit(OpCode::Put, lines);

  const auto grant = h.expectGrant(leader);
  EXPECT_EQ(grant.keys.size(), 32u);
  h.replyGrant(leader, grant, KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  std::vector<uint64_t> writes;
  for (int i = 0; i < 32; ++i)
    writes.push_back(h.expectWrite(node).request);  // all before any answer
  for (uint64_t write : writes)
    h.replyWrite(node, write, KV_OK);
  const auto publish = h.expectPublish(leader);
  EXPECT_EQ(publish.objects.size(), 32u);
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_TRUE(h.result(batch));
  EXPECT_FALSE(h.nextBody(leader));
}

TEST(CoreBatch, WhatIsExplainedIsTheLatestFailureNotAnEarlierOne) {
  CoreHarness h;
  const auto leader = h.lead();
  const std::string tooLong(KV_KEY_BYTES_MAX + 1, 'k');
  h.submit(OpCode::Put, {operation(tooLong, nullptr, 0, KV_OK)});
  EXPECT_EQ(h.core.explanation(), "key '" + tooLong.substr(0, 64) + "...' of 4097 bytes, buffer of 0 bytes: " +
                                      std::string(statusText(KV_INVALID_KEY)));
  h.cut(leader);
  EXPECT_EQ(h.core.explanation(), "master-0:1: cut by the test");
  const std::string cutWithin = std::string(63, 'k') + "\u00e9 and a byte that is no text: \xff";
  h.submit(OpCode::Put, {operation(cutWithin, nullptr, 0, KV_OK)});
  EXPECT_NE(h.core.explanation().find("key '...' of"), std::string::npos) << h.core.explanation();
  const std::string shown = std::string(63, 'k') + "\u00e9" + std::string(KV_KEY_BYTES_MAX, 'k');
  h.submit(OpCode::Put, {operation(shown, nullptr, 0, KV_NOT_REGISTERED)});
  EXPECT_NE(h.core.explanation().find("key '" + shown.substr(0, 63) + "...'"), std::string::npos);
}

TEST(CoreBatch, RequestsStayWithinTheirBoundOfKeysAndBytes) {
  CoreHarness h;
  const auto leader = h.lead();
  std::vector<std::string> keys;
  for (int i = 0; i < 1500; ++i)
    keys.push_back("key-" + std::to_string(i));
  for (int i = 0; i < 300; ++i)
    keys.push_back(std::to_string(i) + std::string(4000, 'x'));
  std::vector<client::Operation> lines;
  for (const std::string& key : keys)
    lines.push_back(operation(key, nullptr, 0, KV_OK));
  h.submit(OpCode::Put, lines);
  size_t total = 0;
  size_t requests = 0;
  while (const auto body = h.nextBody(leader)) {
    const auto grant = readGrantRequest(*body);
    EXPECT_LE(grant.keys.size(), client::kKeysPerRequest);
    EXPECT_LE(body->size(), client::kRequestBytes + 1024);
    total += grant.keys.size();
    ++requests;
  }
  EXPECT_EQ(total, keys.size());
  EXPECT_EQ(requests, 4u);  // the first full by its keys, the second and third by their bytes
}

TEST(CoreBatch, EqualKeysOfOneBatchAreDoneInOrder) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string a = "a", b = "b";
  const uint64_t batch =
      h.submit(OpCode::Put, {operation("k", a.data(), 1, KV_OK), operation("k", b.data(), 1, KV_OK)});
  const auto first = h.expectGrant(leader);
  ASSERT_EQ(first.keys.size(), 1u);
  h.replyGrant(leader, first, KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  const auto write = h.expectWrite(node);
  EXPECT_EQ(write.payload, "a");
  h.replyWrite(node, write.request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  const auto lines = h.result(batch);
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->at(0).status, KV_OK);
  EXPECT_EQ(lines->at(1).status, KV_OK);
}

TEST(CoreBatch, WrongKeysEndAtOnceAndDoNotHoldUpTheOthers) {
  CoreHarness h;
  const auto leader = h.lead();
  const std::string tooLong(KV_KEY_BYTES_MAX + 1, 'k');
  const uint64_t batch =
      h.submit(OpCode::Put, {operation("", nullptr, 0, KV_OK), operation(tooLong, nullptr, 0, KV_OK),
                             operation("\xff\xfe", nullptr, 0, KV_OK), operation("good", nullptr, 0, KV_OK),
                             operation("other", nullptr, 0, KV_NOT_REGISTERED)});
  const auto grant = h.expectGrant(leader);
  ASSERT_EQ(grant.keys.size(), 1u);
  h.replyGrant(leader, grant, KV_EXISTS, {});
  const auto lines = h.result(batch);
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->at(0).status, KV_INVALID_KEY);
  EXPECT_EQ(lines->at(1).status, KV_INVALID_KEY);
  EXPECT_EQ(lines->at(2).status, KV_INVALID_KEY);
  EXPECT_EQ(lines->at(3).status, KV_OK);
  EXPECT_EQ(lines->at(4).status, KV_NOT_REGISTERED);
}

}  // namespace
}  // namespace kvpool::test
