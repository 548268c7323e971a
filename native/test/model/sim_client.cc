// SPDX-License-Identifier: Apache-2.0
#include "model/sim_client.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"

namespace kvpool::test {
namespace {

constexpr uint64_t kRoom = 4096;
constexpr char kSpoiled = '\x7E';

client::Config configFor(const std::string& name, std::vector<std::string> masters, uint64_t seed) {
  client::Config config;
  config.masters = std::move(masters);
  config.me.role = wire::Role::Client;
  config.me.incarnation = seed | 1;
  config.me.name = name;
  config.me.product = "0.1.0";
  config.shm = false;
  config.seed = seed;
  return config;
}

}  // namespace

SimClient::SimClient(Network& network, Dice& dice, Ledger& ledger, std::string name, std::vector<std::string> masters)
    : network_(network),
      dice_(dice),
      ledger_(ledger),
      name_(std::move(name)),
      core_(configFor(name_, std::move(masters), dice.next())) {
  tick();
}

// ---- the caller ----

void SimClient::put(const std::vector<std::string>& keys, Time timeoutMs) {
  auto caller = std::make_unique<Caller>();
  caller->op = client::OpCode::Put;
  caller->keys = keys;
  for (const std::string& key : keys) {
    std::string value = key + "=" + name_ + "#" + std::to_string(++lastValue_) + ":";
    value.append(dice_.below(3000), static_cast<char>('a' + dice_.below(26)));
    ledger_.offered[key].insert(value);
    caller->values.push_back(value);
    caller->memory.push_back(std::move(value));
  }
  submit(client::OpCode::Put, std::move(caller), timeoutMs);
}

void SimClient::get(const std::vector<std::string>& keys, Time timeoutMs) {
  auto caller = std::make_unique<Caller>();
  caller->op = client::OpCode::Get;
  caller->keys = keys;
  caller->memory.assign(keys.size(), std::string(kRoom, kSpoiled));
  submit(client::OpCode::Get, std::move(caller), timeoutMs);
}

void SimClient::putInParts(const std::string& key, Time timeoutMs) {
  auto session = std::make_shared<Session>();
  session->key = key;
  session->timeoutMs = timeoutMs;
  session->value = key + "=" + name_ + "#" + std::to_string(++lastValue_) + ":";
  session->value.append(dice_.below(3000), static_cast<char>('a' + dice_.below(26)));
  ledger_.offered[key].insert(session->value);
  for (uint64_t from = 0; from < session->value.size(); from += session->left.back().length)
    session->left.push_back({from, 1 + dice_.below(session->value.size() - from)});
  for (size_t i = session->left.size(); i > 1; --i)
    std::swap(session->left[i - 1], session->left[dice_.below(i)]);
  step(client::OpCode::PutStart, session, std::make_unique<Caller>());
}

/// Writes one or two of the parts that are left, or ends; sometimes it is forgotten instead, and sometimes too early.
void SimClient::goOn(const std::shared_ptr<Session>& session) {
  if (dice_.oneIn(30)) return;
  auto caller = std::make_unique<Caller>();
  if (session->left.empty() || dice_.oneIn(50)) return step(client::OpCode::PutEnd, session, std::move(caller));
  std::string& memory = caller->memory.emplace_back();
  memory.reserve(session->value.size());
  for (int count = dice_.oneIn(2) ? 1 : 2; count > 0 && !session->left.empty(); --count) {
    const store::Range part = session->left.back();
    session->left.pop_back();
    caller->pieces.push_back({memory.data() + memory.size(), part.length});
    caller->offsets.push_back(part.offset);
    memory += session->value.substr(part.offset, part.length);
  }
  step(client::OpCode::PutParts, session, std::move(caller));
}

void SimClient::step(client::OpCode op, const std::shared_ptr<Session>& session, std::unique_ptr<Caller> caller) {
  client::Submission submission;
  submission.id = ++lastBatch_;
  submission.op = op;
  submission.deadline = network_.now() + session->timeoutMs;
  submission.replicas = static_cast<uint32_t>(dice_.below(3));
  caller->op = op;
  caller->keys = {session->key};
  caller->deadline = submission.deadline;
  caller->session = session;
  client::Operation line;
  line.key = caller->keys.front();
  if (op == client::OpCode::PutStart) {
    line.length = session->value.size();
  } else {
    line.meant = session->object;
  }
  if (op == client::OpCode::PutParts) {
    line.memory = Pieces(caller->pieces);
    line.length = caller->memory.front().size();
    line.offsets = caller->offsets.data();
  }
  submission.lines = {line};
  batches_[submission.id] = std::move(caller);
  core_.submit(network_.now(), std::move(submission));
  act();
}

/// The next step is taken later: this one is being finished.
void SimClient::stepEnded(const Caller& caller, const client::LineResult& line) {
  const std::shared_ptr<Session> session = caller.session;
  if (line.status != KV_OK) {
    if (caller.op != client::OpCode::PutParts || dice_.oneIn(2)) return;
    network_.after(1, [this, session] { step(client::OpCode::PutRevoke, session, std::make_unique<Caller>()); });
    return;
  }
  if (caller.op == client::OpCode::PutEnd) {
    EXPECT_TRUE(session->left.empty()) << "a value with gaps was taken";
    ledger_.acknowledged.insert(session->key);
  }
  if (caller.op == client::OpCode::PutEnd || caller.op == client::OpCode::PutRevoke) return;
  if (caller.op == client::OpCode::PutStart) session->object = line.object;
  network_.after(static_cast<Time>(dice_.below(200)), [this, session] { goOn(session); });
}

void SimClient::submit(client::OpCode op, std::unique_ptr<Caller> caller, Time timeoutMs) {
  client::Submission submission;
  submission.id = ++lastBatch_;
  submission.op = op;
  submission.deadline = network_.now() + timeoutMs;
  submission.replicas = static_cast<uint32_t>(dice_.below(3));
  caller->deadline = submission.deadline;
  for (size_t i = 0; i < caller->keys.size(); ++i) {
    std::string& memory = caller->memory[i];
    submission.lines.push_back({caller->keys[i], Pieces(memory.data(), memory.size()), memory.size(), KV_OK});
  }
  batches_[submission.id] = std::move(caller);
  core_.submit(network_.now(), std::move(submission));
  act();
}

void SimClient::finish(const client::FinishBatch& finished) {
  const auto found = batches_.find(finished.batch);
  ASSERT_NE(found, batches_.end()) << "a batch ended twice";
  Caller& caller = *found->second;
  ASSERT_EQ(finished.lines.size(), caller.keys.size());
  EXPECT_LE(network_.now(), caller.deadline + 10) << "a batch ended after its deadline";
  for (size_t i = 0; i < finished.lines.size(); ++i) {
    const client::LineResult& line = finished.lines[i];
    ++ledger_.statuses[line.status];
    if (caller.session) {
      stepEnded(caller, line);
      continue;
    }
    if (line.status != KV_OK) continue;
    if (caller.op == client::OpCode::Put) {
      ledger_.acknowledged.insert(caller.keys[i]);
    } else {
      checkRead(caller.keys[i], caller.memory[i].substr(0, line.length));
    }
  }
  // From here on the memory is the caller's again: what is still read from it is visibly wrong.
  for (std::string& memory : caller.memory)
    std::fill(memory.begin(), memory.end(), kSpoiled);
  auto spoiled = std::make_shared<std::unique_ptr<Caller>>(std::move(found->second));
  batches_.erase(found);
  network_.after(200, [spoiled] {
    for (const std::string& memory : (*spoiled)->memory) {
      EXPECT_EQ(memory.find_first_not_of(kSpoiled), std::string::npos) << "written after the batch had ended";
    }
  });
}

void SimClient::checkRead(const std::string& key, const std::string& value) {
  ++ledger_.reads;
  EXPECT_TRUE(ledger_.offered[key].contains(value)) << key << " read as " << value.substr(0, 60);
  if (!ledger_.valuesNeverChange) return;
  const std::string& first = ledger_.firstRead.try_emplace(key, value).first->second;
  EXPECT_EQ(first.substr(0, 60), value.substr(0, 60)) << "two objects under " << key;
}

// ---- the shell ----

void SimClient::tick() {
  core_.tick(network_.now());
  act();
  network_.after(5, [this] { tick(); });
}

void SimClient::opened(uint64_t connection) {
  core_.opened(network_.now(), connection);
  act();
}

void SimClient::closed(uint64_t connection, const std::string& reason) {
  outgoing_.erase(connection);
  receiving_.erase(connection);
  core_.closed(network_.now(), connection, reason);
  act();
}

void SimClient::arrived(uint64_t connection, const Parcel& parcel) {
  if (!parcel.isPayload) {
    core_.frame(network_.now(), connection, parcel.bytes);
    return act();
  }
  const auto found = receiving_.find(connection);
  if (found == receiving_.end()) return;
  const Receiving receiving = found->second;
  receiving_.erase(found);
  ASSERT_EQ(receiving.length, parcel.bytes.size());
  uint32_t computed = 0;
  if (receiving.destination != nullptr) {
    computed = crc32cCopy(receiving.destination, parcel.bytes.data(), parcel.bytes.size());
  }
  core_.payloadReceived(network_.now(), connection, receiving.transfer, computed, parcel.crc);
  act();
}

void SimClient::act() {
  for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
    for (const client::Action& action : actions) {
      std::visit([this](const auto& wanted) { perform(wanted); }, action);
    }
  }
}

