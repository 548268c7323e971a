// SPDX-License-Identifier: Apache-2.0
#include "master/master_server.h"

#include <array>
#include <cerrno>
#include <chrono>

#include "net/clock.h"
#include "net/socket.h"
#include "wire/certificate_proof.h"

namespace kvpool::test {
namespace {

constexpr int kTickMs = 20;

Time now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Status MasterServer::listen(const std::string& host, uint16_t port) {
  auto listener = net::listenTcp(host, port);
  if (!listener.ok()) return listener.status();
  listener_ = std::move(listener.value());
  port_ = net::boundPort(listener_.get());
  loop_.add(listener_.get(), EPOLLIN, [this](uint32_t) { acceptAll(); });
  return {};
}

void MasterServer::run() {
  while (!stopped_) {
    loop_.runOnce(kTickMs);
    model_.tick(now());
    endExpired();
    deliver();
  }
}

void MasterServer::stop() {
  stopped_ = true;
  loop_.wake();
}

void MasterServer::dropConnections() {
  while (!connections_.empty())
    close(connections_.begin()->first);
}

void MasterServer::acceptAll() {
  while (true) {
    net::SocketAddress peer;
    auto accepted = net::acceptOne(listener_.get(), &peer);
    if (!accepted.ok() || !accepted.value().valid()) return;
    const uint64_t id = ++lastId_;
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(accepted.value());
    if (credentials_) {
      connection->session =
          std::make_unique<secure::Session>(credentials_, secure::Session::Side::Listener, secure::Expected{});
    }
    loop_.add(connection->fd.get(), EPOLLIN, [this, id](uint32_t events) { happened(id, events); });
    connections_[id] = std::move(connection);
  }
}

void MasterServer::happened(uint64_t id, uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  bool alive = (events & EPOLLERR) == 0;
  if (alive && (events & (EPOLLIN | EPOLLHUP)) != 0) alive = receive(id, *found->second);
  if (!alive) close(id);
  deliver();
  flush(id);
}

void MasterServer::decode(uint64_t id, Connection& connection) {
  while (const auto body = connection.decoder.next()) {
    if (!aboutCertificates(id, connection, *body)) model_.frame(now(), id, *body);
  }
}

bool MasterServer::aboutCertificates(uint64_t id, Connection& connection, wire::Body body) {
  if (!connection.session || !wire::isAboutCertificates(body)) return false;
  if (wire::isCertificateProof(body)) {
    const Status proven = connection.session->prove(wire::readCertificateProof(body), *credentials_);
    if (proven.ok()) ++proven_;
    if (!proven.ok()) problems_.push_back(proven.text());
    wire::appendCertificateProven(connection.plain, proven.text());
    loop_.post([this, id] { flush(id); });
  } else if (const std::string problem = wire::readCertificateProven(body); !problem.empty()) {
    problems_.push_back(problem);
  }
  return true;
}

void MasterServer::renew(std::shared_ptr<const secure::Credentials> credentials) {
  credentials_ = std::move(credentials);
  std::vector<uint64_t> ids;
  for (const auto& [id, connection] : connections_) {
    if (connection->session->peer().role != Principal::Role::Node) continue;
    wire::appendCertificateProof(connection->plain, connection->session->proof(*credentials_).value());
    ids.push_back(id);
  }
  for (const uint64_t id : ids)
    flush(id);
}

/// As masters do.
void MasterServer::endExpired() {
  std::vector<uint64_t> over;
  for (const auto& [id, connection] : connections_) {
    const secure::Session* const session = connection->session.get();
    if (session != nullptr && session->state() == secure::Session::State::Authenticated &&
        net::unixMs() >= session->peer().notAfterMs) {
      over.push_back(id);
    }
  }
  expired_ += static_cast<int>(over.size());
  for (const uint64_t id : over)
    close(id);
}

bool MasterServer::receiveSecured(uint64_t id, Connection& connection) {
  secure::Session& session = *connection.session;
  std::array<uint8_t, 65536> sealed;
  const ssize_t count = ::recv(connection.fd.get(), sealed.data(), sealed.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  session.received(std::span(sealed).first(static_cast<size_t>(count)));
  if (session.advance() == secure::Session::State::Authenticated) model_.certified(id, session.peer());
  while (const size_t opened = session.open(connection.decoder.writable())) {
    connection.decoder.received(opened);
    decode(id, connection);
  }
  session.keepRest();
  if (session.state() != secure::Session::State::Refused) return session.state() != secure::Session::State::Closed;
  const auto alert = session.outgoing();
  (void)::send(connection.fd.get(), alert.data(), alert.size(), MSG_NOSIGNAL);
  return false;
}

bool MasterServer::receive(uint64_t id, Connection& connection) {
  try {
    if (connection.session) return receiveSecured(id, connection);
  } catch (const wire::Malformed&) {
    return false;
  }
  const auto room = connection.decoder.writable();
  const ssize_t count = ::recv(connection.fd.get(), room.data(), room.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  connection.decoder.received(static_cast<size_t>(count));
  try {
    decode(id, connection);
  } catch (const wire::Malformed&) {
    return false;
  }
  return true;
}

void MasterServer::deliver() {
  for (MasterModel::Outgoing& outgoing : model_.takeOutgoing()) {
    const auto found = connections_.find(outgoing.connection);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    wire::Bytes& out = connection.session ? connection.plain : connection.out;
    out.insert(out.end(), outgoing.frame.begin(), outgoing.frame.end());
    connection.closing = connection.closing || outgoing.close;
    flush(outgoing.connection);
  }
}

void MasterServer::flush(uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  if (secure::Session* const session = connection.session.get()) {
    const iovec plain{connection.plain.data(), connection.plain.size()};
    if (!connection.plain.empty() && session->seal(std::span(&plain, 1))) connection.plain.clear();
    const auto sealed = session->outgoing();
    connection.out.insert(connection.out.end(), sealed.begin(), sealed.end());
    session->sent(sealed.size());
  }
  while (!connection.out.empty()) {
    const ssize_t sent = ::send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      loop_.modify(connection.fd.get(), EPOLLIN | EPOLLOUT);
      return;
    }
    if (sent < 0) return close(id);
    connection.out.erase(connection.out.begin(), connection.out.begin() + sent);
  }
  if (connection.closing) return close(id);
  loop_.modify(connection.fd.get(), EPOLLIN);
}

void MasterServer::close(uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  loop_.remove(found->second->fd.get());
  connections_.erase(found);
  model_.closed(id);
}

}  // namespace kvpool::test
