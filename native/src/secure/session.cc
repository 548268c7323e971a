// SPDX-License-Identifier: Apache-2.0
#include "secure/session.h"

#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/certificate_settings.h"
#include "secure/openssl.h"

namespace kvpool::secure {
namespace {

/// Plaintext of one record; smaller pieces are put together.
constexpr size_t kRecordBytes = size_t{16} << 10;
/// What a record has besides: its header, the kind of what is in it, the sum of AES-GCM.
constexpr size_t kRecordOverheadBytes = 5 + 1 + 16;
/// What a connection that waits for nothing keeps of its buffers.
constexpr size_t kKeptBytesMax = size_t{16} << 10;

/// What a dialer offers, in order, as ALPN writes it: each name behind its length. The second is for listeners that
/// refuse dialers of which they know no name, as other stacks do.
constexpr std::string_view kRawName = "kvpool-raw";
constexpr std::string_view kOffer =
    "\x0a"
    "kvpool-raw"
    "\x06"
    "kvpool";
static_assert(kOffer.substr(1, kRawName.size()) == kRawName && kOffer[0] == char{kRawName.size()});

/// From this on a buffer is worth to be passed on.
constexpr size_t kLargeBytesMin = size_t{64} << 10;

/// Assigning {} would keep the memory.
void giveBack(std::vector<uint8_t>& buffer) {
  std::vector<uint8_t>().swap(buffer);
}

/// One large buffer for each thread goes from connection to connection: only those that are blocked have one.
std::vector<uint8_t>& spareBuffer() {
  static thread_local std::vector<uint8_t> spare;
  return spare;
}

}  // namespace

/// What OpenSSL takes for the connection: the session's memory.
struct Session::Transport {
  static int read(BIO* bio, char* into, size_t size, size_t* count) {
    auto* const session = static_cast<Session*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *count = std::min(size, session->input_.size());
    if (*count == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    if (session->state_ == State::Handshaking) {
      session->handshakeBytes_ += *count;
      if (session->handshakeBytes_ > kBytesBeforeAuthentication) {
        session->refuse("sent more than 16 KiB before it was authenticated; its chain of certificates must be smaller");
        return -1;
      }
    }
    std::memcpy(into, session->input_.data(), *count);
    session->input_ = session->input_.subspan(*count);
    return 1;
  }

  static int write(BIO* bio, const char* from, size_t size, size_t* count) {
    auto* const session = static_cast<Session*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *count = 0;
    if (session->leaving_) return 0;  // the peer would take it for the first frame
    try {
      session->outgoing_.insert(session->outgoing_.end(), from, from + size);
    } catch (const std::bad_alloc&) {
      return 0;  // no exception finds its way through OpenSSL
    }
    *count = size;
    return 1;
  }

  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* method() {
    static const BIO_METHOD* const all = [] {
      BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session");
      if (made == nullptr) throw std::bad_alloc();
      BIO_meth_set_read_ex(made, read);
      BIO_meth_set_write_ex(made, write);
      BIO_meth_set_ctrl(made, control);
      return made;
    }();
    return all;
  }

  /// A listener's choice. A dialer that offers nothing it wants goes on as one that offers nothing.
  static int choose(SSL* ssl, const unsigned char** chosen, unsigned char* length, const unsigned char* offer,
                    unsigned int size, void* /*user*/) {
    const auto* const session = static_cast<const Session*>(SSL_get_app_data(ssl));
    const bool raw = session->payloads_ == Payloads::Authenticated;
    const std::string_view wanted = raw ? kRawName : kOffer.substr(1 + kRawName.size() + 1);
    for (unsigned int at = 0; at < size; at += 1 + offer[at]) {  // OpenSSL has checked the lengths
      if (std::string_view(reinterpret_cast<const char*>(offer) + at + 1, offer[at]) != wanted) continue;
      *chosen = offer + at + 1;
      *length = offer[at];
      return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_NOACK;
  }

  static int verify(int good, X509_STORE_CTX* check) {
    const void* const ssl = X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx());
    auto* const session = static_cast<Session*>(SSL_get_app_data(static_cast<const SSL*>(ssl)));
    try {
      return session->verified(good, check);
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }
};

bool Session::begins(std::span<const uint8_t> first) {
  // Most stacks put the number of TLS 1.0 into the first record, Java puts that of 1.2.
  return first.size() >= 3 && first[0] == 0x16 && first[1] == 0x03 && first[2] >= 0x01 && first[2] <= 0x03;
}

void Session::prepare(SSL_CTX* context) {
  SSL_CTX_set_alpn_select_cb(context, Transport::choose, nullptr);
}

Session::Session(std::shared_ptr<const Credentials> own, Side side, Expected expected, Payloads payloads)
    : own_(std::move(own)), side_(side), expected_(std::move(expected)), payloads_(payloads) {
  OwnedSsl ssl(SSL_new(own_->context()));
  BIO* const transport = ssl ? BIO_new_ex(libraryContext(), Transport::method()) : nullptr;
  if (transport == nullptr) throw std::bad_alloc();
  BIO_set_data(transport, this);
  BIO_set_init(transport, 1);
  SSL_set_bio(ssl.get(), transport, transport);
  SSL_set_app_data(ssl.get(), this);
  SSL_set_verify(ssl.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, Transport::verify);
  if (side == Side::Dialer) {
    const auto* const offer = reinterpret_cast<const unsigned char*>(kOffer.data());
    // 0 is success, of this one function.
    if (payloads == Payloads::Authenticated && SSL_set_alpn_protos(ssl.get(), offer, kOffer.size()) != 0) {
      throw std::bad_alloc();
    }
    SSL_set_connect_state(ssl.get());
  } else {
    SSL_set_accept_state(ssl.get());
  }
  ssl_ = ssl.release();
  if (side == Side::Dialer) advance();
}

Session::~Session() {
  SSL_free(ssl_);
}

// ---- what the peer shows ----

/// Called for each certificate of the peer's chain, with those that are wrong, and the peer's own last.
int Session::verified(int good, X509_STORE_CTX* check) {
  if (good != 1) {
    const int error = X509_STORE_CTX_get_error(check);
    refuse("its certificate " + verificationProblem(error));
    return 0;
  }
  if (X509_STORE_CTX_get_error_depth(check) > 0) return 1;
  Result<PeerName> name = nameOf(X509_STORE_CTX_get_current_cert(check), own_->foreign());
  std::string why;
  if (!name.ok()) {
    why = "its certificate: " + name.status().text();
  } else if (name.value().pool != own_->self().pool) {
    why = "it is " + kvpool::toString(name.value().principal) + " of pool " + toString(name.value().pool) +
          ", and this process is of pool " + toString(own_->self().pool) + "; is the address right?";
  } else if (!expected_.admits(name.value().principal)) {
    why = "it is " + kvpool::toString(name.value().principal) + " by its certificate, where " + toString(expected_) +
          " is expected; is the address right, and its certificate its own?";
  }
  if (why.empty()) {
    peer_ = std::move(name.value().principal);
    peersRoot_ = rootOf(check);
    return 1;
  }
  refuse(std::move(why));
  X509_STORE_CTX_set_error(check, X509_V_ERR_CERT_REJECTED);
  return 0;
}

/// What this connection has, and no other.
Result<ConnectionBinding> Session::binding() const {
  ConnectionBinding exported{};
  if (state_ != State::Authenticated ||
      SSL_export_keying_material(ssl_, exported.data(), exported.size(), kBindingLabel.data(), kBindingLabel.size(),
                                 nullptr, 0, 0) != 1) {
    ERR_clear_error();
    return Status(KV_INTERNAL, "the connection is not in TLS");
  }
  return exported;
}

Result<CertificateProof> Session::proof(const Credentials& now) const {
  const Result<ConnectionBinding> bound = binding();
  if (!bound.ok()) return bound.status();
  return makeProof(now, side_ == Side::Dialer ? Prover::Dialer : Prover::Listener, bound.value());
}

Status Session::prove(const CertificateProof& proof, const Credentials& now) {
  const Result<ConnectionBinding> bound = binding();
  if (!bound.ok()) return bound.status();
  Result<Proven> proven =
      checkProof(proof, now, side_ == Side::Dialer ? Prover::Listener : Prover::Dialer, bound.value());
  if (!proven.ok()) return proven.status();
  PeerName& name = proven.value().peer;
  if (name.pool != now.self().pool || !name.principal.isSame(peer_)) {
    return {KV_NOT_PERMITTED, "its newer certificate is of " + kvpool::toString(name.principal) + " of pool " +
                                  toString(name.pool) + ", the connection is of " + kvpool::toString(peer_) +
                                  "; issue it with the same name"};
  }
  peer_ = std::move(name.principal);
  peersRoot_ = proven.value().root;
  return {};
}

void Session::refuse(std::string why) {
  if (state_ == State::Refused) return;  // the first reason is the cause of the others
  state_ = State::Refused;
  refusal_ = std::move(why);
}

/// The failure that OpenSSL has just had and forgets by this, in the words of people who run pools.
std::string Session::explained() {
  // The first of them is the cause: since OpenSSL 3.2 another may follow that says no more than where it was noticed.
  const unsigned long failure = ERR_peek_error();
  const int reason = ERR_GET_REASON(failure);
  const std::string text = reasonOf(failure);
  ERR_clear_error();
  const std::string self = kvpool::toString(own_->self().principal) + " of pool " + toString(own_->self().pool);
  switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "shows no certificate; give it one " + kCertificateSettings;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_BAD_RECORD_TYPE:
      if (leaving_) return "sent other bytes before it had left TLS: " + text;
      // OpenSSL looks at the head of a record before it takes more: this was the first.
      peerIsPlain_ = state_ == State::Handshaking && handshakeBytes_ <= SSL3_RT_HEADER_LENGTH;
      if (!peerIsPlain_) return "sent what is no TLS: " + text;
      return "does not speak TLS, or has it off; both ends need a certificate " + kCertificateSettings +
             ", and masters and nodes --tls";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "has no version or suite of TLS in common with us; this is TLS 1.3 with AES-GCM";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      return "does not take our certificate, " + self + ": another role, name or pool is expected there";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "does not take our certificate, " + self + ": its ca.crt has no root that signed it";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "does not take our certificate, " + self + ": it has expired; renew it, and compare the clocks";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "got no certificate from us, which it demands";
    default:
      return "failed in TLS: " + text;
  }
}

// ---- moving bytes ----

void Session::received(std::span<const uint8_t> bytes) {
  if (input_.empty()) {
    input_ = bytes;
    return;
  }
  std::vector<uint8_t> all(input_.begin(), input_.end());
  all.insert(all.end(), bytes.begin(), bytes.end());
  kept_ = std::move(all);
  input_ = kept_;
}

void Session::keepRest() {
  if (input_.empty()) {
    if (kept_.capacity() > kKeptBytesMax) giveBack(kept_);
    return;
  }
  const bool kept = input_.data() >= kept_.data() && input_.data() < kept_.data() + kept_.size();
  if (kept) return;
  kept_.assign(input_.begin(), input_.end());
  input_ = kept_;
}

/// What the outcome of a call of OpenSSL that did not succeed means.
void Session::judge(int outcome) {
  const int error = SSL_get_error(ssl_, outcome);
  if (error == SSL_ERROR_WANT_READ) return;
  if (error == SSL_ERROR_ZERO_RETURN) {
    if (state_ == State::Authenticated)
      state_ = State::Closed;
    else
      refuse("ended the connection in the middle of the handshake");
    return;
  }
  refuse(explained());
  ERR_clear_error();
}

Session::State Session::advance() {
  if (state_ != State::Handshaking) return state_;
  if (leaving_) {
    awaitGoodbye();
    return state_;
  }
  ERR_clear_error();
  const int outcome = SSL_do_handshake(ssl_);
  if (state_ == State::Refused) {
    ERR_clear_error();
  } else if (outcome == 1) {
    const unsigned char* name = nullptr;
    unsigned int length = 0;
    SSL_get0_alpn_selected(ssl_, &name, &length);
    if (payloads_ == Payloads::Authenticated &&
        std::string_view(reinterpret_cast<const char*>(name), length) == kRawName) {
      leaveTls();
    } else {
      state_ = State::Authenticated;
    }
  } else {
    judge(outcome);
  }
  return state_;
}

/// Both have agreed to. The peer's goodbye tells a dialer too that its certificate was taken.
void Session::leaveTls() {
  ERR_clear_error();
  if (SSL_shutdown(ssl_) < 0) return refuse(explained());
  leaving_ = true;
  awaitGoodbye();
}

void Session::awaitGoodbye() {
  ERR_clear_error();
  uint8_t sealed = 0;
  size_t count = 0;
  const int outcome = SSL_read_ex(ssl_, &sealed, sizeof sealed, &count);
  if (outcome == 1) return refuse("sent encrypted bytes where it had agreed to leave TLS");
  if (state_ == State::Refused) return ERR_clear_error();
  if (SSL_get_error(ssl_, outcome) != SSL_ERROR_ZERO_RETURN) return judge(outcome);
  state_ = State::Raw;
  SSL_free(std::exchange(ssl_, nullptr));  // it has looked at no byte behind the goodbye
}

size_t Session::open(std::span<uint8_t> into) {
  if (state_ == State::Raw) {
    const size_t part = std::min(into.size(), input_.size());
    std::copy_n(input_.begin(), part, into.begin());
    input_ = input_.subspan(part);
    return part;
  }
  if (state_ != State::Authenticated) return 0;
  ERR_clear_error();
  size_t count = 0;
  const int outcome = SSL_read_ex(ssl_, into.data(), into.size(), &count);
  if (outcome == 1) return count;
  judge(outcome);
  return 0;
}

bool Session::midRecord() const {
  return !input_.empty() || (ssl_ != nullptr && SSL_has_pending(ssl_) == 1);
}

bool Session::sealOne(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return true;
  size_t count = 0;
  return SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count) == 1;
}

bool Session::seal(std::span<const iovec> pieces) {
  if (state_ != State::Authenticated) return false;
  size_t plain = 0;
  for (const iovec& piece : pieces)
    plain += piece.iov_len;
  // Growing as vectors do would take twice as much.
  const size_t wanted = outgoing_.size() + plain + (plain / kRecordBytes + 1) * kRecordOverheadBytes;
  if (wanted > kLargeBytesMin && outgoing_.empty() && outgoing_.capacity() < spareBuffer().capacity()) {
    outgoing_.swap(spareBuffer());
  }
  outgoing_.reserve(wanted);
  ERR_clear_error();
  static thread_local std::array<uint8_t, kRecordBytes> together;
  size_t gathered = 0;
  for (const iovec& piece : pieces) {
    std::span<const uint8_t> rest(static_cast<const uint8_t*>(piece.iov_base), piece.iov_len);
    while (!rest.empty()) {
      size_t part = 0;
      if (gathered == 0 && rest.size() >= kRecordBytes) {
        part = rest.size() - rest.size() % kRecordBytes;
        if (!sealOne(rest.first(part))) return false;
      } else {
        part = std::min(rest.size(), kRecordBytes - gathered);
        std::memcpy(together.data() + gathered, rest.data(), part);
        gathered += part;
        if (gathered == kRecordBytes) {
          if (!sealOne(together)) return false;
          gathered = 0;
        }
      }
      rest = rest.subspan(part);
    }
  }
  return sealOne(std::span(together).first(gathered));
}

void Session::sent(size_t count) {
  outgoingSent_ += count;
  if (outgoingSent_ < outgoing_.size()) return;
  outgoingSent_ = 0;
  outgoing_.clear();
  if (outgoing_.capacity() <= kKeptBytesMax) return;
  if (spareBuffer().capacity() < outgoing_.capacity()) spareBuffer().swap(outgoing_);
  giveBack(outgoing_);
}

void Session::close() {
  if (state_ != State::Authenticated && state_ != State::Closed) return;
  ERR_clear_error();
  (void)SSL_shutdown(ssl_);
  ERR_clear_error();
}

}  // namespace kvpool::secure
