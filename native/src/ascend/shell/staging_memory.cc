// SPDX-License-Identifier: Apache-2.0
#include "ascend/shell/staging_memory.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace kvpool::ascend {
namespace {

/// Of what is cut from fabric memory.
constexpr uint64_t kAlignment = 4096;

uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

StagingMemory::~StagingMemory() {
  if (memory_.empty() && unregistered_.empty() && pieces_.empty()) return;
  const ContextScope scope(runtime_.acl, context_);
  for (void* memory : memory_)
    (void)runtime_.acl.freeHost(memory);
  for (const auto& [memory, bytes] : unregistered_)
    (void)runtime_.acl.freeHost(memory);
  pieces_.clear();
}

uint64_t StagingMemory::whole(uint64_t bytes) const {
  return ofFabric_ ? roundUp(bytes, FabricMemory::kPieceBytes) : bytes;
}

Result<uint8_t*> StagingMemory::take(Engine& engine, Transport& transport, uint64_t bytes) {
  return ofFabric_ ? takeOfFabric(engine, transport, bytes) : takeOfHost(engine, transport, bytes);
}

Result<uint8_t*> StagingMemory::takeOfHost(Engine& engine, Transport& transport, uint64_t bytes) {
  void* memory = takeUnregistered(bytes);
  if (memory == nullptr) {
    const ContextScope scope(runtime_.acl, context_);
    const AclError error = runtime_.acl.mallocHost(&memory, bytes);
    if (error != kAclOk) {
      return {KV_NO_SPACE,
              runtime_.acl.problem(std::to_string(bytes) + " bytes of host memory, aclrtMallocHost", error)};
    }
  }
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const auto registered = engine.registerMemory(address, bytes, MemoryType::Host);
  const std::lock_guard lock(mutex_);
  if (!registered.ok()) {
    unregistered_.emplace_back(memory, bytes);
    return registered.status();
  }
  memory_.push_back(memory);
  ++regions_;
  transport.registered();
  return static_cast<uint8_t*>(memory);
}

void* StagingMemory::takeUnregistered(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(unregistered_, bytes, &std::pair<void*, uint64_t>::second);
  if (found == unregistered_.end()) return nullptr;
  void* memory = found->first;
  unregistered_.erase(found);
  return memory;
}

Result<uint8_t*> StagingMemory::takeOfFabric(Engine& engine, Transport& transport, uint64_t bytes) {
  const uint64_t wanted = roundUp(bytes, kAlignment);
  const std::lock_guard lock(mutex_);
  auto piece = std::ranges::find_if(pieces_, [wanted](const Piece& one) { return one.left() >= wanted; });
  if (piece == pieces_.end()) {
    if (Status made = addPiece(engine, transport, whole(wanted)); !made.ok()) return made;
    piece = std::prev(pieces_.end());
  }
  uint8_t* memory = piece->memory->at() + piece->used;
  piece->used += wanted;
  return memory;
}

Status StagingMemory::prepare(Engine& engine, Transport& transport) {
  const std::lock_guard lock(mutex_);
  if (!ofFabric_ || !pieces_.empty()) return {};
  return addPiece(engine, transport, FabricMemory::kPieceBytes);
}

Status StagingMemory::addPiece(Engine& engine, Transport& transport, uint64_t bytes) {
  const ContextScope scope(runtime_.acl, context_);
  auto made = FabricMemory::allocate(runtime_, bytes);
  if (!made.ok()) return made.status();
  // Addresses of the fabric are a device's to CANN, wherever the memory is.
  const auto address = reinterpret_cast<uintptr_t>(made.value()->at());
  const auto registered = engine.registerMemory(address, bytes, MemoryType::Device);
  if (!registered.ok()) return {KV_IO, registered.status().text() + ". " + kFabricRemedy};
  pieces_.push_back({std::move(made.value())});
  ++regions_;
  transport.registered();
  return {};
}

uint64_t StagingMemory::regions() const {
  const std::lock_guard lock(mutex_);
  return regions_;
}

}  // namespace kvpool::ascend
