// SPDX-License-Identifier: Apache-2.0
// What the node core asks of the shell around it. The shell does these in order; outputs of one connection leave it in
// the order in which they were asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "ssd/table.h"
#include "store/allocator.h"
#include "wire/sbe.h"
#include "wire/staging_offer.h"

namespace kvpool::node {

/// Given by the shell, never reused.
using ConnectionId = uint64_t;
/// Encoded frames; shared because deltas go to every master.
using Frames = std::shared_ptr<const wire::Bytes>;

/// Answered by sent(connection, bytes) as bytes leave.
struct SendFrames {
  ConnectionId connection;
  Frames frames;
};

/// Like SendFrames, with a read-only descriptor of the segment file attached.
struct SendSegments {
  ConnectionId connection;
  Frames frames;
};

/// Send `length` bytes of the segment from `offset`, then `crc`. Answered by payloadSent(connection).
struct SendPayload {
  ConnectionId connection;
  uint64_t offset;
  uint64_t length;
  uint32_t crc;
};

/// Send parts of the segment, `length` bytes together, then `crc`. Answered by payloadSent(connection).
struct SendParts {
  ConnectionId connection;
  std::vector<store::Range> parts;
  uint64_t length;
  uint32_t crc;
};

/// Copy a payload from the segment to the SSD. Answered by tierWritten(op, status).
struct TierWrite {
  uint64_t op;
  uint64_t offset;  ///< in the segment
  uint64_t length;
  uint64_t to;  ///< on the device
  uint32_t crc;
};

/// Write blocks of the tier's table. Answered by tierStored(status); there is never a second one before.
struct TierStore {
  std::shared_ptr<const ssd::Table::Batch> batch;
};

/// Read a payload from the SSD and keep it under the number, or into the staging memory that was taken for a transfer.
/// Answered by tierRead(op, status).
struct TierRead {
  uint64_t op;
  uint64_t from;  ///< on the device
  uint64_t length;
  uint32_t crc;
  std::optional<uint64_t> transfer = {};
};

/// Nobody wants what is read under the number any more: what has not begun need not. Answered by tierRead() all the
/// same.
struct CancelTierRead {
  uint64_t op;
};

/// Send the payload that was read under the number, then `crc`. Answered by payloadSent(connection).
struct SendTierPayload {
  ConnectionId connection;
  uint64_t op;
  uint64_t length;
  uint32_t crc;
};

/// Send parts of the payload that was read under the number, `length` bytes together, then their checksum. Answered by
/// payloadSent(connection).
struct SendTierParts {
  ConnectionId connection;
  uint64_t op;
  std::vector<store::Range> parts;  ///< of the payload
  uint64_t length;
};

/// Forget the payload that was read under the number.
struct DropTierPayload {
  uint64_t op;
};

/// Of every payload that is stored in the segment the shell notes the sums behind it, where there is room for them.

/// The next `length` bytes of the connection go to the segment at `offset`, the four behind them are their checksum.
/// Answered by payloadReceived(connection, computed, sent); no frame is handed in before.
struct ReceivePayload {
  ConnectionId connection;
  uint64_t offset;
  uint64_t length;
};

/// The next `length` bytes of the connection go to these parts of the segment, the four behind them are their checksum.
/// No sums are noted. Answered by payloadReceived(connection, computed, sent); no frame is handed in before.
struct ReceiveParts {
  ConnectionId connection;
  std::vector<store::Range> parts;
  uint64_t length;
};

/// The next `length` bytes of the connection are of no use.
struct DiscardPayload {
  ConnectionId connection;
  uint64_t length;
};

/// Copy from the client's staging memory into the segment. Answered by payloadReceived with the checksum of what was
/// stored and `crc`; no frame is handed in before.
struct CopyStaging {
  ConnectionId connection;
  uint64_t stagingOffset;
  uint64_t offset;
  uint64_t length;
  uint32_t crc;
};

/// The same into parts of the segment, `length` bytes together. No sums are noted.
struct CopyStagingParts {
  ConnectionId connection;
  uint64_t stagingOffset;
  std::vector<store::Range> parts;
  uint64_t length;
  uint32_t crc;
};

/// Verify and map the memfd that came with the last frame. Answered by stagingMapped(connection, status).
struct MapStaging {
  ConnectionId connection;
  uint64_t bytes;
};

/// Reach the memory that the client offers. Answered by remoteConnected(connection, status), unless the connection
/// closes.
struct ConnectRemote {
  ConnectionId connection;
  StagingOffer offer;
};

/// Copy from the client's memory into the segment. Answered by pulled(transfer, good, computed), also when
/// the connection closes; until then the bytes may still change.
struct PullPayload {
  ConnectionId connection;
  uint64_t transfer;
  uint64_t stagingOffset;
  uint64_t offset;
  uint64_t length;
};

/// Copy from the segment into the client's memory. Answered by pushed(transfer, good), also when the
/// connection closes.
struct PushPayload {
  ConnectionId connection;
  uint64_t transfer;
  uint64_t stagingOffset;
  uint64_t offset;
  uint64_t length;
};

/// Take staging memory of this node for a payload that the SSD is to read there, and from which it is moved to the
/// client's memory. Answered by stagingTaken(transfer, good) when there is some, and when the connection closes before.
/// It is taken until PushStaged or DropStaging.
struct TakeStaging {
  ConnectionId connection;
  uint64_t transfer;
  uint64_t length;
};

/// Copy from the staging memory that was taken for the transfer into the client's memory. Answered by
/// pushed(transfer, good), also when the connection closes; nothing is taken any more then.
struct PushStaged {
  ConnectionId connection;
  uint64_t transfer;
  uint64_t stagingOffset;
  uint64_t length;
};

/// Nothing is moved from the staging memory that was taken for the transfer, and nothing is read into it any more.
struct DropStaging {
  uint64_t transfer;
};

/// Send what is queued, then close. Answered by closed(connection).
struct Close {
  ConnectionId connection;
  std::string reason;
  LogLevel level = LogLevel::Info;  ///< at which it is worth a line
};

/// Connect to master number `master`. Answered by dialled(connection, master), dialFailed(master, refused, why),
/// dialDropped(master, why) or nameUnknown(master, why).
struct Dial {
  size_t master;
};

/// Connect to another node, at HOST:PORT. Answered by sourceDialled(connection, source) or sourceDialFailed(source,
/// why).
struct DialSource {
  uint64_t source;
  std::string address;
  std::string node;
  bool isTransient;
};

/// Tell people.
struct Note {
  LogLevel level;
  std::string text;
};

using Action = std::variant<SendFrames, SendSegments, SendPayload, SendParts, ReceivePayload, ReceiveParts,
                            DiscardPayload, CopyStaging, CopyStagingParts, MapStaging, ConnectRemote, PullPayload,
                            PushPayload, TakeStaging, PushStaged, DropStaging, Close, Dial, DialSource, Note, TierWrite,
                            TierStore, TierRead, CancelTierRead, SendTierPayload, SendTierParts, DropTierPayload>;

}  // namespace kvpool::node
