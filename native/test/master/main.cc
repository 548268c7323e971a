// SPDX-License-Identifier: Apache-2.0
// kv_test_master PORT POOL_ID [OBJECT_LEASE_MS]: a leading master for tests of clients and nodes that should not need a
// JVM. Prints `ready port=N` once it listens (port 0: any), serves until it is killed, and dies with
// its parent.
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <string>

#include "base/entropy.h"
#include "master/master_server.h"

namespace {

int run(const std::string& portText, const std::string& poolText, const std::string& leaseText) {
  const auto pool = kvpool::parsePoolId(poolText);
  if (!pool || pool->isAny()) {
    std::fprintf(stderr, "kv_test_master: %s is no pool id; give a UUID\n", poolText.c_str());
    return 2;
  }
  const unsigned long port = std::stoul(portText);
  if (port > 65535) {
    std::fprintf(stderr, "kv_test_master: port %s is above 65535\n", portText.c_str());
    return 2;
  }
  kvpool::test::MasterModel::Settings settings;
  settings.pool = *pool;
  settings.seed = kvpool::randomNumber();
  settings.objectLeaseMs = static_cast<uint32_t>(std::stoul(leaseText));
  kvpool::test::MasterServer server(settings);
  const kvpool::Status listening = server.listen("::", static_cast<uint16_t>(port));
  if (!listening.ok()) {
    std::fprintf(stderr, "kv_test_master: %s\n", listening.text().c_str());
    return 1;
  }
  std::printf("ready port=%u\n", server.port());
  std::fflush(stdout);
  server.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: kv_test_master PORT POOL_ID [OBJECT_LEASE_MS]\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    return run(argv[1], argv[2], argc == 4 ? argv[3] : "0");
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "kv_test_master: %s\n", wrong.what());
    return 2;
  }
}
