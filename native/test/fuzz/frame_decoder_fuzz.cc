// SPDX-License-Identifier: Apache-2.0
// The stream of a peer: any bytes, cut anywhere. Whatever comes out as a frame is read as every message a peer can
// send.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "node/core/commands.h"
#include "node/core/messages.h"
#include "wire/frame.h"
#include "wire/handshake.h"

namespace {

using kvpool::wire::Body;

template <typename Read>
void attempt(Read read, Body body) {
  try {
    (void)read(body);
  } catch (const kvpool::wire::Malformed&) {
    // What every edge does with malformed bytes: close the connection.
  }
}

void readAsEverything(Body body) {
  using namespace kvpool;
  attempt([](Body b) { return wire::readHello(b); }, body);
  attempt([](Body b) { return wire::readWelcome(b); }, body);
  attempt([](Body b) { return wire::readRefused(b); }, body);
  attempt([](Body b) { return node::readFence(b); }, body);
  attempt([](Body b) { return node::readFree(b); }, body);
  attempt([](Body b) { return node::readPurge(b); }, body);
  attempt([](Body b) { return node::readKeepTombstones(b); }, body);
  attempt([](Body b) { return node::readActivate(b); }, body);
  attempt([](Body b) { return node::readCopy(b); }, body);
  attempt([](Body b) { return node::readWriteRequest(b); }, body);
  attempt([](Body b) { return node::readReadRequest(b); }, body);
  attempt([](Body b) { return node::readShmAttach(b); }, body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The bytes as a body, which a random checksum would never let through.
  readAsEverything(Body(data + 1, size - 1));

  // And as a stream, in pieces whose size the first byte chooses.
  const size_t piece = size_t{1} + data[0];
  kvpool::wire::FrameDecoder decoder(kvpool::wire::kHelloBodyBytesMax);
  try {
    for (size_t at = 1; at < size;) {
      const std::span<uint8_t> room = decoder.writable();
      const size_t count = std::min({piece, size - at, room.size()});
      std::memcpy(room.data(), data + at, count);
      decoder.received(count);
      at += count;
      while (const auto body = decoder.next())
        readAsEverything(*body);
    }
  } catch (const kvpool::wire::Malformed&) {
    return 0;
  }
  return 0;
}
