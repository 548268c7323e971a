// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssd/layout.h"

namespace kvpool::test {

/// The smallest tier there may be, on the node whose segment has this identity.
inline const ssd::TierGeometry kGeometry = *ssd::planTier(ssd::kTierBytesMin);
inline const store::SegmentIdentity kIdentity{{0x11, 0x22}, "node-0", 0};
inline constexpr uint32_t kNumber = 99;
inline constexpr ssd::SealKey kKey{1, 2, 3};
inline const ssd::TierHeader kHeader = ssd::newHeader(kGeometry, kIdentity, kNumber);

}  // namespace kvpool::test
