// SPDX-License-Identifier: Apache-2.0
// The client's core among masters and nodes that say anything: frames of any bytes, and answers to what it really asked
// with any status, count, place and length. Whatever they say, its shell is told to touch only memory of a batch that
// runs, within its bounds; each batch ends once; and what a get calls a success came with the checksum it was promised.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "client/core/client_core.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "fuzz/client_core_answers.h"
#include "fuzz/input.h"
#include "wire/frame.h"

namespace {

using namespace kvpool;
using namespace kvpool::client;
namespace sbe = wire::sbe;
using test::answerTo;
using test::Input;
using test::kBootId;
using test::kLineBytes;
using test::kPromisedCrc;
using test::numberOf;
using test::statusOf;

constexpr uint64_t kMemory = 0x100000;  // never touched: the core only names it
constexpr uint32_t kLinesMax = 3;

void require(bool ok) {
  if (!ok) std::abort();
}

Config configuration() {
  Config config;
  config.masters = {"master-0:1", "master-1:1"};
  config.me.role = wire::Role::Client;
  config.me.incarnation = 77;
  config.me.name = "client";
  config.me.product = "0.1.0";
  config.bootId = kBootId;
  return config;
}

class World {
 public:
  World() : core_(configuration()) {
    core_.tick(now_);
    look();
  }

  void step(Input& input) {
    switch (input.byte() % 12) {
      case 0:
        return deliver(some(input), wire::Bytes(), input.bytes(input.byte()));
      case 1:
        return submit(input);
      case 2:
        now_ += input.byte() * 4;
        core_.tick(now_);
        return look();
      case 3:
        return close(some(input));
      case 4:
        return finishPayload(input);
      case 5:
        return finishCopy(input);
      default:
        return answer(some(input), input);
    }
  }

  void end() {
    core_.shutDown(now_);
    look();
    require(running_.empty());
  }

 private:
  struct Peer {
    bool node = false;
    bool opened = false;
    std::vector<wire::Bytes> asked;  ///< bodies of what it has not answered
    bool mapping = false;
    std::optional<ReceivePayload> receiving;
    uint64_t stagingBytes = 0;
  };
  struct Copy {
    ConnectionId connection = 0;
    bool toStaging = false;
  };

  /// One of the connections; 0 when there is none.
  ConnectionId some(Input& input) {
    if (peers_.empty()) return 0;
    auto at = peers_.begin();
    std::advance(at, input.byte() % peers_.size());
    return at->first;
  }

  void submit(Input& input) {
    if (running_.size() >= 4) return;
    Submission submission;
    submission.id = ++lastBatch_;
    submission.op = static_cast<OpCode>(input.byte() % 15);
    submission.deadline = now_ + 2000;
    submission.force = input.byte() % 2 == 0;
    submission.upsert = submission.force;
    submission.reuse = input.byte() % 2 == 0;
    submission.replicas = input.byte() % 3;
    if (submission.op == OpCode::Copy) submission.copy = {submission.force ? "n" : "", {"m"}};
    const bool single = submission.op == OpCode::RemoveAll || isOfTask(submission.op);
    const uint32_t lines = single ? 1 : 1 + input.byte() % kLinesMax;
    static constexpr std::string_view kKeys[] = {"a", "b", "a"};
    for (uint32_t i = 0; i < lines; ++i) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      Pieces memory(reinterpret_cast<void*>(base(submission.id) + i * kLineBytes), kLineBytes);
      static constexpr uint64_t kOffset = 0;
      Operation line{submission.op == OpCode::RemoveAll ? "" : kKeys[i], memory, kLineBytes};
      if (submission.op == OpCode::PutParts) line.offsets = &kOffset;
      if (isOfPutSession(submission.op)) line.meant = {1, input.byte() % 4U};
      submission.lines.push_back(line);
    }
    running_[submission.id] = submission.op;
    core_.submit(now_, std::move(submission));
    look();
  }

  static uint64_t base(BatchId batch) { return kMemory + batch * kLinesMax * kLineBytes; }

  void close(ConnectionId connection) {
    if (connection == 0) return;
    forget(connection);
    core_.closed(now_, connection, "cut");
    look();
  }

  void forget(ConnectionId connection) {
    peers_.erase(connection);
    std::erase_if(copies_, [&](const auto& copy) { return copy.second.connection == connection; });
    std::erase_if(sending_, [&](const auto& sent) { return sent.second == connection; });
  }

  void finishPayload(Input& input) {
    for (auto& [id, peer] : peers_) {
      if (!peer.receiving) continue;
      const ReceivePayload receive = *std::exchange(peer.receiving, std::nullopt);
      const uint32_t computed = input.byte() % 4 == 0 ? input.byte() : kPromisedCrc;
      core_.payloadReceived(now_, id, receive.transfer, computed, input.byte() % 4 == 0 ? input.byte() : computed);
      return look();
    }
    if (sending_.empty()) return;
    const auto [transfer, connection] = *sending_.begin();
    sending_.erase(sending_.begin());
    core_.payloadSent(now_, connection, transfer);
    look();
  }

