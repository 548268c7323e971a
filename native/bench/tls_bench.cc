// SPDX-License-Identifier: Apache-2.0
// kv_tls_bench: one measurement of a running pool by a native client, with TLS or without; a line of JSON for each
// result. native/python/bench/tls.py runs it against a pool that requires TLS and one that has it off, in turn.
//
//   kv_tls_bench bulk MASTERS TLS_DIR NAME             batches of 32 objects of 1 MiB: put, then get
//   kv_tls_bench small MASTERS TLS_DIR NAME LEADER     4 KiB: put in batches, with the processor time of the process
//   LEADER
//                                                      for each; then get alone
//   kv_tls_bench handshakes ADDRESS TLS_DIR PEER PID   handshakes with PEER, "master" or the id of a storage node,
//   whose
//                                                      process is PID; a greeting that is answered ends each
//   kv_tls_bench takeover MASTERS TLS_DIR COUNT LEADER STANDBYS
//                                                      COUNT clients, each connected to STANDBYS masters beside the
//                                                      leader; the process LEADER is killed and each asks for an object
//                                                      at once
// TLS_DIR "-": without TLS. Keys begin with NAME.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "client/core/client_core.h"
#include "dev_kvpool_wire/Welcome.h"
#include "kvpool/kvpool.h"
#include "net/clock.h"
#include "net/socket.h"
#include "net/streams.h"
#include "secure/security.h"
#include "wire/handshake.h"

