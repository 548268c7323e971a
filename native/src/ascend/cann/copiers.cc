// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copiers.h"

#include <utility>

#include "ascend/cann/engine.h"

namespace kvpool::ascend {

Copiers::~Copiers() {
  if (idle_.empty()) return;
  const ContextScope scope(runtime_.acl, context_);
  idle_.clear();
}

Status Copiers::copy(std::span<const Copy> copies) {
  if (copies.empty()) return {};
  const ContextScope scope(runtime_.acl, context_);
  std::unique_ptr<Copier> copier = take();
  Status status = copier->copy(copies);
  if (!status.ok()) return status;  // others have their streams still
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(copier));
  return status;
}

std::unique_ptr<Copier> Copiers::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Copier>(runtime_.acl, ways_, timeoutMs_);
  std::unique_ptr<Copier> copier = std::move(idle_.back());
  idle_.pop_back();
  return copier;
}

}  // namespace kvpool::ascend
