// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace kvpool::secure {

/// What a process asks a master for a certificate with, and the key that the certificate will be for.
struct EnrolmentRequest {
  std::string privateKey;  // PEM, PKCS#8
  std::string query;       // of POST /api/v1/enrol: the public key, and the proof that the private one is here

  /// With a key of its own, EC P-256. KV_INVALID_ARGUMENT for what is no token, with what to do.
  static Result<EnrolmentRequest> make(std::string_view token);
};

}  // namespace kvpool::secure
