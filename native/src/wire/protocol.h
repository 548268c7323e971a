// SPDX-License-Identifier: Apache-2.0
// The numbers of the wire protocol that the schema cannot say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kvpool::wire {

inline constexpr uint64_t kMagic = 0x00314C4F4F50564B;  // "KVPOOL1\0"

/// u32 length of the body, u32 CRC-32C of the body.
inline constexpr size_t kFrameHeaderBytes = 8;
inline constexpr size_t kFrameBodyBytesMax = size_t{1} << 20;
/// What a peer may send before it is welcomed: one Hello.
inline constexpr size_t kHelloBodyBytesMax = size_t{64} << 10;
/// CRC-32C behind a payload.
inline constexpr size_t kPayloadTrailerBytes = 4;

inline constexpr size_t kNameBytesMax = 253;
inline constexpr size_t kTextBytesMax = 4096;
inline constexpr size_t kEndpointBytesMax = 64;  // IP:PORT of an engine of CANN
inline constexpr size_t kUcxBytesMax = 16384;    // an address or a key of UCX
/// A key may be as long as a text on the wire; what is a valid key is for the directory to say.
inline constexpr size_t kKeyBytesOnWireMax = 65535;
/// Keys of one request between client and master.
inline constexpr size_t kRequestKeysMax = 1024;
inline constexpr size_t kGroupEntriesMax = 65534;  // what the schema allows

inline constexpr uint64_t kHelloTimeoutMs = 5000;
inline constexpr uint64_t kHeartbeatMs = 500;
inline constexpr uint64_t kSilenceMsMax = 3000;

/// Versions this library understands, both ends included.
struct VersionRange {
  uint16_t min = 0;
  uint16_t max = 0;
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};
/// Ranges of this build, from the build's settings KVPOOL_WIRE_VERSIONS and KVPOOL_LAYOUT_VERSIONS.
extern const VersionRange kWireVersions;
extern const VersionRange kLayoutVersions;
extern const VersionRange kAbiVersions;

inline bool contains(const VersionRange& range, uint16_t version) {
  return range.min <= version && version <= range.max;
}
/// As people read it: [1, 2].
std::string toString(const VersionRange& range);

/// What a pool speaks and writes, whatever more its members understand. Nodes keep it, a leader raises it when every
/// member understands more, and nothing lowers it: until then all can go back to a build that knows only this.
struct ActiveVersions {
  uint16_t wire = 0;  // 0: not known
  uint16_t layout = 0;
  friend bool operator==(const ActiveVersions&, const ActiveVersions&) = default;
};

}  // namespace kvpool::wire
