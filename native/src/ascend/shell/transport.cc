// SPDX-License-Identifier: Apache-2.0
#include "ascend/shell/transport.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "ascend/core/statuses.h"
#include "base/log.h"

namespace kvpool::ascend {
namespace {

/// How long CANN may take to end a channel.
constexpr int32_t kDisconnectMs = 1000;
/// How often deadlines of what waits are looked at.
constexpr std::chrono::milliseconds kTick{20};
/// How often asynchronous transfers are looked at.
constexpr std::chrono::microseconds kLook{20};

Time now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

uint64_t microsecondsOf(std::chrono::steady_clock::duration took) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

void logDuration(const std::string& what, std::chrono::steady_clock::duration took, const std::string& problem) {
  log(LogLevel::Debug, "ascend: " + what + " took " + std::to_string(microsecondsOf(took)) + " us" +
                           (problem.empty() ? "" : " and failed: " + problem));
}

}  // namespace

Transport::Transport(Engine& engine, const Terms& terms)
    : engine_(engine), async_(terms.async), routes_(terms.routes), todo_(terms.threads) {
  for (uint32_t i = 0; i < terms.threads; ++i)
    threads_.emplace_back([this] { work(); });
  if (async_) threads_.emplace_back([this] { watch(); });
}

Transport::~Transport() {
  shutDown();
}

void Transport::submit(const Place& place, Direction direction, std::vector<Piece> pieces, Time timeoutMs,
                       Ended ended) {
  std::unique_lock lock(mutex_);
  const TransferId id = ++lastId_;
  waiters_.emplace(id, Waiter{std::move(ended), std::chrono::steady_clock::now()});
  routes_.submit(now(), {id, place, direction, std::move(pieces), now() + timeoutMs});
  settle(lock);
}

void Transport::registered() {
  const std::lock_guard lock(mutex_);
  routes_.registered();
}

void Transport::forget(const std::string& endpoint) {
  std::unique_lock lock(mutex_);
  routes_.forget(now(), endpoint);
  settle(lock);
}

void Transport::withoutChannels(const std::function<void()>& take) {
  std::unique_lock lock(mutex_);
  routes_.hold(now());
  settle(lock);
  changed_.wait(lock, [this] { return !routes_.hasChannels(); });
  take();
  routes_.resume(now());
  settle(lock);
}

void Transport::shutDown() {
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    routes_.shutDown();
    settle(lock);
  }
  due_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

RouteCounters Transport::counters() const {
  const std::lock_guard lock(mutex_);
  RouteCounters counters = routes_.counters();
  counters.transferring = transferring_;
  counters.connecting = connecting_;
  return counters;
}

void Transport::work() {
  std::unique_lock lock(mutex_);
  while (!over()) {
    const std::optional<Action> action = todo_.next(routes_.isHeld());
    if (!action) {
      due_.wait_for(lock, kTick);
      routes_.tick(now());
      settle(lock);
      continue;
    }
    perform(lock, *action);
    settle(lock);
  }
  due_.notify_all();
}

void Transport::perform(std::unique_lock<std::mutex>& lock, const Action& action) {
  if (const auto* connect = std::get_if<Connect>(&action)) {
    lock.unlock();
    const auto began = std::chrono::steady_clock::now();
    const TransportStatus status = engine_.connect(connect->endpoint, connect->timeoutMs);
    const auto took = std::chrono::steady_clock::now() - began;
    if (logs(LogLevel::Debug)) {
      logDuration("a channel to " + connect->endpoint, took, status == kTransportOk ? "" : toString(status));
    }
    lock.lock();
    --open_;
    connecting_.add(microsecondsOf(took));
    routes_.connected(now(), connect->endpoint, status);
  } else if (const auto* disconnect = std::get_if<Disconnect>(&action)) {
    lock.unlock();
    const TransportStatus status = engine_.disconnect(disconnect->endpoint, kDisconnectMs);
    lock.lock();
    --open_;
    todo_.ended();
    routes_.disconnected(now(), disconnect->endpoint, status);
  } else if (const auto* wanted = std::get_if<Transfer>(&action)) {
    // One that waited for a thread behind others that hang would hang as they do, and keep the threads from other
    // peers. One whose time is over would touch memory that is another's by now.
    const bool isLost = routes_.isLost(wanted->endpoint);
    if (!isLost && wanted->deadline > now()) return transfer(lock, *wanted);
    --open_;
    if (isLost) {
      routes_.transferred(now(), wanted->id, kTransportFailed);
    } else {
      routes_.expired(now(), wanted->id);
    }
  }
}

void Transport::transfer(std::unique_lock<std::mutex>& lock, const Transfer& wanted) {
  const auto timeoutMs = static_cast<int32_t>(std::clamp<Time>(wanted.deadline - now(), 1, wanted.timeoutMs));
  lock.unlock();
  TransferRequest request = nullptr;
  const TransportStatus status = async_ ? engine_.begin(wanted.endpoint, wanted.direction, wanted.pieces, request)
                                        : engine_.transfer(wanted.endpoint, wanted.direction, wanted.pieces, timeoutMs);
  lock.lock();
  if (async_ && status == kTransportOk) {
    underWay_.push_back({wanted.id, request, now() + timeoutMs});
    return;
  }
  --open_;
  routes_.transferred(now(), wanted.id, status);
}

void Transport::watch() {
  std::unique_lock lock(mutex_);
  while (!over()) {
    // Each turn of a worker ends with settle(), which tells of what it began.
    changed_.wait(lock, [this] { return !underWay_.empty() || over(); });
    std::vector<UnderWay> looked = std::exchange(underWay_, {});
    lock.unlock();
    std::vector<std::pair<TransferId, TransportStatus>> ends;
    std::erase_if(looked, [&](const UnderWay& one) {
      Progress progress = Progress::Waiting;
      const TransportStatus status = engine_.progress(one.request, progress);
      if (status == kTransportOk && progress == Progress::Waiting && now() < one.until) return false;
      const TransportStatus end = status != kTransportOk            ? status
                                  : progress == Progress::Completed ? kTransportOk
                                  : progress == Progress::Failed    ? kTransportFailed
                                                                    : kTransportTimeout;
      ends.emplace_back(one.id, end);
      return true;
    });
    if (ends.empty()) std::this_thread::sleep_for(kLook);
    lock.lock();
    underWay_.insert(underWay_.end(), looked.begin(), looked.end());
    for (const auto& [id, status] : ends) {
      --open_;
      routes_.transferred(now(), id, status);
    }
    settle(lock);
  }
  due_.notify_all();
}

void Transport::settle(std::unique_lock<std::mutex>& lock) {
  changed_.notify_all();
  std::vector<std::pair<Ended, Status>> ends;
  for (Action& action : routes_.takeActions()) {
    if (auto* finish = std::get_if<Finish>(&action)) {
      Waiter waiter = std::move(waiters_.extract(finish->id).mapped());
      const auto took = std::chrono::steady_clock::now() - waiter.began;
      transferring_.add(microsecondsOf(took));
      if (logs(LogLevel::Debug)) logDuration("a transfer", took, finish->status.text());
      ends.emplace_back(std::move(waiter.ended), std::move(finish->status));
    } else {
      todo_.push(std::move(action));
      ++open_;
      due_.notify_one();
    }
  }
  const Disconnect* yielding = todo_.yielding();
  if (yielding != nullptr && routes_.isAwaited(yielding->endpoint)) todo_.promote();
  if (ends.empty()) return;
  lock.unlock();
  for (const auto& [ended, status] : ends)
    ended(status);
  lock.lock();
}

}  // namespace kvpool::ascend
