// SPDX-License-Identifier: Apache-2.0
// One socket of the engine's shell, dialled or accepted: sends what is queued, cuts what arrives into frames and
// payloads. Payloads go straight between the kernel and the memory they belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/core/actions.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/incoming_payload.h"
#include "net/out_queue.h"
#include "net/resolver.h"
#include "wire/frame.h"

namespace kvpool::engine {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  /// May close the stream from inside any of these.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void streamOpened(ConnectionId id) = 0;
    virtual void streamEnded(ConnectionId id, const std::string& reason) = 0;
    /// Ended because the peer's host answers nothing.
    virtual void streamSilent(ConnectionId id, const std::string& reason) = 0;
    virtual void streamMalformed(ConnectionId id, const std::string& what) = 0;
    virtual void frameArrived(ConnectionId id, wire::Body body) = 0;
    virtual void bytesReceived(ConnectionId id) = 0;
    /// `unsentFrames`: memory of the frames that still wait.
    virtual void bytesSent(ConnectionId id, uint64_t unsentFrames) = 0;
    virtual void payloadSent(ConnectionId id, PayloadId payload) = 0;
    virtual void payloadReceived(ConnectionId id, uint32_t computedCrc, uint32_t sentCrc) = 0;
  };

  Stream(net::EventLoop& loop, Listener& listener, ConnectionId id)
      : loop_(loop), listener_(listener), id_(id), decoder_(wire::kHelloBodyBytesMax) {}
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The connection ends when the peer's host acknowledges nothing for `silenceMs` (watchHost()).
  void dial(net::Resolver& resolver, const std::string& address, int64_t silenceMs);
  void adopt(Fd socket);
  void welcomed() { decoder_.allowBodies(wire::kFrameBodyBytesMax); }

  void addFrame(wire::Bytes frame);
  void addPayload(PayloadId payload, const Pieces& pieces, uint64_t length);
  /// Sends what was added; the rest goes when the socket can take it.
  void flush();

  /// Due every kSilenceCheckMs.
  void watchHost(Time now);

  /// What follows the frame being told right now.
  void expectPayload(const std::optional<Pieces>& pieces, uint64_t length);
  void dropPayload();

  /// Sends what is queued, hears nothing more, and ends when the peer does; the owner closes it after a while.
  void linger();
  /// Nothing is told after this.
  void close();
  [[nodiscard]] bool isClosed() const { return closed_; }

 private:
  void dialled(net::Dial::Outcome outcome);
  void happened(uint32_t events);
  void receive();
  bool receiveSome();
  bool receivePayload();
  bool lost(ssize_t received);
  void parse();
  void finishPayload();
  void end(const std::string& reason);
  void failed(const std::string& what, int errorNumber);
  void hostIsSilent();
  void watch();
  [[nodiscard]] bool outputFull() const;

  net::EventLoop& loop_;
  Listener& listener_;
  const ConnectionId id_;
  std::optional<net::Dial> dial_;
  bool closed_ = false;
  bool lingering_ = false;
  bool blocked_ = false;
  uint32_t watched_ = 0;
  Fd socket_;
  int64_t silenceMs_ = 0;  // 0: the host is not watched
  std::optional<Time> unacknowledgedSince_;
  net::OutQueue out_;
  uint64_t queuedBytes_ = 0;
  size_t payloadsUnsent_ = 0;
  wire::FrameDecoder decoder_;
  std::optional<net::IncomingPayload> incoming_;
};

}  // namespace kvpool::engine