  void finishCopy(Input& input) {
    for (auto& [id, peer] : peers_) {
      if (!std::exchange(peer.mapping, false)) continue;
      core_.segmentsMapped(now_, id, input.byte() % 4 != 0 ? Status() : Status(KV_INTERNAL, "cannot map"));
      return look();
    }
    if (copies_.empty()) return;
    const auto [transfer, copy] = *copies_.begin();
    copies_.erase(copies_.begin());
    const uint32_t crc = input.byte() % 4 == 0 ? input.byte() : kPromisedCrc;
    if (copy.toStaging) {
      core_.copiedToStaging(now_, copy.connection, transfer, crc);
    } else {
      core_.copiedFromSegment(now_, copy.connection, transfer, statusOf(input), crc);
    }
    look();
  }

  /// Opens the connection, or answers what was asked on it.
  void answer(ConnectionId connection, Input& input) {
    if (connection == 0) return;
    Peer& peer = peers_.at(connection);
    if (!peer.opened) {
      peer.opened = true;
      core_.opened(now_, connection);
      return look();
    }
    if (peer.asked.empty()) return;
    const auto which = peer.asked.begin() + static_cast<ptrdiff_t>(input.byte() % peer.asked.size());
    const wire::Bytes asked = std::move(*which);
    peer.asked.erase(which);
    deliver(connection, answerTo(asked, peer.node, input), {});
  }

  /// A frame, or the bytes of a body. A peer from which a payload is awaited can send nothing else.
  void deliver(ConnectionId connection, const wire::Bytes& frame, std::span<const uint8_t> body) {
    const auto peer = peers_.find(connection);
    if (peer == peers_.end() || !peer->second.opened || peer->second.receiving || peer->second.mapping) return;
    delivering_ = connection;
    core_.frame(now_, connection, frame.empty() ? body : wire::Body(frame).subspan(wire::kFrameHeaderBytes));
    look();
  }

  void look() {
    for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
      for (const Action& action : actions)
        std::visit([this](const auto& one) { judge(one); }, action);
    }
  }

  void judge(const Dial& dial) {
    require(peers_.size() < 64);
    peers_[dial.connection].node = !dial.address.starts_with("master");
  }
  void judge(const SendFrame& send) {
    const wire::Body body = wire::Body(send.frame).subspan(wire::kFrameHeaderBytes);
    if (wire::templateOf(body) == sbe::Heartbeat::sbeTemplateId()) return;
    peers_.at(send.connection).asked.emplace_back(body.begin(), body.end());
  }
  void judge(const SendStaging& send) {
    peers_.at(send.connection).stagingBytes = send.bytes;
    judge(SendFrame{send.connection, send.frame});
  }
  void judge(const SendPayload& send) {
    inBatch(send.memory, send.length, OpCode::Put);
    sending_[send.transfer] = send.connection;
  }
  void judge(const ReceivePayload& receive) {
    require(receive.connection == delivering_);
    if (receive.destination) inBatch(*receive.destination, receive.length, OpCode::Get);
    peers_.at(receive.connection).receiving = receive;
  }
  void judge(const GivePayloadUp& given) {
    const auto& receiving = peers_.at(given.connection).receiving;
    const bool isReceived = receiving && receiving->transfer == given.transfer;
    require(isReceived || sending_.contains(given.transfer));
  }
  void judge(const MapSegments& map) { peers_.at(map.connection).mapping = true; }
  void judge(const CopyToStaging& copy) {
    inBatch(copy.source, copy.length, OpCode::Put);
    const uint64_t room = peers_.at(copy.connection).stagingBytes;
    require(copy.length <= room && copy.stagingOffset <= room - copy.length);
    copies_[copy.transfer] = {copy.connection, true};
  }
  void judge(const CopyFromSegment& copy) {
    inBatch(copy.destination, copy.length, OpCode::Get);
    copies_[copy.transfer] = {copy.connection, false};
  }
  void judge(const OfferStaging& offer) { peers_.at(offer.connection).stagingBytes = offer.bytes; }
  void judge(const CopyFromStaging& copy) {
    inBatch(copy.destination, copy.length, OpCode::Get);
    const uint64_t room = peers_.at(copy.connection).stagingBytes;
    require(copy.length <= room && copy.stagingOffset <= room - copy.length);
    copies_[copy.transfer] = {copy.connection, false};
  }
  void judge(const Note&) {}
  void judge(const CancelCopy& cancelled) { require(copies_.erase(cancelled.transfer) == 1); }
  void judge(const Close& close) { forget(close.connection); }
  void judge(const FinishBatch& finished) {
    require(running_.erase(finished.batch) == 1);
    for (const LineResult& line : finished.lines)
      require(line.status <= 0);
  }

  /// The first `length` bytes of the memory are of one line of a running batch of this kind.
  void inBatch(const Pieces& memory, uint64_t length, OpCode op) {
    const auto begin = reinterpret_cast<uintptr_t>(memory.address());
    require(begin >= kMemory && length <= kLineBytes);
    const auto batch = running_.find((begin - kMemory) / (kLinesMax * kLineBytes));
    require(batch != running_.end());
    require(batch->second == op || (op == OpCode::Put && batch->second == OpCode::PutParts));
    require((begin - kMemory) % kLineBytes == 0);
  }

  ClientCore core_;
  Time now_ = 1000;
  std::map<ConnectionId, Peer> peers_;
  std::map<TransferId, Copy> copies_;
  std::map<TransferId, ConnectionId> sending_;
  std::map<BatchId, OpCode> running_;
  BatchId lastBatch_ = 0;
  ConnectionId delivering_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  World world;
  for (int steps = 0; !input.empty() && steps < 400; ++steps)
    world.step(input);
  world.end();
  return 0;
}
