// SPDX-License-Identifier: Apache-2.0
// Routes beside a model of CANN and of peers that restart, vanish and register memory, driven at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ascend/core/routes.h"
#include "seed.h"

namespace kvpool::ascend {
namespace {

constexpr uint64_t kPeers = 3;
constexpr size_t kUnderWayMax = 5;
constexpr size_t kChannelsMax = 2;
/// Of CANN, those that it kept included.
constexpr size_t kLinks = 4;
constexpr Time kCardRepeatsMs = 60;

/// An engine of a peer: a new life has a new generation, and another port now and then.
struct Engine {
  std::string endpoint;
  uint64_t generation = 1;
  uint64_t registrations = 1;
  bool up = true;
};

class Model {
 public:
  Model(uint64_t seed, bool connectsByItself)
      : dice_(seed),
        connectsByItself_(connectsByItself),
        routes_({.connectsByItself = connectsByItself,
                 .underWayMax = kUnderWayMax,
                 .channelsMax = kChannelsMax,
                 .cardRepeatsMs = kCardRepeatsMs}) {
    for (uint64_t i = 0; i < kPeers; ++i)
      engines_[name(i)].endpoint = freshEndpoint();
  }

  void step() {
    now_ += static_cast<Time>(dice_.below(20));
    if (holds_ > 0 && dice_.oneIn(8)) resume();
    switch (dice_.below(12)) {
      case 11:
        if (holds_ < 2 && dice_.oneIn(2)) hold();
        break;
      case 10:
        routes_.forget(now_, engines_[any()].endpoint);
        break;
      case 0:
        restart();
        break;
      case 1:
        ++engines_[any()].registrations;
        break;
      case 2:
        routes_.registered();
        break;
      case 3:
        routes_.tick(now_);
        break;
      case 4:
      case 5:
        submit();
        break;
      default:
        answer();
        break;
    }
    take();
  }

  /// All ends without the help of time: peers stay as they are, and what was asked is answered.
  void settle() {
    while (holds_ > 0)
      resume();
    answerAll();
    // What the card may still touch, without which all have ended.
    now_ += kCardRepeatsMs;
    routes_.tick(now_);
    take();
    answerAll();
    EXPECT_EQ(routes_.pending(), 0U) << "a transfer waits for nothing";
    now_ += 1000000;
    routes_.tick(now_);
    take();
    answerAll();
  }
  /// Where no peer changes and CANN has room, transfers succeed at the second attempt.
  void checkThatPeersAreReachedAgain() {
    for (auto& [peer, engine] : engines_) {
      engine.up = true;
      ++engine.generation;
    }
    isCalm_ = true;
    // What CANN kept ends one after the other, as its peers are there again or CANN is told that there are none.
    channels_.clear();
    for (int attempt = 0; attempt < 2; ++attempt) {
      const size_t before = succeeded_;
      for (uint64_t i = 0; i < kPeers; ++i)
        submitTo(name(i), 100000);
      answerAll();
      EXPECT_EQ(routes_.pending(), 0U);
      EXPECT_TRUE(attempt == 0 || succeeded_ - before == kPeers) << succeeded_ - before;
    }
  }
  void shutDown() {
    shutDown_ = true;
    routes_.shutDown();
    take();
  }

  void checkThatAllEnded() const {
    EXPECT_EQ(routes_.pending(), 0U);
    EXPECT_EQ(ended_.size(), lastId_);
    EXPECT_TRUE(open_.empty());
  }
  [[nodiscard]] size_t succeeded() const { return succeeded_; }

 private:
  struct Channel {
    std::string peer;
    uint64_t generation = 0;
    uint64_t registrations = 0;
    bool usable = true;
    bool kept = false;  // by CANN, which could not tell the peer of its end
  };

  static std::string name(uint64_t number) { return "peer-" + std::to_string(number); }
  void answerAll() {
    for (int round = 0; round < 5000 && !open_.empty(); ++round) {
      answer();
      take();
    }
  }
  std::string any() { return name(dice_.below(kPeers)); }
  std::string freshEndpoint() { return "10.0.0.1:" + std::to_string(20000 + ++lastPort_); }

  void hold() {
    ++holds_;
    routes_.hold(now_);
  }
  void resume() {
    --holds_;
    routes_.resume(now_);
    take();
  }

