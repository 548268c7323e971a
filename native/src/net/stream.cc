// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/certificate_settings.h"
#include "net/clock.h"
#include "net/socket.h"
#include "wire/handshake.h"

namespace kvpool::net {
namespace {

/// Receives of one readiness event, and bytes of one flush, so that one fast peer does not starve the others.
constexpr int kReceivesPerEvent = 8;
constexpr int kDroppedReceives = 16;
/// A certificate that ends sooner has no successor; connections that would be made by it again and again help no one.
constexpr int64_t kRenewableMs = 500;
constexpr uint64_t kFlushBytes = uint64_t{2} << 20;
/// What is sealed at a time while memory for that is scarce: one record of TLS.
constexpr uint64_t kScarceSealBytes = uint64_t{16} << 10;

/// What people can do about a socket of this machine that cannot be dialled; empty when it may pass.
std::string remedy(int errorNumber) {
  if (errorNumber == ENOENT) return " (a container must mount the socket's directory at the same path)";
  if (errorNumber == EACCES) return " (this process must be in the group of the socket)";
  if (errorNumber == EAGAIN) return " (its queue of connections is full)";
  return {};
}

bool isTransient(int errorNumber) {
  return errorNumber == EAGAIN || errorNumber == EWOULDBLOCK || errorNumber == EINTR;
}

}  // namespace

// ---- connecting ----

void Stream::dialTcp(Resolver& resolver, const std::string& address, int64_t silenceMs) {
  silenceMs_ = silenceMs;
  const auto parsed = parseHostPort(address);
  if (!parsed.ok()) return end({Ending::How::Lost, parsed.status().text()});
  dial_.emplace(loop_, resolver, parsed.value(), [this](Dial::Outcome outcome) {
    const std::shared_ptr<Stream> keep = shared_from_this();
    dialled(std::move(outcome));
  });
}

void Stream::dialled(Dial::Outcome outcome) {
  dial_.reset();
  if (!outcome.socket.valid()) {
    return end({outcome.unknown ? Ending::How::Unknown : Ending::How::Lost, std::move(outcome.why)});
  }
  adopt(std::move(outcome.socket));
  if (closed_) return;
  if (silenceMs_ > 0) probeSilence(socket_.get(), silenceMs_);
  if (!secured_) listener_.streamOpened(id_);
}

void Stream::dialUnix(const std::string& path) {
  int errorNumber = 0;
  auto socket = connectUnix(path, &errorNumber);
  if (!socket.ok()) return end({Ending::How::Lost, socket.status().text() + remedy(errorNumber)});
  adopt(std::move(socket.value()), true);
  listener_.streamOpened(id_);
}

void Stream::adopt(Fd socket, bool isUnix) {
  isUnix_ = isUnix;
  socket_ = std::move(socket);
  watched_ = EPOLLIN;
  loop_.add(socket_.get(), watched_, [this](uint32_t events) {
    const std::shared_ptr<Stream> keep = shared_from_this();
    happened(events);
  });
  if (!secured_) return;
  secured_->untilMs = steadyMs() + secure::Session::kHandshakeMsMax;
  if (secured_->how.side == secure::Session::Side::Listener) return;
  beginTls();
  flush();
}

// ---- sending ----

bool Stream::outputFull() const {
  return out_.unsentPayloads() >= limits_.unsentPayloadsMax || out_.unsentBytes() >= limits_.unsentBytesMax ||
         out_.unsentMemory() >= limits_.unsentMemoryMax;
}

void Stream::flush() {
  if (closed_ || !socket_.valid()) return;
  listener_.beforeSending();
  const bool wasFull = outputFull();
  const uint64_t before = out_.movedBytes();
  const uint64_t framesBefore = out_.sentFrameBytes();
  const OutQueue::Outcome outcome = send();
  const int errorNumber = errno;
  if (closed_) return;
  countUnsent();
  if (outcome == OutQueue::Outcome::Failed) {
    if (secured_ && secured_->session) receiveSecured();  // it may have said why it closed
    if (!closed_) failed("sending", errorNumber);
    return;
  }
  blocked_ = outcome == OutQueue::Outcome::Blocked;
  if (lingering_ && !blocked_) sendLast();
  const bool told = !secured_ || secured_->opened;
  if (told && out_.movedBytes() != before) listener_.bytesSent(id_, out_.sentFrameBytes() - framesBefore);
  if (wasFull && !outputFull()) resume();
  watch();
}

OutQueue::Outcome Stream::send() {
  const auto sent = [this](uint64_t payload) { listener_.payloadSent(id_, payload); };
  if (!secured_) return out_.flush(socket_.get(), kFlushBytes, sent);
  if (!secured_->session) return OutQueue::Outcome::Empty;
  const bool scarce = limits_.unsent != nullptr && limits_.unsent->isScarce();
  return out_.flush(*secured_->session, socket_.get(), kFlushBytes, sent,
                    scarce ? kScarceSealBytes : OutQueue::kSendBytes);
}

void Stream::countUnsent() {
  if (limits_.unsent == nullptr) return;
  const bool seals = secured_ && secured_->session;
  const uint64_t now = closed_ ? 0 : out_.unsentMemory() + (seals ? secured_->session->waitingMemory() : 0);
  limits_.unsent->bytes = limits_.unsent->bytes - unsentMemory_ + now;
  unsentMemory_ = now;
}

/// Nothing follows. What the kernel does not take of a goodbye is lost, which the peer sees.
void Stream::sendLast() {
  if (secured_ && secured_->session) {
    secured_->session->close();
    const std::span<const uint8_t> rest = secured_->session->outgoing();
    if (!rest.empty()) (void)::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    secured_->session->sent(rest.size());
  }
  ::shutdown(socket_.get(), SHUT_WR);
}

void Stream::watch() {
  if (closed_) return;
  uint32_t events = readsNothing() ? 0U : uint32_t{EPOLLIN};
  if (blocked_) events |= EPOLLOUT;
  if (events == watched_) return;
  watched_ = events;
  loop_.modify(socket_.get(), events);
}

// ---- receiving ----

void Stream::happened(uint32_t events) {
  if (closed_) return;
  if ((events & EPOLLOUT) != 0) flush();
  if (closed_) return;
  const bool over = (events & (EPOLLHUP | EPOLLERR)) != 0;
  const uint64_t before = receivedBytes_;
  if ((events & EPOLLIN) != 0 || over) receive();
  // Reading is off, or did not notice: a dead peer must not wake the loop for ever.
  if (over && receivedBytes_ == before) end({Ending::How::Lost, "the connection was reset"});
}

void Stream::receive() {
  for (int count = 0; count < kReceivesPerEvent && !closed_ && !readsNothing(); ++count) {
    if (inTls() && !lingering_) {
      if (!(secured_->session ? receiveSecured() : receiveFirst())) break;
      continue;
    }
    const bool direct = incoming_ && incoming_->bytes.isWorthReceiving() && !lingering_;
    const bool more = direct ? receivePayload() : receiveSome();
    if (!more) break;
  }
  watch();
}

/// Whether there is nothing to go on with; ends the stream when there never will be.
bool Stream::lost(ssize_t received, int errorNumber) {
  if (received > 0) {
    receivedBytes_ += static_cast<uint64_t>(received);
    return false;
  }
  if (received < 0) {
    if (!isTransient(errorNumber)) failed("receiving", errorNumber);
  } else if (secured_ && !secured_->opened) {
    end({Ending::How::Unauthenticated,
         "the peer closed the connection in the middle of the TLS handshake; does it take this side's certificate, "
         "and has it TLS on? Its log says why",
         false, true});
  } else if (incoming_ || decoder_.pending()) {
    end({Ending::How::Lost,
         std::string("the peer closed the connection in the middle of a ") + (incoming_ ? "payload" : "frame")});
  } else if (inTls() && !lingering_) {
    end({Ending::How::Lost, "the peer's process, or something between, closed the connection without the end of TLS"});
  } else {
    end({Ending::How::Closed, "the peer closed the connection"});
  }
  return true;
}

/// Where the decoder takes bytes; none when the stream ended as there is no memory. It must not be asked for room once
/// it has refused what it holds.
std::span<uint8_t> Stream::decoderRoom() {
  try {
    return decoder_.writable();
  } catch (const std::bad_alloc&) {  // the peer chose how much
    end({Ending::How::Lost, "no memory for a frame as large as the peer's"});
    return {};
  }
}

/// Receives into the decoder. False when the socket had no more.
bool Stream::receiveSome() {
  static thread_local std::array<uint8_t, IncomingPayload::kReceiveBytes> nowhere;
  const std::span<uint8_t> room = lingering_ ? std::span<uint8_t>(nowhere) : decoderRoom();
  if (closed_) return false;
  ReceivedBytes received;
  if (isUnix_ && !lingering_) {
    received = receiveWithDescriptors(socket_.get(), room, &descriptors_);
  } else {
    received.count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    received.errorNumber = errno;
  }
  if (lost(received.count, received.errorNumber)) return false;
  if (lingering_) return true;
  const auto count = static_cast<size_t>(received.count);
  listener_.bytesReceived(id_);
  decoder_.received(count);
  parse();
  return count == room.size();
}

/// Receives the rest of a payload straight into the memory it is for. False when the socket had no more.
bool Stream::receivePayload() {
  const ssize_t received = incoming_->bytes.receive(socket_.get());
  if (lost(received, errno)) return false;
  listener_.bytesReceived(id_);
  return true;
}

void Stream::parse() {
  try {
    while (!closed_ && !lingering_ && !malformed_) {
      if (incoming_) {
        const uint64_t missing = incoming_->bytes.missingBytes();
        const std::span<const uint8_t> raw = decoder_.takeRaw(missing);
        incoming_->bytes.take(raw);
        if (raw.size() < missing) return;
        finishPayload();
        continue;
      }
      if (held_ || outputFull()) return;
      const std::optional<wire::Body> body = decoder_.next();
      if (!body) return;
      listener_.frameArrived(id_, *body);
    }
  } catch (const wire::Malformed& malformed) {
    malformed_ = true;
    listener_.streamMalformed(id_, malformed.what());
  }
}

/// What was left when there was no room for its answers, or it was held.
void Stream::resume() {
  parse();
  if (secured_ && secured_->session && !closed_) openReceived();
}

// ---- with TLS ----

/// Whether what arrives goes through a session: also what came together with the end of TLS and waits there.
bool Stream::inTls() const {
  if (!secured_) return false;
  const secure::Session* const session = secured_->session.get();
  return session == nullptr || session->state() != secure::Session::State::Raw || session->midRecord();
}

void Stream::beginTls() {
  const Securing& how = secured_->how;
  secured_->session = std::make_unique<secure::Session>(how.credentials, how.side, how.expected, how.payloads);
}

/// The first bytes of a connection that was accepted, which say what it speaks. False when the socket had no more.
bool Stream::receiveFirst() {
  Secured& secured = *secured_;
  const std::span<uint8_t> room = std::span(secured.first).subspan(secured.firstCount);
  const ssize_t received = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (lost(received, errno)) return false;
  secured.firstCount += static_cast<size_t>(received);
  if (secured.firstCount < secured.first.size()) return true;
  if (secure::Session::begins(secured.first)) {
    beginTls();
    secured.session->received(secured.first);
    secured.session->keepRest();
    return true;
  }
  if (!secured.how.plainToo) {
    refusePlain();
    return false;
  }
  const std::span<uint8_t> into = decoderRoom();
  if (closed_) return false;
  std::copy(secured.first.begin(), secured.first.end(), into.begin());
  decoder_.received(secured.first.size());
  secured_.reset();  // a plain stream as any
  listener_.streamOpened(id_);
  return !closed_;
}

/// What lies there; one that goes on sending does not hold the loop.
void Stream::dropReceived() {
  std::array<uint8_t, 65536> nowhere;
  for (int count = 0; count < kDroppedReceives; ++count) {
    if (::recv(socket_.get(), nowhere.data(), nowhere.size(), MSG_DONTWAIT) <= 0) return;
  }
}

/// Says why in the peer's own language, so that its people find it in its log.
void Stream::refusePlain() {
  const wire::Bytes refused =
      wire::framed(wire::appendRefused, {wire::Refusal::Protocol, wire::kWireVersions,
                                         "TLS is required here; give this side a certificate " + kCertificateSettings});
  // What it sent is read first, as a connection that is closed with unread bytes loses what it sent.
  dropReceived();
  (void)::send(socket_.get(), refused.data(), refused.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  unauthenticated("does not speak TLS, which is required here; give it a certificate " + kCertificateSettings, true);
}

/// One receive, and what can be made of it. False when the socket had no more.
bool Stream::receiveSecured() {
  if (int* const steps = secured_->opened ? nullptr : secured_->how.handshakeSteps; steps != nullptr) {
    if (*steps == 0) return false;  // the loop says again that there is something to receive
    --*steps;
  }
  static thread_local std::array<uint8_t, IncomingPayload::kReceiveBytes> sealed;
  const ssize_t received = ::recv(socket_.get(), sealed.data(), sealed.size(), MSG_DONTWAIT);
  if (lost(received, errno)) return false;
  if (secured_->opened) listener_.bytesReceived(id_);
  if (closed_) return false;
  secured_->session->received(std::span(sealed).first(static_cast<size_t>(received)));
  openReceived();
  return static_cast<size_t>(received) == sealed.size();
}

/// The peer is authenticated.
void Stream::opened() {
  Secured& secured = *secured_;
  secured.opened = true;
  const int64_t now = unixMs();
  const int64_t end =
      std::min(secured.session->peer().notAfterMs, secured.how.credentials->self().principal.notAfterMs);
  if (end - now >= kRenewableMs) secured.renewAtMs = now + (end - now) / 4 * 3;
  listener_.streamOpened(id_);
}

/// Makes what it can of what the session has received; the session keeps the rest.
void Stream::openReceived() {
  Secured& secured = *secured_;
  if (std::exchange(secured.opening, true)) return;  // goes on where it is
  secure::Session& session = *secured.session;
  const secure::Session::State state = secured.opened ? session.state() : session.advance();
  const bool opens =
      !secured.opened && (state == secure::Session::State::Authenticated || state == secure::Session::State::Raw);
  if (opens) opened();
  while (secured.opened && !closed_ && !readsNothing() && !lingering_ && openSome()) {
  }
  secured.opening = false;
  if (closed_) return;
  session.keepRest();
  if (session.state() == secure::Session::State::Refused || session.state() == secure::Session::State::Closed) {
    return endSecured();
  }
  if (opens || (!session.outgoing().empty() && !blocked_)) flush();
}

/// False when the session has no more.
bool Stream::openSome() {
  secure::Session& session = *secured_->session;
  if (incoming_ && incoming_->bytes.isWorthReceiving()) return incoming_->bytes.open(session) > 0;
  const std::span<uint8_t> room = decoderRoom();
  if (closed_) return false;
  const size_t opened = session.open(room);
  if (opened == 0) return false;
  decoder_.received(opened);
  parse();
  return true;
}

/// The session is over: the peer said goodbye, or what it sent does not do.
void Stream::endSecured() {
  const secure::Session& session = *secured_->session;
  if (session.state() == secure::Session::State::Closed) {
    const bool whole = !incoming_ && !decoder_.pending();
    return end(
        {whole ? Ending::How::Closed : Ending::How::Lost,
         whole ? "the peer closed the connection" : "the peer closed the connection in the middle of its bytes"});
  }
  const std::string why = session.refusal();
  // The peer is told by an alert, which unread bytes must not destroy.
  dropReceived();
  sendLast();
  if (!secured_->opened) return unauthenticated("the peer " + why, session.peerIsPlain());
  end({Ending::How::Lost, "the peer " + why});
}

void Stream::unauthenticated(const std::string& why, bool plain) {
  end({Ending::How::Unauthenticated, why, plain});
}

void Stream::endUnauthenticated(int64_t now) {
  if (closed_ || !secured_ || secured_->opened || secured_->untilMs == 0 || now < secured_->untilMs) return;
  unauthenticated("the TLS handshake was not over within " + std::to_string(secure::Session::kHandshakeMsMax) + " ms");
}

void Stream::endExpired(int64_t unixNow, const secure::Credentials& own) {
  const Principal* const peer = closed_ ? nullptr : principal();
  if (peer == nullptr) return;
  if (unixNow >= peer->notAfterMs) {
    return end({Ending::How::Lost, "the certificate of " + toString(*peer) + " has ended"});
  }
  int64_t& since = secured_->distrustedAtMs;
  if (own.trusts(secured_->session->peersRoot())) {
    since = 0;
  } else if (since == 0) {
    since = unixNow;
  } else if (unixNow - since >= kDistrustedMs) {
    end({Ending::How::Lost,
         "the certificate of " + toString(*peer) + " was signed by a root that is not in ca.crt any more"});
  }
}

bool Stream::isToBeRenewed(int64_t unixNow, const secure::Credentials& own) {
  if (closed_ || !secured_ || secured_->renewAtMs == 0) return false;
  const secure::Credentials& shown = *secured_->how.credentials;
  const bool lasts = unixNow < secured_->renewAtMs && own.self().principal.isSame(shown.self().principal) &&
                     own.root() == shown.root() && own.trusts(secured_->session->peersRoot());
  if (lasts) return false;
  secured_->renewAtMs = 0;
  return true;
}

void Stream::expectPayload(uint64_t payload, const std::optional<Pieces>& destination, uint64_t length, bool told,
                           const RunningSum& sum) {
  incoming_ = Incoming{payload, told, IncomingPayload(destination, length, sum)};
}

void Stream::finishPayload() {
  const Incoming done = *incoming_;
  incoming_.reset();
  if (done.told) listener_.payloadReceived(id_, done.payload, done.bytes.computedCrc(), done.bytes.sentCrc());
}

void Stream::release() {
  held_ = false;
  resume();
  watch();
}

// ---- what does not move ----

bool Stream::Standstill::longerThan(int64_t ms, int64_t now, bool waits, uint64_t movedByNow) {
  if (!waits || moved != movedByNow || !since) since = now;
  moved = movedByNow;
  return now - *since > ms;
}

bool Stream::stalled(int64_t now, int64_t ms) {
  const bool midRecord = secured_ && secured_->opened && secured_->session->midRecord();
  const bool midInput = (incoming_ || decoder_.pending() || midRecord) && !readsNothing() && !lingering_;
  const bool input = input_.longerThan(ms, now, midInput, receivedBytes_);
  const bool output = output_.longerThan(ms, now, !out_.empty(), out_.movedBytes());
  return input || output;
}

/// While bytes are on their way to the peer's host, it has to acknowledge some of them; while none are, the kernel asks
/// (probeSilence()).
void Stream::watchHost(int64_t now) {
  if (closed_ || !socket_.valid() || silenceMs_ == 0) return;
  const Unacknowledged sent = unacknowledged(socket_.get());
  if (!sent.any) return unacknowledgedSince_.reset();
  if (!unacknowledgedSince_) unacknowledgedSince_ = now;
  // An acknowledgement from before these bytes were sent says nothing.
  if (std::min(sent.heardMs, now - *unacknowledgedSince_) >= silenceMs_) failed("sending", ETIMEDOUT);
}

// ---- ending ----

void Stream::failed(const std::string& what, int errorNumber) {
  if (errorNumber == ETIMEDOUT && silenceMs_ > 0) {
    return end({Ending::How::Silent,
                "its host does not answer since " + std::to_string(silenceMs_) + " ms; is it running, and reachable?"});
  }
  end({Ending::How::Lost, what + " failed: " + std::strerror(errorNumber)});
}

void Stream::end(const Ending& ending) {
  if (closed_) return;
  close();
  listener_.streamEnded(id_, ending);
}

void Stream::close() {
  if (closed_) return;
  closed_ = true;
  dial_.reset();
  if (secured_ && secured_->opened && socket_.valid() && !lingering_) sendLast();
  if (socket_.valid()) loop_.remove(socket_.get());
  socket_.reset();
  out_ = OutQueue();
  countUnsent();
  incoming_.reset();
  descriptors_.clear();
}

}  // namespace kvpool::net
