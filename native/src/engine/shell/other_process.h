// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "base/fd.h"
#include "base/status.h"
#include "engine/core/neighbor.h"

namespace kvpool::engine {

/// What the kernel says of another process of this machine, and its memory. Nothing here changes that process.
class OtherProcess {
 public:
  virtual ~OtherProcess() = default;

  /// The process `pid`, if it is the one at the other end of our connected `socket`, which it has as `descriptor`, and
  /// is of the same user. That it has that descriptor is what the kernel says, not the peer: without it one peer could
  /// have us read the memory of another process.
  virtual Result<Fd> atTheOtherEnd(int socket, uint32_t pid, uint32_t descriptor);
  virtual bool lives(const Fd& process);
  /// Copies from there to here. Bytes, fewer where memory of either side ends; or a negative errno. One call reads one
  /// memory, also when the process ends meanwhile.
  virtual ssize_t read(uint32_t pid, std::span<const iovec> to, std::span<const iovec> from);
};

/// This process, as others of the machine know it; one that takes no part where the kernel does not say.
ProcessName ownProcess();

}  // namespace kvpool::engine
