// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "ssd/device.h"
#include "ssd/sealing.h"

namespace kvpool::ssd {

/// A device on which all but the headers is encrypted: records with their keys, and payloads. Who changes what lies
/// there changes 16 bytes to random ones at least, which the checksums of records and payloads find as they find
/// damage.
class SealedDevice final : public Device {
 public:
  SealedDevice(std::unique_ptr<Device> device, const TierSecret& secret)
      : device_(std::move(device)), cipher_(secret) {}

  Status read(std::span<const Piece> pieces) override;
  /// Needs memory of its own, at most 1 MiB for a call: the caller's pieces stay as they are.
  Status write(std::span<const Piece> pieces) override;
  Status sync() override { return device_->sync(); }

 private:
  std::unique_ptr<Device> device_;
  BlockCipher cipher_;
};

}  // namespace kvpool::ssd
