// SPDX-License-Identifier: Apache-2.0
// The transfer engine's core against a peer that dialled it and one that it dialled, both of which say anything.
// Whatever they say, the core may name memory to its shell only inside of what is registered, or of a transfer that
// runs.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/core/messages.h"
#include "fuzz/input.h"
#include "wire/frame.h"

namespace {

using namespace kvpool;
using namespace kvpool::engine;
using test::Input;

constexpr uint64_t kMemory = 0x100000;  // never touched: the core only names it
constexpr uint64_t kRegionBytes = 0x1000;
constexpr uint64_t kLocal = 0x900000;
constexpr uint64_t kLocalBytes = 0x2000;  // of each batch
constexpr uint64_t kBatchesMax = 256;

wire::Identity identity(uint64_t incarnation) {
  wire::Identity me;
  me.role = wire::Role::Engine;
  me.incarnation = incarnation;
  me.name = "engine";
  me.product = "0.1.0";
  return me;
}

Principal member(const std::string& tenant) {
  Principal who;
  who.name = "engine";
  who.tenant = tenant;
  return who;
}

class World {
 public:
  World() : core_(configuration()) {
    toggleRegion(0);
    const kv_region local{kLocal, kBatchesMax * kLocalBytes};
    if (!core_.registerRegions(std::span(&local, 1)).ok()) std::abort();
    session_ = core_.newConnection();
    core_.identify(now_, member("t"));
    core_.accepted(now_, session_, "fuzz", member("t"), Introduction{5, {1, 2}});
    wire::Bytes hello;
    wire::appendHello(hello, {identity(2), 0, wire::kMagic});
    deliver(session_, hello);
    submit(KV_TRANSFER_READ);
    submit(KV_TRANSFER_WRITE);
  }

  void step(Input& input) {
    const uint64_t kind = input.number(1) % 12;
    switch (kind) {
      case 0:
        return deliverBody(session_, input.bytes(input.number(2)));
      case 1:
        return deliverBody(dialled_, input.bytes(input.number(2)));
      case 2:
        return request(input);
      case 3:
        return describe(input);
      case 4:
        deliver(dialled_, replyFrame({input.number(1), static_cast<int32_t>(input.number(1)) - 1,
                                      static_cast<uint32_t>(input.number(2)), ""}));
        return;
      case 5:
        core_.payloadReceived(now_, input.number(1) % 2 == 0 ? session_ : dialled_, 1, input.number(1) % 2 + 1);
        break;
      case 6:
        core_.payloadSent(now_, input.number(1) % 2 == 0 ? session_ : dialled_, input.number(1));
        break;
      case 7:
        toggleRegion(input.number(1) % 2);
        break;
      case 8:
        now_ += static_cast<Time>(input.number(2));
        core_.tick(now_);
        break;
      case 10:
        return sayAsNeighbor(input);
      case 11:
        endPull(input);
        break;
      default:
        submitOrEndMove(input.number(1));
        break;
    }
    look();
  }

  void end() {
    while (!moves_.empty())
      endMove(0, {KV_TRANSFER_FAILED, "it failed"});
    core_.shutDown(now_);
    look();
    if (!running_.empty()) std::abort();  // a batch without an end
  }

 private:
  static Config configuration() {
    Config config;
    config.me = identity(1);
    config.ascend = "127.0.0.1:20000";
    config.process = {1, 1, 100};
    return config;
  }

  static uint64_t localOf(BatchId batch) { return kLocal + (batch - 1) * kLocalBytes; }

  void toggleRegion(uint64_t index) {
    const kv_region region{kMemory + index * kRegionBytes, kRegionBytes};
    if (registered_[index]) {
      if (!core_.unregisterRegions(std::span(&region, 1)).ok()) std::abort();
      registered_[index] = false;
    } else {
      if (!core_.registerRegions(std::span(&region, 1)).ok()) std::abort();
      registered_[index] = true;
    }
  }

