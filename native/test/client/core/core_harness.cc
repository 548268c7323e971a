// SPDX-License-Identifier: Apache-2.0
#include "client/core/core_harness.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/crc32c.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "frames.h"

namespace kvpool::test {

client::Config configFor(std::vector<std::string> masters, bool shm, bool ucx, bool tcp) {
  client::Config config;
  config.masters = std::move(masters);
  config.me.role = wire::Role::Client;
  config.me.incarnation = 77;
  config.me.name = "client";
  config.me.product = "0.1.0";
  config.tcp = tcp;
  config.shm = shm;
  if (ucx) config.remote = RemoteProtocol::Ucx;
  config.bootId = kBootId;
  return config;
}

namespace {

/// A leader's word; here it only has to arrive.
GrantMac macOf(const ObjectId& object, uint16_t node) {
  return {object.counter, node + 1U};
}

bool isHeartbeat(const wire::Bytes& frame) {
  return wire::templateOf(bodyOf(frame)) == wire::sbe::Heartbeat::sbeTemplateId();
}

}  // namespace

client::NodeAddress nodeAddress(uint64_t number, bool local) {
  const std::string text = std::to_string(number);
  return {number, "node-" + text, "node-" + text + ":1", local ? std::string(kBootId) + ":/node-" + text : ""};
}

CoreHarness::CoreHarness(std::vector<std::string> masters, bool shm, bool ucx, bool tcp)
    : CoreHarness(configFor(std::move(masters), shm, ucx, tcp)) {}

CoreHarness::CoreHarness(client::Config config) : core(std::move(config)) {
  core.tick(now);
}

void CoreHarness::collect() {
  for (client::Action& action : core.takeActions()) {
    if (auto* finished = std::get_if<client::FinishBatch>(&action)) {
      results_[finished->batch] = std::move(finished->lines);
      continue;
    }
    if (const auto* close = std::get_if<client::Close>(&action)) {
      // A connection given up before the test looked at its dial was never there.
      std::erase_if(actions_, [close](const client::Action& earlier) {
        const auto* dial = std::get_if<client::Dial>(&earlier);
        return dial != nullptr && dial->connection == close->connection;
      });
    }
    actions_.push_back(std::move(action));
  }
}

bool CoreHarness::dials(const std::string& address) {
  collect();
  return std::any_of(actions_.begin(), actions_.end(), [&](const client::Action& action) {
    const auto* dial = std::get_if<client::Dial>(&action);
    return dial != nullptr && dial->address == address;
  });
}

ConnectionId CoreHarness::expectDial(const std::string& address) {
  collect();
  for (auto at = actions_.begin(); at != actions_.end(); ++at) {
    const auto* dial = std::get_if<client::Dial>(&*at);
    if (dial == nullptr || dial->address != address) continue;
    const ConnectionId connection = dial->connection;
    actions_.erase(at);
    return connection;
  }
  ADD_FAILURE() << "no dial to " << address;
  return 0;
}

bool CoreHarness::closes(ConnectionId connection) {
  collect();
  return std::any_of(actions_.begin(), actions_.end(), [&](const client::Action& action) {
    const auto* close = std::get_if<client::Close>(&action);
    return close != nullptr && close->connection == connection;
  });
}

std::optional<wire::Bytes> CoreHarness::nextBody(ConnectionId connection) {
  collect();
  for (auto at = actions_.begin(); at != actions_.end(); ++at) {
    const auto* send = std::get_if<client::SendFrame>(&*at);
    if (send == nullptr || send->connection != connection || isHeartbeat(send->frame)) continue;
    const wire::Body body = bodyOf(send->frame);
    wire::Bytes copy(body.begin(), body.end());
    actions_.erase(at);
    return copy;
  }
  return std::nullopt;
}

wire::Bytes CoreHarness::expectBody(ConnectionId connection) {
  auto body = nextBody(connection);
  if (!body) throw std::logic_error("nothing was sent on connection " + std::to_string(connection));
  return *body;
}

void CoreHarness::pass(int64_t ms) {
  for (int64_t step = 0; step < ms; step += 5) {
    now += 5;
    core.tick(now);
  }
}

void CoreHarness::passWith(ConnectionId leader, int64_t ms) {
  for (; ms > 0; ms -= client::kHeartbeatMs) {
    pass(std::min(ms, client::kHeartbeatMs));
    wire::Bytes heartbeat;
    wire::appendHeartbeat(heartbeat);
    deliver(leader, heartbeat);
  }
}

ConnectionId CoreHarness::attachShm(uint64_t number) {
  const ConnectionId connection = expectDial("/node-" + std::to_string(number));
  open(connection);
  welcome(connection, wire::Role::Node, number);
  const auto staging = next<client::SendStaging>();
  EXPECT_TRUE(staging && staging->bytes == client::kStagingBytes);
  wire::Bytes frame;
  node::appendShmAttached(frame, 1, KV_OK, 1 << 24);
  deliver(connection, frame);
  EXPECT_TRUE(next<client::MapSegments>());
  core.segmentsMapped(now, connection, Status());
  return connection;
}

void CoreHarness::deliver(ConnectionId connection, const wire::Bytes& frame) {
  core.frame(now, connection, bodyOf(frame));
}

void CoreHarness::welcome(ConnectionId connection, wire::Role role, uint64_t incarnation, PoolId pool) {
  (void)expectBody(connection);  // the Hello
  wire::Welcome welcome;
  welcome.self = {role,   pool,   incarnation, wire::kWireVersions, wire::kLayoutVersions, wire::kAbiVersions,
                  "peer", "0.1.0"};
  welcome.wireChosen = 1;
  wire::Bytes frame;
  wire::appendWelcome(frame, welcome);
  deliver(connection, frame);
}

void CoreHarness::answerProbe(ConnectionId connection, int32_t status) {
  const KeysRequest question = readExistsRequest(expectBody(connection));
  EXPECT_TRUE(question.keys.empty());
  deliver(connection, existsReply({question.request, status, {}}));
}

ConnectionId CoreHarness::lead(const std::string& address) {
  const ConnectionId master = expectDial(address);
  open(master);
  welcome(master, wire::Role::Master, 900);
  answerProbe(master, KV_OK);
  return master;
}

ConnectionId CoreHarness::acceptNode(uint64_t number) {
  const ConnectionId node = expectDial(nodeAddress(number).tcp);
  open(node);
  welcome(node, wire::Role::Node, number);
  return node;
}

uint64_t CoreHarness::submit(OpCode op, std::vector<client::Operation> lines, int64_t timeoutMs) {
  client::Submission submission;
  submission.op = op;
  submission.lines = std::move(lines);
  return submit(std::move(submission), timeoutMs);
}

uint64_t CoreHarness::submit(client::Submission submission, int64_t timeoutMs) {
  submission.id = ++lastBatch_;
  submission.deadline = now + timeoutMs;
  core.submit(now, std::move(submission));
  return lastBatch_;
}

uint64_t CoreHarness::put(const std::string& key, std::string value, int64_t timeoutMs) {
  const std::string& kept = keys_.emplace_back(key);
  std::string& memory = memory_.emplace_back(std::move(value));
  return submit(OpCode::Put, {operation(kept, memory.data(), memory.size())}, timeoutMs);
}

uint64_t CoreHarness::get(const std::string& key, uint64_t room, int64_t timeoutMs) {
  const std::string& kept = keys_.emplace_back(key);
  std::string& memory = memory_.emplace_back(room, '\0');
  return submit(OpCode::Get, {operation(kept, memory.data(), room)}, timeoutMs);
}

std::optional<std::vector<LineResult>> CoreHarness::result(uint64_t batch) {
  collect();
  const auto found = results_.find(batch);
  if (found == results_.end()) return std::nullopt;
  return found->second;
}

int32_t CoreHarness::expectStatus(uint64_t batch) {
  const auto lines = result(batch);
  if (!lines || lines->size() != 1) {
    ADD_FAILURE() << "batch " << batch << " has not ended with one line";
    return KV_INTERNAL;
  }
  return lines->front().status;
}

void CoreHarness::replyGrant(ConnectionId leader, const GrantRequest& request, int32_t status,
                             const std::vector<client::NodeAddress>& nodes, ObjectId object) {
  client::GrantReply reply{request.request, KV_OK, {1, 5}, nodes, {}};
  for (size_t i = 0; i < request.keys.size(); ++i) {
    client::Grant& grant = reply.grants.emplace_back();
    grant.status = status;
    grant.object = {object.epoch, object.counter + i};
    grant.pins = request.keys[i].retention.pins;
    grant.softPinMs = request.keys[i].retention.softPinMs;
    for (uint16_t node = 0; status == KV_OK && node < nodes.size(); ++node)
      grant.targets.push_back({node, macOf(grant.object, node)});
  }
  deliver(leader, grantReply(reply, request.deadlineMs));
}

void CoreHarness::replyGrant(ConnectionId leader, GrantRequest request, const Retention& pins, uint64_t node) {
  for (WantedGrant& wanted : request.keys)
    wanted.retention = pins;
  replyGrant(leader, request, KV_OK, {nodeAddress(node)});
}

void CoreHarness::promiseRoom(ConnectionId leader, const GrantRequest& request, uint32_t roomMs) {
  client::GrantReply reply{request.request, KV_OK, {1, 5}, {}, {}};
  for (size_t i = 0; i < request.keys.size(); ++i) {
    client::Grant& grant = reply.grants.emplace_back();
    grant.status = KV_NO_SPACE;
    grant.roomMs = roomMs;
  }
  deliver(leader, grantReply(reply, request.deadlineMs));
}

void CoreHarness::refuseGrant(ConnectionId leader, const GrantRequest& request, int32_t wholeStatus) {
  deliver(leader, grantReply({request.request, wholeStatus, {}, {}, {}}, 0));
}

void CoreHarness::replyPublish(ConnectionId leader, const PublishRequest& request, int32_t status) {
  client::KeysReply reply{request.request, KV_OK, {}};
  reply.results.assign(request.objects.size(), {status, 0});
  deliver(leader, publishReply(reply));
}

void CoreHarness::replyLookup(ConnectionId leader, const KeysRequest& request, const std::string& value,
                              const std::vector<client::NodeAddress>& nodes, uint32_t leaseMs, uint16_t segment) {
  client::LookupReply reply{request.request, KV_OK, {1, 5}, leaseMs, nodes, {}};
  for (size_t i = 0; i < request.keys.size(); ++i) {
    client::Located& object = reply.objects.emplace_back();
    object.status = KV_OK;
    object.object = {1, 1 + i};
    object.payloadLength = value.size();
    object.payloadCrc = crc32c(value);
    for (uint16_t node = 0; node < nodes.size(); ++node)
      object.replicas.push_back({node, {segment, 7, 9}, 4096});
  }
  deliver(leader, lookupReply(reply));
}

void CoreHarness::replyLookupStatus(ConnectionId leader, const KeysRequest& request, int32_t status) {
  client::LookupReply reply{request.request, KV_OK, {1, 5}, 0, {}, {}};
  for (size_t i = 0; i < request.keys.size(); ++i)
    reply.objects.emplace_back().status = status;
  deliver(leader, lookupReply(reply));
}

CoreHarness::InlineWrite CoreHarness::expectWrite(ConnectionId node) {
  const wire::Bytes body = expectBody(node);
  const node::WriteRequest request = node::readWriteRequest(body);
  const auto payload = next<client::SendPayload>();
  if (!payload || payload->transfer != request.requestId) throw std::logic_error("no payload behind a write");
  if (request.mac.first != request.objectId.counter) throw std::logic_error("the write does not show its grant");
  InlineWrite write{request.requestId, std::string(request.key),
                    std::string(static_cast<const char*>(payload->memory.address()), payload->length), request.objectId,
                    request.retention};
  core.payloadSent(now, node, payload->transfer);
  return write;
}

void CoreHarness::replyWrite(ConnectionId node, uint64_t request, int32_t status) {
  wire::Bytes frame;
  node::appendWriteReply(frame, {request, status, {0, 1, 1}, {1, 5}});
  deliver(node, frame);
}

void CoreHarness::replyRead(ConnectionId node, uint64_t request, const std::string& bytes) {
  wire::Bytes frame;
  node::appendReadReply(frame, request, KV_OK, bytes.size());
  deliver(node, frame);
  const auto receive = next<client::ReceivePayload>();
  if (!receive) return;  // the core did not accept the announcement
  if (receive->destination) std::memcpy(receive->destination->address(), bytes.data(), bytes.size());
  core.payloadReceived(now, node, receive->transfer, crc32c(bytes), crc32c(bytes));
}

void CoreHarness::refuseRead(ConnectionId node, uint64_t request, int32_t status) {
  wire::Bytes frame;
  node::appendReadReply(frame, request, status, 0);
  deliver(node, frame);
}

}  // namespace kvpool::test
