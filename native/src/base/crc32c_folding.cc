// SPDX-License-Identifier: Apache-2.0
// CRC-32C by carry-less multiplication of whole vectors (AVX-512 and VPCLMULQDQ), for long inputs. The bytes are a
// polynomial; what is congruent to it has the same checksum. So 256 bytes are kept in four registers and moved over the
// input: each step multiplies them by what 2048 bits of distance are, modulo the generator, and adds the next 256. It
// takes a quarter of the time of the processor's instruction for a checksum, and reads memory as one stream.
#include <array>

#include "base/crc32c.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KVPOOL_FOLD_TARGET __attribute__((target("sse4.2,avx512f,vpclmulqdq")))
#endif

namespace kvpool::crc {

#if defined(KVPOOL_FOLD_TARGET)
namespace {

constexpr size_t kVector = 64;
constexpr size_t kBlock = 4 * kVector;
constexpr uint32_t kGenerator = 0x82F63B78;  // reflected, as everything here: bit 0 is the highest power

/// x^power modulo the generator, in the form in which the product of two reflected numbers comes out right.
constexpr uint64_t power(unsigned power) {
  uint32_t value = 0x80000000;
  for (unsigned i = 0; i < power; ++i)
    value = (value >> 1) ^ ((value & 1) != 0 ? kGenerator : 0);
  return uint64_t{value} << 1;
}

constexpr unsigned kDistance = 8 * kBlock;
constexpr uint64_t kLowFactor = power(kDistance + 32);
constexpr uint64_t kHighFactor = power(kDistance - 32);

/// Reads a vector exactly once, see load() of crc32c_hardware.cc.
KVPOOL_FOLD_TARGET inline __m512i loadVector(const uint8_t* at) {
  __m512i value = _mm512_loadu_si512(at);
  __asm__ volatile("" : "+v"(value));
  return value;
}

enum class Store { None, Cached, Streamed };

/// How far ahead of a streamed copy its source is fetched: the processor's own prefetchers stop at each page.
constexpr size_t kFetchedAhead = 8192;

/// The vector at `at`, which goes to the same place of `to`.
template <Store kStore>
KVPOOL_FOLD_TARGET inline __m512i take(uint8_t* to, const uint8_t* from, size_t at) {
  const __m512i value = loadVector(from + at);
  // Past the end too: it is a hint, which fails without a sign where nothing is mapped.
  if constexpr (kStore == Store::Streamed)
    _mm_prefetch(reinterpret_cast<const char*>(from + at + kFetchedAhead), _MM_HINT_T1);
  if constexpr (kStore == Store::Cached) _mm512_storeu_si512(to + at, value);
  if constexpr (kStore == Store::Streamed) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), value);
  return value;
}

KVPOOL_FOLD_TARGET inline __m512i moved(__m512i value, __m512i factors, __m512i next) {
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(value, factors, 0x00),
                                   _mm512_clmulepi64_epi128(value, factors, 0x11), next, kXorOfThree);
}

/// Checksum of [from, from + length), a multiple of kBlock and not 0; copies it, streamed to whole cache lines.
template <Store kStore>
KVPOOL_FOLD_TARGET uint32_t fold(uint8_t* to, const uint8_t* from, size_t length, uint32_t before) {
  constexpr auto kLow = static_cast<long long>(kLowFactor);
  constexpr auto kHigh = static_cast<long long>(kHighFactor);
  const __m512i factors = _mm512_set4_epi64(kHigh, kLow, kHigh, kLow);
  // What came before is as if it had been added to the first bytes.
  const __m512i state = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~before)));
  __m512i a = _mm512_xor_si512(take<kStore>(to, from, 0), state);
  __m512i b = take<kStore>(to, from, kVector);
  __m512i c = take<kStore>(to, from, 2 * kVector);
  __m512i d = take<kStore>(to, from, 3 * kVector);
  for (size_t at = kBlock; at < length; at += kBlock) {
    a = moved(a, factors, take<kStore>(to, from, at));
    b = moved(b, factors, take<kStore>(to, from, at + kVector));
    c = moved(c, factors, take<kStore>(to, from, at + 2 * kVector));
    d = moved(d, factors, take<kStore>(to, from, at + 3 * kVector));
  }
  alignas(kVector) std::array<uint64_t, kBlock / sizeof(uint64_t)> rest;
  _mm512_store_si512(rest.data(), a);
  _mm512_store_si512(rest.data() + 8, b);
  _mm512_store_si512(rest.data() + 16, c);
  _mm512_store_si512(rest.data() + 24, d);
  uint64_t crc = 0;
  for (const uint64_t word : rest)
    crc = _mm_crc32_u64(crc, word);
  return ~static_cast<uint32_t>(crc);
}

}  // namespace

bool hasFolding() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0 && hasHardware();
}

uint32_t folding(const void* data, size_t length, uint32_t before) {
  const auto* from = static_cast<const uint8_t*>(data);
  const size_t whole = length - length % kBlock;
  if (whole > 0) before = fold<Store::None>(nullptr, from, whole, before);
  return hardware(from + whole, length - whole, before);
}

uint32_t foldingCopy(void* destination, const void* source, size_t length, uint32_t before, bool streams) {
  auto* to = static_cast<uint8_t*>(destination);
  const auto* from = static_cast<const uint8_t*>(source);
  if (streams) {
    const size_t head = (kVector - reinterpret_cast<uintptr_t>(to) % kVector) % kVector;
    before = hardwareCopy(to, from, head, before, false);
    to += head;
    from += head;
    length -= head;
  }
  const size_t whole = length - length % kBlock;
  if (streams) {
    before = fold<Store::Streamed>(to, from, whole, before);
    _mm_sfence();  // such stores are not in order with others otherwise, and a record that names these bytes comes next
  } else if (whole > 0) {
    before = fold<Store::Cached>(to, from, whole, before);
  }
  return hardwareCopy(to + whole, from + whole, length - whole, before, false);
}

#else

bool hasFolding() {
  return false;
}
uint32_t folding(const void* data, size_t length, uint32_t before) {
  return hardware(data, length, before);
}
uint32_t foldingCopy(void* destination, const void* source, size_t length, uint32_t before, bool streams) {
  return hardwareCopy(destination, source, length, before, streams);
}

#endif

}  // namespace kvpool::crc
