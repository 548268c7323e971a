// SPDX-License-Identifier: Apache-2.0
#include "client/shell/client_npu.h"

#include <utility>

#include "ascend/cann/runtime.h"
#include "ascend/shell/process_settings.h"

namespace kvpool::client {

void ClientNpu::use(std::shared_ptr<ascend::Npu> npu) {
  const std::lock_guard lock(mutex_);
  if (npu_) return;
  npu_ = std::move(npu);
  current_.store(npu_.get(), std::memory_order_release);
}

Result<bool> ClientNpu::holds(const void* memory) {
  if (const ascend::Npu* npu = get()) return npu->holds(memory);
  if (!ascend::threadHasContext()) return false;
  const ascend::AclLoading loading = ascend::loadAcl();
  if (loading.acl == nullptr || ascend::locate(*loading.acl, memory).type != ascend::Location::Device) return false;
  if (Status opened = open(*loading.acl, memory); !opened.ok()) return opened;
  return true;
}

Status ClientNpu::admit(const void* memory) {
  const ascend::AclLoading loading = ascend::loadAcl();
  if (loading.acl == nullptr) return {KV_IO, loading.text};
  return open(*loading.acl, memory);
}

Status ClientNpu::open(const ascend::Acl& acl, const void* memory) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ascend::Npu> npu = npu_;
  if (!npu) {
    const auto settings = ascend::processSettings();
    if (!settings.ok()) return settings.status();
    auto opened = ascend::Npu::open(acl, settings.value(), memory);
    if (!opened.ok()) return opened.status();
    npu = std::move(opened.value());
  }
  const Result<bool> holds = npu->holds(memory);
  if (!holds.ok()) return holds.status();
  if (!holds.value()) return {KV_INVALID_ARGUMENT, "ACL does not know it as memory of one"};
  npu_ = std::move(npu);
  current_.store(npu_.get(), std::memory_order_release);
  return {};
}

}  // namespace kvpool::client
