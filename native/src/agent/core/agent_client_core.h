// SPDX-License-Identifier: Apache-2.0
// A client that has its work done by the agent of its machine, as a state machine without sockets or clock: batches go
// in, become requests whose values lie in staging memory, and come out with a status for each line. What was asked of
// an agent that is gone is asked of the next one, until the batch's deadline.
//
// Values are copied into the staging memory and out of it here, and nobody but the agent is told where. So the caller's
// memory is touched only while its batch runs, however late an agent wakes up: what it still does then, it does to
// staging memory that is not used again before it answered or its connection is gone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/core/limits.h"
#include "agent/core/messages.h"
#include "client/core/batch.h"
#include "client/core/context.h"
#include "client/core/staging_ring.h"
#include "wire/handshake.h"

namespace kvpool::agent {

class AgentClientCore {
 public:
  struct Config {
    wire::Identity me;
    std::string agent;  // what to call it in sentences: its socket
    uint64_t stagingBytes = kClientStagingBytes;
  };

  /// What the shell is to do, in this order, after each input.
  struct Actions {
    std::vector<wire::Bytes> frames;  // to send
    bool handOver = false;            // the last of them is to carry the staging memfd
    bool close = false;
    std::vector<client::FinishBatch> finished;
  };

  explicit AgentClientCore(Config config) : config_(std::move(config)) {}

  void submit(Time now, client::Submission submission);
  /// Connected; `staging` is fresh memory of the configured size, and ours until lost().
  void connected(Time now, std::span<uint8_t> staging);
  /// Connected, but there is no staging memory to be had.
  void withoutStaging(const Status& why) { drop(why); }
  /// The connection ended, or could not be made.
  void lost(Time now, const std::string& reason);
  void frame(Time now, wire::Body body);
  void tick(Time now);
  void shutDown();

  Actions takeActions() { return std::exchange(actions_, {}); }
  /// When to dial next; nothing while connected.
  [[nodiscard]] std::optional<Time> dialAt() const;
  /// KV_OK: attached to an agent whom a leader serves. Otherwise why not.
  [[nodiscard]] Status readiness() const;
  /// Waiting will not help: versions do not fit, or the agent never shares that much.
  [[nodiscard]] bool hopeless() const { return hopeless_; }
  [[nodiscard]] const client::Statistics& statistics() const { return statistics_; }
  [[nodiscard]] const std::string& explanation() const { return explanation_; }
  void explain(std::string sentence) { explanation_ = std::move(sentence); }
  [[nodiscard]] bool idle() const { return batches_.empty(); }

 private:
  static constexpr int32_t kOpen = 1;  // in a result: no status yet
  enum class Stage { Down, Greeting, Attaching, Attached };
  struct Batch {
    client::Submission asked;
    std::vector<client::LineResult> results;
    std::vector<bool> lost;        // asked of an agent that is gone, so it may have been done
    std::deque<uint32_t> waiting;  // lines to be asked
    uint32_t open = 0;             // lines without a status
    uint32_t running = 0;          // requests
    bool inOrder = false;          // a key stands in it twice and changes: one request after the other
  };
  struct Sent {
    client::BatchId batch = 0;  // may be over by now
    uint64_t block = 0;         // in the ring
    std::vector<uint32_t> lines;
    std::vector<RequestLine> places;
  };

  [[nodiscard]] std::string name() const { return "the agent at " + config_.agent; }
  void drop(const Status& why);
  void greeted(wire::Body body);
  void attached(wire::Body body);
  void answered(const Reply& reply);
  void judge(const Reply& reply, const Sent& sent) const;
  void answerLine(Batch& batch, uint32_t line, const RequestLine& place, client::LineResult result);
  void copyOut(const Batch& batch, uint32_t line, uint64_t offset, uint64_t length);
  void takeBack(Batch& batch, uint32_t line);
  void end(Batch& batch, uint32_t line, int32_t status, uint64_t length = 0);
  void pump(Time now);
  bool sendOne(Time now, client::BatchId id, Batch& batch);
  void fillRequest(Batch& batch, Request& request, Sent& sent, uint64_t& bytes) const;
  [[nodiscard]] uint64_t roomOf(const Batch& batch, uint32_t line) const;
  void copyIn(const Batch& batch, const Sent& sent);
  void refuseWhatNeverFits(Batch& batch);
  void expire(Time now);
  void sweep();

  const Config config_;
  Stage stage_ = Stage::Down;
  Time since_ = 0;  // of the stage
  Time dialAt_ = 0;
  int64_t redialMs_ = kRedialFirstMs;
  bool dropped_ = false;  // told to close; nothing more is heard
  bool hopeless_ = false;
  Status why_{KV_CONNECT_FAILED, "not connected yet"};
  State state_;
  wire::Hello hello_;
  std::span<uint8_t> staging_;
  client::StagingRing ring_{0};
  uint64_t lastRequest_ = 0;
  std::map<client::BatchId, Batch> batches_;
  std::map<uint64_t, Sent> sent_;
  client::Statistics statistics_;
  std::string explanation_;
  Actions actions_;
};

}  // namespace kvpool::agent
