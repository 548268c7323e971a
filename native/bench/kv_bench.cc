// SPDX-License-Identifier: Apache-2.0
// kv_bench [ROUNDS]: put and get through one client, one node and the test master of this process, beside what the
// machine itself does in the same minute: a raw loopback stream and a memcpy. Medians over the rounds.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kvpool/kvpool.h"
#include "master/master_server.h"
#include "net/socket.h"

namespace {

using kvpool::test::MasterServer;

constexpr const char* kPool = "11111111-2222-3333-4444-555555555555";
constexpr size_t kLines = 32;

double secondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void must(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what);
}

/// Bytes per second of one loopback connection, one side writing and one reading blocks of this size.
double rawStream(size_t block, size_t bytes) {
  auto listener = kvpool::net::listenTcp("127.0.0.1", 0);
  must(listener.ok(), "cannot listen");
  const auto address = kvpool::net::resolve({"127.0.0.1", kvpool::net::boundPort(listener.value().get())});
  auto out = kvpool::net::startConnect(address.value().front());
  kvpool::Fd in;
  while (!in.valid()) {
    kvpool::net::SocketAddress peer;
    in = std::move(kvpool::net::acceptOne(listener.value().get(), &peer).value());
  }
  const auto blocking = [](int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK); };
  blocking(out.value().get());
  blocking(in.get());
  std::vector<char> from(block, 'a'), to(block);
  return static_cast<double>(bytes) / secondsOf([&] {
           std::thread writer([&] {
             for (size_t sent = 0; sent < bytes;) {
               const ssize_t count = ::send(out.value().get(), from.data(), std::min(block, bytes - sent), 0);
               must(count > 0, "send");
               sent += static_cast<size_t>(count);
             }
           });
           for (size_t received = 0; received < bytes;) {
             const ssize_t count = ::recv(in.get(), to.data(), block, 0);
             must(count > 0, "recv");
             received += static_cast<size_t>(count);
           }
           writer.join();
         });
}

double rawMemcpy(size_t bytes) {
  std::vector<char> from(bytes, 'a'), to(bytes, 'b');
  return static_cast<double>(bytes) / secondsOf([&] {
           std::memcpy(to.data(), from.data(), bytes);
           asm volatile("" : : "r"(to.data()) : "memory");
         });
}

struct Rates {
  double putBytes = 0;
  double getBytes = 0;
};

void runBatch(kv_client* client, int32_t op, std::vector<kv_op>& table) {
  uint64_t batch = 0;
  must(kv_client_submit(client, op, table.data(), static_cast<uint32_t>(table.size()), nullptr, &batch) == KV_OK,
       "submit");
  must(kv_client_wait(client, batch, 60000) == KV_OK, "wait");
  for (const kv_op& line : table)
    must(line.status == KV_OK, kv_status_name(line.status));
}

Rates measure(kv_client* client, const std::string& name, size_t length, int rounds, int perRound) {
  std::vector<char> from(kLines * length, 'v'), to(kLines * length);
  std::vector<double> puts, gets;
  const double bytes = static_cast<double>(kLines * length) * perRound;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::vector<std::string>> keys(static_cast<size_t>(perRound));
    const auto table = [&](std::vector<char>& memory, size_t i) {
      std::vector<kv_op> lines(kLines);
      for (size_t k = 0; k < kLines; ++k) {
        lines[k].key = keys[i][k].data();
        lines[k].key_length = static_cast<uint32_t>(keys[i][k].size());
        lines[k].data = memory.data() + k * length;
        lines[k].length = length;
      }
      return lines;
    };
    for (size_t i = 0; i < keys.size(); ++i) {
      for (size_t k = 0; k < kLines; ++k) {
        keys[i].push_back(name + "/" + std::to_string(round) + "/" + std::to_string(i) + "/" + std::to_string(k));
      }
    }
    puts.push_back(bytes / secondsOf([&] {
                     for (size_t i = 0; i < keys.size(); ++i) {
                       auto lines = table(from, i);
                       runBatch(client, KV_OP_PUT, lines);
                     }
                   }));
    gets.push_back(bytes / secondsOf([&] {
                     for (size_t i = 0; i < keys.size(); ++i) {
                       auto lines = table(to, i);
                       runBatch(client, KV_OP_GET, lines);
                     }
                   }));
    must(std::memcmp(from.data(), to.data(), from.size()) == 0, "wrong bytes");
    must(kv_client_remove_all(client, 1, 30000, nullptr) == KV_OK, "remove_all");
  }
  return {median(puts), median(gets)};
}

