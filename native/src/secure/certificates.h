// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "secure/credentials.h"

namespace kvpool::secure {

/// The directory that a process has its certificate, key and roots from: tls.crt, tls.key, ca.crt. Looked at now and
/// then, so that renewed files serve new connections. One thread at a time.
class Certificates {
 public:
  /// At most; certificates with less than 200 s left are looked at more often.
  static constexpr int64_t kLookEveryMs = 10'000;

  /// KV_IO or KV_INVALID_ARGUMENT with the file, the cause and what to do.
  static Result<std::unique_ptr<Certificates>> open(const std::string& directory);

  [[nodiscard]] const std::shared_ptr<const Credentials>& current() const { return current_; }

  /// Reads the files again when that is due. What is valid and new replaces the present credentials; what is not is
  /// logged once, and the present ones stay.
  void look(int64_t nowMs);

 private:
  explicit Certificates(std::string directory) : directory_(std::move(directory)) {}
  Status read();
  [[nodiscard]] int64_t lookAgainInMs() const;

  const std::string directory_;
  PemTriple seen_;
  std::shared_ptr<const Credentials> current_;
  int64_t nextLookMs_ = INT64_MIN;
  std::string problem_;  // logged already
};

}  // namespace kvpool::secure
