// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
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
  const std::optional<SocketAddress> known = literal(address);
  const std::lock_guard lock(state_->mutex);
  if (known) return deliver(state_, std::move(answer), std::vector{*known});
  if (state_->questions.size() >= kQuestionsMax) {
    return deliver(state_, std::move(answer),
                   Status(KV_QUEUE_FULL, std::to_string(kQuestionsMax) + " names wait to be resolved; DNS is slow"));
  }
  state_->questions.push_back({address, std::move(answer)});
  state_->changed.notify_one();
}

void Resolver::deliver(const std::shared_ptr<State>& state, Answer answer, Result<std::vector<SocketAddress>> found) {
  state->loop->post([state, answer = std::move(answer), found = std::move(found)] {
    {
      const std::lock_guard still(state->mutex);
      if (state->loop == nullptr) return;
    }
    answer(found);
  });
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
    deliver(state, std::move(question.answer), std::move(addresses));
  }
}

}  // namespace kvpool::net
