// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvpool {

/// What one end of a connection says about a newer certificate of its own: the message of that name in the schema.
struct CertificateProof {
  std::vector<std::vector<uint8_t>> chain;  // in DER, its own first
  std::vector<uint8_t> signature;
};

inline constexpr size_t kProofCertificatesMax = 8;

}  // namespace kvpool
