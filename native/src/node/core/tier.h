// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/own_keys.h"
#include "node/core/commands.h"
#include "node/core/core_context.h"

namespace kvpool::node {

/// The SSD tier of this node as a state machine: objects go there when the leader says so, are read from there, and are
/// freed there. What the device has to do goes out as actions, what it did comes in. When it fails, the node goes on
/// with what is in memory: the tier is off for the rest of this life, and its objects are gone from the stream.
class Tier {
 public:
  /// Objects on their way to the device; beyond, KV_QUEUE_FULL.
  static constexpr size_t kDemotionsMax = 256;
  /// Payloads read ahead of what clients have taken, those of clients that have left included. Below it one more may
  /// begin, which has at most ssd::kTierPayloadBytesMax. Staging memory for what the SSD reads is a part of it.
  static constexpr uint64_t kReadBytesMax = uint64_t{256} << 20;
  /// One connection may hold this part of what is left of that: a quarter of all when it is the only one, and never
  /// the last of it, however many have stopped taking theirs.
  static constexpr uint64_t kReadShareOfRest = 3;
  /// Blocks of the table written at a time.
  static constexpr size_t kStoreBlocksMax = 256;
  /// A write of the table, or a read, that takes longer ends the tier: leaders, removals and readers wait for those.
  static constexpr uint64_t kPatienceMs = 10'000;
  /// The same for a write of a payload, for which nobody waits, but whose memory cannot be freed until it ends. Time in
  /// which reads end does not count: they go first.
  static constexpr uint64_t kWritePatienceMs = 30'000;
  /// What one tick adds to that at most.
  static constexpr uint64_t kTickMsMax = 500;
  /// Slots looked at in one turn when much goes at once.
  static constexpr uint32_t kLooksPerSlice = 4096;

  explicit Tier(CoreContext& context);

  /// Whether there is one and it works.
  [[nodiscard]] bool on() const { return context_.table != nullptr && context_.tierProblem.empty(); }

  /// A Copy into the tier that was admitted; answered in context.answers when it is readable there, or why not.
  void demote(ConnectionId master, const Copy& command);

  /// Frees an object of the tier if the extent still holds it; one Free command is answered by answerFree() behind all
  /// of its extents.
  void free(const ExtentRef& extent, const ObjectId& id);
  /// The same object's extent in memory was freed by a master: what is on its way from there must not outlive it.
  void memoryFreed(const ObjectId& id);
  /// Answers the Free whose extents were just handed in: now, or when the device says that they are free.
  void answerFree(ConnectionId master, uint64_t requestId);
  /// The purge id was raised: the device is to know it, then what lies below it goes.
  void purge();
  /// Whether no start would find what is purged. Whatever the tier is off with is not believed by one.
  [[nodiscard]] bool hasPurged() const { return !on() || context_.table->purged() >= context_.fencing.purged(); }

  struct Begun {
    uint64_t op = 0;
    uint32_t crc = 0;
    uint64_t heldBytes = 0;  // of memory, from now until releaseRead()
  };
  /// Begins to read an object for a connection that may see these keys and holds so many bytes; payloadRead() comes
  /// with its number, and only then may they be released. KV_NOT_FOUND; KV_QUEUE_FULL when roomForReads() says so.
  Result<Begun> beginRead(const ExtentRef& extent, const ObjectId& id, uint64_t payloadLength, const OwnKeys& reader,
                          uint64_t heldBytes);
  /// The same into staging memory that was taken for this transfer: none other is held.
  Result<Begun> beginStagedRead(const ExtentRef& extent, const ObjectId& id, uint64_t payloadLength,
                                const OwnKeys& reader, uint64_t transfer);
  /// Whether a connection that holds payloads of so many bytes may have one more.
  [[nodiscard]] bool roomForReads(uint64_t heldBytes) const;
  /// A payload that was read is sent, or of no use to anybody.
  void releaseRead(uint64_t heldBytes) { readBytes_ -= heldBytes; }

  void payloadWritten(uint64_t op, const Status& outcome);
  void stored(const Status& outcome);
  /// The status for the reader. What does not match its checksum is dropped.
  int32_t payloadRead(uint64_t op, const Status& outcome);
  /// Once after the tier has ended: the reads that were under way, which nobody need wait for any more.
  std::optional<std::vector<uint64_t>> takeEnded() { return std::exchange(ended_, std::nullopt); }

  /// Whether something that was freed here would be there again after a crash. Whoever leads next must not hear of what
  /// it has until that is over, or it would take for stored what is about to go, and for gone what may return.
  [[nodiscard]] bool isClearing() const { return on() && context_.table->isClearing(); }

  void tick(uint64_t nowMs);

  /// Whether continueWork() has something to do. It must come behind the changes of the turn before.
  [[nodiscard]] bool busy() const { return purging_ || dropping_; }
  void continueWork();

 private:
  struct Demotion {
    ConnectionId master = 0;
    uint64_t requestId = 0;
    Authority authority;
    ExtentRef memory;
    ObjectId objectId;
    uint32_t slot = 0;
  };
  struct Reading {
    ExtentRef extent;
    ObjectId objectId;
    uint64_t payloadLength = 0;
  };
  /// How long one thing has been the oldest of those that the device has to do.
  struct Watch {
    uint64_t op = 0;
    uint64_t waitedMs = 0;
    /// `oldest`: 0 when there is none.
    [[nodiscard]] bool outOfPatience(uint64_t oldest, uint64_t passedMs, uint64_t patienceMs);
  };
  struct PendingFree {
    ConnectionId master = 0;
    uint64_t requestId = 0;
    size_t open = 0;
  };

  [[nodiscard]] ExtentRef extentOf(uint32_t slot) const;
  [[nodiscard]] const ssd::Described* findFor(const OwnKeys& reader, const ExtentRef& extent, const ObjectId& id,
                                              uint64_t payloadLength) const;
  Begun begin(const ssd::Described& object, const ExtentRef& extent, uint64_t heldBytes,
              std::optional<uint64_t> transfer);
  [[nodiscard]] Status admit(const Copy& command) const;
  void flush();
  void settle(const ssd::Table::Changes& changes);
  void settleDemotions();
  void cleared(uint32_t slot);
  void fail(const std::string& why);
  void hangs(const std::string& what, uint64_t patienceMs);
  void purgeSlice();
  void dropSlice();

  CoreContext& context_;
  const uint64_t readBytesMax_;
  uint64_t lastOp_ = 0;
  std::map<uint64_t, Demotion> writing_;  // by op
  std::map<uint32_t, Demotion> storing_;  // by slot
  std::map<uint64_t, Reading> reading_;   // by op
  uint64_t readBytes_ = 0;
  std::optional<std::vector<uint64_t>> ended_;
  std::shared_ptr<const ssd::Table::Batch> batch_;  // being stored
  uint64_t batchOp_ = 0;
  bool storeAgain_ = false;  // there was no memory to do it
  Watch storeWatch_;
  Watch readWatch_;
  Watch writeWatch_;
  uint64_t lastTickMs_ = 0;
  PendingFree collecting_;
  std::vector<uint32_t> collected_;  // slots that collecting_ waits for
  uint64_t lastFree_ = 0;
  std::map<uint64_t, PendingFree> frees_;
  std::unordered_multimap<uint32_t, uint64_t> freesBySlot_;
  bool purging_ = false;
  bool dropping_ = false;
  uint32_t next_ = 0;  // slot of the purge or drop
};

}  // namespace kvpool::node
