// SPDX-License-Identifier: Apache-2.0
#include "adxl_channel.h"

#include <algorithm>
#include <random>
#include <sstream>

#include "settings.h"

namespace fake_ascend {
namespace {

Status statusOf(Io io) {
  return io == Io::kDone ? kSuccess : io == Io::kTimedOut ? kTimeout : kFailed;
}

bool isUnreachable(const std::string& peer) {
  std::istringstream names(textSetting("unreachable"));
  for (std::string name; std::getline(names, name, ',');)
    if (name == peer) return true;
  return false;
}

Io connectTo(const std::string& peer, Deadline deadline, int& file) {
  const auto address = Address::parse(peer);
  if (!address || isUnreachable(peer)) return Io::kBroken;
  return Socket::connect(*address, deadline, file);
}

/// Cuts pieces to the first bytes of them all.
void cut(std::vector<Piece>& pieces, uint64_t bytes) {
  for (Piece& piece : pieces) {
    piece.size = std::min(piece.size, bytes);
    bytes -= piece.size;
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.size == 0; });
}

}  // namespace

bool Turn::take(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto isFree = [this] { return !taken_; };
  if (deadline == kNoDeadline)
    changed_.wait(lock, isFree);
  else if (!changed_.wait_until(lock, deadline, isFree))
    return false;
  taken_ = true;
  return true;
}

void Turn::give() {
  const std::lock_guard lock(mutex_);
  taken_ = false;
  changed_.notify_one();
}

Channel::Channel(std::string peer, int file, uint64_t id) : peer_(std::move(peer)), id_(id), socket_(file) {
  fake_ascend_count("channel", 1);
}

Channel::~Channel() {
  fake_ascend_count("channel", -1);
}

Status Channel::open(const std::string& peer, Deadline deadline, std::shared_ptr<Channel>& channel) {
  int file = -1;
  if (const Io io = connectTo(peer, deadline, file); io != Io::kDone) return statusOf(io);
  std::random_device device;
  std::shared_ptr<Channel> opened(new Channel(peer, file, uint64_t{device()} << 32 | device()));
  const Status status = opened->greet(deadline);
  if (status == kSuccess) channel = std::move(opened);
  return status;
}

Status Channel::greet(Deadline deadline) {
  Header hello;
  hello.frame = Frame::kHello;
  hello.channel = id_;
  Header reply;
  Io io = socket_.send(&hello, sizeof hello, deadline);
  if (io == Io::kDone) io = socket_.receive(&reply, sizeof reply, deadline);
  if (io != Io::kDone || reply.status != kSuccess) return io != Io::kDone ? statusOf(io) : reply.status;
  generation_ = reply.generation;
  regions_.resize(reply.count);
  return statusOf(socket_.receive(regions_.data(), regions_.size() * sizeof(Region), deadline));
}

Status Channel::sayGoodbye(Deadline deadline) {
  silent_ = true;
  int file = -1;
  if (const Io io = connectTo(peer_, deadline, file); io != Io::kDone) return statusOf(io);
  Socket socket(file);
  Header goodbye;
  goodbye.frame = Frame::kGoodbye;
  goodbye.channel = id_;
  Header reply;
  Io io = socket.send(&goodbye, sizeof goodbye, deadline);
  if (io == Io::kDone) io = socket.receive(&reply, sizeof reply, deadline);
  return io == Io::kDone ? reply.status : statusOf(io);
}

void Channel::close() {
  closing_.close();
  socket_.shutDown();
}

Status Channel::transfer(Direction direction, std::vector<Piece> pieces, Deadline deadline) {
  fake_ascend_order order{};
  fake_ascend_begin("transfer", &order);
  Status status = kFailed;
  if (!turn_.take(deadline)) {
    status = broken(Io::kTimedOut);
  } else {
    status = transferInTurn(direction, pieces, deadline, order);
    turn_.give();
  }
  fake_ascend_end("transfer", status, peer_.c_str());
  return status;
}

Status Channel::transferInTurn(Direction direction, std::vector<Piece>& pieces, Deadline deadline,
                               const fake_ascend_order& order) {
  if (unusable_ || isClosed()) return kFailed;
  if (const Io io = obeyDelay(order, closing_, deadline); io != Io::kDone) return broken(io);
  if (order.partial != 0)
    cut(pieces, order.partial_bytes);
  else if (order.status != 0)
    pieces.clear();
  const Status moved = pieces.empty() ? kSuccess : exchange(direction, pieces, deadline);
  if (moved != kSuccess || order.status == 0) return moved;
  return order.status == kTimeout ? broken(Io::kTimedOut) : order.status;
}

Status Channel::exchange(Direction direction, const std::vector<Piece>& pieces, Deadline deadline) {
  Header request;
  request.frame = direction == Direction::kRead ? Frame::kRead : Frame::kWrite;
  request.generation = generation_;
  request.channel = id_;
  request.count = pieces.size();
  std::vector<RemotePiece> remote;
  remote.reserve(pieces.size());
  for (const Piece& piece : pieces)
    remote.push_back({piece.remote, piece.size});
  Io io = socket_.send(&request, sizeof request, deadline);
  if (io == Io::kDone) io = socket_.send(remote.data(), remote.size() * sizeof(RemotePiece), deadline);
  if (io == Io::kDone && direction == Direction::kWrite) io = moveBytes(direction, pieces, deadline);
  Header reply;
  if (io == Io::kDone) io = socket_.receive(&reply, sizeof reply, deadline);
  if (io == Io::kDone && reply.status == kSuccess && direction == Direction::kRead)
    io = moveBytes(direction, pieces, deadline);
  return io == Io::kDone ? reply.status : broken(io);
}

Io Channel::moveBytes(Direction direction, const std::vector<Piece>& pieces, Deadline deadline) {
  const uint64_t bandwidth = fake_ascend_number("bandwidth", 0);
  const Deadline began = Clock::now();
  uint64_t moved = 0;
  for (const Piece& piece : pieces) {
    for (uint64_t done = 0; done < piece.size;) {
      const size_t size = std::min<uint64_t>(kChunk, piece.size - done);
      void* local = reinterpret_cast<void*>(piece.local + done);
      const Io io =
          direction == Direction::kWrite ? socket_.send(local, size, deadline) : socket_.receive(local, size, deadline);
      if (io != Io::kDone) return io;
      done += size;
      moved += size;
      if (bandwidth == 0) continue;
      const auto needed = std::chrono::duration<double>(static_cast<double>(moved) / static_cast<double>(bandwidth));
      const Deadline next = began + std::chrono::duration_cast<Clock::duration>(needed);
      if (closing_.waitUntil(std::min(next, deadline)) == Io::kBroken) return Io::kBroken;
      if (next > deadline) return Io::kTimedOut;
    }
  }
  return Io::kDone;
}

void Channel::heartbeat() {
  constexpr int kPatienceMs = 100;
  if (silent_ || unusable_ || !turn_.take(Clock::now())) return;
  Header beat;
  beat.frame = Frame::kHeartbeat;
  socket_.send(&beat, sizeof beat, afterMs(kPatienceMs));
  turn_.give();
}

Status Channel::broken(Io io) {
  unusable_ = true;
  // What a transfer that timed out still had on its way must not be taken for a reply to the next.
  socket_.shutDown();
  return statusOf(io);
}

}  // namespace fake_ascend
