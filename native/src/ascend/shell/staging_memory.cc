// SPDX-License-Identifier: Apache-2.0
#include "ascend/shell/staging_memory.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "ascend/cann/host_memory.h"
#include "ascend/core/size_ladder.h"

namespace kvpool::ascend {
namespace {

/// Of what is cut from fabric memory.
constexpr uint64_t kAlignment = 4096;
/// Of what is made by ACL where the machine has less than is wanted.
constexpr uint64_t kHostUnit = uint64_t{1} << 20;

uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

StagingMemory::~StagingMemory() {
  if (memory_.empty() && unregistered_.empty() && pieces_.empty()) return;
  const ContextScope scope(runtime_.acl, context_);
  for (uint8_t* memory : memory_)
    (void)runtime_.acl.freeHost(memory);
  for (const std::span<uint8_t> memory : unregistered_)
    (void)runtime_.acl.freeHost(memory.data());
  pieces_.clear();
}

uint64_t StagingMemory::whole(uint64_t bytes) const {
  return ofFabric_ ? roundUp(bytes, FabricMemory::kPieceBytes) : bytes;
}

Result<std::span<uint8_t>> StagingMemory::take(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least) {
  return ofFabric_ ? takeOfFabric(engine, transport, bytes, least) : takeOfHost(engine, transport, bytes, least);
}

Result<std::span<uint8_t>> StagingMemory::takeOfHost(Engine& engine, Transport& transport, uint64_t bytes,
                                                     uint64_t least) {
  std::span<uint8_t> memory = takeUnregistered(bytes, least);
  if (memory.empty()) {
    const Result<std::span<uint8_t>> made = allocate(bytes, least);
    if (!made.ok()) return made.status();
    memory = made.value();
  }
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  const auto registered = engine.registerMemory(address, memory.size(), MemoryType::Host);
  const std::lock_guard lock(mutex_);
  if (!registered.ok()) {
    unregistered_.push_back(memory);
    return registered.status();
  }
  memory_.push_back(memory.data());
  ++regions_;
  transport.registered();
  return memory;
}

Result<std::span<uint8_t>> StagingMemory::allocate(uint64_t bytes, uint64_t least) const {
  const ContextScope scope(runtime_.acl, context_);
  Status first;
  for (const uint64_t size : sizeLadder(bytes, least, kHostUnit)) {
    void* memory = nullptr;
    const AclError error = mallocHost(runtime_.acl, node_, &memory, size);
    if (error == kAclOk) return std::span(static_cast<uint8_t*>(memory), size);
    Status refused{KV_NO_SPACE,
                   runtime_.acl.problem(std::to_string(size) + " bytes of host memory, aclrtMallocHost", error)};
    if (error != kAclMemoryAllocation) return refused;
    if (first.ok()) first = std::move(refused);
  }
  return first;
}

std::span<uint8_t> StagingMemory::takeUnregistered(uint64_t bytes, uint64_t least) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      unregistered_, [&](std::span<uint8_t> memory) { return memory.size() <= bytes && memory.size() >= least; });
  if (found == unregistered_.end()) return {};
  const std::span<uint8_t> memory = *found;
  unregistered_.erase(found);
  return memory;
}

Result<std::span<uint8_t>> StagingMemory::takeOfFabric(Engine& engine, Transport& transport, uint64_t bytes,
                                                       uint64_t least) {
  const uint64_t wanted = roundUp(bytes, kAlignment);
  const std::lock_guard lock(mutex_);
  auto piece = std::ranges::find_if(pieces_, [wanted](const Piece& one) { return one.left() >= wanted; });
  if (piece == pieces_.end()) {
    if (Status made = addPiece(engine, transport, whole(wanted), whole(least)); !made.ok()) return made;
    piece = std::prev(pieces_.end());
  }
  const std::span<uint8_t> memory(piece->memory->at() + piece->used, std::min(wanted, piece->left()));
  piece->used += memory.size();
  return memory;
}

Status StagingMemory::prepare(Engine& engine, Transport& transport) {
  const std::lock_guard lock(mutex_);
  if (!ofFabric_ || !pieces_.empty()) return {};
  return addPiece(engine, transport, FabricMemory::kPieceBytes, FabricMemory::kPieceBytes);
}

Status StagingMemory::addPiece(Engine& engine, Transport& transport, uint64_t bytes, uint64_t least) {
  const ContextScope scope(runtime_.acl, context_);
  auto made = FabricMemory::allocate(runtime_, {bytes, least, node_});
  if (!made.ok()) return made.status();
  // Addresses of the fabric are a device's to CANN, wherever the memory is.
  const auto address = reinterpret_cast<uintptr_t>(made.value()->at());
  const auto registered = engine.registerMemory(address, made.value()->bytes(), MemoryType::Device);
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
