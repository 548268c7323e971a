// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/core/node_core.h"
#include "peer_messages.h"
#include "ssd/device_in_memory.h"
#include "ssd/tier_file.h"
#include "ssd/workers.h"
#include "store/segment_in_memory.h"

namespace kvpool::test {

// The peers of most tests, by their connections.
inline constexpr node::ConnectionId kMaster = 1;
inline constexpr node::ConnectionId kOther = 2;  // another master
inline constexpr node::ConnectionId kClient = 10;
inline constexpr Authority kLeader{5, 55};

/// A node core with everything around it played by the test: time is a number, sockets are queues of messages.
class CoreInMemory {
 public:
  static constexpr uint64_t kIncarnation = 4711;

  explicit CoreInMemory(size_t masters = 1, bool transient = false, size_t clientsMax = 8) {
    config.self.role = wire::Role::Node;
    if (!transient) config.self.poolId = kPool;
    config.self.incarnation = kIncarnation;
    config.self.name = "node-0";
    config.self.product = "0.1.0";
    config.isTransient = transient;
    config.masters = masters;
    for (size_t master = 0; master < masters; ++master)
      config.masterAddresses.push_back("master-" + std::to_string(master) + ":50051");
    config.tcp = "10.0.0.1:50061";
    config.shm = transient ? "" : "boot:/shm.sock";
    config.clientConnectionsMax = clientsMax;
    core = std::make_unique<node::NodeCore>(config, *segment.directory, *segment.state);
  }

  /// A new life over the same bytes; connections of the old one are forgotten.
  store::Recovery restart() {
    core.reset();
    inboxes_.clear();
    const store::Recovery recovery = segment.open();
    ssd::Table* tier = nullptr;
    if (disk) {
      tierPayloads.clear();
      const store::SegmentIdentity identity{kPool, config.self.name, 0};
      const ssd::TierCheck check =
          ssd::checkTier(std::span(disk->bytes).first(ssd::kTableOffset), disk->bytes.size(), identity);
      EXPECT_EQ(check.verdict, ssd::TierVerdict::Fits) << check.why;
      table.emplace(check.header);
      tierFound = ssd::loadTable(*disk, *table, [&](const ObjectId& id, std::string_view key) {
                    return segment.directory->removed(id, key) ? ssd::Table::Fate::Dead : ssd::Table::Fate::Alive;
                  }).value();
      tier = &*table;
    }
    core = std::make_unique<node::NodeCore>(config, *segment.directory, *segment.state, tier);
    return recovery;
  }

  /// Gives the node an SSD, in a new life.
  void addTier(uint64_t bytes = ssd::kTierBytesMin) {
    disk.emplace(bytes);
    ssd::TierHeader header = ssd::newHeader(*ssd::planTier(bytes), {kPool, config.self.name, 0}, kTierNumber);
    EXPECT_TRUE(ssd::formatTier(*disk, header).ok());
    restart();
  }
  /// Does what the disk has to do, unless it is held up; true when there was something.
  bool workTier() {
    const std::vector<node::Action> jobs = std::exchange(tierJobs, {});
    for (const node::Action& job : jobs) {
      if (const auto* write = std::get_if<node::TierWrite>(&job)) {
        const std::span<const uint8_t> from = std::span(segment.memory).subspan(write->offset, write->length);
        core->tierWritten(write->op, perform(*disk, ssd::WritePayload{write->op, from, write->to, write->crc}).status);
      } else if (const auto* store = std::get_if<node::TierStore>(&job)) {
        core->tierStored(perform(*disk, ssd::StoreBlocks{store->batch}).status);
      } else if (const auto* read = std::get_if<node::TierRead>(&job)) {
        const std::span<uint8_t> into = read->transfer ? staging.at(*read->transfer).bytes() : std::span<uint8_t>();
        ssd::Done done = perform(*disk, ssd::ReadPayload{read->op, read->from, read->length, read->crc, into});
        if (done.status.ok() && into.empty()) tierPayloads[read->op] = std::move(done.payload);
        core->tierRead(read->op, done.status);
      }
      act();
    }
    return !jobs.empty();
  }

