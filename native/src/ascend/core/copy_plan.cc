// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/copy_plan.h"

#include <algorithm>
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

bool isByHost(const Copy& copy) {
  const CopyKind kind = kindOf(copy);
  return kind == CopyKind::HostToDevice || kind == CopyKind::DeviceToHost;
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

uint64_t bytesByHost(std::span<const Copy> copies) {
  uint64_t bytes = 0;
  for (const Copy& copy : copies) {
    if (isByHost(copy)) bytes += std::min<uint64_t>(copy.length, UINT64_MAX - bytes);
  }
  return bytes;
}

std::vector<CopyRound> planRounds(std::span<const Copy> copies, uint8_t* room, uint64_t roomBytes) {
  std::vector<CopyRound> rounds(1);
  uint64_t used = 0;
  for (const Copy& copy : copies) {
    if (copy.length == 0) continue;
    if (!isByHost(copy)) {
      const bool ofHost = kindOf(copy) == CopyKind::HostToHost;
      (ofHost ? rounds.back().before : rounds.back().device).push_back(copy);
      continue;
    }
    for (size_t done = 0; done < copy.length;) {
      if (used == roomBytes) {
        rounds.emplace_back();
        used = 0;
      }
      const size_t length = std::min<uint64_t>(copy.length - done, roomBytes - used);
      Copy part{copy.to + done, copy.from + done, length, copy.toAt, copy.fromAt};
      uint8_t* const between = room + used;
      if (kindOf(copy) == CopyKind::HostToDevice) {
        rounds.back().before.push_back({between, part.from, length});
        part.from = between;
      } else {
        rounds.back().after.push_back({part.to, between, length});
        part.to = between;
      }
      rounds.back().device.push_back(part);
      done += length;
      used += length;
    }
  }
  return rounds;
}

}  // namespace kvpool::ascend
