// SPDX-License-Identifier: Apache-2.0
#include "model/network.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "wire/frame.h"

namespace kvpool::test {

void Network::after(Time delay, std::function<void()> task) {
  tasks_.push({now_ + delay, ++order_, std::move(task)});
}

void Network::runUntil(Time end) {
  while (!tasks_.empty() && tasks_.top().at <= end) {
    const Task task = tasks_.top();
    tasks_.pop();
    now_ = task.at;
    task.run();
  }
  now_ = end;
}

void Network::dial(Endpoint& from, uint64_t connection, const std::string& address) {
  dialing_[{&from, connection}] = true;
  after(delay(), [this, side = &from, connection, address] { connect(side, connection, address); });
}

void Network::connect(Endpoint* from, uint64_t connection, const std::string& address) {
  const auto dialing = dialing_.find({from, connection});
  if (dialing == dialing_.end()) return;
  dialing_.erase(dialing);
  const auto listener = listeners_.find(address);
  if (listener == listeners_.end()) return from->closed(connection, "nobody listens at " + address);
  const uint64_t number = ++lastLine_;
  Line& line = lines_[number];
  line.sides[0] = {from, connection, now_};
  ends_[{from, connection}] = {number, 0};
  // The accepting side knows the connection by the line's number; those are never reused.
  Endpoint& acceptor = listener->second->accept(number);
  line.sides[1] = {&acceptor, number, now_};
  ends_[{&acceptor, number}] = {number, 1};
  from->opened(connection);
}

void Network::send(Endpoint& from, uint64_t connection, Parcel parcel) {
  const auto end = ends_.find({&from, connection});
  if (end == ends_.end()) return;
  const auto [number, side] = end->second;
  const int to = 1 - side;
  Side& receiver = lines_.at(number).sides[to];
  receiver.lastArrival = std::max(receiver.lastArrival, now_ + delay());  // later, but never out of order
  after(receiver.lastArrival - now_, [this, line = number, to, item = std::move(parcel)] { deliver(line, to, item); });
}

void Network::sendFrames(Endpoint& from, uint64_t connection, const wire::Bytes& frames) {
  size_t at = 0;
  while (at < frames.size()) {
    uint32_t length = 0;
    std::memcpy(&length, frames.data() + at, sizeof length);
    const auto begin = frames.begin() + static_cast<std::ptrdiff_t>(at + wire::kFrameHeaderBytes);
    send(from, connection, {false, wire::Bytes(begin, begin + length), 0});
    at += wire::kFrameHeaderBytes + length;
  }
}

void Network::deliver(uint64_t number, int to, const Parcel& parcel) {
  const auto line = lines_.find(number);
  if (line == lines_.end()) return;
  const Side side = line->second.sides[to];
  side.endpoint->arrived(side.connection, parcel);
}

void Network::close(Endpoint& from, uint64_t connection) {
  dialing_.erase({&from, connection});
  const auto end = ends_.find({&from, connection});
  if (end == ends_.end()) return;
  const auto [number, side] = end->second;
  ends_.erase(end);
  const int peer = 1 - side;
  Side& receiver = lines_.at(number).sides[peer];
  receiver.lastArrival = std::max(receiver.lastArrival, now_ + delay());
  // What was sent before still arrives.
  after(receiver.lastArrival - now_, [this, line = number, peer] { this->end(line, peer, "the peer closed"); });
}

void Network::end(uint64_t number, int told, const std::string& reason) {
  const auto found = lines_.find(number);
  if (found == lines_.end()) return;
  const Line line = found->second;
  lines_.erase(found);
  for (const Side& side : line.sides)
    ends_.erase({side.endpoint, side.connection});
  line.sides[told].endpoint->closed(line.sides[told].connection, reason);
}

void Network::vanish(Endpoint& side) {
  std::erase_if(dialing_, [&](const auto& entry) { return entry.first.first == &side; });
  std::vector<std::pair<uint64_t, int>> gone;
  for (const auto& [number, line] : lines_) {
    for (int i = 0; i < 2; ++i) {
      if (line.sides[i].endpoint == &side) gone.emplace_back(number, i);
    }
  }
  for (const auto& [number, i] : gone)
    end(number, 1 - i, "connection reset");
}

void Network::cutOne() {
  if (lines_.empty()) return;
  auto found = std::next(lines_.begin(), static_cast<std::ptrdiff_t>(dice_.below(lines_.size())));
  const Line line = found->second;
  lines_.erase(found);
  for (const Side& side : line.sides) {
    // A side that closed already is told nothing more.
    if (ends_.erase({side.endpoint, side.connection}) == 0) continue;
    side.endpoint->closed(side.connection, "cut");
  }
}

}  // namespace kvpool::test
