// SPDX-License-Identifier: Apache-2.0
// A batch as the client core carries it: what was asked for each key, how far it is, and what waits for the leader.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/core/actions.h"
#include "client/core/descriptor_cache.h"
#include "client/core/requests.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

enum class OpCode {
  Put,
  Get,
  Exists,
  Remove,
  RemoveAll,
  Retain,
  Release,
  Prefetch,
  PutStart,
  PutParts,
  PutEnd,
  PutRevoke,
  Copy,
  AskTask,
  Locate
};

/// What the leader is told of the future of objects.
constexpr bool isHint(OpCode op) {
  return op == OpCode::Retain || op == OpCode::Release || op == OpCode::Prefetch;
}

/// Steps of puts in many calls.
constexpr bool isOfPutSession(OpCode op) {
  return op == OpCode::PutStart || op == OpCode::PutParts || op == OpCode::PutEnd || op == OpCode::PutRevoke;
}

/// Copies that are asked for by name. A batch of them has one line.
constexpr bool isOfTask(OpCode op) {
  return op == OpCode::Copy || op == OpCode::AskTask;
}

/// One line as submitted. Key and data are the caller's memory, valid until the batch is finished.
struct Operation {
  std::string_view key;
  Pieces memory = {};       ///< Put: source, never written through; Get: destination
  uint64_t length = 0;      ///< of the memory; PutStart: of the value
  int32_t refused = KV_OK;  ///< a status the shell already found, e.g. KV_NOT_REGISTERED: the line ends with it
  uint64_t group = 0;       ///< Put, PutStart
  /// Get of parts, PutParts: where in the value each piece of the memory begins; the caller's memory. Null: the whole
  /// value.
  const uint64_t* offsets = nullptr;
  ObjectId meant = {};  ///< Get of parts: the object that it must be; none: whichever. PutParts and later: which
};

/// Of a pattern of keys that are to be removed.
constexpr size_t kPatternBytesMax = 1024;

/// KV_OK, or KV_INVALID_KEY.
int32_t judgeKey(std::string_view key);

struct Submission {
  BatchId id = 0;
  OpCode op = OpCode::Get;
  std::vector<Operation> lines;  ///< RemoveAll: one line, whose key is the pattern of keys
  Time deadline = 0;
  bool force = false;      ///< Remove, RemoveAll: also what is leased
  uint32_t replicas = 0;   ///< Put: 0 = the pool's default
  std::string nodes;       ///< Put: tried first, with commas between them; Remove: the one whose copy alone goes
  bool upsert = false;     ///< Put: replaces what exists
  bool reuse = false;      ///< Get: reads what is leased without asking, and remembers what it is told
  uint8_t pins = 0;        ///< Put
  uint32_t softPinMs = 0;  ///< Put: 0 = the pool's default
  bool ofGroups = false;   ///< Remove and hints: keys are names of groups
  uint32_t retainMs = 0;   ///< Retain
  CopyWish copy;           ///< Copy
  uint64_t task = 0;       ///< AskTask
};

struct PutState {
  struct Target {
    uint64_t node = 0;
    TransferId transfer = 0;
    std::optional<int32_t> status;
    ConnectionId connection = 0;  ///< in parts
    ExtentRef extent = {};        ///< likewise
    GrantMac mac = {};            ///< not in parts
  };
  ObjectId object;
  std::vector<Target> targets;
  PutOutcome outcome = PutOutcome::Failed;
  int32_t writeFailure = KV_OK;
  uint32_t noSpaceTries = 0;  ///< since somebody last said that room will come
  uint32_t failedTries = 0;   ///< grants of which no node took the value
  uint32_t refusedTries = 0;  ///< those of them that no node took for the leader's
};

struct GetState {
  ObjectId object;
  uint32_t crc = 0;
  std::vector<Descriptor::Copy> copies;  ///< not yet tried, best last
  Time leasedUntil = 0;
  uint32_t lookups = 0;
  bool remembered = false;         ///< being read by what an earlier lookup said
  bool seen = false;               ///< it was described to us
  int32_t failure = KV_NOT_FOUND;  ///< of the latest copy tried
};

struct Line {
  Operation op;
  LineResult result;
  bool done = false;
  int32_t obstacle = KV_TIMEOUT;  ///< what stood in the way last: the status if time runs out
  uint32_t tries = 0;             ///< repetitions so far, for the backoff
  bool lost = false;              ///< a request of this line went down with its connection; it may have been done
  std::optional<uint32_t> next;   ///< the next line with the same key, which waits for this one
  PutState put;
  GetState get;
};

struct Batch {
  Submission asked;
  std::vector<Line> lines;
  uint32_t open = 0;               ///< lines without a status
  uint64_t explainedBefore = 0;    ///< explanations that were given before this batch began
  std::deque<uint32_t> toAsk;      ///< lines whose next step is a grant, or the only question to the leader
  std::deque<uint32_t> toPublish;  ///< Put
  Time publishSince = 0;           ///< when the first of toPublish came
  uint32_t writing = 0;            ///< Put: lines with bytes on the way

  [[nodiscard]] std::string_view key(uint32_t line) const { return lines[line].op.key; }
  /// Put: what is asked for. What is written the grant says.
  [[nodiscard]] Retention retention(uint32_t line) const { return {asked.pins, asked.softPinMs, lines[line].op.group}; }
};

}  // namespace kvpool::client
