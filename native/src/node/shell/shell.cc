// SPDX-License-Identifier: Apache-2.0
#include "node/shell/shell.h"

#include <sys/stat.h>

#include <algorithm>

#include "net/clock.h"
#include "store/staging.h"

namespace kvpool::node {
namespace {

/// Rounds of sending in one turn; with more to do the loop looks at its sockets in between.
constexpr int kRoundsPerTurn = 8;

/// A master is read even while it reads slowly, or its commands and heartbeats would wait behind records; the core
/// bounds what it may leave unread.
constexpr net::Stream::Limits kMasterLimits{};

/// Steps of handshakes in one turn, of half a millisecond each: clients are served in between.
constexpr int kHandshakeStepsPerTurn = 2;

uint64_t monotonicMs() {
  return static_cast<uint64_t>(net::steadyMs());
}

Pieces piecesOf(std::span<uint8_t> bytes) {
  return {bytes.data(), bytes.size()};
}

std::vector<kv_piece> piecesOf(std::span<uint8_t> bytes, const std::vector<store::Range>& parts) {
  std::vector<kv_piece> pieces;
  pieces.reserve(parts.size());
  for (const store::Range& part : parts)
    pieces.push_back({bytes.data() + part.offset, part.length});
  return pieces;
}

}  // namespace

Shell::Shell(net::EventLoop& loop, NodeCore& core, const NodeSettings& settings, const store::SegmentFile& segment,
             ssd::Device* device, Listeners listeners, std::optional<RemoteSource> remote,
             std::shared_ptr<secure::Security> security)
    : loop_(loop),
      core_(core),
      segment_(segment),
      guard_(segment_.mapping.bytes()),
      transferTimeoutMs_(settings.transferTimeoutMs),
      masters_(settings.masters),
      masterDialer_(
          loop, settings.connectTimeoutMs,
          [this](uint64_t master, Fd socket, const std::string& peer) {
            begin(std::move(socket), {Unopened::Kind::Master, master, peer}, kMasterLimits);
          },
          [this](uint64_t master, const net::Dial::Outcome& outcome) {
            if (outcome.unknown) return core_.nameUnknown(nowMs_, master, outcome.why);
            core_.dialFailed(nowMs_, master, outcome.refused, outcome.why);
          }),
      sourceDialer_(
          loop, settings.connectTimeoutMs,
          [this](uint64_t source, Fd socket, const std::string& peer) {
            Source dialled = sources_.extract(source).mapped();
            begin(std::move(socket), {Unopened::Kind::Source, source, "source " + peer, {}, std::move(dialled)},
                  clientLimits_);
          },
          [this](uint64_t source, const net::Dial::Outcome& outcome) {
            sources_.erase(source);
            core_.sourceDialFailed(source, outcome.why);
          }),
      nowMs_(monotonicMs()),
      security_(std::move(security)),
      proofs_([this](ConnectionId id, wire::Bytes frame) {
        if (net::OutQueue* out = streams_.outOf(id)) out->addFrame(std::move(frame));
      }),
      clientLimits_{wire::kHelloBodyBytesMax, 64, uint64_t{16} << 20, uint64_t{1} << 20, &unsent_},
      streams_(loop, static_cast<net::Stream::Listener&>(*this)),
      copies_(segment_.mapping.bytes()),
      tierStaging_(remote ? tierStagingOf(*remote) : std::span<uint8_t>()) {
  acceptors_.emplace_back(loop_, std::move(listeners.tcp), [this](Fd socket, const net::SocketAddress& peer) {
    begin(std::move(socket), {Unopened::Kind::Client, 0, "client " + net::toString(peer), net::hostOf(peer)},
          clientLimits_);
  });
  if (listeners.local.valid()) {
    acceptors_.emplace_back(loop_, std::move(listeners.local), [this](Fd socket, const net::SocketAddress&) {
      accepted(std::move(socket), true, "client on the unix socket");
    });
  }
  if (device != nullptr) workers_.emplace(*device, [this] { loop_.wake(); });
  if (!remote) return;
  remote_ = linksOf(std::move(*remote), segment_.mapping.bytes(), static_cast<RemoteEvents&>(*this),
                    settings.connectTimeoutMs, [this] { loop_.wake(); });
  if (remote_->descriptor() >= 0)
    loop_.add(remote_->descriptor(), EPOLLIN, [this](uint32_t) { remote_->work(nowMs_); });
}

Shell::~Shell() {
  workers_.reset();  // they read into memory of remote_, whose end tells what came of its transfers
  if (remote_ && remote_->descriptor() >= 0) loop_.remove(remote_->descriptor());
}

void Shell::turn() {
  nowMs_ = monotonicMs();
  handshakeSteps_ = kHandshakeStepsPerTurn;
  const bool waits = copies_.idle() && !streams_.unsettled() && !core_.busy() && nowMs_ < nextTickMs_ &&
                     (!remote_ || remote_->settled());
  loop_.runOnce(waits ? static_cast<int>(nextTickMs_ - nowMs_) : 0);
  nowMs_ = monotonicMs();
  takeTierDone();
  copies_.turn([this](ConnectionId id, uint32_t computed, uint32_t expected) {
    core_.payloadReceived(id, computed, expected);
    act();
    if (net::Stream* stream = streams_.find(id)) stream->release();
  });
  if (nowMs_ >= nextTickMs_) tick();
  if (remote_ && (!remote_->idle() || !remote_->settled())) remote_->work(nowMs_);
  // What was sent can lead to more, as with the pieces of a snapshot.
  const auto endTurn = [this] {
    core_.endTurn();
    act();
  };
  streams_.keepTo(unsent_);
  streams_.settle(endTurn, kRoundsPerTurn);
}

void Shell::tick() {
  nextTickMs_ = nowMs_ + NodeCore::kTickMs;
  for (net::Acceptor& acceptor : acceptors_)
    acceptor.resume();
  checkSegment();
  if (remote_) routes_ = remote_->routes();
  masterDialer_.tick(nowMs_);
  sourceDialer_.tick(nowMs_);
  security_->look(static_cast<int64_t>(nowMs_));
  core_.tick(nowMs_);
  const auto now = static_cast<int64_t>(nowMs_);
  streams_.tick(now);
  if (!unopened_.empty()) streams_.endUnauthenticated(now);
  bounds_.tick(nowMs_);
  if (security_->isOn()) watchCertificates();
  streams_.endStalled(now, static_cast<int64_t>(transferTimeoutMs_));
}

/// Connections end with the certificates by which they were opened; those that we dialled are replaced before, or, to
/// masters, stand by newer certificates.
void Shell::watchCertificates() {
  const int64_t now = net::unixMs();
  const std::shared_ptr<const secure::Credentials>& own = security_->credentials();
  streams_.forEach([this, now, &own](net::Stream& stream) {
    const Principal* const peer = stream.principal();
    if (peer == nullptr) return;
    const bool isMaster = peer->role == Principal::Role::Master;
    stream.endExpired(now, *own);
    if (isMaster) return proofs_.tick(stream, own);
    if (stream.isToBeRenewed(now, *own)) core_.renew(stream.id());
  });
}

/// Whoever cuts the file short takes objects away; with the guard's zeros in their place nothing may be answered.
void Shell::checkSegment() const {
  struct stat info {};
  const uint64_t end = segment_.offset + segment_.geometry.fileBytes;
  const bool whole = ::fstat(segment_.lock.get(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= end;
  if (whole && !guard_.lost()) return;
  throw SegmentLost("the segment file was cut to " + std::to_string(info.st_size) + " of " + std::to_string(end) +
                    " bytes by another process; start the node again: it sets the file aside and begins an empty one");
}

ConnectionId Shell::add(Fd socket, bool local, const std::string& peer, const net::Stream::Limits& limits) {
  const ConnectionId id = ++lastId_;
  peers_[id] = peer;
  streams_.add(id, limits)->adopt(std::move(socket), local);
  return id;
}

void Shell::accepted(Fd socket, bool local, const std::string& peer) {
  core_.accepted(nowMs_, add(std::move(socket), local, peer, clientLimits_), local, peer);
}

/// A connection by TCP: the core hears of it once it is known who is there.
void Shell::begin(Fd socket, const Unopened& opens, const net::Stream::Limits& limits) {
  const bool isClient = opens.kind == Unopened::Kind::Client;
  if (!security_->isOn() || opens.dialled.plain) return tell(add(std::move(socket), false, opens.peer, limits), opens);
  if (isClient) {
    if (const std::string why = bounds_.begin(opens.host, nowMs_); !why.empty()) {
      ++tls_.failures;
      return refusals_.add(opens.peer, why, static_cast<int64_t>(nowMs_));  // closed: an honest peer tries again
    }
  }
  const ConnectionId id = ++lastId_;
  peers_[id] = opens.peer;
  unopened_[id] = opens;
  const std::shared_ptr<net::Stream> stream = streams_.add(id, limits);
  const bool isMaster = opens.kind == Unopened::Kind::Master;
  const auto side = isClient ? secure::Session::Side::Listener : secure::Session::Side::Dialer;
  const auto expected = isMaster ? secure::Expected::master() : opens.dialled.expected;
  // What masters say has secrets in it.
  const auto payloads = isMaster ? secure::Payloads::Encrypted : security_->payloads();
  stream->secure({security_->credentials(), side, expected, isClient && security_->takesPlain(), payloads,
                  isClient ? &handshakeSteps_ : nullptr});
  if (isMaster) proofs_.begin(id, security_->credentials());
  stream->adopt(std::move(socket));
}

void Shell::tell(ConnectionId id, const Unopened& opened) {
  switch (opened.kind) {
    case Unopened::Kind::Client: {
      const net::Stream* const stream = streams_.find(id);
      const Principal* const who = stream == nullptr ? nullptr : stream->principal();
      core_.accepted(nowMs_, id, false, opened.peer, who == nullptr ? std::nullopt : std::optional(*who));
      break;
    }
    case Unopened::Kind::Master:
      core_.dialled(nowMs_, id, opened.number, opened.peer);
      break;
    case Unopened::Kind::Source:
      core_.sourceDialled(nowMs_, id, opened.number, opened.peer);
      break;
  }
}

Shell::TlsCounts Shell::tls() const {
  TlsCounts counts = tls_;
  if (security_->isOn()) counts.notAfterMs = security_->credentials()->self().principal.notAfterMs;
  return counts;
}

void Shell::act() {
  for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
    for (const Action& action : actions)
      std::visit([this](const auto& one) { perform(one); }, action);
    answerStaging();
  }
}

void Shell::answerStaging() {
  if (!workers_) return;  // without an SSD, or at the end
  for (const TierStaging::Answer& answer : tierStaging_.takeAnswers())
    core_.stagingTaken(answer.transfer, answer.good);
}

// ---- what happened ----
// It goes to the core, and what that wants is done at once: the next bytes depend on it.

void Shell::streamOpened(ConnectionId id) {
  const auto opened = unopened_.extract(id);
  if (!opened) return;
  if (opened.mapped().kind == Unopened::Kind::Client) bounds_.end(opened.mapped().host);
  if (const net::Stream* const stream = streams_.find(id); stream != nullptr && stream->principal() != nullptr) {
    ++tls_.handshakes;
    peers_[id] += " (" + toString(*stream->principal()) + ")";
  }
  tell(id, opened.mapped());
}

/// It ended before its peer was known.
void Shell::unopened(const Unopened& opens, const net::Stream::Ending& ending) {
  if (opens.kind == Unopened::Kind::Source && ending.plain && security_->takesPlain()) {
    // On the way from Off to Permissive a node that has TLS already is to take what another has that has not.
    Source plain = opens.dialled;
    plain.plain = true;
    // Anyone on the way can make it look so.
    log(LogLevel::Warning, opens.peer + " has TLS off: copies from it are neither encrypted nor authenticated");
    return dial(opens.number, plain);
  }
  ++tls_.failures;
  if (opens.kind == Unopened::Kind::Client && ending.plain) ++tls_.plainRefusals;
  if (opens.kind == Unopened::Kind::Master) {
    using How = net::Stream::Ending::How;
    const bool isFromThere = ending.how == How::Closed || ending.how == How::Lost || ending.byPeer;
    return isFromThere ? core_.dialDropped(nowMs_, opens.number, ending.why)
                       : core_.dialFailed(nowMs_, opens.number, false, ending.why);
  }
  if (opens.kind == Unopened::Kind::Source) {
    return core_.sourceDialFailed(opens.number, opens.peer + ": " + ending.why);
  }
  refusals_.add(opens.peer, ending.why, static_cast<int64_t>(nowMs_));
}

void Shell::streamEnded(ConnectionId id, const net::Stream::Ending& ending) {
  proofs_.end(id);
  if (const auto opens = unopened_.extract(id)) {
    if (opens.mapped().kind == Unopened::Kind::Client) bounds_.end(opens.mapped().host);
    streams_.drop(id);
    peers_.erase(id);
    return unopened(opens.mapped(), ending);
  }
  if (ending.how != net::Stream::Ending::How::Closed) log(LogLevel::Info, peers_[id] + ": " + ending.why);
  streams_.drop(id);
  copies_.forget(id);
  peers_.erase(id);
  receiving_.erase(id);
  if (remote_) remote_->disconnect(id);
  core_.closed(nowMs_, id);
  tierStaging_.leave(id);
  answerStaging();
}

void Shell::streamMalformed(ConnectionId id, const std::string& what) {
  core_.malformed(id, what);
  act();
}

void Shell::frameArrived(ConnectionId id, wire::Body body) {
  if (proofs_.takes(id, body)) return proofs_.frame(*streams_.find(id), body, *security_->credentials());
  core_.frame(nowMs_, id, body);
  act();
}

void Shell::payloadReceived(ConnectionId id, uint64_t, uint32_t computed, uint32_t sent) {
  core_.payloadReceived(id, computed, sent);
  act();
}

void Shell::onRemoteConnected(ConnectionId connection, const Status& outcome) {
  core_.remoteConnected(connection, outcome);
  act();
}

void Shell::onPulled(uint64_t transfer, bool good, uint32_t computed) {
  core_.pulled(transfer, good, computed);
  act();
}

void Shell::onPushed(uint64_t transfer, bool good) {
  tierStaging_.release(transfer);
  core_.pushed(transfer, good);
  answerStaging();
  act();
}

void Shell::onRemoteLost(ConnectionId connection, const std::string& why) {
  if (net::Stream* stream = streams_.find(connection)) {
    stream->end({net::Stream::Ending::How::Lost, "what reaches its memory lost it: " + why});
  }
}

// ---- what the core asks for ----

void Shell::perform(const SendFrames& action) {
  if (net::OutQueue* out = streams_.outOf(action.connection)) out->addFrames(action.frames);
}

void Shell::perform(const SendSegments& action) {
  if (net::OutQueue* out = streams_.outOf(action.connection)) out->addFrames(action.frames, segment_.readOnly.get());
}

void Shell::perform(const SendPayload& action) {
  if (net::OutQueue* out = streams_.outOf(action.connection)) {
    out->addPayload(0, piecesOf(inSegment(action.offset, action.length)), action.length, action.crc);
  }
}

void Shell::perform(const SendParts& action) {
  net::OutQueue* out = streams_.outOf(action.connection);
  if (out == nullptr) return;
  const auto pieces = std::make_shared<std::vector<kv_piece>>(piecesOf(segment_.mapping.bytes(), action.parts));
  out->addPayload(0, Pieces(std::span<const kv_piece>(*pieces)), action.length, action.crc, pieces);
}

void Shell::perform(const ReceivePayload& action) {
  if (net::Stream* stream = streams_.find(action.connection)) {
    const std::span<uint8_t> into = inSegment(action.offset, action.length);
    stream->expectPayload(0, piecesOf(into), action.length, true, RunningSum::behind(into.data(), into.size()));
  }
}

void Shell::perform(const ReceiveParts& action) {
  net::Stream* stream = streams_.find(action.connection);
  if (stream == nullptr) return;
  std::vector<kv_piece>& pieces = receiving_[action.connection];
  pieces = piecesOf(segment_.mapping.bytes(), action.parts);
  stream->expectPayload(0, Pieces(std::span<const kv_piece>(pieces)), action.length);
}

void Shell::perform(const DiscardPayload& action) {
  if (net::Stream* stream = streams_.find(action.connection)) {
    stream->expectPayload(0, std::nullopt, action.length - wire::kPayloadTrailerBytes, false);
  }
}

template <typename Copy>
void Shell::copyStaging(const Copy& wanted) {
  net::Stream* stream = streams_.find(wanted.connection);
  if (stream == nullptr) return;
  const std::optional<uint32_t> computed = copies_.copy(wanted);
  if (computed) return core_.payloadReceived(wanted.connection, *computed, wanted.crc);
  stream->hold();
}

void Shell::perform(const CopyStaging& action) {
  copyStaging(action);
}

void Shell::perform(const CopyStagingParts& action) {
  copyStaging(action);
}

void Shell::perform(const MapStaging& action) {
  net::Stream* stream = streams_.find(action.connection);
  if (stream == nullptr) return;
  Result<store::Mapping> mapped = store::mapStaging(stream->takeDescriptors(), action.bytes);
  if (mapped.ok()) copies_.attach(action.connection, std::move(mapped.value()));
  core_.stagingMapped(action.connection, mapped.status());
}

void Shell::perform(const Close& action) {
  log(action.level, "closing: " + action.reason);
  proofs_.end(action.connection);
  copies_.forget(action.connection);
  streams_.dropAfterOutput(action.connection, static_cast<int64_t>(nowMs_));
}

void Shell::perform(const DialSource& action) {
  const Result<HostPort> address = parseHostPort(action.address);
  if (!address.ok()) return core_.sourceDialFailed(action.source, address.status().text());
  dial(action.source, {address.value(), secure::Expected::storageNode(action.node, action.isTransient)});
}

void Shell::dial(uint64_t number, const Source& source) {
  sources_[number] = source;
  sourceDialer_.dial(number, source.address, nowMs_);
}

// ---- the SSD ----

void Shell::takeTierDone() {
  if (!workers_) return;
  for (ssd::Done& done : workers_->takeDone()) {
    if (const auto* write = std::get_if<ssd::WritePayload>(&done.job)) {
      if (done.status.ok()) tierTimes_.writing.add(done.tookUs);
      core_.tierWritten(write->op, done.status);
    } else if (const auto* read = std::get_if<ssd::ReadPayload>(&done.job)) {
      if (done.status.ok()) tierTimes_.reading.add(done.tookUs);
      if (done.status.ok() && read->into.empty()) tierPayloads_.emplace(read->op, std::move(done.payload));
      core_.tierRead(read->op, done.status);
    } else {
      core_.tierStored(done.status);
    }
    act();
  }
}

void Shell::perform(const TierWrite& action) {
  workers_->submit(ssd::WritePayload{action.op, inSegment(action.offset, action.length), action.to, action.crc});
}

void Shell::perform(const TierRead& action) {
  const std::span<uint8_t> into = action.transfer ? tierStaging_.of(*action.transfer) : std::span<uint8_t>();
  workers_->submit(ssd::ReadPayload{action.op, action.from, action.length, action.crc, into});
}

void Shell::perform(const SendTierPayload& action) {
  const auto payload = tierPayloads_.find(action.op);
  if (net::OutQueue* out = streams_.outOf(action.connection)) {
    const auto buffer = std::make_shared<ssd::BlockBuffer>(std::move(payload->second));
    out->addPayload(0, piecesOf(buffer->bytes()), action.length, action.crc, buffer);
  }
  tierPayloads_.erase(payload);
}

void Shell::perform(const SendTierParts& action) {
  struct Sent {
    ssd::BlockBuffer payload;
    std::vector<kv_piece> pieces;
  };
  const auto payload = tierPayloads_.find(action.op);
  if (net::OutQueue* out = streams_.outOf(action.connection)) {
    const auto sent = std::make_shared<Sent>(Sent{std::move(payload->second), {}});
    sent->pieces = piecesOf(sent->payload.bytes(), action.parts);
    out->addPayload(0, Pieces(std::span<const kv_piece>(sent->pieces)), action.length, {}, sent);
  }
  tierPayloads_.erase(payload);
}

}  // namespace kvpool::node
