// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "node/core/actions.h"
#include "ssd/device.h"
#include "store/segment_file.h"
#include "wire/frame.h"

namespace kvpool::node {

class Connection;

/// What a connection tells the shell. None of these destroys the connection; they may queue output and change its
/// input.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  virtual void onFrame(Connection& connection, wire::Body body) = 0;
  virtual void onMalformed(Connection& connection, const std::string& what) = 0;
  virtual void onPayload(Connection& connection, uint32_t computed, uint32_t sent) = 0;
  virtual void onFramesSent(Connection& connection, uint64_t bytes) = 0;
  virtual void onPayloadSent(Connection& connection) = 0;
};

/// The bytes of one socket: frames and payloads in, frames and payloads out, in order. Moves payloads straight between
/// socket and segment. Not more than a bounded amount per turn, so that all connections get theirs.
class Connection {
 public:
  /// Moved by one call of work() or flush() at most.
  static constexpr size_t kTurnBytes = size_t{1} << 20;
  /// One recv into a payload: small enough to be in the cache when it is checksummed.
  static constexpr size_t kReceiveBytes = size_t{256} << 10;
  /// After the last output, how long and how much is read and dropped so that the peer gets it before a reset.
  static constexpr uint64_t kLingerMs = 1000;

  struct Limits {
    size_t bodyBytesMax;
    /// While this much output waits, nothing more is read: a client that does not take answers gets no more of them.
    size_t outputItemsMax;
  };
  static constexpr Limits kClientLimits{wire::kHelloBodyBytesMax, 64};
  /// A master is read even while it reads slowly, or its commands and heartbeats would wait behind records; the core
  /// bounds what it may leave unread.
  static constexpr Limits kMasterLimits{wire::kFrameBodyBytesMax, SIZE_MAX};

  /// A node that copies are read from answers one read at a time.
  static constexpr Limits kSourceLimits{wire::kHelloBodyBytesMax, 64};

  Connection(ConnectionId id, Fd socket, bool local, std::string peer, const Limits& limits, std::span<uint8_t> segment,
             uint64_t nowMs);

  [[nodiscard]] ConnectionId id() const { return id_; }
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& peer() const { return peer_; }

  // Orders of the shell.
  void queueFrames(Frames frames) { queue({std::move(frames), {}, 0, -1, false, {}}); }
  void queueSegments(Frames frames, int descriptor) { queue({std::move(frames), {}, 0, descriptor, false, {}}); }
  void queuePayload(uint64_t offset, uint64_t length, uint32_t crc);
  /// The first `length` bytes of a buffer, which is freed when they are sent.
  void queueBuffer(ssd::BlockBuffer buffer, uint64_t length, uint32_t crc);
  void receivePayload(uint64_t offset, uint64_t length);
  void discard(uint64_t length);
  void copyStaging(uint64_t from, uint64_t to, uint64_t length, uint32_t crc);
  /// The descriptor that came first of those not taken yet; invalid when none did.
  Fd takeDescriptor();
  void setStaging(store::Mapping mapping) { staging_ = std::move(mapping); }
  void closeAfterOutput() { closing_ = true; }

  /// Takes in what there is, one turn. True when it should be called again without waiting for the socket.
  bool work(ConnectionEvents& events, uint64_t nowMs);
  /// Sends what it can, one turn.
  void flush(ConnectionEvents& events, uint64_t nowMs);

  /// True once after input that waited for room in the output may go on: work() is due without the socket saying so.
  bool takeResume();

  /// EPOLL* bits to wait for.
  [[nodiscard]] uint32_t interest() const;
  /// The socket is finished: closed, broken, or its lingering is over.
  [[nodiscard]] bool gone() const { return gone_; }
  /// Since when nothing moves although something should; 0 when idle, and while output waits for the next flush().
  [[nodiscard]] uint64_t stalledSinceMs() const;
  /// To be called now and then: ends lingering.
  void expire(uint64_t nowMs);
  /// Why it is gone; empty when the peer closed in order.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  void abandon(const std::string& why);

 private:
  enum class Input { Frame, Payload, Trailer, Discard, Staging };
  struct Output {
    Frames frames;  // or, when null, a payload
    std::span<const uint8_t> payload;
    uint32_t crc;
    int descriptor;  // sent along; the shell's
    bool isPayload;
    ssd::BlockBuffer buffer;  // holds the payload when the segment does not
  };

  /// The only way into the output: notes when it begins to wait.
  void queue(Output output);
  bool takeFrames(ConnectionEvents& events);
  bool takePayload(ConnectionEvents& events);
  bool takeDiscard();
  bool takeStaging(ConnectionEvents& events);
  bool takeTrailer(ConnectionEvents& events);
  size_t receive(std::span<uint8_t> into);
  void completed(ConnectionEvents& events, uint32_t sentCrc);
  void linger();
  [[nodiscard]] bool outputFull() const { return output_.size() >= outputItemsMax_; }
  ssize_t sendSome();
  void drop(ConnectionEvents& events, size_t bytes);

  ConnectionId id_;
  Fd socket_;
  bool local_;
  std::string peer_;
  wire::FrameDecoder decoder_;
  std::span<uint8_t> segment_;
  std::vector<Fd> descriptors_;
  store::Mapping staging_;

  Input input_ = Input::Frame;
  uint64_t at_ = 0;         // in the segment
  uint64_t from_ = 0;       // in the staging memory
  uint64_t remaining_ = 0;  // of the payload
  uint32_t crc_ = 0;
  uint32_t expectedCrc_ = 0;
  std::array<uint8_t, wire::kPayloadTrailerBytes> trailer_{};
  size_t trailerBytes_ = 0;

  std::deque<Output> output_;
  size_t outputItemsMax_;
  size_t sentOfFront_ = 0;

  size_t turnBytes_ = 0;
  bool outputBlocked_ = false;
  bool outputFresh_ = false;  // began to wait since the last flush, so the peer could not have taken any of it
  bool pausedForOutput_ = false;
  bool closing_ = false;
  bool lingering_ = false;
  bool gone_ = false;
  uint64_t nowMs_;
  uint64_t inputProgressMs_;
  uint64_t outputProgressMs_;
  uint64_t lingerUntilMs_ = 0;
  std::string problem_;
};

}  // namespace kvpool::node