  void restart() {
    Engine& engine = engines_[any()];
    if (engine.up) {
      engine.up = false;
      return;
    }
    engine.up = true;
    ++engine.generation;
    engine.registrations += 100;
    if (dice_.oneIn(2)) engine.endpoint = freshEndpoint();
  }

  void submit() { submitTo(any(), 1 + static_cast<Time>(dice_.below(2000))); }

  void submitTo(const std::string& peer, Time patience) {
    const Engine& engine = engines_[peer];
    // What the caller knows may be a life old.
    const uint64_t known = 1 + dice_.below(engine.registrations);
    wanted_[++lastId_] = known;
    routes_.submit(now_, {lastId_, {engine.endpoint, known}, Direction::Read, {{1, 2, 3}}, now_ + patience});
    take();
  }

  void take() {
    for (Action& action : routes_.takeActions()) {
      check(action);
      if (!std::holds_alternative<Finish>(action)) open_.push_back(std::move(action));
    }
  }

  void check(const Action& action) {
    if (const auto* connect = std::get_if<Connect>(&action)) {
      EXPECT_FALSE(connectsByItself_);
      EXPECT_EQ(holds_, 0U) << "a channel is made while they are held";
      EXPECT_TRUE(changing_.insert(connect->endpoint).second) << "two changes of a channel at once";
      EXPECT_EQ(moving_[connect->endpoint], 0U);
    } else if (const auto* disconnect = std::get_if<Disconnect>(&action)) {
      EXPECT_TRUE(changing_.insert(disconnect->endpoint).second) << "two changes of a channel at once";
      EXPECT_EQ(moving_[disconnect->endpoint], 0U) << "a channel ends while it moves bytes";
      yielding_ += disconnect->yields ? 1 : 0;
      EXPECT_LE(yielding_, 1U) << "two ends that nothing waited for";
    } else if (const auto* transfer = std::get_if<Transfer>(&action)) {
      EXPECT_FALSE(changing_.contains(transfer->endpoint)) << "bytes move over a channel that is made or ended";
      EXPECT_GT(transfer->timeoutMs, 0);
      ++moving_[transfer->endpoint];
      EXPECT_LE(++underWay_, kUnderWayMax);
    } else if (const auto* finish = std::get_if<Finish>(&action)) {
      EXPECT_TRUE(ended_.insert(finish->id).second) << "a transfer ends twice";
      const auto touched = touched_.find(finish->id);
      EXPECT_TRUE(shutDown_ || touched == touched_.end() || touched->second.until <= now_)
          << "a transfer ends while the card may touch its memory";
      EXPECT_EQ(finish->status.ok(), moved_.contains(finish->id)) << "a transfer says what did not happen";
      if (finish->status.ok()) ++succeeded_;
    }
  }

  void answer() {
    if (open_.empty()) return;
    const size_t which = dice_.below(open_.size());
    const Action action = open_[which];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    if (const auto* connect = std::get_if<Connect>(&action)) {
      changing_.erase(connect->endpoint);
      routes_.connected(now_, connect->endpoint, connectTo(connect->endpoint));
    } else if (const auto* disconnect = std::get_if<Disconnect>(&action)) {
      changing_.erase(disconnect->endpoint);
      if (disconnect->yields) --yielding_;
      routes_.disconnected(now_, disconnect->endpoint, disconnectFrom(disconnect->endpoint));
    } else if (const auto* transfer = std::get_if<Transfer>(&action)) {
      --moving_[transfer->endpoint];
      --underWay_;
      if (transfer->deadline <= now_ && dice_.oneIn(2)) return routes_.expired(now_, transfer->id);
      const TransportStatus status = move(*transfer);
      if (status == kTransportOk) moved_.insert(transfer->id);
      routes_.transferred(now_, transfer->id, status);
    }
  }

  Engine* at(const std::string& endpoint) {
    for (auto& [peer, engine] : engines_) {
      if (engine.endpoint == endpoint && engine.up) return &engine;
    }
    return nullptr;
  }

