// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvpool {

/// Where people say which certificate a process has, for sentences that ask for one.
inline const std::string kCertificateSettings = "(KVPOOL_IDENTITY_DIR, KVPOOL_TLS_DIR or --tls-dir)";

}  // namespace kvpool
