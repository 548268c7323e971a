// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copy_memory.h"

#include <string>

#include "ascend/cann/host_memory.h"

namespace kvpool::ascend {
namespace {

/// So that a piece serves later copies of about its size.
constexpr uint64_t kUnit = uint64_t{64} << 10;

}  // namespace

CopyMemory::~CopyMemory() {
  if (idle_.empty() && inUse_.empty()) return;
  const bool isInUse = !copiers_.mayStillCopy().ok();
  const ContextScope scope(acl_, context_);
  for (const auto& [bytes, at] : idle_)
    (void)acl_.freeHost(at);
  if (isInUse) return;
  for (const auto& [at, bytes] : inUse_)
    (void)acl_.freeHost(at);
}

Result<CopyMemory::Piece> CopyMemory::take(uint64_t bytes) {
  const uint64_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  {
    const std::lock_guard lock(mutex_);
    const auto found = idle_.lower_bound(whole);
    if (found != idle_.end() && found->first <= 2 * whole) {
      Piece piece(found->second, GiveBack{this, found->first});
      idleBytes_ -= found->first;
      idle_.erase(found);
      return piece;
    }
  }
  const ContextScope scope(acl_, context_);
  void* made = nullptr;
  const AclError error = mallocHost(acl_, node_, &made, whole);
  if (error == kAclOk) return Piece(static_cast<uint8_t*>(made), GiveBack{this, whole});
  return {KV_OUT_OF_MEMORY, acl_.problem("no memory of the host for " + std::to_string(bytes) +
                                             " bytes of an NPU; make batches smaller, or give the process more. "
                                             "aclrtMallocHost",
                                         error)};
}

void CopyMemory::giveBack(uint8_t* at, const GiveBack& piece) {
  const std::lock_guard lock(mutex_);
  if (piece.mayBeInUse) {
    inUse_.emplace_back(at, piece.bytes);
  } else {
    keepOrFree(at, piece.bytes);
  }
  if (inUse_.empty() || !copiers_.mayStillCopy().ok()) return;
  for (const auto& [before, size] : std::exchange(inUse_, {}))
    keepOrFree(before, size);
}

void CopyMemory::keepOrFree(uint8_t* at, uint64_t bytes) {
  if (idleBytes_ + bytes <= kIdleBytesMax) {
    idle_.emplace(bytes, at);
    idleBytes_ += bytes;
    return;
  }
  const ContextScope scope(acl_, context_);
  (void)acl_.freeHost(at);
}

}  // namespace kvpool::ascend
