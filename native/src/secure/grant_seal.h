// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/grant.h"

struct evp_mac_ctx_st;

namespace kvpool::secure {

/// Computes the MACs of the grants for one storage node. For one thread.
class GrantSeal {
 public:
  /// Throws std::runtime_error where OpenSSL has no HMAC-SHA256.
  explicit GrantSeal(const GrantSecret& secret);

  [[nodiscard]] GrantMac of(const GrantClaims& claims);

 private:
  struct Free {
    void operator()(evp_mac_ctx_st* context) const;
  };
  std::unique_ptr<evp_mac_ctx_st, Free> context_;
};

}  // namespace kvpool::secure
