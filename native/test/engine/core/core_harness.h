// SPDX-License-Identifier: Apache-2.0
// The engine's core without sockets and with a clock that the test moves, towards one peer that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dev_kvpool_wire/EngineDescribe.h"
#include "dev_kvpool_wire/EngineMayRead.h"
#include "dev_kvpool_wire/EngineNeighbor.h"
#include "dev_kvpool_wire/EnginePull.h"
#include "dev_kvpool_wire/EngineRead.h"
#include "dev_kvpool_wire/EngineWrite.h"
#include "engine/core/engine_core.h"
#include "engine/core/messages.h"
#include "wire/frame.h"

namespace kvpool::engine {

class CoreHarness {
 public:
  explicit CoreHarness(Config config = configuration()) : core(std::move(config)) {}

  static constexpr const char* kPeer = "127.0.0.1:15000";
  static constexpr uint64_t kRemote = 0x5000;  // registered at the peer, once it says so
  static constexpr uint32_t kLength = 64;
  static constexpr Time kStep = 10;

  /// Returns the batch: one line to the peer.
  BatchId submit(TransferOp op, int64_t timeoutMs, std::shared_ptr<const Notification> notify = nullptr) {
    Submission submission;
    submission.id = ++lastBatch_;
    submission.op = op;
    submission.deadline = now + timeoutMs;
    submission.notify = std::move(notify);
    submission.lines.push_back({kPeer, local_.data(), kRemote, kLength});
    core.submit(now, std::move(submission));
    look();
    return lastBatch_;
  }

  void pass(int64_t ms) {
    for (const Time until = now + ms; now < until;) {
      now += kStep;
      core.tick(now);
      look();
    }
  }
  /// The connection dialled last ends, or could not be made.
  void lose(const std::string& reason) {
    dialling = false;
    core.closed(now, connection, reason);
    look();
  }
  /// The connection ended because the peer's host answers nothing.
  void silence(const std::string& reason) {
    core.silent(now, connection, reason);
    look();
  }
  /// Time passes and nobody listens at the peer's address.
  void passRefused(int64_t ms) {
    for (const Time until = now + ms; now < until;) {
      pass(kStep);
      if (dialling) lose("connection refused");
    }
  }

  void open(const Principal* who = nullptr, const std::optional<Introduction>& ours = {}) {
    dialling = false;
    core.opened(now, connection, who, ours);
    look();
  }
  void greet(uint64_t incarnation) {
    wire::Bytes welcome;
    wire::appendWelcome(welcome, {identity(incarnation), 1});
    deliver(welcome);
  }
  void describe(uint64_t region, const std::string& ascend = "") {
    deliver(regionsFrame(question, std::vector<Region>{{region, kRemote, kLength}}, ascend));
  }
  /// The peer takes the connection and says what is registered there.
  void answer(uint64_t incarnation, uint64_t region, const std::string& ascend = "") {
    open();
    greet(incarnation);
    describe(region, ascend);
  }
  /// The bytes of all lines here are a region.
  void registerLocal(bool ofDevice = false) {
    const kv_region region{reinterpret_cast<uintptr_t>(local_.data()), local_.size()};
    const std::vector<uint64_t> devices(ofDevice ? 1 : 0, region.address);
    ASSERT_TRUE(core.registerRegions({&region, 1}, devices).ok());
  }
  /// The end of the move begun last.
  void moved(const Status& status) {
    core.moved(now, moves.back().move, status);
    look();
  }
  void shutDown() {
    core.shutDown(now);
    look();
  }
  /// The latest request is done.
  void done() {
    core.payloadSent(now, connection, request);
    deliver(replyFrame({request, KV_OK, 0, ""}));
  }
  /// The latest request of any kind is answered without a payload.
  void reply(int32_t status, const std::string& message = "") { deliver(replyFrame({lastAsked, status, 0, message})); }
  void pulled(const Pulled& end) {
    core.pulled(now, connection, pulls.back().pull, end);
    look();
  }
  void deliver(const wire::Bytes& frame) {
    core.frame(now, connection, std::span(frame).subspan(wire::kFrameHeaderBytes));
    look();
  }

