// SPDX-License-Identifier: Apache-2.0
// Every bound between an agent and its clients in one place; an error that a bound causes names it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/protocol.h"

namespace kvpool::agent {

using Time = int64_t;  ///< milliseconds of a steady clock

// One request. A frame of it may be no larger than a Hello, so that what a client can make the agent hold is small.
inline constexpr size_t kLinesPerRequest = 1024;
inline constexpr size_t kRequestBytes = wire::kHelloBodyBytesMax;
inline constexpr size_t kRequestsInFlight = 16;
inline constexpr uint64_t kRequestAlignment = 64;

// The agent. Its memory besides staging is at most kClientsMax * kRequestsInFlight * kRequestBytes = 256 MiB of keys.
inline constexpr uint32_t kClientsMax = 256;
inline constexpr int64_t kAttachMs = 5000;
inline constexpr uint32_t kOperationsInFlight = 1U << 18;

// A client.
inline constexpr uint64_t kClientStagingBytes = uint64_t{64} << 20;
inline constexpr uint64_t kClientStagingBytesMin = uint64_t{1} << 20;
inline constexpr int64_t kRedialFirstMs = 10;
inline constexpr int64_t kRedialLongestMs = 500;
inline constexpr int64_t kGreetingMs = 3000;
// An agent answers by the deadline of a request, and knows better than we what stood in the way; one that does not even
// do that is given up so much later.
inline constexpr int64_t kGraceMs = 1000;

}  // namespace kvpool::agent
