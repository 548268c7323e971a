// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/host_memory.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace kvpool::ascend {
namespace {

/// Of this thread, while this lives.
class PreferredNode {
 public:
  explicit PreferredNode(uint32_t node) {
    if (node >= kNodes || ::syscall(SYS_get_mempolicy, &mode_, before_.data(), kBits, nullptr, 0UL) != 0) return;
    Mask wanted{};
    wanted.at(node / kWordBits) = 1UL << node % kWordBits;
    isSet_ = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, wanted.data(), kBits) == 0;
  }
  ~PreferredNode() {
    if (isSet_) (void)::syscall(SYS_set_mempolicy, mode_, before_.data(), kBits);
  }
  PreferredNode(const PreferredNode&) = delete;
  PreferredNode& operator=(const PreferredNode&) = delete;

 private:
  /// That a kernel can be built for.
  static constexpr uint32_t kNodes = 1024;
  static constexpr uint32_t kWordBits = 8 * sizeof(unsigned long);
  using Mask = std::array<unsigned long, kNodes / kWordBits + 1>;
  static constexpr unsigned long kBits = kNodes + 1;  // the kernel counts one bit less than it is told

  int mode_ = 0;
  Mask before_{};
  bool isSet_ = false;
};

}  // namespace

AclError mallocHost(const Acl& acl, std::optional<uint32_t> node, void** memory, uint64_t bytes) {
  std::optional<PreferredNode> preferred;
  if (node) preferred.emplace(*node);
  return acl.mallocHost(memory, bytes);
}

}  // namespace kvpool::ascend
