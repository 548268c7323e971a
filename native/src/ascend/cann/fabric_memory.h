// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ascend/cann/runtime.h"
#include "base/status.h"

namespace kvpool::ascend {

/// What link Fabric needs and what else to do, for people: the end of a sentence.
inline constexpr const char* kFabricRemedy =
    "Link Fabric needs chip A3, CANN 9.0, HDK 26.0 and LingQu 1.5. Install them, or use link RoCE: unset "
    "ASCEND_ENABLE_USE_FABRIC_MEM and set HCCL_INTRA_ROCE_ENABLE=1";

/// Memory of this machine that NPUs of a supernode map: by the engine's own function where CANN has it, else by ACL's
/// virtual memory. The device's context must be current in the thread that makes it and in the one that ends it.
class FabricMemory {
 public:
  /// It consists of such pieces, and begins at a multiple of them.
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 30;

  /// Multiples of kPieceBytes.
  struct Wish {
    uint64_t bytes = 0;
    uint64_t least = bytes;        ///< as long as the machine has no more pages
    std::optional<uint32_t> node;  ///< NUMA node that gives them, if it can; where it is ACL that is asked
  };
  /// As many of the bytes as sizeLadder() finds. KV_NO_SPACE when the machine has no pages for the least, KV_IO when
  /// CANN or the driver have no such memory. `runtime` must outlive it.
  static Result<std::unique_ptr<FabricMemory>> allocate(const Runtime& runtime, const Wish& wish);
  ~FabricMemory();
  FabricMemory(const FabricMemory&) = delete;
  FabricMemory& operator=(const FabricMemory&) = delete;

  [[nodiscard]] uint8_t* at() const { return static_cast<uint8_t*>(first_); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  FabricMemory(const Runtime& runtime, uint64_t bytes, std::optional<uint32_t> node)
      : runtime_(runtime), bytes_(bytes), node_(node) {}
  Status take();
  Status takeOfEngine();
  Status takeOfAcl();
  /// Of the node in large pages, else anywhere, else in smaller pages.
  AclError takePhysical();
  [[nodiscard]] Status refused(const std::string& what, AclError error) const;

  const Runtime& runtime_;
  const uint64_t bytes_;
  const std::optional<uint32_t> node_;
  void* first_ = nullptr;
  AclPhysicalMemory physical_ = nullptr;  // null: the engine's own
  bool mapped_ = false;
};

}  // namespace kvpool::ascend
