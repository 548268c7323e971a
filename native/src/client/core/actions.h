// SPDX-License-Identifier: Apache-2.0
// What the client core asks its shell to do. The core names connections and transfers with numbers of its own.
//
// Memory rule: the shell touches the caller's memory only for SendPayload, ReceivePayload, CopyToStaging,
// CopyFromSegment and CopyFromStaging, and stops at once on the Close, CancelCopy or GivePayloadUp that takes one of
// them back. The core takes all of them back before it lets a batch end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/pieces.h"
#include "client/core/replies.h"
#include "wire/sbe.h"

namespace kvpool::client {

using ConnectionId = uint64_t;
using TransferId = uint64_t;
using BatchId = uint64_t;
using Time = int64_t;  ///< milliseconds of a steady clock

enum class Transport { Tcp, Unix };

/// Answered by opened() or closed().
struct Dial {
  ConnectionId connection = 0;
  Transport transport = Transport::Tcp;
  std::string address;       ///< HOST:PORT, or the path of a unix socket
  std::string node;          ///< the storage node that is meant; empty: a master
  bool isTransient = false;  ///< of that node
};

/// Whole frames, header included.
struct SendFrame {
  ConnectionId connection = 0;
  wire::Bytes frame;
};

/// Sent behind the frames before it, followed by its CRC-32C. Answered by payloadSent().
struct SendPayload {
  ConnectionId connection = 0;
  TransferId transfer = 0;
  Pieces memory;
  uint64_t length = 0;
};

/// The payload that follows the frame just delivered. Without a destination its bytes are dropped; there may be more
/// room than the payload takes. Answered by payloadReceived().
struct ReceivePayload {
  ConnectionId connection = 0;
  TransferId transfer = 0;
  std::optional<Pieces> destination;
  uint64_t length = 0;
};

/// What is left of a payload moves without the caller's memory: what is still received is dropped, and what is still
/// sent is filler, with a checksum that says so. Answered as the payload would have been.
struct GivePayloadUp {
  ConnectionId connection = 0;
  TransferId transfer = 0;
};

/// Sends the frame with a new sealed memory of so many bytes, which CopyToStaging then writes.
struct SendStaging {
  ConnectionId connection = 0;
  wire::Bytes frame;
  uint64_t bytes = 0;
};

/// Maps, for reading only, the descriptors that came with the frame just delivered. Answered by segmentsMapped().
struct MapSegments {
  ConnectionId connection = 0;
  std::vector<AttachedSegment> segments;
};

/// Offers memory of so many bytes to the node, by the protocol of the settings, which CopyToStaging and CopyFromStaging
/// then use. Answered by stagingOffered().
struct OfferStaging {
  ConnectionId connection = 0;
  uint64_t bytes = 0;
};

/// Answered by copiedToStaging().
struct CopyToStaging {
  ConnectionId connection = 0;
  TransferId transfer = 0;
  Pieces source;
  uint64_t length = 0;
  uint64_t stagingOffset = 0;
};

/// Copies an object, or parts of it, out of a mapped segment if its directory record names it before and after.
/// Answered by copiedFromSegment(), with the checksum of the whole: parts that do not fit it are KV_CHECKSUM.
struct CopyFromSegment {
  ConnectionId connection = 0;
  TransferId transfer = 0;
  ExtentRef extent;
  ObjectId object;
  uint64_t offset = 0;
  uint64_t length = 0;  ///< of the object
  Pieces destination;
  const uint64_t* offsets = nullptr;  ///< of parts: where in the object each piece of the destination begins
  uint32_t crc = 0;                   ///< of parts: checksum of the object
};

/// Copies out of the staging memory what the node put there. Answered by copiedFromSegment() with KV_OK.
struct CopyFromStaging {
  ConnectionId connection = 0;
  TransferId transfer = 0;
  uint64_t stagingOffset = 0;
  uint64_t length = 0;
  Pieces destination;
};

/// Takes back a CopyToStaging, CopyFromStaging or CopyFromSegment that has not been answered; it will not be.
struct CancelCopy {
  ConnectionId connection = 0;
  TransferId transfer = 0;
};

/// Closes, with everything queued on it; nothing more is heard of it.
struct Close {
  ConnectionId connection = 0;
};

/// Tell people.
struct Note {
  std::string text;
};

/// A copy of an object, for people and programs that ask where it is.
struct Place {
  std::string node;     ///< its id
  std::string address;  ///< HOST:PORT
  bool inMemory = false;
  uint64_t offset = 0;
  uint64_t objectBytes = 0;
};

struct LineResult {
  int32_t status = 0;
  uint64_t length = 0;
  ObjectId object = {};            ///< Get of parts and PutStart that are KV_OK; AskTask: TaskResult of key_flow.h
  std::vector<Place> places = {};  ///< Locate
};

struct FinishBatch {
  BatchId batch = 0;
  std::vector<LineResult> lines;
};

using Action =
    std::variant<Dial, SendFrame, SendPayload, ReceivePayload, GivePayloadUp, SendStaging, OfferStaging, MapSegments,
                 CopyToStaging, CopyFromSegment, CopyFromStaging, CancelCopy, Close, Note, FinishBatch>;

}  // namespace kvpool::client
