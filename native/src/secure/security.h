// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "secure/certificates.h"
#include "secure/payloads.h"

namespace kvpool::secure {

/// As in kv_node_params and kv_client_params.
enum class Mode : uint8_t { Off, Permissive, Required };

struct Settings {
  std::string directory;  // empty: there are no certificates
  Mode mode = Mode::Off;
  Payloads payloads = Payloads::Encrypted;
};

/// Of tls_dir, tls_mode and payloads; `standard` is what KV_PAYLOADS_DEFAULT means. KV_INVALID_ARGUMENT for numbers
/// that there are not, for a mode that needs a directory without one, and for payloads of which something is said
/// without TLS.
Result<Settings> settingsOf(const char* directory, uint32_t mode, uint32_t payloads, Payloads standard);

/// What secures the TCP connections of a process, or says that nothing does. One thread at a time.
class Security {
 public:
  /// Reads the certificates; any failure of Certificates::open().
  static Result<std::shared_ptr<Security>> open(const Settings& settings);

  /// Whether connections are dialled with TLS, and taken with it.
  [[nodiscard]] bool isOn() const { return certificates_ != nullptr; }
  /// Whether also peers without TLS are taken.
  [[nodiscard]] bool takesPlain() const { return mode_ != Mode::Required; }
  /// Of connections with storage nodes, which either end may want encrypted.
  [[nodiscard]] Payloads payloads() const { return payloads_; }
  /// While it is on.
  [[nodiscard]] const std::shared_ptr<const Credentials>& credentials() const { return certificates_->current(); }

  /// Now and then: takes over what is new in the directory.
  void look(int64_t nowMs) {
    if (certificates_) certificates_->look(nowMs);
  }

 private:
  Mode mode_ = Mode::Off;
  Payloads payloads_ = Payloads::Encrypted;
  std::unique_ptr<Certificates> certificates_;
};

}  // namespace kvpool::secure
