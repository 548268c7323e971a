// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "secure/certificates.h"

namespace kvpool::secure {

/// As in kv_node_params and kv_client_params.
enum class Mode : uint8_t { Off, Permissive, Required };

struct Settings {
  std::string directory;  // empty: there are no certificates
  Mode mode = Mode::Off;
};

/// Of tls_dir and tls_mode. KV_INVALID_ARGUMENT for a mode that there is not, and for one that needs a directory
/// without one.
Result<Settings> settingsOf(const char* directory, uint32_t mode);

/// What secures the TCP connections of a process, or says that nothing does. One thread at a time.
class Security {
 public:
  /// Reads the certificates; any failure of Certificates::open().
  static Result<std::shared_ptr<Security>> open(const Settings& settings);

  /// Whether connections are dialled with TLS, and taken with it.
  [[nodiscard]] bool isOn() const { return certificates_ != nullptr; }
  /// Whether also peers without TLS are taken.
  [[nodiscard]] bool takesPlain() const { return mode_ != Mode::Required; }
  /// While it is on.
  [[nodiscard]] const std::shared_ptr<const Credentials>& credentials() const { return certificates_->current(); }

  /// Now and then: takes over what is new in the directory.
  void look(int64_t nowMs) {
    if (certificates_) certificates_->look(nowMs);
  }

 private:
  Mode mode_ = Mode::Off;
  std::unique_ptr<Certificates> certificates_;
};

}  // namespace kvpool::secure
