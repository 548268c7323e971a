// SPDX-License-Identifier: Apache-2.0
// Every bound of the client in one place; an error that a bound causes names it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvpool::client {

// Requests to the leader.
inline constexpr size_t kKeysPerRequest = 1024;
inline constexpr size_t kRequestBytes = size_t{512} * 1024;
inline constexpr size_t kMasterCallsInFlight = 16;
inline constexpr size_t kMastersMax = 16;
inline constexpr int64_t kHeartbeatMs = 500;
inline constexpr int64_t kSilenceMs = 3000;
// With TLS as many standbys stay connected: the handshakes of all clients with a new leader would take longer than all
// else of a takeover. They hear of us this often, and are dialled again after this long at most, so that one that comes
// back does not have all clients at once; one that never answers ever more rarely.
inline constexpr size_t kStandbysMax = 2;
inline constexpr int64_t kStandbyHeartbeatMs = 5000;
inline constexpr int64_t kStandbyRedialMs = 5000;
inline constexpr int64_t kStandbyRedialLongestMs = 60'000;
// Before its connection is renewed nothing more is sent; after this long it is renewed with calls under way, which are
// asked again.
inline constexpr int64_t kRenewPauseMs = 1000;
// A leader of which nothing came for this long may have been followed: the other masters are asked beside it.
inline constexpr int64_t kDoubtMs = 1200;

// Retries. A wait doubles from the first to the longest and is jittered down to half.
inline constexpr int64_t kRetryFirstMs = 50;
inline constexpr int64_t kRetryLongestMs = 500;
// A leader that was lost is usually followed within milliseconds: for this long after, masters are asked more often.
inline constexpr int64_t kTakeoverMs = 3000;
inline constexpr int64_t kTakeoverFirstMs = 10;
inline constexpr int64_t kTakeoverLongestMs = 80;
// A master whose name has no address: most of those a pool may have are never started. One resolver asks for all
// names in turn, so these are asked for rarely, or the others would wait for them.
inline constexpr int64_t kUnknownNameMs = 1000;
inline constexpr uint32_t kNoSpaceTries = 8;
inline constexpr uint32_t kLookupsPerGet = 3;
// Written objects of one batch wait this long for their siblings, so that one publish carries them all.
inline constexpr int64_t kPublishGatherMs = 5;

// Values written in parts: how many at a time, and how long. A leader lets no grant last longer.
inline constexpr size_t kOpenPutsMax = 65536;
inline constexpr int64_t kOpenPutMs = 30000;
inline constexpr int64_t kCommitPatienceMs = 5000;

// Lines of one batch between their grant and their publish; more would outlive the deadlines of their grants.
inline constexpr uint32_t kGrantsAhead = 2048;

// Descriptors of objects kept for reading them again: about 16 MiB with short keys.
inline constexpr size_t kDescriptorsMax = 65536;

// Storage nodes.
inline constexpr size_t kNodeLinksMax = 256;
inline constexpr size_t kTransfersInFlight = 64;
inline constexpr int64_t kNodeConnectionRestMs = 500;
// Shared memory that could not be attached is tried again after this long; tcp does its work meanwhile.
inline constexpr int64_t kShmRestMs = 30000;
// So many names of storage nodes that do not exist are warned of.
inline constexpr size_t kUnknownNodesMax = 64;

// A node that makes no progress for this long loses its reads to other nodes with a copy.
inline constexpr int64_t kFallOverMs = 1000;
// Reads of shared memory say nothing to the node: a connection in use does, this often, or it would count as idle
// there.
inline constexpr int64_t kNodeConnectionHeartbeatMs = 5000;
inline constexpr uint64_t kStagingBytes = 64ull << 20;
// Values up to this length travel with their request: UCX and CANN would need a round trip of its own for them.
inline constexpr uint64_t kRemoteInlineBytes = 4096;
// CANN makes channels for longer than a connection takes; a node gives up before this.
inline constexpr int64_t kAscendAttachMs = 25000;
// Connections of one life of a node that may end while UCX or CANN is in use, before it is given up there.
inline constexpr uint32_t kRemoteLossesMax = 2;
inline constexpr uint64_t kStagingAlignment = 64;

// Batches.
inline constexpr uint32_t kBatchTimeoutMs = 30000;
inline constexpr uint32_t kConnectTimeoutMs = 3000;
inline constexpr uint32_t kTransferTimeoutMs = 30000;
// A connection to a storage node that nobody used for this long is closed; the node does it at twice the time.
inline constexpr uint32_t kIdleTimeoutMs = 300000;
// Longer than a leader waits for storage nodes that do not come (10 s), and the pool for a leader.
inline constexpr uint32_t kReadyTimeoutMs = 20000;

}  // namespace kvpool::client
