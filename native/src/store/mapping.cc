// SPDX-License-Identifier: Apache-2.0
#include "store/mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <utility>

namespace kvpool::store {

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), length_(std::exchange(other.length_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(length_, other.length_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, length_);
}

Result<Mapping> Mapping::map(int fd, uint64_t length, bool writable, uint64_t offset) {
  if (length == 0) return Mapping();
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = ::mmap(nullptr, length, access, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return systemError("cannot map " + std::to_string(length) + " bytes", errno);
  return Mapping(static_cast<uint8_t*>(data), length);
}

}  // namespace kvpool::store
