// SPDX-License-Identifier: Apache-2.0
#include "model/sim_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/block_sums.h"

namespace kvpool::test {
namespace {

constexpr uint64_t kSegmentBytes = 16 << 20;
/// Dialled connections are numbered from here, accepted ones by the network from 1.
constexpr uint64_t kFirstDial = uint64_t{1} << 40;

}  // namespace

SimNode::SimNode(Network& network, Dice& dice, PoolId pool, std::string id, std::vector<std::string> masters)
    : network_(network), dice_(dice), pool_(pool), id_(std::move(id)), masters_(std::move(masters)) {
  auto segment = store::anonymousSegment({pool, id_, 0}, kSegmentBytes, gate_);
  EXPECT_TRUE(segment.ok()) << segment.status().text();
  segment_ = std::move(segment.value());
  lastDial_ = kFirstDial;
}

void SimNode::start() {
  ++life_;
  state_.emplace(segment_.mapping.bytes(), gate_);
  directory_.emplace(segment_.mapping.bytes(), segment_.geometry, *state_, gate_);
  directory_->recover();
  node::CoreConfig config;
  config.self = {wire::Role::Node,   pool_, dice_.next() | 1, wire::kWireVersions, wire::kLayoutVersions,
                 wire::kAbiVersions, id_,   "0.1.0"};
  config.masters = masters_.size();
  config.tcp = address();
  config.randomSeed = dice_.next();
  core_.emplace(config, *directory_, *state_);
  network_.listen(address(), this);
  tick(life_);
}

void SimNode::crash() {
  if (!core_) return;
  // A payload on its way may have been stored in part.
  for (const auto& [connection, expected] : expected_) {
    if (!expected.keeps || expected.length == 0) continue;
    std::memset(segment_.mapping.bytes().data() + expected.offset, 0xDB, dice_.below(expected.length));
  }
  core_.reset();
  directory_.reset();
  state_.reset();
  dials_.clear();
  sources_.clear();
  expected_.clear();
  network_.silence(address());
  network_.vanish(*this);
}

void SimNode::tick(uint64_t life) {
  if (!core_ || life != life_) return;
  core_->tick(now());
  act();
  network_.after(static_cast<Time>(node::NodeCore::kTickMs), [this, life] { tick(life); });
}

Endpoint& SimNode::accept(uint64_t connection) {
  core_->accepted(now(), connection, false, "client");
  act();
  return *this;
}

void SimNode::opened(uint64_t connection) {
  if (const auto source = sources_.find(connection); source != sources_.end()) {
    core_->sourceDialled(now(), connection, source->second, "source");
    return act();
  }
  core_->dialled(now(), connection, dials_.at(connection), "master");
  act();
}

void SimNode::closed(uint64_t connection, const std::string& reason) {
  if (!core_) return;
  expected_.erase(connection);
  // A dial that never connected is known by its master's number only.
  if (const auto dial = dials_.find(connection); dial != dials_.end() && reason.starts_with("nobody")) {
    core_->dialFailed(now(), dial->second, true, reason);
    dials_.erase(dial);
  } else if (const auto source = sources_.find(connection); source != sources_.end() && reason.starts_with("nobody")) {
    core_->sourceDialFailed(source->second, reason);
    sources_.erase(source);
  } else {
    core_->closed(now(), connection);
  }
  act();
}

void SimNode::arrived(uint64_t connection, const Parcel& parcel) {
  if (!core_) return;
  if (!parcel.isPayload) {
    try {
      core_->frame(now(), connection, parcel.bytes);
    } catch (const wire::Malformed& malformed) {
      ADD_FAILURE() << "a client sent what a node cannot read: " << malformed.what();
    }
    return act();
  }
  const auto found = expected_.find(connection);
  if (found == expected_.end()) return;  // the core closed the connection instead
  const Expected expected = found->second;
  expected_.erase(found);
  if (!expected.keeps) return;
  EXPECT_EQ(expected.length, parcel.bytes.size());
  if (!expected.parts.empty()) return storeParts(connection, expected.parts, parcel);
  uint8_t* to = segment_.mapping.bytes().data() + expected.offset;
  RunningSum sum = RunningSum::behind(to, parcel.bytes.size());
  sum.copy(to, parcel.bytes.data(), parcel.bytes.size());
  core_->payloadReceived(connection, sum.crc(), parcel.crc);
  act();
}

void SimNode::storeParts(uint64_t connection, const std::vector<store::Range>& parts, const Parcel& parcel) {
  const uint8_t* from = parcel.bytes.data();
  for (const store::Range& part : parts) {
    std::copy_n(from, part.length, segment_.mapping.bytes().data() + part.offset);
    from += part.length;
  }
  core_->payloadReceived(connection, crc32c(parcel.bytes.data(), parcel.bytes.size()), parcel.crc);
  act();
}

void SimNode::act() {
  core_->endTurn();
  for (auto actions = core_->takeActions(); !actions.empty(); actions = core_->takeActions()) {
    for (const node::Action& action : actions) {
      std::visit([this](const auto& wanted) { perform(wanted); }, action);
    }
    core_->endTurn();
  }
}

void SimNode::perform(const node::SendFrames& action) {
  network_.sendFrames(*this, action.connection, *action.frames);
  core_->sent(action.connection, action.frames->size());
}

void SimNode::perform(const node::SendPayload& action) {
  const uint8_t* from = segment_.mapping.bytes().data() + action.offset;
  network_.send(*this, action.connection, {true, wire::Bytes(from, from + action.length), action.crc});
  core_->payloadSent(action.connection);
}

void SimNode::perform(const node::ReceivePayload& action) {
  expected_[action.connection] = {true, action.offset, action.length};
}

void SimNode::perform(const node::ReceiveParts& action) {
  expected_[action.connection] = {true, 0, action.length, action.parts};
}

void SimNode::perform(const node::DiscardPayload& action) {
  expected_[action.connection] = {false, 0, action.length};
}

void SimNode::perform(const node::Close& action) {
  network_.close(*this, action.connection);
  expected_.erase(action.connection);
  core_->closed(now(), action.connection);
}

void SimNode::perform(const node::Dial& action) {
  const uint64_t connection = ++lastDial_;
  dials_[connection] = action.master;
  network_.dial(*this, connection, masters_.at(action.master));
}

void SimNode::perform(const node::DialSource& action) {
  const uint64_t connection = ++lastDial_;
  sources_[connection] = action.source;
  network_.dial(*this, connection, action.address);
}

}  // namespace kvpool::test