  /// Gives staging memory to the first who waits for some.
  uint64_t giveStaging() {
    const node::TakeStaging wanted = stagingWanted.front();
    stagingWanted.pop_front();
    staging.emplace(wanted.transfer, wanted.length);
    core->stagingTaken(wanted.transfer, true);
    act();
    return wanted.transfer;
  }

  /// Takes all actions; frames are cut into bodies by connection, the rest is kept in order.
  void act() {
    for (;;) {
      std::vector<node::Action> actions = core->takeActions();
      if (actions.empty()) {
        do {
          core->endTurn();
        } while (core->busy());
        actions = core->takeActions();
      }
      if (actions.empty()) return;
      for (node::Action& action : actions) {
        if (const auto* frames = std::get_if<node::SendFrames>(&action)) {
          keepFrames(frames->connection, *frames->frames);
          if (reads) core->sent(frames->connection, frames->frames->size());
        } else if (const auto* close = std::get_if<node::Close>(&action)) {
          closeReasons[close->connection] = close->reason;
        } else if (const auto* dial = std::get_if<node::Dial>(&action)) {
          dials.push_back(dial->master);
        } else if (const auto* source = std::get_if<node::DialSource>(&action)) {
          sources.push_back(*source);
        } else if (std::holds_alternative<node::TierWrite>(action) || std::holds_alternative<node::TierStore>(action) ||
                   std::holds_alternative<node::TierRead>(action)) {
          tierJobs.push_back(std::move(action));
        } else if (const auto* take = std::get_if<node::TakeStaging>(&action)) {
          stagingWanted.push_back(*take);
        } else if (const auto* dropped = std::get_if<node::DropStaging>(&action)) {
          EXPECT_EQ(staging.erase(dropped->transfer), 1U);
        } else if (const auto* cancel = std::get_if<node::CancelTierRead>(&action)) {
          tierCancels.push_back(cancel->op);
        } else if (const auto* drop = std::get_if<node::DropTierPayload>(&action)) {
          tierPayloads.erase(drop->op);
        } else if (const auto* note = std::get_if<node::Note>(&action)) {
          notes.push_back(note->text);
        } else {
          others.push_back(std::move(action));
        }
      }
    }
  }

  template <typename Append>
  void frame(node::ConnectionId connection, Append append) {
    wire::Bytes out;
    append(out);
    wire::FrameDecoder decoder;
    feed(decoder, out, [&](wire::Body body) { core->frame(nowMs, connection, body); });
    act();
  }
  void tick(uint64_t laterMs) {
    nowMs += laterMs;
    core->tick(nowMs);
    act();
  }

  /// Dialled and welcomed; messages up to the snapshot's end are in inbox(connection).
  void connectMaster(node::ConnectionId connection, size_t master = 0, uint64_t incarnation = 7) {
    core->dialled(nowMs, connection, master, "master-" + std::to_string(master));
    frame(connection, [&](wire::Bytes& out) { wire::appendWelcome(out, masterWelcome(kPool, incarnation)); });
  }
  void connectClient(node::ConnectionId connection, bool local = false) {
    core->accepted(nowMs, connection, local, "client");
    frame(connection, [](wire::Bytes& out) { wire::appendHello(out, clientHello(kIncarnation)); });
    inbox(connection).clear();
  }
  node::FenceAck fence(node::ConnectionId master, const Authority& authority, uint64_t leaseMs = 1000) {
    frame(master, [&](wire::Bytes& out) { appendFence(out, 1, authority, leaseMs); });
    return readFenceAck(last(master, sbe::FenceAck::SBE_TEMPLATE_ID));
  }
  /// Of clients of other tenants than `default`, what stands in front of their keys in the pool.
  std::map<node::ConnectionId, std::string> tenants;