  void submitOrEndMove(uint64_t choice) {
    if (choice == 255) return core_.renew(now_, dialled_);
    if (choice == 254) return core_.identify(now_, member(std::exchange(ours_, ours_ == "t" ? "other" : "t")));
    if (choice < 128) return submit(static_cast<int32_t>(choice % 3) + 1);
    if (!moves_.empty()) endMove(choice, choice % 2 == 0 ? Status() : Status{KV_TRANSFER_FAILED, "it failed"});
  }

  void endMove(uint64_t choice, const Status& status) {
    const auto ended = std::next(moves_.begin(), static_cast<ptrdiff_t>(choice % moves_.size()));
    const uint64_t move = ended->first;
    moves_.erase(ended);
    core_.moved(now_, move, status);
    look();
  }

  void submit(int32_t op) {
    if (lastBatch_ == kBatchesMax) return;
    Submission submission;
    submission.id = ++lastBatch_;
    submission.op = static_cast<TransferOp>(op);
    submission.deadline = now_ + 1000;
    submission.notify = std::make_shared<Notification>(Notification{"n", "m"});
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    submission.lines.push_back(
        {"127.0.0.1:1", reinterpret_cast<uint8_t*>(localOf(submission.id)), 0x5000, kLocalBytes});
    running_[submission.id] = true;
    core_.submit(now_, std::move(submission));
    look();
  }

  void request(Input& input) {
    const bool writes = input.number(1) % 2 == 0;
    std::vector<RemotePiece> pieces(input.number(1) % 4);
    for (RemotePiece& piece : pieces) {
      piece.region = input.number(1) % 8;
      piece.address = kMemory + input.number(2) - 0x800;
      piece.length = static_cast<uint32_t>(input.number(2));
    }
    deliver(session_, writes ? writeFrame(7, pieces) : readFrame(7, pieces));
  }

  void sayAsNeighbor(Input& input) {
    const uint64_t what = input.number(1) % 4;
    if (what < 2) {
      const ProcessName process{1, input.number(1) % 2, static_cast<uint32_t>(input.number(1))};
      return deliver(what == 0 ? session_ : dialled_, neighborFrame({process, 5, input.number(2), {3, 4}}));
    }
    const RemotePiece piece{input.number(1) % 8, kMemory + input.number(2) - 0x800,
                            static_cast<uint32_t>(input.number(2))};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): of another process
    const kv_piece source{reinterpret_cast<void*>(uintptr_t{0x700000}), piece.length};
    deliver(session_, what == 2 ? pullFrame(7, {&piece, 1}, {&source, 1}) : mayReadFrame(7, {&piece, 1}));
  }

  void endPull(Input& input) {
    if (pulls_.empty()) return;
    const auto ended = std::next(pulls_.begin(), static_cast<ptrdiff_t>(input.number(1) % pulls_.size()));
    const Pull pull = ended->second;
    pulls_.erase(ended);
    const auto how = static_cast<Pulled::How>(input.number(1) % 4);
    core_.pulled(now_, pull.connection, pull.pull, {how, "it failed"});
  }

  void describe(Input& input) {
    std::vector<Region> regions(input.number(1) % 4);
    for (Region& region : regions)
      region = {input.number(1), 0x4800 + input.number(2), input.number(2)};
    const uint64_t question = input.number(1);
    deliver(dialled_, regionsFrame(question, regions, question % 2 == 0 ? "127.0.0.1:20100" : ""));
  }

  void deliver(ConnectionId id, const wire::Bytes& frame) {
    deliverBody(id, std::span(frame).subspan(wire::kFrameHeaderBytes));
  }

  void deliverBody(ConnectionId id, std::span<const uint8_t> body) {
    try {
      core_.frame(now_, id, body);
    } catch (const wire::Malformed& malformed) {
      core_.malformed(now_, id, malformed.what());
    }
    look();
  }

