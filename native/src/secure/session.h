// SPDX-License-Identifier: Apache-2.0
// One TLS 1.3 connection without its socket: bytes of the peer go in, plaintext and bytes for the peer come out. Both
// ends show certificates; nothing is opened or sealed before the peer's is checked. Where both ends want it, TLS ends
// there: each says goodbye, and what follows the peer's is as it is on the wire.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/certificate_proof.h"
#include "secure/certificate_proof.h"
#include "secure/credentials.h"
#include "secure/names.h"
#include "secure/payloads.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_ctx_st;

namespace kvpool::secure {

class Session {
 public:
  enum class Side { Dialer, Listener };
  enum class State {
    Handshaking,
    Authenticated,
    Raw,     // authenticated, and both have left TLS: open() has what came behind, then the socket goes on without
    Closed,  // by the peer, in a way that nothing in between can: what came before is all of it
    Refused  // see refusal()
  };

  /// What a peer may send, and how long it may take, before it is authenticated.
  static constexpr size_t kBytesBeforeAuthentication = size_t{16} << 10;
  static constexpr int64_t kHandshakeMsMax = 3000;

  /// A dialer's first bytes are in outgoing() at once. With Authenticated it ends as Raw if the peer's says that too:
  /// a dialer offers it and a listener chooses, in the handshake (ALPN), where nothing in between can change it.
  Session(std::shared_ptr<const Credentials> own, Side side, Expected expected,
          Payloads payloads = Payloads::Encrypted);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether a connection that begins with these three bytes is TLS; no frame of ours does.
  static bool begins(std::span<const uint8_t> first);
  /// Once for each context that sessions are made of.
  static void prepare(ssl_ctx_st* context);

  [[nodiscard]] State state() const { return state_; }
  /// Why it is Refused: about the peer, for people, with what to do.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// It is Refused, as the first that the peer sent was no TLS. Nothing shows that this was the peer.
  [[nodiscard]] bool peerIsPlain() const { return peerIsPlain_; }
  /// Once it was Authenticated or Raw.
  [[nodiscard]] const Principal& peer() const { return peer_; }
  /// Likewise: what the peer's certificate leads to.
  [[nodiscard]] const RootDigest& peersRoot() const { return peersRoot_; }

  /// What the peer's prove() takes: that this end holds the certificate of `now` too. While it is Authenticated.
  [[nodiscard]] Result<CertificateProof> proof(const Credentials& now) const;
  /// The peer holds a newer certificate: from now on peer() and peersRoot() are of that. Otherwise nothing changes, and
  /// the sentence says why. `now` is what this end believes at the moment. While it is Authenticated.
  Status prove(const CertificateProof& proof, const Credentials& now);

  /// Bytes of the peer. They are looked at in place until keepRest().
  void received(std::span<const uint8_t> bytes);
  /// Copies what of them was not consumed: their memory is about to be used for something else.
  void keepRest();
  /// Goes on with the handshake as far as what was received allows.
  State advance();
  /// Writes plaintext to `into`, which is not empty; how much. 0: more must be received first, or the state has
  /// changed. Raw: what was received, as it is.
  size_t open(std::span<uint8_t> into);
  /// Whether part of a record waits for its rest; Raw: whether anything received was not opened.
  [[nodiscard]] bool midRecord() const;

  /// Adds these bytes, one after the other, to outgoing(). False when no peer is left to send them to, and when Raw.
  bool seal(std::span<const iovec> pieces);
  /// Bytes for the peer.
  [[nodiscard]] std::span<const uint8_t> outgoing() const { return std::span(outgoing_).subspan(outgoingSent_); }
  void sent(size_t count);
  /// What holds outgoing(), and what was received and waits for room for its answers.
  [[nodiscard]] size_t waitingMemory() const {
    return (outgoing_.empty() ? 0 : outgoing_.capacity()) + (input_.empty() ? 0 : kept_.capacity());
  }
  /// Says goodbye in outgoing(): what the peer received until then is all of it.
  void close();

 private:
  struct Transport;
  friend struct Transport;

  int verified(int good, x509_store_ctx_st* check);
  void leaveTls();
  void awaitGoodbye();
  void judge(int outcome);
  void refuse(std::string why);
  [[nodiscard]] Result<ConnectionBinding> binding() const;
  bool sealOne(std::span<const uint8_t> bytes);
  std::string explained();

  const std::shared_ptr<const Credentials> own_;
  const Side side_;
  const Expected expected_;
  const Payloads payloads_;
  ssl_st* ssl_ = nullptr;  // none once it is Raw
  State state_ = State::Handshaking;
  std::string refusal_;
  bool peerIsPlain_ = false;
  Principal peer_;
  RootDigest peersRoot_{};
  bool leaving_ = false;  // our goodbye is in outgoing_, or gone: TLS of ours has no more to say
  size_t handshakeBytes_ = 0;
  std::span<const uint8_t> input_;
  std::vector<uint8_t> kept_;  // what input_ is in, when it is kept
  std::vector<uint8_t> outgoing_;
  size_t outgoingSent_ = 0;
};

}  // namespace kvpool::secure