  /// Begins an inline write; true when the node wants the payload.
  bool beginWrite(node::ConnectionId client, const Authority& authority, const ObjectId& id, const std::string& key,
                  uint64_t length) {
    others.clear();
    node::WriteRequest request{id.counter, authority, id, length, false, 0, 0, key};
    request.mac = grantFor(request, tenants[client]);
    frame(client, [&](wire::Bytes& out) { appendWrite(out, request); });
    return !others.empty() && std::holds_alternative<node::ReceivePayload>(others.back());
  }
  node::WriteReply endWrite(node::ConnectionId client, const std::string& value, uint32_t crcOff = 0) {
    const auto& receive = std::get<node::ReceivePayload>(others.back());
    EXPECT_EQ(receive.length, value.size());
    const uint32_t crc = segment.storePayload(receive.offset, value);
    core->payloadReceived(client, crc, crc ^ crcOff);
    act();
    return readWriteReply(last(client, sbe::WriteReply::SBE_TEMPLATE_ID));
  }
  node::WriteReply write(node::ConnectionId client, const Authority& authority, const ObjectId& id,
                         const std::string& key, const std::string& value) {
    if (!beginWrite(client, authority, id, key, value.size())) {
      return readWriteReply(last(client, sbe::WriteReply::SBE_TEMPLATE_ID));
    }
    return endWrite(client, value);
  }
  template <typename Append>
  node::CommandAck command(node::ConnectionId master, Append append) {
    frame(master, append);
    return readCommandAck(last(master, sbe::CommandAck::SBE_TEMPLATE_ID));
  }
  node::CommandAck free(node::ConnectionId master, const Authority& authority,
                        const std::vector<node::FreeRequest::Entry>& entries) {
    return command(master, [&](wire::Bytes& out) { appendFree(out, 1, authority, entries); });
  }

  std::deque<wire::Bytes>& inbox(node::ConnectionId connection) { return inboxes_[connection]; }
  [[nodiscard]] std::vector<uint16_t> types(node::ConnectionId connection) {
    std::vector<uint16_t> out;
    for (const wire::Bytes& body : inbox(connection))
      out.push_back(wire::templateOf(body));
    return out;
  }
  wire::Bytes last(node::ConnectionId connection, uint16_t type) {
    auto& box = inbox(connection);
    const auto found =
        std::find_if(box.rbegin(), box.rend(), [&](const wire::Bytes& body) { return wire::templateOf(body) == type; });
    if (found != box.rend()) return *found;
    throw std::runtime_error("message " + std::to_string(type) + " did not come");
  }
  /// All records a connection was told, in order.
  std::vector<Records> records(node::ConnectionId connection) {
    std::vector<Records> out;
    for (const wire::Bytes& body : inbox(connection)) {
      if (wire::templateOf(body) == sbe::DirectoryRecords::SBE_TEMPLATE_ID) out.push_back(readRecords(body));
    }
    return out;
  }

  node::CoreConfig config;
  SegmentInMemory segment;
  std::unique_ptr<node::NodeCore> core;
  uint64_t nowMs = 1000;
  bool reads = true;  // whether peers take what is sent to them
  std::vector<node::Action> others;
  std::map<node::ConnectionId, std::string> closeReasons;
  std::vector<std::string> notes;
  std::vector<size_t> dials;
  std::vector<node::DialSource> sources;
  static constexpr uint32_t kTierNumber = 99;
  std::optional<DeviceInMemory> disk;
  std::optional<ssd::Table> table;
  ssd::TierRecovery tierFound;
  std::vector<node::Action> tierJobs;  // not done yet
  std::vector<uint64_t> tierCancels;   // reads that nobody wants any more; done all the same
  std::map<uint64_t, ssd::BlockBuffer> tierPayloads;
  std::deque<node::TakeStaging> stagingWanted;
  std::map<uint64_t, ssd::BlockBuffer> staging;  // taken, by transfer

 private:
  template <typename Handle>
  static void feed(wire::FrameDecoder& decoder, std::span<const uint8_t> bytes, Handle handle) {
    while (!bytes.empty()) {
      const std::span<uint8_t> room = decoder.writable();
      const size_t count = std::min(room.size(), bytes.size());
      std::copy_n(bytes.begin(), count, room.begin());
      decoder.received(count);
      bytes = bytes.subspan(count);
      while (const std::optional<wire::Body> body = decoder.next())
        handle(*body);
    }
  }
  void keepFrames(node::ConnectionId connection, const wire::Bytes& frames) {
    wire::FrameDecoder decoder;
    feed(decoder, frames, [&](wire::Body body) { inboxes_[connection].emplace_back(body.begin(), body.end()); });
  }

  std::map<node::ConnectionId, std::deque<wire::Bytes>> inboxes_;
};

}  // namespace kvpool::test
