// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/copy_plan.h"

#include <array>
#include <utility>

namespace kvpool::ascend {
namespace {

constexpr std::array kKinds = {CopyKind::HostToHost, CopyKind::HostToDevice, CopyKind::DeviceToHost,
                               CopyKind::DeviceToDevice};

CopyKind kindOf(const Copy& copy) {
  const bool toDevice = copy.toAt == Location::Device;
  const bool fromDevice = copy.fromAt == Location::Device;
  if (fromDevice) return toDevice ? CopyKind::DeviceToDevice : CopyKind::DeviceToHost;
  return toDevice ? CopyKind::HostToDevice : CopyKind::HostToHost;
}

}  // namespace

std::vector<CopyCall> planCopies(std::span<const Copy> copies) {
  std::vector<CopyCall> calls;
  for (const CopyKind kind : kKinds) {
    CopyCall call{kind, {}};
    for (uint32_t i = 0; i < copies.size(); ++i) {
      if (copies[i].length == 0 || kindOf(copies[i]) != kind) continue;
      if (call.copies.size() == kCopiesPerCall) calls.push_back(std::exchange(call, CopyCall{kind, {}}));
      call.copies.push_back(i);
    }
    if (!call.copies.empty()) calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace kvpool::ascend
