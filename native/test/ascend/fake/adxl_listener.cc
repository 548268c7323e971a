// SPDX-License-Identifier: Apache-2.0
#include "adxl_listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

namespace fake_ascend {
namespace {

constexpr uint64_t kSilentMs = 120000;
constexpr uint64_t kMostPieces = uint64_t{1} << 24;

uint64_t randomNumber() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

Listener::Listener(RegisteredMemory& memory, bool staged)
    : memory_(memory), staged_(staged), generation_(randomNumber()) {}

Listener::~Listener() {
  stop();
}

bool Listener::start(const Address& address) {
  file_ = listenOn(address);
  if (file_ < 0) return false;
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { accept(); });
  return true;
}

void Listener::stop() {
  if (file_ < 0) return;
  closing_.close();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  thread_.join();
  for (const auto& connection : connections_)
    connection->socket.shutDown();
  for (const auto& connection : connections_)
    connection->thread.join();
  connections_.clear();
  ::close(file_);
  ::close(wake_);
  file_ = -1;
}

void Listener::accept() {
  while (true) {
    pollfd entries[2] = {{file_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (::poll(entries, 2, -1) < 0) continue;
    if (entries[1].revents != 0) return;
    const int file = ::accept4(file_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file < 0) continue;
    const std::lock_guard lock(mutex_);
    removeEnded();
    connections_.push_back(std::make_unique<Connection>(file));
    Connection& connection = *connections_.back();
    connection.thread = std::thread([this, &connection] { serve(connection); });
  }
}

void Listener::removeEnded() {
  connections_.remove_if([](const std::unique_ptr<Connection>& connection) {
    if (!connection->ended) return false;
    connection->thread.join();
    return true;
  });
}

void Listener::serve(Connection& connection) {
  while (!closing_.isClosed()) {
    Header request;
    const auto silent = static_cast<int64_t>(fake_ascend_number("silent_ms", kSilentMs));
    if (connection.socket.receive(&request, sizeof request, afterMs(silent)) != Io::kDone || request.magic != kMagic ||
        !answer(connection, request))
      break;
  }
  connection.socket.shutDown();
  connection.ended = true;
}

bool Listener::answer(Connection& connection, const Header& request) {
  if (request.frame == Frame::kHeartbeat) {
    fake_ascend_end("heartbeat", kSuccess, "");
    return true;
  }
  fake_ascend_order order{};
  fake_ascend_begin("listener", &order);
  const Io io = obeyDelay(order, closing_, kNoDeadline);
  fake_ascend_end("listener", order.status, "");
  if (io != Io::kDone) return false;
  if (request.frame == Frame::kRead || request.frame == Frame::kWrite) return move(connection, request, order.status);
  if (order.status != 0) {
    reply(connection, order.status, 0);
    return false;
  }
  return request.frame == Frame::kHello ? welcome(connection, request) : dismiss(connection, request);
}

bool Listener::welcome(Connection& connection, const Header& request) {
  connection.channel = request.channel;
  const auto regions = memory_.regions();
  return reply(connection, kSuccess, regions.size()) &&
         connection.socket.send(regions.data(), regions.size() * sizeof(Region), kNoDeadline) == Io::kDone;
}

bool Listener::dismiss(Connection& connection, const Header& request) {
  {
    const std::lock_guard lock(mutex_);
    // A channel of the engine that listened here before is not known, and gone all the same.
    for (const auto& other : connections_)
      if (other->channel == request.channel) other->socket.shutDown();
  }
  reply(connection, kSuccess, 0);
  return false;
}

bool Listener::move(Connection& connection, const Header& request, Status status) {
  if (request.count > kMostPieces) return false;
  std::vector<RemotePiece> pieces(request.count);
  if (connection.socket.receive(pieces.data(), pieces.size() * sizeof(RemotePiece), kNoDeadline) != Io::kDone)
    return false;
  if (request.generation != generation_)
    status = kNotConnected;
  else if (status == kSuccess &&
           !std::all_of(pieces.begin(), pieces.end(), [this](const RemotePiece& piece) { return isReachable(piece); }))
    status = kFailed;
  if (request.frame == Frame::kWrite)
    return takeBytes(connection, pieces, status == kSuccess, status) && reply(connection, status, 0);
  return reply(connection, status, 0) && (status != kSuccess || giveBytes(connection, pieces));
}

bool Listener::giveBytes(Connection& connection, const std::vector<RemotePiece>& pieces) {
  std::vector<char> buffer(kChunk);
  for (const RemotePiece& piece : pieces) {
    for (uint64_t done = 0; done < piece.size;) {
      const size_t size = std::min<uint64_t>(kChunk, piece.size - done);
      if (!memory_.copyOut(piece.start + done, buffer.data(), size, staged_) ||
          connection.socket.send(buffer.data(), size, kNoDeadline) != Io::kDone)
        return false;
      done += size;
    }
  }
  return true;
}

bool Listener::takeBytes(Connection& connection, const std::vector<RemotePiece>& pieces, bool wanted, Status& status) {
  std::vector<char> buffer(kChunk);
  for (const RemotePiece& piece : pieces) {
    for (uint64_t done = 0; done < piece.size;) {
      const size_t size = std::min<uint64_t>(kChunk, piece.size - done);
      if (connection.socket.receive(buffer.data(), size, kNoDeadline) != Io::kDone) return false;
      if (wanted && !memory_.copyIn(piece.start + done, buffer.data(), size, staged_)) status = kFailed;
      done += size;
    }
  }
  return true;
}

bool Listener::isReachable(const RemotePiece& piece) const {
  return staged_ || memory_.homeOf(piece.start, piece.size).has_value();
}

bool Listener::reply(Connection& connection, Status status, uint64_t count) {
  Header header;
  header.generation = generation_;
  header.status = status;
  header.count = count;
  return connection.socket.send(&header, sizeof header, kNoDeadline) == Io::kDone;
}

}  // namespace fake_ascend
