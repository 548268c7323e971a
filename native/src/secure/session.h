// SPDX-License-Identifier: Apache-2.0
// One TLS 1.3 connection without its socket: bytes of the peer go in, plaintext and bytes for the peer come out. Both
// ends show certificates; nothing is opened or sealed before the peer's is checked.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "secure/credentials.h"
#include "secure/names.h"

struct ssl_st;
struct x509_store_ctx_st;

namespace kvpool::secure {

class Session {
 public:
  enum class Side { Dialer, Listener };
  enum class State {
    Handshaking,
    Authenticated,
    Closed,  // by the peer, in a way that nothing in between can: what came before is all of it
    Refused  // see refusal()
  };

  /// What a peer may send, and how long it may take, before it is authenticated.
  static constexpr size_t kBytesBeforeAuthentication = size_t{16} << 10;
  static constexpr int64_t kHandshakeMsMax = 3000;

  /// A dialer's first bytes are in outgoing() at once.
  Session(std::shared_ptr<const Credentials> own, Side side, Expected expected);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether a connection that begins with these three bytes is TLS; no frame of ours does.
  static bool begins(std::span<const uint8_t> first);

  [[nodiscard]] State state() const { return state_; }
  /// Why it is Refused: about the peer, for people, with what to do.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Once it was Authenticated.
  [[nodiscard]] const Principal& peer() const { return peer_; }

  /// Bytes of the peer. They are looked at in place until keepRest().
  void received(std::span<const uint8_t> bytes);
  /// Copies what of them was not consumed: their memory is about to be used for something else.
  void keepRest();
  /// Goes on with the handshake as far as what was received allows.
  State advance();
  /// Writes plaintext to `into`, which is not empty; how much. 0: more must be received first, or the state has
  /// changed.
  size_t open(std::span<uint8_t> into);
  /// Whether part of a record waits for its rest.
  [[nodiscard]] bool midRecord() const;

  /// Adds these bytes, one after the other, to outgoing(). False when no peer is left to send them to.
  bool seal(std::span<const iovec> pieces);
  /// Bytes for the peer.
  [[nodiscard]] std::span<const uint8_t> outgoing() const { return std::span(outgoing_).subspan(outgoingSent_); }
  void sent(size_t count);
  /// Says goodbye in outgoing(): what the peer received until then is all of it.
  void close();

 private:
  struct Transport;
  friend struct Transport;

  int verified(int good, x509_store_ctx_st* check);
  void judge(int outcome);
  void refuse(std::string why);
  bool sealOne(std::span<const uint8_t> bytes);
  [[nodiscard]] std::string explained() const;

  const std::shared_ptr<const Credentials> own_;
  const Expected expected_;
  ssl_st* ssl_ = nullptr;
  State state_ = State::Handshaking;
  std::string refusal_;
  Principal peer_;
  size_t handshakeBytes_ = 0;
  std::span<const uint8_t> input_;
  std::vector<uint8_t> kept_;  // what input_ is in, when it is kept
  std::vector<uint8_t> outgoing_;
  size_t outgoingSent_ = 0;
};

}  // namespace kvpool::secure
