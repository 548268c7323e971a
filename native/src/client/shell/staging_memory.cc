// SPDX-License-Identifier: Apache-2.0
#include "client/shell/staging_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace kvpool::client {

Result<std::unique_ptr<StagingMemory>> StagingMemory::create(uint64_t bytes) {
  Fd descriptor(::memfd_create("kvpool-staging", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.valid()) return systemError("memfd_create for staging memory", errno);
  if (::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) {
    return systemError("sizing staging memory to " + std::to_string(bytes) + " bytes", errno);
  }
  if (::fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return systemError("sealing staging memory", errno);
  }
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (mapped == MAP_FAILED && errno == ENOMEM) {
    return Status(KV_TOO_LARGE, "this process has no room for " + std::to_string(bytes) + " bytes of staging memory (" +
                                    std::strerror(ENOMEM) + "); ask for less");
  }
  if (mapped == MAP_FAILED) return systemError("mapping staging memory", errno);
  return std::unique_ptr<StagingMemory>(new StagingMemory(std::move(descriptor), static_cast<uint8_t*>(mapped), bytes));
}

StagingMemory::~StagingMemory() {
  ::munmap(bytes_, size_);
}

}  // namespace kvpool::client
