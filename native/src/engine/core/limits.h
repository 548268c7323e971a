// SPDX-License-Identifier: Apache-2.0
// Every bound of the transfer engine in one place; an error that a bound causes names it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpool/engine.h"

namespace kvpool::engine {

// Requests on the wire: both sides hold each other to these.
inline constexpr size_t kPiecesPerRequest = 1024;
inline constexpr uint64_t kRequestBytes = uint64_t{4} << 20;

// Towards one peer. More would only wait in the socket, where a deadline cannot take it back.
inline constexpr size_t kRequestsInFlight = 8;
inline constexpr size_t kPeersMax = 4096;

/// Behind the name of a range.
inline constexpr const char* kOfDevice = " are memory of an NPU, which goes by ascend alone";

// Of the address of an engine of CANN.
inline constexpr size_t kEndpointBytesMax = 64;

// For peers that dialled us.
inline constexpr size_t kSessionsMax = 4096;
inline constexpr size_t kRepliesUnsent = 64;

// What is read from a peer waits while this much output for it does.
inline constexpr uint64_t kUnsentBytesMax = uint64_t{16} << 20;

// Memory of frames that wait for all the peers that dialled us. Beyond, the one for which the most waits loses its
// connection.
inline constexpr uint64_t kUnsentFramesMax = uint64_t{256} << 20;

// Defaults of kv_engine_params and kv_transfer_options.
inline constexpr uint32_t kConnectTimeoutMs = 3000;
inline constexpr uint32_t kTransferTimeoutMs = 30000;
inline constexpr uint32_t kIdleTimeoutMs = 300000;
inline constexpr uint32_t kBatchTimeoutMs = 30000;

// A line is tried once more.
inline constexpr uint32_t kAttempts = 2;

// A peer that was lost is dialled again for this long while transfers wait for it, each time after twice the wait: a
// process that is replaced at its address refuses connections for a moment. After that it counts as gone.
inline constexpr int64_t kRestartMs = 1000;
inline constexpr int64_t kRedialFirstMs = 50;

/// How often time is looked at while something runs, and while nothing does.
inline constexpr int64_t kTickMs = 20;
inline constexpr int64_t kQuietTickMs = 500;

/// How often a connection is checked for a host that acknowledges nothing.
inline constexpr int64_t kSilenceCheckMs = 200;

}  // namespace kvpool::engine
