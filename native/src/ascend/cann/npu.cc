// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/npu.h"

#include <mutex>
#include <set>

#include "ascend/cann/copier.h"

namespace kvpool::ascend {
namespace {

/// Contexts that were made here. The thread that opened an NPU, or worked for it, may have its context still, and no
/// other one may take it for the caller's: it ends with the one that made it.
class OwnContexts {
 public:
  static OwnContexts& instance() {
    static OwnContexts all;
    return all;
  }
  void add(AclContext context) {
    const std::lock_guard lock(mutex_);
    contexts_.insert(context);
  }
  void remove(AclContext context) {
    const std::lock_guard lock(mutex_);
    contexts_.erase(context);
  }
  bool has(AclContext context) {
    const std::lock_guard lock(mutex_);
    return contexts_.count(context) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<AclContext> contexts_;
};

}  // namespace

Result<std::unique_ptr<Npu>> Npu::open(const Acl& acl, int32_t timeoutMs) {
  std::unique_ptr<Npu> npu(new Npu(acl, timeoutMs));
  if (Status device = npu->useDevice(); !device.ok()) return device;
  npu->copiers_ = std::make_unique<Copiers>(acl, npu->context_, timeoutMs);
  npu->copyMemory_ = std::make_unique<CopyMemory>(acl, npu->context_, *npu->copiers_);
  return npu;
}

Status Npu::useDevice() {
  const AclContext current = acl_.currentContext();
  if (current != nullptr && !OwnContexts::instance().has(current)) {
    context_ = current;
    return {};
  }
  const AclError set = acl_.setDevice(0);
  if (set != kAclOk) return {KV_IO, acl_.problem("the first NPU cannot be used, aclrtSetDevice", set)};
  const AclError made = acl_.createContext(&context_, 0);
  if (made != kAclOk) return {KV_IO, acl_.problem("the first NPU cannot be used, aclrtCreateContext", made)};
  ownsContext_ = true;
  OwnContexts::instance().add(context_);
  return {};
}

Npu::~Npu() {
  copyMemory_.reset();
  const bool mayStillCopy = copiers_ != nullptr && !copiers_->mayStillCopy().ok();
  copiers_.reset();
  if (!ownsContext_ || mayStillCopy) return;
  OwnContexts::instance().remove(context_);
  (void)acl_.destroyContext(context_);
}

Status Npu::copy(std::span<const Copy> copies, int32_t timeoutMs, CopyMemory::Piece& by) {
  Copiers::End end = copiers_->copy(copies, timeoutMs);
  if (end.mayGoOn) by.get_deleter().mayBeInUse = true;
  return std::move(end.status);
}

bool Npu::holds(const void* memory) const {
  const ContextScope scope(acl_, context_);
  return locate(acl_, memory) == Location::Device;
}

}  // namespace kvpool::ascend
