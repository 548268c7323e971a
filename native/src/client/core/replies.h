// SPDX-License-Identifier: Apache-2.0
// What masters and nodes tell a client, decoded: plain values whose counts and indexes were checked.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/grant.h"
#include "base/ids.h"
#include "wire/handshake.h"
#include "wire/sbe.h"

namespace kvpool::client {

/// Where a storage node is reached, in one of its lives.
struct NodeAddress {
  uint64_t incarnation = 0;
  std::string id;
  std::string tcp;           ///< HOST:PORT
  std::string shm;           ///< BOOTID:PATH of a unix socket; empty when the node offers none
  bool isTransient = false;  ///< memory that an engine lends: its certificate is the engine's, and not node/ID
};

struct Heartbeat {};

/// A node to write to, and what it knows the grant by.
struct GrantTarget {
  uint16_t node = 0;  ///< index into GrantReply::nodes
  GrantMac mac;
};

struct Grant {
  int32_t status = 0;
  ObjectId object;
  std::vector<GrantTarget> targets;
  uint32_t roomMs = 0;  ///< KV_NO_SPACE: something may be evicted then; 0 = nothing is known to give way
  uint8_t pins = 0;     ///< to be written with the object
  uint32_t softPinMs = 0;
};

struct GrantReply {
  uint64_t request = 0;
  int32_t status = 0;
  Authority authority;
  std::vector<NodeAddress> nodes;
  std::vector<Grant> grants;
  std::string unknownNodes = {};  ///< names among the preferred ones that no node has, with commas between them
};

struct Replica {
  uint16_t node = 0;  ///< index into LookupReply::nodes
  ExtentRef extent;
  uint64_t offset = 0;  ///< of the payload in the segment file
};

struct Located {
  int32_t status = 0;
  ObjectId object;
  uint64_t payloadLength = 0;
  uint32_t payloadCrc = 0;
  std::vector<Replica> replicas;
};

struct LookupReply {
  uint64_t request = 0;
  int32_t status = 0;
  Authority authority;
  uint32_t leaseMs = 0;
  std::vector<NodeAddress> nodes;
  std::vector<Located> objects;
};

/// One status per key: the replies to publish, exists, remove and hints. `length` is the payload's of exists, or the
/// number of objects of a hint.
struct KeyStatus {
  int32_t status = 0;
  uint64_t length = 0;
};

struct KeysReply {
  uint64_t request = 0;
  int32_t status = 0;
  std::vector<KeyStatus> results;
};

struct RemoveAllReply {
  uint64_t request = 0;
  int32_t status = 0;
  uint64_t removed = 0;
};

/// How far a copy is that was asked for.
struct TaskReply {
  uint64_t request = 0;
  int32_t status = 0;
  uint64_t task = 0;
  bool moves = false;
  uint8_t state = 0;  ///< of enum kv_task_state
  int32_t why = 0;
  uint64_t ageMs = 0;
  uint64_t restMs = 0;
};

struct WriteReply {
  uint64_t request = 0;
  int32_t status = 0;
  ExtentRef extent = {};
};

struct ReadReply {
  uint64_t request = 0;
  int32_t status = 0;
  uint64_t payloadLength = 0;
};

struct AttachedSegment {
  uint16_t segment = 0;
  uint64_t fileBytes = 0;
};

struct ShmAttached {
  uint64_t request = 0;
  int32_t status = 0;
  std::vector<AttachedSegment> segments;
};

struct UcxAttached {
  uint64_t request = 0;
  int32_t status = 0;
  std::string reason;  ///< why not
};

using Reply = std::variant<Heartbeat, wire::Welcome, wire::Refused, GrantReply, LookupReply, KeysReply, RemoveAllReply,
                           TaskReply, WriteReply, ReadReply, ShmAttached, UcxAttached>;

/// Decodes the body of one frame. Throws wire::Malformed (see wire/sbe.h) for anything a client does not expect.
Reply decodeReply(wire::Body body);

}  // namespace kvpool::client
