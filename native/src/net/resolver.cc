// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace kvpool::net {

/// Shared with the thread, so that it may outlive the Resolver while DNS keeps it.
struct Resolver::State {
  struct Question {
    HostPort address;
    Answer answer;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Question> questions;
  EventLoop* loop = nullptr;  // null: the Resolver is gone
};

Resolver::Resolver(EventLoop& loop) : state_(std::make_shared<State>()) {
  state_->loop = &loop;
  std::thread([state = state_] { run(state); }).detach();
}

Resolver::~Resolver() {
  const std::lock_guard lock(state_->mutex);
  state_->loop = nullptr;
  state_->questions.clear();
  state_->changed.notify_all();
}

void Resolver::resolve(const HostPort& address, Answer answer) {
  const std::lock_guard lock(state_->mutex);
  if (state_->questions.size() >= kQuestionsMax) {
    state_->loop->post([answer = std::move(answer)] {
      answer(Status(KV_QUEUE_FULL, std::to_string(kQuestionsMax) + " names wait to be resolved; DNS is slow"));
    });
    return;
  }
  state_->questions.push_back({address, std::move(answer)});
  state_->changed.notify_one();
}

void Resolver::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->loop == nullptr || !state->questions.empty(); });
    if (state->loop == nullptr) return;
    State::Question question = std::move(state->questions.front());
    state->questions.pop_front();
    lock.unlock();
    Result<std::vector<SocketAddress>> addresses = net::resolve(question.address);
    lock.lock();
    if (state->loop == nullptr) return;
    state->loop->post([state, answer = std::move(question.answer), addresses = std::move(addresses)] {
      {
        const std::lock_guard still(state->mutex);
        if (state->loop == nullptr) return;
      }
      answer(addresses);
    });
  }
}

}  // namespace kvpool::net
