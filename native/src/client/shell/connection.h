// SPDX-License-Identifier: Apache-2.0
// One stream socket of the client's shell: connects, sends what is queued, cuts what arrives into frames and payloads.
// Belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "client/core/actions.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/incoming_payload.h"
#include "net/out_queue.h"
#include "net/resolver.h"
#include "wire/frame.h"

namespace kvpool::client {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// Told from the I/O thread. A listener may close the connection from inside any of these.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void connectionOpened(ConnectionId id) = 0;
    virtual void connectionEnded(ConnectionId id, const std::string& reason) = 0;
    /// Instead: the name that was to be dialled has no address.
    virtual void nameUnknown(ConnectionId id, const std::string& reason) { connectionEnded(id, reason); }
    virtual void frameArrived(ConnectionId id, wire::Body body) = 0;
    virtual void bytesMoved(ConnectionId id) = 0;
    virtual void payloadSent(ConnectionId id, TransferId transfer) = 0;
    virtual void payloadReceived(ConnectionId id, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc) = 0;
  };

  Connection(net::EventLoop& loop, Listener& listener, ConnectionId id) : loop_(loop), listener_(listener), id_(id) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void dialTcp(net::Resolver& resolver, const std::string& address);
  void dialUnix(const std::string& path);

  void addFrame(wire::Bytes frame) { out_.addFrame(std::move(frame)); }
  void addPayload(TransferId transfer, const Pieces& memory, uint64_t length) {
    out_.addPayload(transfer, memory, length);
  }
  /// Sends what was added; the rest goes when the socket can take it.
  void flush();
  /// Sends a frame that carries a descriptor; only as the first thing on an empty queue.
  void sendWithDescriptor(const wire::Bytes& frame, int descriptor);

  /// The payload that follows the frame being told right now.
  void expectPayload(TransferId transfer, const std::optional<Pieces>& destination, uint64_t length);
  /// Descriptors that arrived so far.
  std::vector<Fd> takeDescriptors() { return std::exchange(descriptors_, {}); }

  /// Nothing is told after this.
  void close();

 private:
  struct Incoming {
    TransferId transfer = 0;
    net::IncomingPayload payload;
  };

  void dialled(net::Dial::Outcome outcome);
  void attend(Fd socket);
  void happened(uint32_t events);
  void receive();
  bool receiveSome();
  bool receivePayload();
  void parse();
  void finishPayload();
  void end(const std::string& reason);
  void watch(bool writable);

  net::EventLoop& loop_;
  Listener& listener_;
  const ConnectionId id_;
  std::optional<net::Dial> dial_;
  bool isUnix_ = false;
  bool closed_ = false;
  bool watchesWritable_ = false;
  Fd socket_;
  net::OutQueue out_;
  wire::FrameDecoder decoder_;
  std::optional<Incoming> incoming_;
  std::vector<Fd> descriptors_;
};

}  // namespace kvpool::client
