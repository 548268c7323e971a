// SPDX-License-Identifier: Apache-2.0
// A small pool of real cores under random work and random faults, in simulated time. Whatever happens, a read returns
// bytes that were put under that key, and when the faults have stopped every acknowledged put can be read.
// KVPOOL_SEED=N runs one seed.
#include <gtest/gtest.h>

#include "model/sim_client.h"
#include "model/sim_master.h"
#include "model/sim_node.h"

namespace kvpool::test {
namespace {

constexpr PoolId kModelPool{7, 9};

struct Faults {
  bool cuts = false;
  bool leaderChanges = false;
  bool nodeCrashes = false;
};

class PoolModel {
 public:
  PoolModel(uint64_t seed, Faults faults) : dice_(seed), network_(dice_), faults_(faults) {
    ledger_.valuesNeverChange = !faults.leaderChanges && !faults.nodeCrashes && !faults.cuts;
    for (const char* name : {"master-0", "master-1"}) {
      MasterModel::Settings settings;
      settings.pool = kModelPool;
      settings.name = name;
      settings.seed = dice_.next();
      const MasterRole role = masters_.empty() ? MasterRole::Leader : MasterRole::Standby;
      masters_.push_back(std::make_unique<SimMaster>(network_, settings, role));
      addresses_.push_back(masters_.back()->address());
    }
    for (const char* name : {"node-0", "node-1", "node-2"}) {
      nodes_.push_back(std::make_unique<SimNode>(network_, dice_, kModelPool, name, addresses_));
      nodes_.back()->start();
    }
    for (const char* name : {"client-0", "client-1", "client-2"}) {
      clients_.push_back(std::make_unique<SimClient>(network_, dice_, ledger_, name, addresses_));
    }
  }

  void work(Time duration) {
    const Time end = network_.now() + duration;
    while (network_.now() < end) {
      SimClient& client = *clients_[dice_.below(clients_.size())];
      if (client.running() < 3) submitTo(client);
      if (dice_.oneIn(12)) breakSomething();
      network_.runUntil(network_.now() + 1 + static_cast<Time>(dice_.below(60)));
    }
  }

  /// No faults from here on: everything comes back.
  void heal() {
    for (auto& node : nodes_) {
      if (!node->runs()) node->start();
    }
    faults_ = {};
    network_.runUntil(network_.now() + 3000);  // dials, snapshots, fences
    for (const auto& client : clients_)
      EXPECT_TRUE(awaitBatches(*client)) << "a batch never ended";
  }

  void readBackAcknowledged() {
    for (const std::string& key : ledger_.acknowledged) {
      const uint64_t before = ledger_.reads;
      clients_[0]->get({key}, 10000);
      EXPECT_TRUE(awaitBatches(*clients_[0]));
      EXPECT_EQ(ledger_.reads, before + 1)
          << key << " was acknowledged and cannot be read: " << clients_[0]->core().explanation();
    }
  }

  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  bool awaitBatches(const SimClient& client) {
    for (int i = 0; i < 1000 && client.running() > 0; ++i)
      network_.runUntil(network_.now() + 20);
    return client.running() == 0;
  }

  void submitTo(SimClient& client) {
    std::vector<std::string> keys;
    for (uint64_t i = 0, count = 1 + dice_.below(6); i < count; ++i) {
      keys.push_back("key-" + std::to_string(dice_.below(40)));
    }
    const Time timeout = static_cast<Time>(dice_.oneIn(4) ? 20 + dice_.below(200) : 3000 + dice_.below(10000));
    if (dice_.oneIn(4)) {
      client.putInParts(keys.front(), timeout);
    } else if (dice_.oneIn(2)) {
      client.put(keys, timeout);
    } else {
      client.get(keys, timeout);
    }
  }

  void breakSomething() {
    const uint64_t kind = dice_.below(6);
    if (kind <= 2 && faults_.cuts) return network_.cutOne();
    if (kind == 3 && faults_.leaderChanges) return changeLeader();
    if (kind >= 4 && faults_.nodeCrashes) return crashNode();
  }

  void changeLeader() {
    const size_t leading = masters_[0]->model().role() == MasterRole::Leader ? 0 : 1;
    SimMaster& next = *masters_[1 - leading];
    masters_[leading]->setRole(MasterRole::Standby);
    if (dice_.oneIn(2)) network_.vanish(*masters_[leading]);
    next.setRole(MasterRole::Leader);
  }

  void crashNode() {
    SimNode& node = *nodes_[dice_.below(nodes_.size())];
    if (!node.runs()) return;
    node.crash();
    network_.after(static_cast<Time>(dice_.below(2000)), [&node] {
      if (!node.runs()) node.start();
    });
  }

  Dice dice_;
  Network network_;
  Faults faults_;
  Ledger ledger_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<SimMaster>> masters_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::vector<std::unique_ptr<SimClient>> clients_;
};

void runModel(uint64_t fallback, Faults faults) {
  const uint64_t value = seed(fallback);
  SCOPED_TRACE(seedTrace(value));
  PoolModel pool(value, faults);
  pool.work(20000);
  pool.heal();
  pool.readBackAcknowledged();
  EXPECT_GT(pool.ledger().acknowledged.size(), 20u);
  EXPECT_GT(pool.ledger().reads, 50u);
}

class Model : public testing::TestWithParam<uint64_t> {};

TEST_P(Model, WithoutFaultsEveryReaderSeesTheSameValue) {
  runModel(GetParam(), {});
}

TEST_P(Model, SurvivesCutConnections) {
  runModel(GetParam(), {true, false, false});
}

TEST_P(Model, SurvivesLeaderChanges) {
  runModel(GetParam(), {true, true, false});
}

TEST_P(Model, SurvivesCrashingNodes) {
  runModel(GetParam(), {true, true, true});
}

INSTANTIATE_TEST_SUITE_P(Seeds, Model, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace kvpool::test
