// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace kvpool::store {

/// Keeps a process alive whose segment file is cut short by somebody else. The kernel answers an access to pages that
/// are gone with SIGBUS, which ends the process without a word, a JVM or an engine included. While a guard lives, such
/// an access in its range meets a page of zeros instead, and lost() says that it did: zeros match no checksum, and the
/// owner must stop before it answers anybody. A SIGBUS anywhere else goes to whoever handled it before.
class SegmentGuard {
 public:
  /// Mappings a process may guard at a time. Beyond, guarded() is false and everything is as without a guard.
  static constexpr size_t kGuardsMax = 64;

  explicit SegmentGuard(std::span<uint8_t> mapping);
  ~SegmentGuard();
  SegmentGuard(const SegmentGuard&) = delete;
  SegmentGuard& operator=(const SegmentGuard&) = delete;

  [[nodiscard]] bool guarded() const { return place_ < kGuardsMax; }
  [[nodiscard]] bool lost() const;

 private:
  size_t place_ = kGuardsMax;
};

}  // namespace kvpool::store
