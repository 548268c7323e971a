// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/action_queue.h"

#include <utility>

namespace kvpool::ascend {
namespace {

template <typename Kind>
Action takeFirst(std::deque<Kind>& from) {
  Action first = std::move(from.front());
  from.pop_front();
  return first;
}

}  // namespace

void ActionQueue::push(Action action) {
  if (auto* end = std::get_if<Disconnect>(&action)) {
    auto& queue = end->makesRoom ? awaited_ : end->yields ? yielding_ : ends_;
    queue.push_back(std::move(*end));
  } else {
    others_.push_back(std::move(action));
  }
}

std::optional<Action> ActionQueue::next(bool onlyEnds) {
  const bool mayEnd = onlyEnds || ending_ < endsMax_;
  const bool isOthersTurn = alternates_ && !onlyEnds && std::exchange(wasEnd_, false) && !others_.empty();
  if (mayEnd && !isOthersTurn) {
    if (auto end = nextEnd()) return end;
  }
  if (!others_.empty()) return takeFirst(others_);
  if (!mayEnd || yielding_.empty()) return std::nullopt;
  ++ending_;
  return takeFirst(yielding_);
}

std::optional<Action> ActionQueue::nextEnd() {
  auto& queue = awaited_.empty() ? ends_ : awaited_;
  if (queue.empty()) return std::nullopt;
  ++ending_;
  wasEnd_ = true;
  return takeFirst(queue);
}

const Disconnect* ActionQueue::yielding() const {
  return yielding_.empty() ? nullptr : &yielding_.front();
}

void ActionQueue::promote() {
  awaited_.push_back(std::move(yielding_.front()));
  yielding_.pop_front();
}

}  // namespace kvpool::ascend