  static wire::Identity identity(uint64_t incarnation) {
    wire::Identity who;
    who.role = wire::Role::Engine;
    who.incarnation = incarnation;
    who.name = "engine";
    who.product = "0.1.0";
    return who;
  }
  static Config configuration() {
    Config config;
    config.me = identity(1);
    return config;
  }

  EngineCore core;
  Time now = 1000;
  ConnectionId connection = 0;  // dialled last
  bool dialling = false;        // nothing has come of it yet
  std::vector<Time> dials;
  std::vector<ConnectionId> closes;
  uint64_t question = 0;        // for regions, the latest
  uint64_t request = 0;         // to write, the latest
  uint64_t named = 0;           // the region that it names
  size_t requests = 0;          // to write
  uint64_t lastAsked = 0;       // number of the latest request of any kind
  std::vector<uint16_t> kinds;  // templates of all requests
  std::vector<PullRequest> askedToPull;
  std::vector<NeighborClaim> introductions;
  std::vector<Meet> meets;
  std::vector<Pull> pulls;
  std::vector<PayloadId> dropped;  // pulls
  size_t payloads = 0;             // that went by the connection
  std::vector<Move> moves;
  std::vector<std::string> forgotten;  // endpoints of CANN
  struct End {
    int32_t status = KV_INTERNAL;
    Time at = 0;
  };
  std::map<BatchId, End> ended;
  std::vector<std::string> notes;

 private:
  void look() {
    for (const Action& action : core.takeActions())
      std::visit([this](const auto& one) { note(one); }, action);
  }
  void note(const Dial& dial) {
    EXPECT_EQ(dial.address, kPeer);
    connection = dial.connection;
    dialling = true;
    dials.push_back(now);
  }
  void note(const SendFrame& send) {
    const wire::Body body = std::span(send.frame).subspan(wire::kFrameHeaderBytes);
    if (wire::templateOf(body) == wire::sbe::EngineDescribe::sbeTemplateId()) question = readDescribe(body);
    noteRequest(wire::templateOf(body), body);
  }
  void noteRequest(uint16_t kind, wire::Body body) {
    namespace sbe = wire::sbe;
    if (kind == sbe::EngineNeighbor::sbeTemplateId()) introductions.push_back(readNeighbor(body));
    if (kind < sbe::EngineWrite::sbeTemplateId() || kind == sbe::EngineNeighbor::sbeTemplateId()) return;
    kinds.push_back(kind);
    if (kind == sbe::EngineRead::sbeTemplateId()) lastAsked = readRead(body).id;
    if (kind == sbe::EngineMayRead::sbeTemplateId()) lastAsked = readMayRead(body).id;
    if (kind == sbe::EnginePull::sbeTemplateId()) {
      askedToPull.push_back(readPull(body));
      lastAsked = askedToPull.back().to.id;
    }
    if (kind != sbe::EngineWrite::sbeTemplateId()) return;
    const PiecesRequest write = readWrite(body);
    request = lastAsked = write.id;
    named = write.pieces.at(0).region;
    ++requests;
  }
  void note(const FinishBatch& finished) {
    EXPECT_FALSE(ended.contains(finished.batch)) << "a batch ends once";
    ended[finished.batch] = {finished.statuses.at(0), now};
  }
  void note(const Close& close) {
    closes.push_back(close.connection);
    if (close.connection == connection) dialling = false;
  }
  void note(const PeerRefused&) {}
  void note(const Note& said) { notes.push_back(said.text); }
  void note(const Move& move) { moves.push_back(move); }
  void note(const ForgetChannel& gone) { forgotten.push_back(gone.endpoint); }
  void note(const SendPayload&) { ++payloads; }
  void note(const Meet& meet) { meets.push_back(meet); }
  void note(const Pull& pull) { pulls.push_back(pull); }
  void note(const DropPull& drop) { dropped.push_back(drop.pull); }
  void note(const ReceivePayload&) { FAIL() << "nothing is read here"; }
  void note(const DropPayload&) {}
  void note(const Welcomed&) {}

  BatchId lastBatch_ = 0;
  std::vector<uint8_t> local_ = std::vector<uint8_t>(kLength);
};

}  // namespace kvpool::engine