  void look() {
    for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
      for (const Action& action : actions)
        std::visit([this](const auto& one) { judge(one); }, action);
    }
    for (const auto& [number, pull] : pulls_)
      judgePull(pull);
  }

  void judge(const Dial& dial) {
    dialled_ = dial.connection;
    const Principal who = member("t");
    core_.opened(now_, dialled_, &who, Introduction{6, {5, 6}});
    wire::Bytes welcome;
    wire::appendWelcome(welcome, {identity(3), 1});
    pendingWelcome_ = std::move(welcome);
    deliver(dialled_, pendingWelcome_);
  }
  void judge(const SendPayload& send) { judgePieces(send.pieces, send.length); }
  void judge(const ReceivePayload& receive) {
    if (receive.length > kRequestBytes) std::abort();
    if (receive.pieces) judgePieces(*receive.pieces, receive.length);
  }
  void judge(const Pull& pull) {
    if (!pulls_.emplace(pull.pull, pull).second) std::abort();
    judgePull(pull);
  }
  void judge(const DropPull& drop) {
    if (pulls_.erase(drop.pull) != 1) std::abort();
  }
  void judge(const Close& close) {
    std::erase_if(pulls_, [&](const auto& pull) { return pull.second.connection == close.connection; });
  }
  /// Bytes may come at any time.
  void judgePull(const Pull& pull) {
    if (pull.to.size() != pull.from.size()) std::abort();
    uint64_t length = 0;
    for (const kv_piece& piece : pull.to) {
      length += piece.length;
      const auto begin = reinterpret_cast<uintptr_t>(piece.data);
      if (begin >= kLocal && running_.count((begin - kLocal) / kLocalBytes + 1) == 0) std::abort();
    }
    if (length > kRequestBytes) std::abort();
    judgePieces(Pieces(pull.to), length);
  }
  void judge(const Move& move) {
    for (const MovedPiece& piece : move.pieces) {
      const uint64_t batch = (reinterpret_cast<uintptr_t>(piece.local) - kLocal) / kLocalBytes + 1;
      if (running_.count(batch) == 0 || piece.length != kLocalBytes) std::abort();
      moves_[move.move] = batch;
    }
  }
  void judge(const FinishBatch& finished) {
    for (const auto& [move, batch] : moves_) {
      if (batch == finished.batch) std::abort();  // CANN may still touch its memory
    }
    if (running_.erase(finished.batch) != 1) std::abort();
    for (const int32_t status : finished.statuses) {
      if (status > 0) std::abort();  // undecided
    }
  }
  template <typename Other>
  void judge(const Other&) {}

  void judgePieces(const Pieces& pieces, uint64_t length) {
    uint64_t sum = 0;
    for (const kv_piece& piece : pieces.pieces()) {
      const auto begin = reinterpret_cast<uintptr_t>(piece.data);
      const auto inside = [&](uint64_t base, uint64_t size) {
        return begin >= base && piece.length <= size && begin - base <= size - piece.length;
      };
      const bool served = (registered_[0] && inside(kMemory, kRegionBytes)) ||
                          (registered_[1] && inside(kMemory + kRegionBytes, kRegionBytes));
      if (!served && !inside(kLocal, kBatchesMax * kLocalBytes)) std::abort();  // memory that no batch gave
      sum += piece.length;
    }
    if (sum != length) std::abort();
  }

  EngineCore core_;
  Time now_ = 0;
  ConnectionId session_ = 0;
  ConnectionId dialled_ = 0;
  std::string ours_ = "other";  // the tenant that we are of next
  BatchId lastBatch_ = 0;
  wire::Bytes pendingWelcome_;
  bool registered_[2] = {false, false};
  std::map<BatchId, bool> running_;
  std::map<uint64_t, BatchId> moves_;
  std::map<PayloadId, Pull> pulls_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  World world;
  for (int steps = 0; !input.empty() && steps < 200; ++steps)
    world.step(input);
  world.end();
  return 0;
}
