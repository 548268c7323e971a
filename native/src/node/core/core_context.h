// SPDX-License-Identifier: Apache-2.0
// What the parts of the core share. One thread, no clock: times are milliseconds the shell hands in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/own_keys.h"
#include "base/staging_budget.h"
#include "node/core/actions.h"
#include "node/core/commands.h"
#include "node/core/fencing_state.h"
#include "node/core/record_stream.h"
#include "ssd/table.h"
#include "store/directory.h"
#include "wire/frame.h"
#include "wire/handshake.h"
#include "wire/staging_offer.h"

namespace kvpool::node {

struct CoreConfig {
  wire::Identity self;  // poolId is zero in a transient node until a master has told it
  bool isTransient = false;
  size_t masters = 0;
  std::vector<std::string> masterAddresses;  // HOST:PORT of each, as told to other masters
  std::string tcp;                           // HOST:PORT clients are told
  std::string shm;                           // BOOTID:PATH clients are told; empty when shm is off
  std::optional<RemoteProtocol> remote;      // by which clients may offer memory
  std::string remoteProblem;                 // why there is none, or none but that
  uint64_t tierStagingBytes = 0;             // into which the SSD reads what is moved there; 0: nothing is
  std::string zone;                          // failure domain; empty: unknown
  bool separatesTenants = false;             // peers need certificates, and see what is their tenant's
  size_t clientConnectionsMax = 4096;
  uint64_t clientIdleMs = 300000;  // after which clients close what they do not use; this side does at twice the time
  uint64_t randomSeed = 0;         // for the jitter of redials
  uint64_t scrubBytesPerSecond = uint64_t{64} << 20;
  uint64_t stagingBytes = kSharedStagingBytes;  // that clients may share, all together
  std::string tierProblem;                      // why the SSD tier that was asked for is off from the start
};

/// Of one protocol by which clients offer memory.
struct RemoteStats {
  uint64_t clients = 0;  // connected now, with memory that it reaches
  uint64_t readBytes = 0;
  uint64_t writeBytes = 0;
  uint64_t refusals = 0;  // clients whose memory it could not reach
};

struct CoreStats {
  uint64_t writes = 0;
  uint64_t writeBytes = 0;
  uint64_t writeFailures = 0;
  uint64_t reads = 0;
  uint64_t readBytes = 0;
  uint64_t readMisses = 0;
  uint64_t checksumFailures = 0;
  uint64_t staleRefusals = 0;
  uint64_t protocolErrors = 0;
  uint64_t authRefusals = 0;   // of peers whose certificate does not allow what they asked for
  uint64_t grantRefusals = 0;  // writes that the leader did not grant, or not here, to this tenant, or in this way
  uint64_t damaged = 0;        // objects dropped because bytes no longer matched their checksum
  uint64_t scrubRounds = 0;
  uint64_t scrubbedBytes = 0;
  uint64_t copiesIn = 0;
  uint64_t copiesInBytes = 0;
  RemoteStats ucx;
  RemoteStats ascend;
  uint64_t demotions = 0;  // objects that became readable on the SSD
  uint64_t demotedBytes = 0;
  uint64_t tierReads = 0;
  uint64_t tierReadBytes = 0;
};

/// Actions in the order they were asked for.
class Outbox {
 public:
  void frames(ConnectionId connection, wire::Bytes frames) {
    add(SendFrames{connection, std::make_shared<const wire::Bytes>(std::move(frames))});
  }
  template <typename One>
  void add(One action) {
    actions_.emplace_back(std::in_place_type<One>, std::move(action));
  }
  void note(LogLevel level, std::string text) { add(Note{level, std::move(text)}); }
  [[nodiscard]] std::vector<Action> take() { return std::exchange(actions_, {}); }

 private:
  std::vector<Action> actions_;
};

/// For one master, to be sent behind the records of what it answers.
struct Answer {
  ConnectionId master;
  wire::Bytes frames;
};

struct CoreContext {
  CoreConfig config;
  store::Directory& directory;
  store::StatePages& state;
  ssd::Table* table;        // of the SSD tier; null without one
  std::string tierProblem;  // why the tier is off; empty while it works, or where none was asked for
  uint32_t tierNumber;      // of the tier, or of the one that the life before had; 0: none
  FencingState fencing;
  RecordStream stream;
  CoreStats stats;
  Outbox outbox;
  std::vector<Answer> answers;

  CoreContext(CoreConfig configuration, store::Directory& objects, store::StatePages& pages, ssd::Table* tier)
      : config(std::move(configuration)),
        directory(objects),
        state(pages),
        table(tier),
        tierProblem(config.tierProblem),
        tierNumber(tier == nullptr ? pages.get().tier : tier->number()),
        fencing(pages),
        stream(objects, tier) {}

  void answer(ConnectionId master, uint64_t requestId, bool accepted, int32_t status) {
    answers.push_back({master, wire::framed(appendCommandAck, {requestId, accepted, fencing.seen(), status})});
  }
  /// Before an object with this qualified key comes: whether it may, as far as others could see it in shared memory.
  /// That it came is known also when tenants are separated again.
  bool takes(std::string_view key) {
    if (!OwnKeys::isOfTenant(key)) return true;
    if (config.separatesTenants && state.was(store::kShown)) return false;
    state.note(store::kHeldTenants);
    return true;
  }
};

}  // namespace kvpool::node
