// SPDX-License-Identifier: Apache-2.0
// The master's side of the wire for tests: requests decoded into plain values, replies as frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "client/core/replies.h"
#include "client/core/requests.h"
#include "wire/sbe.h"

namespace kvpool::test::master {

struct NodeInfo {
  Authority seen;
  std::string tcp;
  std::string shm;
  uint64_t capacityBytes = 0;
  bool isTransient = false;
};

struct DirectoryRecord {
  bool committed = false;
  ExtentRef extent;
  ObjectId object;
  uint64_t offset = 0;
  uint64_t payloadLength = 0;
  uint32_t payloadCrc = 0;
  std::string key;
};

struct DirectoryRecords {
  bool snapshot = false;
  uint64_t sequence = 0;
  std::vector<DirectoryRecord> records;
};

struct Ack {
  uint64_t request = 0;
  bool accepted = false;
  Authority seen;
};

struct WantedGrant {
  std::string key;
  uint64_t payloadLength = 0;
  Retention retention = {};
  bool keepsSoftPin = false;
};

struct GrantRequest {
  uint64_t request = 0;
  uint32_t replicas = 0;
  uint32_t deadlineMs = 0;
  bool replace = false;
  std::vector<WantedGrant> keys;
  std::string preferredNodes;
};

struct PublishedObject {
  ObjectId object;
  bool written = false;
  std::vector<uint64_t> committed;
  std::string key;
};

struct PublishRequest {
  uint64_t request = 0;
  std::vector<PublishedObject> objects;
};

/// Lookup, exists, remove; and remove all, with the pattern as its only key.
struct KeysRequest {
  uint64_t request = 0;
  bool force = false;
  std::vector<std::string> keys;
  bool ofGroup = false;
  std::string node = {};  ///< Remove
};

struct HintRequest {
  client::HintWish wish;
  KeysRequest keys;
};

struct CopyRequest {
  uint64_t request = 0;
  std::string key;
  client::CopyWish wish;
};

NodeInfo readNodeInfo(wire::Body body);
DirectoryRecords readDirectoryRecords(wire::Body body);
Ack readFenceAck(wire::Body body);
Ack readCommandAck(wire::Body body);
GrantRequest readGrantRequest(wire::Body body);
PublishRequest readPublishRequest(wire::Body body);
KeysRequest readLookupRequest(wire::Body body);
KeysRequest readExistsRequest(wire::Body body);
KeysRequest readRemoveRequest(wire::Body body);
KeysRequest readRemoveAllRequest(wire::Body body);
CopyRequest readCopyRequest(wire::Body body);
/// Its request and its task.
std::pair<uint64_t, uint64_t> readTaskQuery(wire::Body body);
HintRequest readHintRequest(wire::Body body);

struct FreedExtent {
  ExtentRef extent;
  ObjectId object;
};

wire::Bytes fence(uint64_t request, const Authority& authority, uint64_t objectLeaseMs, const GrantSecret& secret);
wire::Bytes free(uint64_t request, const Authority& authority, std::span<const FreedExtent> extents);
wire::Bytes copyToSsd(uint64_t request, const Authority& authority, uint64_t incarnation,
                      const DirectoryRecord& record);
wire::Bytes copyFrom(uint64_t request, const Authority& authority, uint64_t incarnation, const std::string& address,
                     const std::string& node, const DirectoryRecord& record);
wire::Bytes grantReply(const client::GrantReply& reply, uint32_t deadlineMs);
wire::Bytes lookupReply(const client::LookupReply& reply);
wire::Bytes publishReply(const client::KeysReply& reply);
wire::Bytes existsReply(const client::KeysReply& reply);
wire::Bytes removeReply(const client::KeysReply& reply);
wire::Bytes hintReply(const client::KeysReply& reply);
wire::Bytes removeAllReply(const client::RemoveAllReply& reply);
wire::Bytes taskReply(const client::TaskReply& reply);

}  // namespace kvpool::test::master

namespace kvpool::test {
using namespace master;  // a name of its own: tests of the node have readers of the same names
}  // namespace kvpool::test
