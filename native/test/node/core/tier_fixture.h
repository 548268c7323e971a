// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "node/core/core_in_memory.h"

namespace kvpool::node {

inline const std::string kValue(10'000, 'v');

/// A node with an SSD, one master that leads and one client.
class TierTest : public ::testing::Test {
 protected:
  TierTest() {
    node.addTier();
    meet();
  }
  void meet() {
    node.connectMaster(test::kMaster);
    node.fence(test::kMaster, test::kLeader);
    node.connectClient(test::kClient);
    node.inbox(test::kMaster).clear();
  }
  void restart() {
    node.restart();
    meet();
  }
  /// The power is out: its memory is new then, and its SSD as it was.
  void losePower() {
    node.core.reset();
    std::fill(node.segment.memory.begin(), node.segment.memory.end(), uint8_t{0});
    store::formatSegment(node.segment.memory, node.segment.geometry, node.segment.identity, node.segment.gate);
    node.tierJobs.clear();
    node.restart();
  }
  void purge(const ObjectId& below) {
    node.frame(test::kMaster, [&](wire::Bytes& out) { test::appendPurge(out, {9, test::kLeader, below}); });
  }
  void work() {
    while (node.workTier()) {
    }
  }
  /// The process is stopped now and then; that is not the time of the disk.
  void awhile() {
    node.frame(test::kMaster, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
    node.tick(4 * Tier::kTickMsMax);
  }
  static constexpr size_t kTicksOfPatience = Tier::kPatienceMs / Tier::kTickMsMax;
  static constexpr size_t kTicksOfWrites = Tier::kWritePatienceMs / Tier::kTickMsMax;

  ExtentRef put(uint64_t counter, const std::string& value = kValue) {
    return node.write(test::kClient, test::kLeader, {5, counter}, key(counter), value).extent;
  }
  static std::string key(uint64_t counter) { return "key-" + std::to_string(counter); }
  void demote(uint64_t counter, const ExtentRef& memory, const Authority& authority = test::kLeader,
              const std::string& value = kValue) {
    Copy copy;
    const std::string name = key(counter);
    copy.requestId = counter;
    copy.authority = authority;
    copy.objectId = {5, counter};
    copy.payloadLength = value.size();
    copy.payloadCrc = crc32c(value);
    copy.sourceIncarnation = test::CoreInMemory::kIncarnation;
    copy.sourceExtent = memory;
    copy.toTier = true;
    copy.key = name;
    node.frame(test::kMaster, [&](wire::Bytes& out) { test::appendCopy(out, copy); });
  }
  std::vector<int32_t> answers() {
    std::vector<int32_t> out;
    for (const wire::Bytes& body : node.inbox(test::kMaster)) {
      if (wire::templateOf(body) == test::sbe::CommandAck::SBE_TEMPLATE_ID) {
        out.push_back(test::readCommandAck(body).status);
      }
    }
    node.inbox(test::kMaster).clear();
    return out;
  }
  /// In memory and on the SSD; answers where it is there.
  ExtentRef putBoth(uint64_t counter) {
    demote(counter, put(counter));
    work();
    EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
    return tierExtent(counter);
  }
  ExtentRef tierExtent(uint64_t counter) {
    const std::optional<uint32_t> slot = node.table->slotOf({5, counter});
    return {kTierSegment, slot.value(), node.table->slot(slot.value()).object.generation};
  }
  void askOf(ConnectionId client, uint64_t request, uint64_t counter, const ExtentRef& extent, uint64_t length) {
    node.frame(client, [&](wire::Bytes& out) { appendReadRequest(out, {request, extent, {5, counter}, length}); });
  }
  void ask(uint64_t counter, const ExtentRef& extent) { askOf(test::kClient, counter, counter, extent, kValue.size()); }
  /// The value, or the status that came instead.
  std::string read(uint64_t counter, const ExtentRef& extent) {
    node.others.clear();
    ask(counter, extent);
    work();
    const ReadReply reply = readReadReply(node.last(test::kClient, test::sbe::ReadReply::SBE_TEMPLATE_ID));
    if (reply.status != KV_OK) return statusName(reply.status);
    const auto& send = std::get<SendTierPayload>(node.others.back());
    const std::span<uint8_t> bytes = node.tierPayloads.at(send.op).bytes().first(send.length);
    EXPECT_EQ(send.crc, crc32c(bytes.data(), bytes.size()));
    std::string value(bytes.begin(), bytes.end());
    node.tierPayloads.erase(send.op);
    node.core->payloadSent(test::kClient);
    node.act();
    return value;
  }
  /// Of the reads of a connection, in the order in which they were answered.
  std::vector<ReadReply> replies(ConnectionId client) {
    std::vector<ReadReply> out;
    for (const wire::Bytes& body : node.inbox(client)) {
      if (wire::templateOf(body) == test::sbe::ReadReply::SBE_TEMPLATE_ID) out.push_back(readReadReply(body));
    }
    return out;
  }
  size_t inSnapshot() {
    node.connectMaster(test::kMaster + 1, 1);
    return inSnapshotOf(test::kMaster + 1);
  }
  size_t inSnapshotOf(ConnectionId master) {
    size_t found = 0;
    for (const test::Records& records : node.records(master)) {
      for (const auto& record : records.records)
        found += record.extent.segment == kTierSegment ? 1 : 0;
    }
    return found;
  }

  test::CoreInMemory node{2};
};

}  // namespace kvpool::node
