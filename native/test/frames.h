// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/frame.h"

namespace kvpool::test {

/// What a frame carries behind its header; a view of the frame.
inline wire::Body bodyOf(const wire::Bytes& frame) {
  return wire::Body(frame).subspan(wire::kFrameHeaderBytes);
}

}  // namespace kvpool::test
