// SPDX-License-Identifier: Apache-2.0
// The node core fed with any sequence of inputs a shell may give: connections that come and go, frames of any bytes or
// well-formed ones with small random fields, payloads right and wrong, time. The core must neither fail nor lose track
// of its bytes: with every connection closed and every object freed nothing is allocated.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/core/requests.h"
#include "fuzz/input.h"
#include "node/core/core_in_memory.h"

namespace {

using namespace kvpool;
using test::Input;

void require(bool ok) {
  if (!ok) std::abort();
}

class Player {
 public:
  Player() : node_(2, false, 4) {
    node_.config.remote = RemoteProtocol::Ascend;
    node_.restart();
  }

  void play(Input& input) {
    while (!input.empty())
      step(input);
    finish();
  }

 private:
  enum class Kind { Client, Master, Source };
  struct Peer {
    Kind kind;
    bool wantsPayload = false;
    uint64_t wantsMapping = 0;  // of so many bytes
    uint64_t mapped = 0;
    size_t sending = 0;
  };

  void step(Input& input) {
    const uint8_t what = input.byte();
    for (const node::ConnectionId reached : std::exchange(reaching_, {}))
      node_.core->remoteConnected(reached, what % 8 == 0 ? Status(KV_CONNECT_FAILED, "refused") : Status());
    const node::ConnectionId id = 1 + (what >> 5);
    const auto peer = peers_.find(id);
    if (peer == peers_.end()) return connect(id, what);
    Peer& known = peer->second;
    if (known.wantsPayload && what % 8 != 7) {
      known.wantsPayload = false;
      node_.core->payloadReceived(id, what & 16, 0);
    } else if (known.wantsMapping > 0 && what % 8 != 7) {
      const uint64_t bytes = std::exchange(known.wantsMapping, 0);
      if ((what & 16) != 0) known.mapped = bytes;
      node_.core->stagingMapped(id, known.mapped > 0 ? Status() : Status(KV_INVALID_ARGUMENT, "refused"));
    } else {
      other(id, known, what % 8, input);
    }
    act();
  }