kv_client* connect(const std::string& master, uint32_t protocols) {
  kv_client_params params{};
  params.struct_size = sizeof params;
  params.protocols = protocols;
  params.masters = master.c_str();
  kv_client* client = nullptr;
  char err[512] = "";
  must(kv_client_create(&params, &client, err, sizeof err) == KV_OK, err);
  return client;
}

kv_node* startNode(const std::string& master, const std::string& directory) {
  kv_node_params params{};
  params.struct_size = sizeof params;
  params.pool_id = kPool;
  params.node_id = "bench-node";
  params.masters = master.c_str();
  params.listen_host = "127.0.0.1";
  params.advertise_host = "127.0.0.1";
  params.data_dir = directory.c_str();
  params.segment_bytes = 512 << 20;
  kv_node* node = nullptr;
  char err[512] = "";
  must(kv_node_start(&params, &node, err, sizeof err) == KV_OK, err);
  return node;
}

void report(const std::string& what, const Rates& rates, size_t length, double putBest, double getBest) {
  std::printf("%-22s put %7.2f GB/s %9.0f objects/s %5.0f %%   get %7.2f GB/s %9.0f objects/s %5.0f %%\n", what.c_str(),
              rates.putBytes / 1e9, rates.putBytes / static_cast<double>(length), 100 * rates.putBytes / putBest,
              rates.getBytes / 1e9, rates.getBytes / static_cast<double>(length), 100 * rates.getBytes / getBest);
}

void bench(int rounds, const std::string& directory) {
  kvpool::test::MasterModel::Settings settings;
  settings.pool = *kvpool::parsePoolId(kPool);
  MasterServer server(settings);
  must(server.listen("127.0.0.1", 0).ok(), "cannot listen");
  std::thread serving([&] { server.run(); });
  const std::string master = "127.0.0.1:" + std::to_string(server.port());
  kv_node* node = startNode(master, directory);
  for (const auto& [name, protocols] : {std::pair{"tcp", KV_PROTOCOL_TCP}, std::pair{"shm", KV_PROTOCOL_SHM}}) {
    for (const size_t length : {size_t{4096}, size_t{1} << 20}) {
      kv_client* client = connect(master, static_cast<uint32_t>(protocols));
      const int perRound = length > 100000 ? 4 : 100;
      std::vector<double> raw;
      const auto sample = [&] {
        for (int i = 0; i < 3; ++i)
          raw.push_back(protocols == KV_PROTOCOL_TCP ? rawStream(1 << 20, 256 << 20) : rawMemcpy(256 << 20));
      };
      sample();
      const Rates rates = measure(client, std::string(name) + std::to_string(length), length, rounds, perRound);
      sample();
      std::printf("raw %s %.2f GB/s\n", protocols == KV_PROTOCOL_TCP ? "loopback stream" : "memcpy", median(raw) / 1e9);
      report(std::string(name) + " " + std::to_string(length) + " B x " + std::to_string(kLines), rates, length,
             median(raw), median(raw));
      kv_client_destroy(client);
    }
  }
  kv_node_destroy(node);
  server.stop();
  serving.join();
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory = "/dev/shm/kv_bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  int outcome = 0;
  try {
    bench(argc > 1 ? std::stoi(argv[1]) : 5, directory);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "kv_bench: %s\n", wrong.what());
    outcome = 1;
  }
  std::filesystem::remove_all(directory);
  return outcome;
}
