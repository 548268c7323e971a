// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace kvpool::wire {

/// Bytes of a peer that are not the protocol; what() says which part. The edge that received them catches this, and
/// closes the connection. Every other exception is a defect of this process: no edge catches it.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kvpool::wire
