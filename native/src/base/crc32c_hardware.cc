// SPDX-License-Identifier: Apache-2.0
// CRC-32C with the processor's instructions. One instruction has a latency of three cycles and a throughput of one per
// cycle, so long inputs go through three lanes at once; the lanes are joined by appending zero bytes to a checksum,
// which is a table look-up because the lane length is fixed.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/crc32c.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#include <nmmintrin.h>
#define KVPOOL_CRC_TARGET __attribute__((target("sse4.2")))
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define KVPOOL_CRC_TARGET __attribute__((target("+crc")))
#endif

namespace kvpool::crc {

#if defined(KVPOOL_CRC_TARGET)
namespace {

constexpr size_t kLaneBytes = 1024;
constexpr size_t kRoundBytes = 3 * kLaneBytes;
constexpr size_t kCacheLine = 64;

#if defined(__x86_64__)
KVPOOL_CRC_TARGET inline uint32_t word(uint32_t state, uint64_t value) {
  return static_cast<uint32_t>(_mm_crc32_u64(state, value));
}
KVPOOL_CRC_TARGET inline uint32_t byte(uint32_t state, uint8_t value) {
  return _mm_crc32_u8(state, value);
}
#else
KVPOOL_CRC_TARGET inline uint32_t word(uint32_t state, uint64_t value) {
  return __crc32cd(state, value);
}
KVPOOL_CRC_TARGET inline uint32_t byte(uint32_t state, uint8_t value) {
  return __crc32cb(state, value);
}
#endif

using ShiftTable = std::array<std::array<uint32_t, 256>, 4>;

/// What `kLaneBytes` zero bytes make of each byte of a state: the step is linear, so the four results are XORed.
ShiftTable makeShiftTable() {
  ShiftTable table{};
  const std::array<uint8_t, kLaneBytes> zeros{};
  for (unsigned position = 0; position < 4; ++position) {
    for (uint32_t value = 0; value < 256; ++value) {
      const uint32_t state = value << (8 * position);
      table[position][value] = ~portable(zeros.data(), zeros.size(), ~state);
    }
  }
  return table;
}

uint32_t appendLane(uint32_t state) {
  static const ShiftTable table = makeShiftTable();
  return table[0][state & 0xFF] ^ table[1][(state >> 8) & 0xFF] ^ table[2][(state >> 16) & 0xFF] ^
         table[3][state >> 24];
}

/// Reads a word exactly once: without the barrier the compiler may read the source again for the store, and a peer that
/// writes to shared staging memory could make the stored bytes differ from the checksummed ones.
inline uint64_t load(const uint8_t* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  __asm__ volatile("" : "+r"(value));
  return value;
}

/// Three lanes are three streams, each begun anew every kilobyte, which the processor does not foresee by itself: with
/// this it checksums what lies in memory twice as fast. Never faults, so it may name what lies behind the end.
inline void fetchNextRound(const uint8_t* at) {
  for (size_t lane = 0; lane < 3; ++lane)
    __builtin_prefetch(at + kRoundBytes + lane * kLaneBytes);
}

/// Checksums [from, from + length) and, when kCopy, stores each word that was checksummed: the checksum is then that of
/// the stored bytes even if a peer changes the source meanwhile.
template <bool kCopy>
KVPOOL_CRC_TARGET uint32_t run(uint8_t* to, const uint8_t* from, size_t length, uint32_t before) {
  uint32_t state = ~before;
  size_t at = 0;
  for (; length - at >= kRoundBytes; at += kRoundBytes) {
    uint32_t second = 0;
    uint32_t third = 0;
    for (size_t line = at; line < at + kLaneBytes; line += kCacheLine) {
      fetchNextRound(from + line);
      for (size_t i = line; i < line + kCacheLine; i += 8) {
        const uint64_t a = load(from + i);
        const uint64_t b = load(from + i + kLaneBytes);
        const uint64_t c = load(from + i + 2 * kLaneBytes);
        state = word(state, a);
        second = word(second, b);
        third = word(third, c);
        if constexpr (kCopy) {
          std::memcpy(to + i, &a, 8);
          std::memcpy(to + i + kLaneBytes, &b, 8);
          std::memcpy(to + i + 2 * kLaneBytes, &c, 8);
        }
      }
    }
    state = appendLane(appendLane(state) ^ second) ^ third;
  }
  for (; length - at >= 8; at += 8) {
    const uint64_t value = load(from + at);
    state = word(state, value);
    if constexpr (kCopy) std::memcpy(to + at, &value, 8);
  }
  for (; at < length; ++at) {
    uint8_t value = from[at];
    __asm__ volatile("" : "+r"(value));
    state = byte(state, value);
    if constexpr (kCopy) to[at] = value;
  }
  return ~state;
}

#if defined(__x86_64__)
constexpr size_t kBounceBytes = 2 * kRoundBytes;

/// Stores whole cache lines past the cache, which spares reading what they replace.
void stream(uint8_t* to, const uint8_t* from, size_t length) {
  for (size_t at = 0; at < length; at += kCacheLine) {
    for (size_t part = at; part < at + kCacheLine; part += sizeof(__m128i)) {
      const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(from + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + part), value);
    }
  }
}

/// As run<true>, by way of a buffer that stays in the cache. What is stored is what was checksummed, since nobody else
/// can write to the buffer.
uint32_t streamingCopy(uint8_t* to, const uint8_t* from, size_t length, uint32_t before) {
  alignas(kCacheLine) std::array<uint8_t, kBounceBytes> bounce;
  const size_t head = (kCacheLine - reinterpret_cast<uintptr_t>(to) % kCacheLine) % kCacheLine;
  uint32_t crc = run<true>(to, from, head, before);
  size_t at = head;
  for (size_t part = 0; length - at >= kCacheLine; at += part) {
    part = std::min(length - at, kBounceBytes) / kCacheLine * kCacheLine;
    crc = run<true>(bounce.data(), from + at, part, crc);
    stream(to + at, bounce.data(), part);
  }
  _mm_sfence();  // such stores are not in order with others otherwise, and a record that names these bytes comes next
  return run<true>(to + at, from + at, length - at, crc);
}
#endif

}  // namespace

bool hasHardware() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

uint32_t hardware(const void* data, size_t length, uint32_t before) {
  return run<false>(nullptr, static_cast<const uint8_t*>(data), length, before);
}

uint32_t hardwareCopy(void* destination, const void* source, size_t length, uint32_t before,
                      [[maybe_unused]] bool streams) {
  auto* to = static_cast<uint8_t*>(destination);
  const auto* from = static_cast<const uint8_t*>(source);
#if defined(__x86_64__)
  if (streams) return streamingCopy(to, from, length, before);
#endif
  return run<true>(to, from, length, before);
}

#else  // no instructions known for this processor

bool hasHardware() {
  return false;
}
uint32_t hardware(const void* data, size_t length, uint32_t before) {
  return portable(data, length, before);
}
uint32_t hardwareCopy(void* destination, const void* source, size_t length, uint32_t before, bool) {
  return portableCopy(destination, source, length, before);
}

#endif

}  // namespace kvpool::crc