  void connect(node::ConnectionId id, uint8_t what) {
    const bool isMaster = (what & 1) != 0;
    if (isMaster) {
      const size_t master = (what >> 1) & 1;
      if (busyMasters_.contains(master)) return;
      busyMasters_.insert(master);
      masterOf_[id] = master;
      peers_.emplace(id, Peer{Kind::Master});
      node_.core->dialled(node_.nowMs, id, master, "master");
      if ((what & 4) != 0) frame(id, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
    } else {
      peers_.emplace(id, Peer{Kind::Client});
      node_.core->accepted(node_.nowMs, id, (what & 2) != 0, "client");
      if ((what & 4) != 0) frame(id, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
    }
    act();
  }

  void other(node::ConnectionId id, Peer& peer, uint8_t what, Input& input) {
    const uint8_t grant = input.byte();
    const Authority authority{grant % 4U, input.byte() % 2U};
    const ObjectId object{epochOf(grant / 4, authority), input.byte() % 8U};
    const ExtentRef extent{0, input.byte() % 8U, input.byte()};
    switch (what) {
      case 0:
        return node_.core->frame(node_.nowMs, id, input.bytes(input.byte()));
      case 1:
        return command(id, authority, object, extent, input);
      case 2:
        return frame(id, [&](wire::Bytes& out) { test::appendFree(out, 1, authority, {{extent, object}}); });
      case 3:
        return frame(id, [&](wire::Bytes& out) {
          const std::string key(input.byte() % 70, 'k');
          const uint64_t length = uint64_t{input.byte()} << (input.byte() % 40);
          const uint8_t source = input.byte();
          test::appendWrite(
              out, {1, authority, object, length, source % 3 == 0, input.byte(), 0, key, {}, source % 12 == 1});
        });
      case 4:
        if (peer.kind == Kind::Source) {
          const uint64_t length = input.byte();
          return frame(id, [&](wire::Bytes& out) { node::appendReadReply(out, 1, KV_OK, length); });
        }
        return read(id, object, extent, input);
      case 5:
        if (peer.kind == Kind::Source) return frame(id, sourceWelcome);
        if (const uint8_t bytes = input.byte(); bytes < 16) {
          return offer(id, bytes, input);
        } else if (bytes >= 224) {
          return moveStaged(id, authority, object, extent, bytes, input);
        } else if (bytes < 128) {
          return frame(id, [&](wire::Bytes& out) { test::appendShmAttach(out, 1, bytes); });
        }
        return writeParts(id, object, extent, input);
      case 6:
        if (peer.sending > 0) {
          --peer.sending;
          return node_.core->payloadSent(id);
        }
        if (!moving_.empty()) return endMove(input.byte());
        node_.nowMs += input.byte() * 20U;
        return node_.core->tick(node_.nowMs);
      default:
        return close(id);
    }
  }

  /// Of memory to the node, which mostly makes sense.
  void offer(node::ConnectionId id, uint8_t what, Input& input) {
    const uint64_t bytes = uint64_t{input.byte()} << (what % 4 == 0 ? input.byte() % 50 : 4);
    const auto named = input.bytes(what % 8 == 1 ? input.byte() % 70U : 0);
    const std::string endpoint = what % 8 == 1 ? std::string(named.begin(), named.end()) : "10.0.0.7:20000";
    frame(id, [&](wire::Bytes& out) {
      out = client::stagingAttach(
          1, {bytes, what == 3 ? UINT64_MAX - 100 : 4096, endpoint, {}, RemoteProtocol::Ascend, 1});
    });
  }

  /// A write from the memory that was offered, or a read into it; both may lie outside.
  void moveStaged(node::ConnectionId id, const Authority& authority, const ObjectId& object, const ExtentRef& named,
                  uint8_t what, Input& input) {
    const uint64_t length = input.byte();
    const uint64_t at = what % 8 == 0 ? UINT64_MAX - input.byte() : input.byte();
    if (what < 240) {
      const std::string key(1 + input.byte() % 3, 'k');
      return frame(id, [&](wire::Bytes& out) {
        out = client::stagedWrite(1, test::granted({key, authority, object, length, {}}), {at, what % 4U});
      });
    }
    ExtentRef extent = named;
    if (extent.slot < node_.segment.directory->slotsTouched()) {
      extent.generation = node_.segment.directory->slot(extent.slot).generation;
    }
    frame(id, [&](wire::Bytes& out) { out = client::stagedRead(1, extent, object, length, at); });
  }

  /// The one that was begun first; connections may be gone by then.
  void endMove(uint8_t how) {
    const Moving moving = moving_.front();
    moving_.pop_front();
    if (moving.isPull) return node_.core->pulled(moving.transfer, how % 4 != 0, how % 2);
    node_.core->pushed(moving.transfer, how % 4 != 0);
  }

  /// Of all of it, or of parts, which may lie outside.
  void read(node::ConnectionId id, const ObjectId& object, const ExtentRef& extent, Input& input) {
    const uint64_t length = input.byte();
    if (length < 192) return frame(id, [&](wire::Bytes& out) { test::appendRead(out, {1, extent, object, length}); });
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (uint8_t count = input.byte() % 5; count > 0; --count) {
      const uint8_t offset = input.byte();
      offsets.push_back(offset < 250 ? offset : UINT64_MAX - offset);
      pieces.push_back({nullptr, input.byte()});
    }
    const uint32_t crc = input.byte() % 2U;
    const uint64_t whole = (length - 192) << (input.byte() % 13);
    frame(id,
          [&](wire::Bytes& out) { out = client::partsRead(1, extent, object, whole, crc, pieces, offsets.data()); });
  }

  /// Parts of what is written in parts, which may lie outside, or its end.
  void writeParts(node::ConnectionId id, const ObjectId& object, const ExtentRef& named, Input& input) {
    // Generations are not guessed: mostly that of what is there.
    ExtentRef extent = named;
    const uint8_t step = input.byte();
    if (step % 8 != 0 && extent.slot < node_.segment.directory->slotsTouched()) {
      extent.generation = node_.segment.directory->slot(extent.slot).generation;
    }
    ObjectId meant = object;
    if (step % 8 > 1 && extent.slot < node_.segment.directory->slotsTouched()) {
      meant = node_.segment.directory->slot(extent.slot).objectId;
    }
    if (step >= 224) {
      const auto end = step >= 240 ? client::PartsEnd::Commit : client::PartsEnd::Abort;
      return frame(id, [&](wire::Bytes& out) { out = client::endParts(1, extent, meant, end); });
    }
    std::vector<kv_piece> pieces;
    std::vector<uint64_t> offsets;
    for (uint8_t count = input.byte() % 5; count > 0; --count) {
      const uint8_t offset = input.byte();
      offsets.push_back(offset < 250 ? offset : UINT64_MAX - offset);
      pieces.push_back({nullptr, input.byte()});
    }
    const client::PartsLine line{extent, meant, pieces, offsets.data()};
    const client::Staged staged{input.byte(), 0};
    frame(id, [&](wire::Bytes& out) {
      out = step % 16 < 8 ? client::inlineParts(1, line) : client::stagedParts(1, line, staged);
    });
  }

  /// Mostly that of the leader, as it should be; else one before it, one after it, or as high as can be said.
  static uint64_t epochOf(uint8_t choice, const Authority& authority) {
    if (choice < 56) return authority.epoch;
    if (choice < 60) return choice % 4;
    return choice < 62 ? kEpochMax - 1 : UINT64_MAX;
  }

  static void sourceWelcome(wire::Bytes& out) {
    wire::Welcome welcome = test::masterWelcome();
    welcome.self.role = wire::Role::Node;
    wire::appendWelcome(out, welcome);
  }

  /// Most are fences; the last values of a byte are the rarer ones.
  void command(node::ConnectionId id, const Authority& authority, const ObjectId& object, const ExtentRef& extent,
               Input& input) {
    const uint8_t which = input.byte();
    const std::string key(1 + which % 3, 'k');
    frame(id, [&](wire::Bytes& out) {
      switch (which) {
        case 252:
          return test::appendPurge(out, {1, authority, object});
        case 253:
          return test::appendKeepTombstones(
              out, {1, authority, std::vector<store::Tombstone>{{object, key}, {object, "k"}}});
        case 254:
        case 255:
          return test::appendCopy(out, {1,
                                        authority,
                                        object,
                                        input.byte(),
                                        0,
                                        {},
                                        7,
                                        extent,
                                        which == 255,
                                        key,
                                        "10.0.0.2:1",
                                        "b",
                                        which == 254});
        default:
          return test::appendFence(out, 1, authority, which);
      }
    });
  }

  /// Every second dial fails; sources take the free numbers from above.
  void dial(const node::DialSource& wanted) {
    node::ConnectionId id = 8;
    while (id > 0 && peers_.contains(id))
      --id;
    if (id == 0 || wanted.source % 2 == 0) return node_.core->sourceDialFailed(wanted.source, "refused");
    peers_.emplace(id, Peer{Kind::Source});
    node_.core->sourceDialled(node_.nowMs, id, wanted.source, "source");
  }

  template <typename Append>
  void frame(node::ConnectionId id, Append append) {
    wire::Bytes out;
    append(out);
    node_.core->frame(node_.nowMs, id, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  }

  void close(node::ConnectionId id) {
    node_.core->closed(node_.nowMs, id);
    if (masterOf_.contains(id)) busyMasters_.erase(masterOf_.extract(id).mapped());
    peers_.erase(id);
  }

  void act() {
    node_.act();
    for (const node::Action& action : node_.others) {
      if (const auto* receive = std::get_if<node::ReceivePayload>(&action)) {
        inside(receive->offset, receive->length);
        peers_.at(receive->connection).wantsPayload = true;
      } else if (const auto* copy = std::get_if<node::CopyStaging>(&action)) {
        inside(copy->offset, copy->length);
        fromStaging(peers_.at(copy->connection), copy->stagingOffset, copy->length);
      } else if (const auto* into = std::get_if<node::ReceiveParts>(&action)) {
        inside(into->parts, into->length);
        peers_.at(into->connection).wantsPayload = true;
      } else if (const auto* staged = std::get_if<node::CopyStagingParts>(&action)) {
        inside(staged->parts, staged->length);
        fromStaging(peers_.at(staged->connection), staged->stagingOffset, staged->length);
      } else if (const auto* send = std::get_if<node::SendPayload>(&action)) {
        inside(send->offset, send->length);
        ++peers_.at(send->connection).sending;
      } else if (const auto* parts = std::get_if<node::SendParts>(&action)) {
        inside(parts->parts, parts->length);
        ++peers_.at(parts->connection).sending;
      } else if (const auto* reach = std::get_if<node::ConnectRemote>(&action)) {
        reaching_.push_back(reach->connection);
        offered_[reach->connection] = reach->offer.bytes;
      } else if (const auto* pull = std::get_if<node::PullPayload>(&action)) {
        inside(pull->offset, pull->length);
        require(rangeInside(pull->stagingOffset, pull->length, 0, offered_.at(pull->connection)));
        moving_.push_back({true, pull->transfer});
      } else if (const auto* push = std::get_if<node::PushPayload>(&action)) {
        inside(push->offset, push->length);
        require(rangeInside(push->stagingOffset, push->length, 0, offered_.at(push->connection)));
        moving_.push_back({false, push->transfer});
      } else if (const auto* map = std::get_if<node::MapStaging>(&action)) {
        peers_.at(map->connection).wantsMapping = map->bytes;
      }
    }
    node_.others.clear();
    for (const node::DialSource& wanted : std::exchange(node_.sources, {}))
      dial(wanted);
    for (const auto& [id, reason] : node_.closeReasons) {
      if (peers_.contains(id)) close(id);
    }
    node_.closeReasons.clear();
  }

  void inside(uint64_t offset, uint64_t length) const {
    const store::Geometry& geometry = node_.segment.geometry;
    require(rangeInside(offset, length, geometry.dataOffset, geometry.dataOffset + geometry.dataBytes));
  }

  void inside(const std::vector<store::Range>& parts, uint64_t whole) const {
    uint64_t length = 0;
    for (const store::Range& part : parts) {
      inside(part.offset, part.length);
      length += part.length;
    }
    require(length == whole);
  }

  /// Memory that is not mapped there has no place for nothing either.
  static void fromStaging(Peer& peer, uint64_t offset, uint64_t length) {
    require(peer.mapped > 0 && rangeInside(offset, length, 0, peer.mapped));
    peer.wantsPayload = true;
  }

  void finish() {
    while (!peers_.empty())
      close(peers_.begin()->first);
    while (!moving_.empty())
      endMove(1);
    store::Directory& directory = *node_.segment.directory;
    for (uint32_t number = 0; number < directory.slotsTouched(); ++number) {
      const store::Slot slot = directory.slot(number);
      if (slot.state == store::SlotState::Free) continue;
      require(slot.state != store::SlotState::Reserved);
      require(slot.objectId.epoch <= node_.core->snapshot().seen.epoch);
      require(directory.free({0, number, slot.generation}, slot.objectId));
    }
    require(directory.usedBytes() == 0 && directory.quarantinedBytes() == 0 && directory.objects() == 0);
    require(directory.tombstones() == 0 && directory.idsHash() == 0);
  }

  test::CoreInMemory node_;
  std::map<node::ConnectionId, Peer> peers_;
  std::map<node::ConnectionId, size_t> masterOf_;
  std::set<size_t> busyMasters_;
  struct Moving {
    bool isPull = false;
    uint64_t transfer = 0;
  };
  std::deque<Moving> moving_;  // by CANN
  std::vector<node::ConnectionId> reaching_;
  std::map<node::ConnectionId, uint64_t> offered_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Player player;
  player.play(input);
  return 0;
}
