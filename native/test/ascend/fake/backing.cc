// SPDX-License-Identifier: Apache-2.0
#include "backing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace fake_ascend {
namespace {

constexpr size_t kPage = 4096;

size_t wholePages(size_t size) {
  return (size + kPage - 1) / kPage * kPage;
}

}  // namespace

std::shared_ptr<Backing> Backing::make(size_t size) {
  const int file = ::memfd_create("fake-ascend", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (::ftruncate(file, static_cast<off_t>(size)) != 0) {
    ::close(file);
    return nullptr;
  }
  return std::shared_ptr<Backing>(new Backing(file, size));
}

std::shared_ptr<Backing> Backing::open(const std::string& name) {
  int pid = 0;
  int descriptor = 0;
  size_t size = 0;
  if (std::sscanf(name.c_str(), "fake:%d:%d:%zu", &pid, &descriptor, &size) != 3) return nullptr;
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  return file < 0 ? nullptr : std::shared_ptr<Backing>(new Backing(file, size));
}

Backing::~Backing() {
  ::close(file_);
}

std::string Backing::name() const {
  return "fake:" + std::to_string(::getpid()) + ":" + std::to_string(file_) + ":" + std::to_string(size_);
}

bool Backing::mapAt(void* address) const {
  return ::mmap(address, wholePages(size_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_, 0) !=
         MAP_FAILED;
}

void* reserveAddresses(size_t size, size_t alignment) {
  const size_t whole = wholePages(size);
  void* start = ::mmap(nullptr, whole + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(start);
  const uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
  if (aligned > first) ::munmap(start, aligned - first);
  const uintptr_t end = first + whole + alignment;
  if (end > aligned + whole) ::munmap(reinterpret_cast<void*>(aligned + whole), end - aligned - whole);
  return reinterpret_cast<void*>(aligned);
}

void clearAddresses(void* address, size_t size) {
  ::mmap(address, wholePages(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void releaseAddresses(void* address, size_t size) {
  ::munmap(address, wholePages(size));
}

}  // namespace fake_ascend
