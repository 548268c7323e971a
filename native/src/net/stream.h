// SPDX-License-Identifier: Apache-2.0
// One stream socket, dialled or accepted: sends what is queued, cuts what arrives into frames and payloads. Payloads go
// straight between the kernel and the memory they belong to; through a session of TLS where the stream is secured and
// its ends have not left TLS behind the handshake. Belongs to the loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/incoming_payload.h"
#include "net/out_queue.h"
#include "net/resolver.h"
#include "secure/session.h"
#include "wire/frame.h"

namespace kvpool::net {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Id = uint64_t;

  struct Ending {
    enum class How {
      Closed,          // by the peer, behind a whole frame
      Lost,            // in any other way
      Unknown,         // the name that was dialled has no address
      Silent,          // the peer's host does not answer
      Unauthenticated  // the handshake of TLS failed, or there was none where there must be one
    };
    How how = How::Lost;
    std::string why;
    bool plain = false;   // Unauthenticated: the peer does not speak TLS
    bool byPeer = false;  // Unauthenticated: the peer closed the connection and said nothing
  };

  /// May close the stream from inside any of these.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// It is connected and, if it is secured, the peer authenticated: see principal(). Not told of an adopted socket
    /// that is not secured.
    virtual void streamOpened(Id) {}
    /// Nothing is told after this.
    virtual void streamEnded(Id id, const Ending& ending) = 0;
    /// What arrived is not the protocol, or `frameArrived` threw a wire::Malformed. No more is read.
    virtual void streamMalformed(Id id, const std::string& what) = 0;
    virtual void frameArrived(Id id, wire::Body body) = 0;
    virtual void bytesReceived(Id) {}
    /// `frameBytes`: of frames that have gone out whole by this.
    virtual void bytesSent(Id, uint64_t /*frameBytes*/) {}
    virtual void payloadSent(Id, uint64_t /*payload*/) {}
    virtual void payloadReceived(Id, uint64_t /*payload*/, uint32_t /*computedCrc*/, uint32_t /*sentCrc*/) {}
    /// May throw: then nothing is sent.
    virtual void beforeSending() {}
  };

  /// Memory that what waits to be sent takes in several streams together: frames, tables of pieces, and what is sealed
  /// for TLS.
  struct UnsentMemory {
    uint64_t bytesMax = 0;
    uint64_t bytes = 0;
    /// Then each seals less at a time, so that it is enough for all of them.
    [[nodiscard]] bool isScarce() const { return bytes > bytesMax / 2; }
  };

  struct Limits {
    size_t bodyBytesMax = wire::kFrameBodyBytesMax;
    /// While so much output waits nothing is read: a peer that takes no answers gets no more of them.
    size_t unsentPayloadsMax = SIZE_MAX;
    uint64_t unsentBytesMax = UINT64_MAX;
    /// The same of OutQueue::unsentMemory().
    uint64_t unsentMemoryMax = UINT64_MAX;
    /// Where the stream counts what it has unsent, with others; outlives them. Null: nowhere. See Streams::keepTo().
    UnsentMemory* unsent = nullptr;
  };

  /// How a stream is secured.
  struct Securing {
    std::shared_ptr<const secure::Credentials> credentials;
    secure::Session::Side side = secure::Session::Side::Listener;
    secure::Expected expected = {};
    bool plainToo = false;  // a listener: a peer that begins without TLS is served without it
    secure::Payloads payloads = secure::Payloads::Encrypted;
    /// A listener: how often those that have it in common may still go on with a handshake, which takes the processor
    /// for long. At 0 they wait until their owner, who outlives them, allows more. Null: no bound.
    int* handshakeSteps = nullptr;
  };

  Stream(EventLoop& loop, Listener& listener, Id id, const Limits& limits)
      : loop_(loop), listener_(listener), id_(id), limits_(limits), decoder_(limits.bodyBytesMax) {}
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] Id id() const { return id_; }
  /// The socket's; -1 when there is none.
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// What it has counted in Limits::unsent, as of the latest flush().
  [[nodiscard]] uint64_t unsentMemory() const { return unsentMemory_; }
  /// Of TLS, by which newer certificates are proven; null while there is no principal().
  [[nodiscard]] secure::Session* session() { return principal() == nullptr ? nullptr : secured_->session.get(); }
  /// Before it is dialled or adopted: nothing but the handshake goes to and fro until the peer is authenticated.
  void secure(Securing securing) { secured_ = std::make_unique<Secured>(std::move(securing)); }
  /// Whom the peer's certificate names; null while the peer is not authenticated, and where there is no TLS.
  [[nodiscard]] const Principal* principal() const {
    return secured_ && secured_->opened ? &secured_->session->peer() : nullptr;
  }

  /// With `silenceMs` the connection ends when the peer's host acknowledges nothing for so long, see watchHost().
  void dialTcp(Resolver& resolver, const std::string& address, int64_t silenceMs = 0);
  void dialUnix(const std::string& path);
  /// A socket that is connected; `isUnix`: descriptors may come by it.
  void adopt(Fd socket, bool isUnix = false);
  /// From now on bodies may be as large as this.
  void allowBodies(size_t bodyBytesMax) { decoder_.allowBodies(bodyBytesMax); }

  /// What goes out with the next flush().
  OutQueue& out() { return out_; }
  /// Sends what was added; the rest goes when the socket can take it.
  void flush();

  /// The payload that follows the frame being told right now; without a destination it goes nowhere. `told`: whether
  /// its end is. `sum` is that of nothing yet.
  void expectPayload(uint64_t payload, const std::optional<Pieces>& destination, uint64_t length, bool told = true,
                     const RunningSum& sum = {});
  /// The rest of the payload goes nowhere.
  void dropPayload() {
    if (incoming_) incoming_->bytes.drop();
  }
  /// The memory of this payload, which comes or goes, is not touched any more, but it moves to its end.
  void givePayloadUp(uint64_t payload) {
    if (incoming_ && incoming_->payload == payload) incoming_->bytes.drop();
    out_.giveUp(payload);
  }
  /// No frame is told until release().
  void hold() { held_ = true; }
  void release();
  /// Descriptors that arrived so far.
  std::vector<Fd> takeDescriptors() { return std::exchange(descriptors_, {}); }

  /// Whether nothing has moved for `ms` although something should; asked now and then, as its clock has no other.
  bool stalled(int64_t now, int64_t ms);
  /// Ends it if its handshake takes too long; asked now and then.
  void endUnauthenticated(int64_t now);
  /// How long a connection goes on whose peer's root is trusted no more: the end that dialled replaces it meanwhile.
  static constexpr int64_t kDistrustedMs = 10'000;
  /// Ends it once the peer's certificate has ended, or its root is not among those of `own`, the credentials of the
  /// moment, for kDistrustedMs. Asked now and then, with unixMs().
  void endExpired(int64_t unixNow, const secure::Credentials& own);
  /// Once, when three quarters are over of the time that either certificate had left at the start: another connection
  /// should take its place, and will be by newer certificates. Asked now and then.
  /// Also once this process is another one by its own certificate of the moment, in `own`, than when the connection was
  /// opened, as what it may do differs then from one connection to the next; and once either certificate is of a root
  /// that is on its way out: that of the peer is not in `own`, or the successor of our own is of another.
  bool isToBeRenewed(int64_t unixNow, const secure::Credentials& own);
  /// Ends a connection whose host is silent; due a few times in silenceMs.
  void watchHost(int64_t now);

  /// From the next flush() on: sends what is queued, reads and drops so that the peer gets it before a reset, and ends
  /// when the peer does; the owner closes it after a while.
  void linger() { lingering_ = true; }
  void end(const Ending& ending);
  /// Nothing is told after this.
  void close();

 private:
  struct Incoming {
    uint64_t payload = 0;
    bool told = true;
    IncomingPayload bytes;
  };
  struct Secured {
    explicit Secured(Securing securing) : how(std::move(securing)) {}
    Securing how;
    std::unique_ptr<secure::Session> session;  // a listener's: once the first bytes are there
    std::array<uint8_t, 3> first{};
    size_t firstCount = 0;
    int64_t untilMs = 0;         // for the handshake
    bool opened = false;         // streamOpened() was told
    bool opening = false;        // on the call stack
    int64_t renewAtMs = 0;       // of 1970; 0: not opened yet, or told already
    int64_t distrustedAtMs = 0;  // of 1970; 0: the peer's root is trusted
  };
  /// Since when a direction has not moved, as far as stalled() has looked.
  struct Standstill {
    uint64_t moved = 0;
    std::optional<int64_t> since;
    bool longerThan(int64_t ms, int64_t now, bool waits, uint64_t movedByNow);
  };

  void dialled(Dial::Outcome outcome);
  void happened(uint32_t events);
  void receive();
  bool receiveSome();
  bool receivePayload();
  bool lost(ssize_t received, int errorNumber);
  void parse();
  void resume();
  [[nodiscard]] bool inTls() const;
  void beginTls();
  bool receiveFirst();
  bool receiveSecured();
  void opened();
  void openReceived();
  bool openSome();
  void endSecured();
  void dropReceived();
  void refusePlain();
  void unauthenticated(const std::string& why, bool plain = false);
  std::span<uint8_t> decoderRoom();
  OutQueue::Outcome send();
  void countUnsent();
  void sendLast();
  void finishPayload();
  void failed(const std::string& what, int errorNumber);
  void watch();
  [[nodiscard]] bool outputFull() const;
  [[nodiscard]] bool readsNothing() const { return !lingering_ && (held_ || malformed_ || outputFull()); }

  EventLoop& loop_;
  Listener& listener_;
  const Id id_;
  const Limits limits_;
  std::optional<Dial> dial_;
  bool isUnix_ = false;
  bool closed_ = false;
  bool lingering_ = false;
  bool malformed_ = false;
  bool held_ = false;
  bool blocked_ = false;
  uint32_t watched_ = 0;
  Fd socket_;
  std::unique_ptr<Secured> secured_;  // null: plain
  int64_t silenceMs_ = 0;             // 0: the host is not watched
  std::optional<int64_t> unacknowledgedSince_;
  OutQueue out_;
  uint64_t unsentMemory_ = 0;
  uint64_t receivedBytes_ = 0;
  Standstill input_;
  Standstill output_;
  wire::FrameDecoder decoder_;
  std::optional<Incoming> incoming_;
  std::vector<Fd> descriptors_;
};

}  // namespace kvpool::net
