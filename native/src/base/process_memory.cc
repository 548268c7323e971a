// SPDX-License-Identifier: Apache-2.0
#include "base/process_memory.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

#include "base/checked.h"
#include "base/ids.h"

namespace kvpool {

ProcessMemory::ProcessMemory() {
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  receiver_.reset(pipe[0]);
  sender_.reset(pipe[1]);
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    Mapping mapping;  // 7f0c00000000-7f0c00021000 rw-p ...
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, mapping.begin, 16);
    if (first.ptr == end || *first.ptr != '-') continue;
    const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
    if (end - second.ptr < 2) continue;
    mapping.readable = second.ptr[1] == 'r';
    mappings_.push_back(mapping);
  }
}

Status ProcessMemory::judge(uint64_t address, uint64_t length) const {
  // What is no range is for others to refuse.
  if (length == 0 || !checkedAdd(address, length) || mappings_.empty() || isReadable(address, length)) return {};
  return {KV_INVALID_ARGUMENT, "the " + std::to_string(length) + " bytes at 0x" + hex16(address) +
                                   " are no memory that this process can read: kvpool moves memory of the host, not "
                                   "that of an accelerator"};
}

bool ProcessMemory::isReadable(uint64_t address, uint64_t length) const {
  const uint64_t end = address + length;
  auto mapping = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                  [](uint64_t at, const Mapping& one) { return at < one.end; });
  for (uint64_t at = address; at < end; ++mapping) {
    if (mapping == mappings_.end() || mapping->begin > at || !mapping->readable) return false;
    const uint64_t last = std::min(mapping->end, end) - 1;
    if (!canTouch(at) || (last != at && !canTouch(last))) return false;
    at = last + 1;
  }
  return true;
}

/// The kernel looks at the memory in the place of this process, and answers EFAULT where that would end. Not by
/// write(), of which sanitizers have one that looks for itself.
bool ProcessMemory::canTouch(uint64_t address) const {
  if (::syscall(SYS_write, sender_.get(), address, size_t{1}) != 1) return errno != EFAULT;
  char byte = 0;
  return ::read(receiver_.get(), &byte, 1) == 1;
}

}  // namespace kvpool