namespace {

using kvpool::client::ClientCore;

constexpr size_t kLines = 32;
constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kSmall = 4096;
constexpr int kBulkBatches = 12;
constexpr int kSmallBatches = 400;
constexpr int kWarmBatches = 40;
constexpr int kSingles = 4000;
constexpr double kHandshakeSeconds = 2;
constexpr int kHandshakeThreads = 4;
constexpr uint32_t kTimeoutMs = 60000;
constexpr int64_t kFirstCallMs = 30000;

void must(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of a process, that of its threads that have ended included.
double processorSeconds(pid_t pid) {
  clockid_t clock = 0;
  must(::clock_getcpuclockid(pid, &clock) == 0, "no process " + std::to_string(pid));
  timespec spent{};
  ::clock_gettime(clock, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

void emit(const std::string& what, double value, const char* unit) {
  std::printf("{\"case\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", what.c_str(), value, unit);
}

/// `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double part) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

// ---- put and get ----

class Client {
 public:
  Client(const std::string& masters, const std::string& tlsDirectory) {
    kv_client_params params{};
    params.struct_size = sizeof params;
    params.protocols = KV_PROTOCOL_TCP;
    params.masters = masters.c_str();
    params.tls_dir = tlsDirectory.c_str();
    char err[512] = "";
    must(kv_client_create(&params, &client_, err, sizeof err) == KV_OK, err);
  }
  ~Client() { kv_client_destroy(client_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void run(int32_t op, const std::vector<std::string>& keys, std::vector<char>& memory, size_t length) {
    std::vector<kv_op> table(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      table[i].key = keys[i].data();
      table[i].key_length = static_cast<uint32_t>(keys[i].size());
      table[i].data = memory.data() + i * length;
      table[i].length = length;
    }
    uint64_t batch = 0;
    must(kv_client_submit(client_, op, table.data(), static_cast<uint32_t>(table.size()), nullptr, &batch) == KV_OK,
         "submit");
    must(kv_client_wait(client_, batch, kTimeoutMs) == KV_OK, "wait");
    for (const kv_op& line : table)
      must(line.status == KV_OK, kv_status_name(line.status));
  }
  void removeAll() { must(kv_client_remove_all(client_, 1, kTimeoutMs, nullptr) == KV_OK, "remove_all"); }

 private:
  kv_client* client_ = nullptr;
};

std::vector<std::vector<std::string>> keysOf(const std::string& name, int batches) {
  std::vector<std::vector<std::string>> keys(static_cast<size_t>(batches));
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t k = 0; k < kLines; ++k)
      keys[i].push_back(name + "/" + std::to_string(i) + "/" + std::to_string(k));
  }
  return keys;
}

std::vector<char> pattern(size_t length) {
  std::vector<char> bytes(length);
  for (size_t i = 0; i < length; ++i)
    bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

/// The first batch is a warm-up and is not timed.
void bulk(Client& client, const std::string& name) {
  std::vector<char> from = pattern(kLines * kLarge);
  std::vector<char> to(from.size());
  const auto keys = keysOf(name, kBulkBatches + 1);
  const auto measure = [&](const char* what, int32_t op, std::vector<char>& memory) {
    client.run(op, keys[0], memory, kLarge);
    const double start = now();
    for (size_t i = 1; i < keys.size(); ++i)
      client.run(op, keys[i], memory, kLarge);
    emit(what, static_cast<double>(kBulkBatches * kLines * kLarge) / (now() - start) / 1e9, "GB/s");
  };
  measure("put 1 MiB x 32", KV_OP_PUT, from);
  measure("get 1 MiB x 32", KV_OP_GET, to);
  must(from == to, "a get returned other bytes than were put");
  client.removeAll();
}

void small(Client& client, const std::string& name, pid_t leader) {
  std::vector<char> from = pattern(kLines * kSmall);
  std::vector<char> to(kSmall);
  const auto keys = keysOf(name, kWarmBatches + kSmallBatches);
  for (size_t i = 0; i < kWarmBatches; ++i)
    client.run(KV_OP_PUT, keys[i], from, kSmall);
  const double spent = processorSeconds(leader);
  const double start = now();
  for (size_t i = kWarmBatches; i < keys.size(); ++i)
    client.run(KV_OP_PUT, keys[i], from, kSmall);
  const double puts = static_cast<double>(kSmallBatches) * kLines;
  emit("put 4 KiB x 32", puts / (now() - start) / 1e3, "k/s");
  emit("leader's CPU for a put", (processorSeconds(leader) - spent) / puts * 1e6, "us");
  std::vector<double> took;
  for (int i = 0; i < kSingles; ++i) {
    const std::string& key = keys[static_cast<size_t>(i) % keys.size()][static_cast<size_t>(i) / keys.size()];
    const double begin = now();
    client.run(KV_OP_GET, {key}, to, kSmall);
    took.push_back((now() - begin) * 1e6);
  }
  std::sort(took.begin(), took.end());
  emit("get 4 KiB p50", quantile(took, 0.5), "us");
  emit("get 4 KiB p99", quantile(took, 0.99), "us");
  client.removeAll();
}

// ---- handshakes ----

std::shared_ptr<kvpool::secure::Security> securityOf(const std::string& directory) {
  kvpool::secure::Settings settings;
  settings.directory = directory;
  settings.mode = kvpool::secure::Mode::Required;
  auto opened = kvpool::secure::Security::open(settings);
  must(opened.ok(), opened.status().text());
  return opened.value();
}

/// A socket of an address of this machine's loopback network; storage nodes bound how many handshakes one begins.
kvpool::Fd connectFrom(uint32_t host, const kvpool::net::SocketAddress& to) {
  kvpool::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  must(socket.valid(), "no socket");
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + host % 250);
  must(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0, "bind");
  const auto* peer = reinterpret_cast<const sockaddr*>(&to.storage);
  must(::connect(socket.get(), peer, to.length) == 0, std::string("connect: ") + std::strerror(errno));
  return socket;
}

/// The peer's first frame says that it has taken our certificate.
void shakeHands(int socket, kvpool::secure::Session& session, const kvpool::wire::Bytes& hello) {
  std::vector<uint8_t> bytes(16384);
  for (bool greeted = false;;) {
    if (!greeted && session.state() == kvpool::secure::Session::State::Authenticated) {
      greeted = true;
      const iovec piece{const_cast<uint8_t*>(hello.data()), hello.size()};
      must(session.seal(std::span(&piece, 1)), "seal");
    }
    while (!session.outgoing().empty()) {
      const auto out = session.outgoing();
      const ssize_t sent = ::send(socket, out.data(), out.size(), MSG_NOSIGNAL);
      must(sent > 0, std::string("send: ") + std::strerror(errno));
      session.sent(static_cast<size_t>(sent));
    }
    const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), 0);
    must(received > 0, "the peer closed the connection");
    session.received(std::span(bytes).first(static_cast<size_t>(received)));
    session.advance();
    std::vector<uint8_t> opened(16384);
    const size_t count = session.open(opened);
    session.keepRest();
    must(session.state() != kvpool::secure::Session::State::Refused, session.refusal());
    if (count == 0) continue;
    opened.resize(count);
    kvpool::wire::FrameDecoder decoder(kvpool::wire::kFrameBodyBytesMax);
    const auto room = decoder.writable();
    std::copy(opened.begin(), opened.end(), room.begin());
    decoder.received(count);
    const auto body = decoder.next();
    must(body.has_value(), "the peer's greeting came in pieces");
    must(kvpool::wire::templateOf(*body) == kvpool::wire::sbe::Welcome::sbeTemplateId(),
         "the peer refused the greeting");
    return;
  }
}

void handshakes(const std::string& address, const std::string& directory, const std::string& peer, pid_t pid) {
  const auto security = securityOf(directory);
  const auto credentials = security->credentials();
  const bool isMaster = peer == "master";
  const auto expected =
      isMaster ? kvpool::secure::Expected::master() : kvpool::secure::Expected::storageNode(peer, false);
  const auto parsed = kvpool::parseHostPort(address);
  must(parsed.ok(), parsed.status().text());
  const auto resolved = kvpool::net::resolve(parsed.value());
  must(resolved.ok(), resolved.status().text());
  kvpool::wire::Hello greeting;
  greeting.self.poolId = credentials->self().pool;
  greeting.self.incarnation = 1;
  greeting.self.name = "kv_tls_bench";
  kvpool::wire::Bytes hello;
  kvpool::wire::appendHello(hello, greeting);

  std::atomic<uint32_t> begun{0};
  std::atomic<uint32_t> done{0};
  std::atomic<bool> failed{false};
  const auto work = [&](double until) {
    try {
      while (now() < until && !failed) {
        const kvpool::Fd socket = connectFrom(begun++, resolved.value().front());
        kvpool::secure::Session session(credentials, kvpool::secure::Session::Side::Dialer, expected);
        shakeHands(socket.get(), session, hello);
        ++done;
      }
    } catch (const std::exception& wrong) {
      if (!failed.exchange(true)) std::fprintf(stderr, "kv_tls_bench: %s\n", wrong.what());
    }
  };
  const auto all = [&](double seconds) {
    std::vector<std::thread> threads;
    threads.reserve(kHandshakeThreads);
    for (int i = 0; i < kHandshakeThreads; ++i)
      threads.emplace_back(work, now() + seconds);
    for (std::thread& thread : threads)
      thread.join();
  };
  all(kHandshakeSeconds / 4);  // Java's first ones cost more
  done = 0;
  const double spent = processorSeconds(pid);
  const double ours = processorSeconds(::getpid());
  const double start = now();
  all(kHandshakeSeconds);
  must(!failed, "a handshake failed");
  const std::string at = isMaster ? "master" : "storage node";
  emit("handshakes at a " + at, done / (now() - start), "/s");
  emit("CPU of the " + at + " for one", (processorSeconds(pid) - spent) / done * 1e3, "ms");
  emit("CPU of the client for one, " + at, (processorSeconds(::getpid()) - ours) / done * 1e3, "ms");
}

// ---- takeover ----

/// Many clients in one thread: the cores and connections of the product. They have no storage nodes.
class Crowd : private kvpool::net::Stream::Listener {
 public:
  Crowd(const std::vector<std::string>& masters, std::shared_ptr<kvpool::secure::Security> security, size_t count,
        size_t standbys)
      : security_(std::move(security)), streams_(loop_, static_cast<kvpool::net::Stream::Listener&>(*this)) {
    for (size_t i = 0; i < count; ++i) {
      kvpool::client::Config config;
      config.masters = masters;
      config.me.role = kvpool::wire::Role::Client;
      config.me.incarnation = i + 1;
      config.me.name = "client-" + std::to_string(i);
      config.shm = false;
      config.standbys = standbys;
      config.seed = i + 1;
      members_.push_back(std::make_unique<Member>(config));
    }
  }

  /// Not all at once: a handshake that takes longer than 3 s is given up by both ends.
  void connect() {
    constexpr size_t kTogether = 8;
    constexpr double kSecondsMax = 60;
    for (const double until = now() + kSecondsMax; ready_ < members_.size();) {
      must(now() < until, "only " + std::to_string(ready_) + " clients found the leader");
      started_ = std::min(members_.size(), ready_ + kTogether);
      round();
      ready_ = static_cast<size_t>(std::count_if(members_.begin(), members_.begin() + static_cast<long>(started_),
                                                 [](const auto& one) { return one->core.readiness().ok(); }));
    }
  }

  /// Until each client has so many connections, and a little longer, in which a master warms up for them; half a minute
  /// at most. How many there are then.
  size_t settle(size_t connections) {
    constexpr double kRestSeconds = 5;
    constexpr double kSecondsMax = 30;
    const double start = now();
    for (double since = start; now() < std::min(since + kRestSeconds, start + kSecondsMax); round()) {
      if (open_.size() < members_.size() * connections) since = now();
    }
    return open_.size();
  }

  /// Every client asks at once; how long each waited since `start`.
  std::vector<double> ask(double start) {
    for (size_t i = 0; i < members_.size(); ++i) {
      kvpool::client::Submission question;
      question.id = 1;
      question.op = kvpool::client::OpCode::Exists;
      question.lines.push_back({"an object", {}, 0});
      question.deadline = kvpool::net::steadyMs() + kFirstCallMs;
      members_[i]->core.submit(kvpool::net::steadyMs(), std::move(question));
      perform(i);
    }
    while (answered_ < members_.size())
      round();
    std::vector<double> took;
    for (const auto& member : members_) {
      must(member->status == KV_OK || member->status == KV_NOT_FOUND, kv_status_name(member->status));
      took.push_back(member->answeredAt - start);
    }
    std::sort(took.begin(), took.end());
    return took;
  }

  [[nodiscard]] size_t opened() const { return opened_; }

 private:
  using Id = kvpool::net::Stream::Id;

  struct Member {
    explicit Member(const kvpool::client::Config& config) : core(config) {}
    ClientCore core;
    int64_t lastTick = 0;
    int32_t status = KV_TIMEOUT;
    double answeredAt = 0;
  };

  static constexpr int kBits = 32;  // of a stream's number that are the core's
  static size_t memberOf(uint64_t id) { return id >> kBits; }
  static uint64_t own(uint64_t id) { return id & 0xFFFFFFFFU; }
  static uint64_t streamOf(size_t member, uint64_t connection) { return uint64_t{member} << kBits | connection; }

  void round() {
    constexpr int kWaitMs = 2;
    for (size_t i = 0; i < started_; ++i) {
      Member& member = *members_[i];
      if (kvpool::net::steadyMs() - member.lastTick < member.core.tickMs()) continue;
      member.lastTick = kvpool::net::steadyMs();
      member.core.tick(member.lastTick);
      perform(i);
    }
    flush();
    loop_.runOnce(kWaitMs);
    flush();
  }

  void flush() {
    streams_.settle([this] {
      for (const size_t member : std::exchange(touched_, {}))
        perform(member);
    });
  }

  void perform(size_t index) {
    Member& member = *members_[index];
    for (auto actions = member.core.takeActions(); !actions.empty(); actions = member.core.takeActions()) {
      for (kvpool::client::Action& action : actions) {
        if (const auto* dial = std::get_if<kvpool::client::Dial>(&action)) {
          const auto stream = streams_.add(streamOf(index, dial->connection));
          if (security_) {
            stream->secure(
                {security_->credentials(), kvpool::secure::Session::Side::Dialer, kvpool::secure::Expected::master()});
          }
          stream->dialTcp(resolver_, dial->address);
        } else if (auto* send = std::get_if<kvpool::client::SendFrame>(&action)) {
          kvpool::net::OutQueue* out = streams_.outOf(streamOf(index, send->connection));
          if (out != nullptr) out->addFrame(std::move(send->frame));
        } else if (const auto* close = std::get_if<kvpool::client::Close>(&action)) {
          open_.erase(streamOf(index, close->connection));
          streams_.drop(streamOf(index, close->connection));
        } else if (const auto* finished = std::get_if<kvpool::client::FinishBatch>(&action)) {
          member.status = finished->lines.front().status;
          member.answeredAt = now();
          ++answered_;
        }
      }
    }
  }

  void streamOpened(Id id) override {
    ++opened_;
    open_.insert(id);
    members_[memberOf(id)]->core.opened(kvpool::net::steadyMs(), own(id));
    touched_.push_back(memberOf(id));
  }
  void streamEnded(Id id, const kvpool::net::Stream::Ending& ending) override {
    open_.erase(id);
    streams_.drop(id);
    members_[memberOf(id)]->core.closed(kvpool::net::steadyMs(), own(id), ending.why);
    touched_.push_back(memberOf(id));
  }
  void streamMalformed(Id id, const std::string& what) override {
    streamEnded(id, {kvpool::net::Stream::Ending::How::Lost, what});
  }
  void frameArrived(Id id, kvpool::wire::Body body) override {
    members_[memberOf(id)]->core.frame(kvpool::net::steadyMs(), own(id), body);
    touched_.push_back(memberOf(id));
  }

  const std::shared_ptr<kvpool::secure::Security> security_;  // null: plain
  std::vector<std::unique_ptr<Member>> members_;
  kvpool::net::EventLoop loop_;
  kvpool::net::Resolver resolver_{loop_};
  kvpool::net::Streams streams_;
  std::vector<size_t> touched_;
  std::set<Id> open_;
  size_t started_ = 0;
  size_t ready_ = 0;
  size_t answered_ = 0;
  size_t opened_ = 0;
};

void takeover(const std::string& masters, const std::string& directory, size_t count, pid_t leader, size_t standbys) {
  std::vector<std::string> addresses;
  for (size_t from = 0; from <= masters.size();) {
    const size_t to = std::min(masters.find(',', from), masters.size());
    addresses.push_back(masters.substr(from, to - from));
    from = to + 1;
  }
  Crowd crowd(addresses, directory.empty() ? nullptr : securityOf(directory), count, standbys);
  crowd.connect();
  const size_t there = crowd.settle(1 + std::min(standbys, addresses.size() - 1));
  emit("connections before", static_cast<double>(there), "");
  const size_t before = crowd.opened();
  const double start = now();
  must(::kill(leader, SIGKILL) == 0, "no process " + std::to_string(leader));
  const std::vector<double> took = crowd.ask(start);
  emit("first call p50", quantile(took, 0.5) * 1e3, "ms");
  emit("first call p99", quantile(took, 0.99) * 1e3, "ms");
  emit("first call slowest", took.back() * 1e3, "ms");
  emit("connections opened meanwhile", static_cast<double>(crowd.opened() - before), "");
}

void run(const std::vector<std::string>& arguments) {
  must(arguments.size() >= 4, "too few arguments; the beginning of native/bench/tls_bench.cc lists them");
  const std::string& what = arguments[0];
  const std::string& where = arguments[1];
  const std::string directory = arguments[2] == "-" ? "" : arguments[2];
  const std::string& name = arguments[3];
  const pid_t pid = arguments.size() > 4 ? std::stoi(arguments[4]) : 0;
  if (what == "bulk") {
    Client client(where, directory);
    return bulk(client, name);
  }
  must(pid > 0, what + " needs the id of a process");
  if (what == "small") {
    Client client(where, directory);
    return small(client, name, pid);
  }
  if (what == "handshakes") return handshakes(where, directory, name, pid);
  if (what == "takeover") {
    must(arguments.size() > 5, "takeover needs the number of standbys");
    return takeover(where, directory, std::stoul(name), pid, std::stoul(arguments[5]));
  }
  throw std::runtime_error("'" + what + "' is none of bulk, small, handshakes, takeover");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "kv_tls_bench: %s\n", wrong.what());
    return 1;
  }
  return 0;
}
