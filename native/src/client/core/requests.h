// SPDX-License-Identifier: Apache-2.0
// What a client tells masters and nodes, as whole frames. Hello and Heartbeat are in wire/handshake.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/grant.h"
#include "base/ids.h"
#include "base/retention.h"
#include "kvpool/kvpool.h"
#include "wire/sbe.h"
#include "wire/staging_offer.h"

namespace kvpool::client {

enum class PutOutcome { Written, NoSpace, Failed };

struct GrantLine {
  std::string_view key;
  uint64_t payloadLength = 0;
  Retention retention = {};
};

struct PublishLine {
  std::string_view key;
  ObjectId object;
  PutOutcome outcome = PutOutcome::Failed;
  std::vector<uint64_t> committed;  ///< incarnations of the nodes that hold it
};

struct WriteLine {
  std::string_view key;
  Authority authority;
  ObjectId object;
  uint64_t payloadLength = 0;
  Retention retention;
  GrantMac mac = {};
};

/// What is the same for every line of a grant request.
struct GrantWish {
  uint32_t replicas = 0;  ///< 0 = the pool's default
  uint32_t deadlineMs = 0;
  bool replace = false;
  std::string_view preferredNodes;
};

/// What is the same for every key of a removal.
struct Removal {
  bool force = false;
  bool ofGroup = false;        ///< the only key is the name of a group
  std::string_view node = {};  ///< only the copy there; empty: every copy
};

enum class Hint : uint8_t { Retain, Release, Prefetch };

/// What is the same for every key of a hint.
struct HintWish {
  Hint hint = Hint::Retain;
  uint32_t forMs = 0;  ///< Retain
  bool ofGroup = false;
};

/// Which nodes, by their ids, shall have a copy, and which one gives its own up for it.
struct CopyWish {
  std::string source;  ///< empty: none
  std::vector<std::string> targets;
};

/// Parts of a value for which there is room; the memory is not looked at.
struct PartsLine {
  ExtentRef extent;
  ObjectId object;
  std::span<const kv_piece> pieces;
  const uint64_t* offsets = nullptr;  ///< where in the object each of them begins
};

enum class PartsEnd { Commit, Abort };

/// Where the payload of a staged write lies.
struct Staged {
  uint64_t offset = 0;
  uint32_t crc = 0;
};

wire::Bytes grantRequest(uint64_t request, const GrantWish& wish, std::span<const GrantLine> lines);
wire::Bytes publishRequest(uint64_t request, std::span<const PublishLine> lines);
wire::Bytes lookupRequest(uint64_t request, std::span<const std::string_view> keys);
wire::Bytes existsRequest(uint64_t request, std::span<const std::string_view> keys);
wire::Bytes removeRequest(uint64_t request, const Removal& removal, std::span<const std::string_view> keys);
wire::Bytes hintRequest(uint64_t request, const HintWish& wish, std::span<const std::string_view> keys);
wire::Bytes removeAllRequest(uint64_t request, bool force, std::string_view pattern);
wire::Bytes copyRequest(uint64_t request, std::string_view key, const CopyWish& wish);
wire::Bytes taskQuery(uint64_t request, uint64_t task);
/// The payload and its CRC-32C follow this frame.
wire::Bytes inlineWrite(uint64_t request, const WriteLine& line);
wire::Bytes stagedWrite(uint64_t request, const WriteLine& line, const Staged& staged);
/// Makes room for a value that comes in parts.
wire::Bytes openWrite(uint64_t request, const WriteLine& line);
/// The pieces and their CRC-32C follow this frame.
wire::Bytes inlineParts(uint64_t request, const PartsLine& line);
wire::Bytes stagedParts(uint64_t request, const PartsLine& line, const Staged& staged);
wire::Bytes endParts(uint64_t request, const ExtentRef& extent, const ObjectId& object, PartsEnd end);
wire::Bytes readRequest(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength);
/// The same, into the staging memory; no payload follows the answer.
wire::Bytes stagedRead(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength,
                       uint64_t stagingOffset);
/// Parts of it: `offsets` says where in the object each of the pieces begins. The answer's payload is the pieces.
wire::Bytes partsRead(uint64_t request, const ExtentRef& extent, const ObjectId& object, uint64_t payloadLength,
                      uint32_t payloadCrc, std::span<const kv_piece> pieces, const uint64_t* offsets);
wire::Bytes shmAttach(uint64_t request, uint64_t stagingBytes);
/// The message of the offer's protocol.
wire::Bytes stagingAttach(uint64_t request, const StagingOffer& offer);

/// Bytes a key adds to a request, with everything that stands next to it: what the request's bound counts.
constexpr size_t requestBytes(std::string_view key) {
  return key.size() + 64;
}

}  // namespace kvpool::client