void SimClient::perform(const client::Dial& action) {
  outgoing_[action.connection];
  network_.dial(*this, action.connection, action.address);
}

void SimClient::perform(const client::SendFrame& action) {
  queueOut(action.connection, action);
}

void SimClient::perform(const client::SendPayload& action) {
  queueOut(action.connection, action);
}

void SimClient::queueOut(uint64_t connection, Outgoing outgoing) {
  const auto queue = outgoing_.find(connection);
  if (queue == outgoing_.end()) return;
  queue->second.push_back(std::move(outgoing));
  sendNext(connection);
}

/// Frames leave at once, a payload after a while: until then the caller's memory is still being read.
void SimClient::sendNext(uint64_t connection) {
  const auto queue = outgoing_.find(connection);
  while (queue != outgoing_.end() && !queue->second.empty() && !sending_.contains(connection)) {
    if (const auto* frame = std::get_if<client::SendFrame>(&queue->second.front())) {
      network_.sendFrames(*this, connection, frame->frame);
      queue->second.pop_front();
    } else {
      sending_.insert(connection);
      network_.after(static_cast<Time>(dice_.below(4)), [this, connection] { sendPayload(connection); });
    }
  }
}

void SimClient::sendPayload(uint64_t connection) {
  sending_.erase(connection);
  const auto queue = outgoing_.find(connection);
  if (queue == outgoing_.end()) return;  // closed meanwhile
  const auto payload = std::get<client::SendPayload>(queue->second.front());
  queue->second.pop_front();
  wire::Bytes copy;
  for (const kv_piece& piece : payload.memory.pieces()) {
    const auto* bytes = static_cast<const uint8_t*>(piece.data);
    copy.insert(copy.end(), bytes, bytes + piece.length);
  }
  copy.resize(payload.length);
  const uint32_t crc = crc32c(copy.data(), copy.size());
  network_.send(*this, connection, {true, std::move(copy), crc});
  core_.payloadSent(network_.now(), connection, payload.transfer);
  act();
  sendNext(connection);
}

void SimClient::perform(const client::ReceivePayload& action) {
  receiving_[action.connection] = {action.transfer, action.destination ? action.destination->address() : nullptr,
                                   action.length};
}

void SimClient::perform(const client::Close& action) {
  outgoing_.erase(action.connection);
  receiving_.erase(action.connection);
  network_.close(*this, action.connection);
}

}  // namespace kvpool::test
