// SPDX-License-Identifier: Apache-2.0
// What two engines of the fake say to each other: a header, then `count` remote pieces or regions, then the bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace fake_ascend {

using Status = uint32_t;

constexpr Status kSuccess = 0;
constexpr Status kParamInvalid = 103900;
constexpr Status kTimeout = 103901;
constexpr Status kNotConnected = 103902;
constexpr Status kAlreadyConnected = 103903;
constexpr Status kUnsupported = 103905;
constexpr Status kResourceExhausted = 203900;
constexpr Status kFailed = 503900;

enum class Home : uint32_t { kDevice = 0, kHost = 1 };

/// Registered memory, as a peer learns of it when it connects.
struct Region {
  uint64_t start;
  uint64_t size;
  Home home;
  uint32_t reserved;
};

/// Bytes to move, of one engine's memory and the other's.
struct Piece {
  uint64_t local;
  uint64_t remote;
  uint64_t size;
};

struct RemotePiece {
  uint64_t start;
  uint64_t size;
};

enum class Frame : uint32_t { kHello = 1, kGoodbye = 2, kHeartbeat = 3, kRead = 4, kWrite = 5, kReply = 6 };

constexpr uint32_t kMagic = 0x46414B45;

struct Header {
  uint32_t magic = kMagic;
  Frame frame = Frame::kReply;
  uint64_t generation = 0;  // of the engine that listens
  uint64_t channel = 0;
  uint64_t count = 0;
  Status status = kSuccess;
  uint32_t reserved = 0;
};

static_assert(sizeof(Region) == 24 && sizeof(RemotePiece) == 16 && sizeof(Header) == 40);

/// Bytes that are moved at once, by either side.
constexpr size_t kChunk = size_t{256} << 10;

}  // namespace fake_ascend
