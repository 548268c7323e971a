// SPDX-License-Identifier: Apache-2.0
// What comes to a listener that speaks TLS: either any bytes, or what a good dialer says, changed on its way. Nothing
// that was changed may come out as plaintext. Where both want to leave TLS behind the handshake, a change may end that
// or be an end of the connection, and lead to nothing else.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "certificate_authority.h"
#include "fuzz/input.h"
#include "secure/session.h"

namespace {

using kvpool::secure::Session;
using Bytes = std::vector<uint8_t>;

struct Members {
  kvpool::test::CertificateAuthority authority;
  std::shared_ptr<const kvpool::secure::Credentials> dialer = authority.credentials("node/a");
  std::shared_ptr<const kvpool::secure::Credentials> listener = authority.credentials("master/m");
};

const Members& members() {
  static const Members all;
  return all;
}

/// All plaintext that comes must be what was sent, from its beginning on.
class Reader {
 public:
  explicit Reader(const Bytes& sent) : sent_(sent) {}
  void read(Session& session, const Bytes& bytes) {
    session.received(bytes);
    session.advance();
    std::array<uint8_t, 4096> room{};
    while (const size_t count = session.open(room)) {
      if (count > sent_.size() - at_) std::abort();
      if (!std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count),
                      sent_.begin() + static_cast<std::ptrdiff_t>(at_))) {
        std::abort();
      }
      at_ += count;
    }
    session.keepRest();
  }

 private:
  const Bytes& sent_;
  size_t at_ = 0;
};

/// Of a session that ends as Raw, or not at all.
void readLeaving(Session& session, const Bytes& bytes) {
  session.received(bytes);
  session.advance();
  if (session.state() == Session::State::Authenticated) std::abort();
  std::array<uint8_t, 4096> room{};
  size_t all = 0;
  while (const size_t count = session.open(room))
    all += count;
  if (all > 0 && session.state() != Session::State::Raw) std::abort();
  if (all > bytes.size()) std::abort();  // what came before was for TLS
  session.keepRest();
}

Bytes take(Session& session) {
  const auto out = session.outgoing();
  Bytes bytes(out.begin(), out.end());
  session.sent(bytes.size());
  return bytes;
}

/// Does to it what the input says.
Bytes changed(Bytes bytes, kvpool::test::Input& input) {
  if (bytes.empty() || input.empty()) return bytes;
  const size_t at = input.number(2) % bytes.size();
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (input.byte() % 5) {
    case 0:
      *place ^= input.byte();
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2: {
      const auto more = input.bytes(input.byte());
      bytes.insert(place, more.begin(), more.end());
      break;
    }
    case 3: {
      const Bytes copy = bytes;
      bytes.insert(bytes.end(), copy.begin(), copy.end());
      break;
    }
    default:
      break;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kvpool::test::Input input(data, size);
  const Bytes nothing;
  const uint8_t kind = input.byte();
  const bool leaves = kind % 4 > 1;
  const auto payloads = leaves ? kvpool::secure::Payloads::Authenticated : kvpool::secure::Payloads::Encrypted;
  Session listener(members().listener, Session::Side::Listener, {}, payloads);
  if (kind % 2 == 0) {
    const size_t piece = size_t{1} + input.byte();
    Reader reader(nothing);
    while (!input.empty()) {
      const auto part = input.bytes(piece);
      reader.read(listener, Bytes(part.begin(), part.end()));
    }
    if (listener.state() == Session::State::Authenticated || listener.state() == Session::State::Raw) std::abort();
    return 0;
  }
  if (leaves) {
    Session dialer(members().dialer, Session::Side::Dialer, {}, payloads);
    for (int round = 0; round < 4; ++round) {
      readLeaving(listener, changed(take(dialer), input));
      readLeaving(dialer, changed(take(listener), input));
    }
    return 0;
  }
  Bytes sent(20'000);
  for (size_t i = 0; i < sent.size(); ++i)
    sent[i] = static_cast<uint8_t>(i * 7);
  Session dialer(members().dialer, Session::Side::Dialer, {});
  Reader there(sent);
  Reader back(nothing);
  for (int round = 0; round < 4; ++round) {
    there.read(listener, changed(take(dialer), input));
    back.read(dialer, changed(take(listener), input));
    if (dialer.state() != Session::State::Authenticated || round != 2) continue;
    const iovec piece{sent.data(), sent.size()};
    dialer.seal(std::span(&piece, 1));
    dialer.close();
  }
  return 0;
}
