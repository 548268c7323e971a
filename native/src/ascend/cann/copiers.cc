// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copiers.h"

#include <utility>

namespace kvpool::ascend {

Copiers::~Copiers() {
  if (idle_.empty() && stuck_.empty()) return;
  const ContextScope scope(acl_, context_);
  idle_.clear();
  stuck_.clear();
}

Copiers::End Copiers::copy(std::span<const Copy> copies, int32_t timeoutMs) {
  if (copies.empty()) return {};
  const ContextScope scope(acl_, context_);
  Result<std::unique_ptr<Copier>> taken = take();
  if (!taken.ok()) return {taken.status()};
  std::unique_ptr<Copier> copier = std::move(taken.value());
  Status status = copier->copy(copies, timeoutMs);
  const bool isStuck = !status.ok() && !copier->mayStillCopy().ok();
  if (!status.ok() && !isStuck) return {std::move(status)};  // others have their streams still
  const std::lock_guard lock(mutex_);
  (isStuck ? stuck_ : idle_).push_back(std::move(copier));
  return {std::move(status), isStuck};
}

Status Copiers::mayStillCopy() {
  const std::lock_guard lock(mutex_);
  if (stuck_.empty()) return {};
  const ContextScope scope(acl_, context_);
  return awaitStuck();
}

Status Copiers::awaitStuck() {
  for (; !stuck_.empty(); stuck_.pop_back()) {
    if (Status stuck = stuck_.back()->mayStillCopy(); !stuck.ok()) return stuck;
  }
  return {};
}

Result<std::unique_ptr<Copier>> Copiers::take() {
  const std::lock_guard lock(mutex_);
  if (Status stuck = awaitStuck(); !stuck.ok()) return stuck;
  if (idle_.empty()) return std::make_unique<Copier>(acl_, ways_, timeoutMs_);
  std::unique_ptr<Copier> copier = std::move(idle_.back());
  idle_.pop_back();
  return copier;
}

}  // namespace kvpool::ascend