  TransportStatus connectTo(const std::string& endpoint) {
    if (channels_.contains(endpoint)) return kAlreadyConnected;
    if (channels_.size() >= kLinks || (!isCalm_ && dice_.oneIn(20))) return kResourceExhausted;
    const Engine* engine = at(endpoint);
    if (engine == nullptr) return dice_.oneIn(2) ? kTransportTimeout : kTransportFailed;
    channels_[endpoint] = {"", engine->generation, engine->registrations};
    const auto kept = std::ranges::count_if(channels_, [](const auto& channel) { return channel.second.kept; });
    EXPECT_LE(channels_.size() - static_cast<size_t>(kept), kChannelsMax);
    return kTransportOk;
  }

  TransportStatus disconnectFrom(const std::string& endpoint) {
    const auto ended = [&] {
      std::erase_if(touched_, [&](const auto& touched) { return touched.second.endpoint == endpoint; });
    };
    if (!channels_.contains(endpoint)) {
      ended();
      return kNotConnected;
    }
    if (at(endpoint) == nullptr) {
      channels_[endpoint].kept = true;
      return kTransportFailed;
    }
    channels_.erase(endpoint);
    ended();
    return kTransportOk;
  }

  TransportStatus move(const Transfer& transfer) {
    Engine* engine = at(transfer.endpoint);
    auto channel = channels_.find(transfer.endpoint);
    if (channel == channels_.end()) {
      if (!connectsByItself_) return kNotConnected;
      if (const TransportStatus status = connectTo(transfer.endpoint); status != kTransportOk) return status;
      channel = channels_.find(transfer.endpoint);
    }
    Channel& used = channel->second;
    const bool lives = engine != nullptr && engine->generation == used.generation;
    const TransportStatus status = !isCalm_ && dice_.oneIn(25)                 ? kTransportTimeout
                                   : !used.usable || !lives                    ? kTransportFailed
                                   : wanted_[transfer.id] > used.registrations ? kParamInvalid
                                                                               : kTransportOk;
    EXPECT_NE(status, kParamInvalid) << "memory that was registered before the transfer is unknown to its channel";
    if (status != kTransportOk) {
      used.usable = false;
      // Behind a failure that it tells of itself the card moves nothing.
      const bool mayMove = status == kTransportTimeout;
      if (connectsByItself_ && engine != nullptr) {
        channels_.erase(channel);
      } else {
        used.kept = used.kept || connectsByItself_;
        if (mayMove) touched_[transfer.id] = {transfer.endpoint, now_ + kCardRepeatsMs};
      }
    }
    return status;
  }

  test::Dice dice_;
  const bool connectsByItself_;
  Routes routes_;
  Time now_ = 0;
  size_t yielding_ = 0;  // Disconnects
  size_t holds_ = 0;
  uint64_t lastPort_ = 0;
  TransferId lastId_ = 0;
  std::map<std::string, Engine> engines_;
  std::map<std::string, Channel> channels_;
  std::map<TransferId, uint64_t> wanted_;
  std::vector<Action> open_;
  std::set<std::string> changing_;
  std::map<std::string, size_t> moving_;
  size_t underWay_ = 0;
  std::set<TransferId> moved_;
  struct Touched {
    std::string endpoint;
    Time until = 0;
  };
  std::map<TransferId, Touched> touched_;  // by what is left of a transfer that broke its channel
  bool shutDown_ = false;
  std::set<TransferId> ended_;
  size_t succeeded_ = 0;
  bool isCalm_ = false;
};

void play(bool connectsByItself, bool shutsDown) {
  const uint64_t seed = test::seed(1);
  size_t succeeded = 0;
  for (uint64_t round = 0; round < 300; ++round) {
    SCOPED_TRACE(test::seedTrace(seed) + ", round " + std::to_string(round));
    Model model(seed * 1000 + round, connectsByItself);
    for (int step = 0; step < 300; ++step)
      model.step();
    if (shutsDown) model.shutDown();
    model.settle();
    model.checkThatAllEnded();
    if (!shutsDown) model.checkThatPeersAreReachedAgain();
    succeeded += model.succeeded();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(succeeded, 3000U) << "most transfers fail: nothing was tested";
}

TEST(RoutesModel, ChannelsAreMadeHere) {
  play(false, false);
}
TEST(RoutesModel, ChannelsAreMadeByCann) {
  play(true, false);
}
TEST(RoutesModel, ShuttingDownInTheMiddle) {
  play(false, true);
}

}  // namespace
}  // namespace kvpool::ascend
