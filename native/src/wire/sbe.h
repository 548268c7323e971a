// SPDX-License-Identifier: Apache-2.0
// Safe use of the generated codecs. They check buffer ends when a block or group is wrapped, but trust the block
// lengths a peer wrote and read the length in front of variable data unchecked; everything here closes those gaps.
// Whatever is wrong with bytes of a peer is thrown as Malformed, by the codecs as well (schema/generate sees to that).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/grant.h"
#include "base/ids.h"
#include "base/retention.h"
#include "dev_kvpool_wire/Flag.h"
#include "dev_kvpool_wire/MessageHeader.h"
#include "wire/malformed.h"
#include "wire/protocol.h"

namespace dev::kvpool::wire {}

namespace kvpool::wire {

namespace sbe = ::dev::kvpool::wire;

using Bytes = std::vector<uint8_t>;
/// Body of one frame: SBE header and message. Views into it live as long as the buffer it was decoded in.
using Body = std::span<const uint8_t>;

/// Template id of a frame's body. Throws Malformed when the header is cut off or names another schema.
uint16_t templateOf(Body body);

/// Variable data as text; Malformed names `what` when it is not UTF-8.
std::string text(std::string_view bytes, const char* what = "text");

/// A message being read. Fields of the fixed block may be read at any time through `->`; groups and variable data in
/// the order of the schema, groups through list() and variable data through bytes().
template <typename Message>
class Reader {
 public:
  explicit Reader(Body body) : whole_(reinterpret_cast<const char*>(body.data()), body.size()) {
    if (templateOf(body) != Message::sbeTemplateId()) throw Malformed("unexpected message");
    // The codecs take char* for reading too; nothing here writes through it.
    auto* buffer = const_cast<char*>(whole_.data());
    const sbe::MessageHeader header(buffer, 0, body.size(), Message::sbeSchemaVersion());
    const uint64_t block = header.blockLength();
    if (block < Message::sbeBlockLength()) throw Malformed("block of a message is too short");
    if (block > body.size() - sbe::MessageHeader::encodedLength()) throw Malformed("message is cut off");
    message_.wrapForDecode(buffer, sbe::MessageHeader::encodedLength(), block, header.version(), body.size());
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Message* operator->() { return &message_; }
  Message& operator*() { return message_; }

  /// What `make` makes of each entry of a group: `reader.list(&sbe::Free::extents, kFreesMax, [](auto& entry) {...})`.
  /// An entry's variable data is read with bytes(entry), groups within it with listIn(entry).
  template <typename Group, typename Make>
  auto list(Group& (Message::*open)(), uint64_t countMax, Make make) {
    return listIn(message_, open, countMax, make);
  }
  template <typename Parent, typename Group, typename Make>
  auto listIn(Parent& parent, Group& (Parent::*open)(), uint64_t countMax, Make make) {
    Group& entries = (parent.*open)();
    if (entries.sbeActingBlockLength() < entries.sbeBlockLength()) throw Malformed("block of a group is too short");
    if (entries.count() > countMax) throw Malformed("group has more entries than allowed");
    std::vector<decltype(make(entries))> list;
    list.reserve(entries.count());
    while (entries.hasNext())
      list.push_back(make(entries.next()));
    return list;
  }

  /// The next variable data of the message, or of the current entry of a group.
  std::string_view bytes(size_t bytesMax = kTextBytesMax) { return take(message_, bytesMax); }
  template <typename Group>
  std::string_view bytes(Group& entry, size_t bytesMax) {
    return take(entry, bytesMax);
  }

 private:
  template <typename Part>
  std::string_view take(Part& part, size_t bytesMax) {
    const uint64_t at = part.sbePosition();
    uint32_t length = 0;
    if (at > whole_.size() || whole_.size() - at < sizeof length) throw Malformed("variable data is cut off");
    std::memcpy(&length, whole_.data() + at, sizeof length);
    if (length > bytesMax) throw Malformed("variable data is longer than allowed");
    if (length > whole_.size() - at - sizeof length) throw Malformed("variable data is cut off");
    part.sbePosition(at + sizeof length + length);
    return whole_.substr(at + sizeof length, length);
  }

  std::string_view whole_;
  Message message_;
};

// The composites of the schema as the plain values of base/ids.h, both ways.
template <typename Composite>
ObjectId toObjectId(const Composite& c) {
  return {c.epoch(), c.counter()};
}
template <typename Composite>
Authority toAuthority(const Composite& c) {
  return {c.epoch(), c.nonce()};
}
template <typename Composite>
ExtentRef toExtentRef(const Composite& c) {
  return {c.segment(), c.slot(), c.generation()};
}
template <typename Composite>
GrantMac toGrantMac(const Composite& c) {
  return {c.first(), c.second()};
}
/// Its bytes are the numbers' as they lie on the wire.
template <typename Composite>
GrantSecret toGrantSecret(const Composite& c) {
  const std::array<uint64_t, 4> words = {c.first(), c.second(), c.third(), c.fourth()};
  return std::bit_cast<GrantSecret>(words);
}
template <typename Composite>
PoolId toPoolId(const Composite& c) {
  return {c.high(), c.low()};
}
template <typename Composite>
VersionRange toVersionRange(const Composite& c) {
  return {c.min(), c.max()};
}
/// Of a message, or entry of a group, with the fields pins, softPinMs and group. Pins this version does not know are of
/// no use to it.
template <typename Fields>
Retention toRetention(Fields& m) {
  return {static_cast<uint8_t>(m.pins().rawValue() & kPinsKnown), m.softPinMs(), m.group()};
}
template <typename Fields>
void putRetention(Fields& m, const Retention& retention) {
  m.pins().rawValue(retention.pins);
  m.softPinMs(retention.softPinMs).group(retention.group);
}
constexpr sbe::Flag::Value flag(bool value) {
  return value ? sbe::Flag::YES : sbe::Flag::NO;
}

template <typename Composite>
void put(Composite& c, const ObjectId& id) {
  c.epoch(id.epoch).counter(id.counter);
}
template <typename Composite>
void put(Composite& c, const Authority& authority) {
  c.epoch(authority.epoch).nonce(authority.nonce);
}
template <typename Composite>
void put(Composite& c, const ExtentRef& extent) {
  c.segment(extent.segment).slot(extent.slot).generation(extent.generation);
}
template <typename Composite>
void put(Composite& c, const GrantMac& mac) {
  c.first(mac.first).second(mac.second);
}
template <typename Composite>
void put(Composite& c, const PoolId& id) {
  c.high(id.high).low(id.low);
}
template <typename Composite>
void put(Composite& c, const VersionRange& range) {
  c.min(range.min).max(range.max);
}

}  // namespace kvpool::wire
