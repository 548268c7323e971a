// SPDX-License-Identifier: Apache-2.0
#include "secure/security.h"

#include <utility>

#include "kvpool/kvpool.h"

namespace kvpool::secure {

Result<Settings> settingsOf(const char* directory, uint32_t mode) {
  Settings settings;
  if (directory != nullptr) settings.directory = directory;
  switch (mode) {
    case KV_TLS_DEFAULT:
      settings.mode = settings.directory.empty() ? Mode::Off : Mode::Required;
      return settings;
    case KV_TLS_OFF:
      return settings;
    case KV_TLS_PERMISSIVE:
      settings.mode = Mode::Permissive;
      break;
    case KV_TLS_REQUIRED:
      settings.mode = Mode::Required;
      break;
    default:
      return Status(KV_INVALID_ARGUMENT, "tls_mode is " + std::to_string(mode) + ", which is none of KV_TLS_*");
  }
  if (settings.directory.empty()) {
    return Status(KV_INVALID_ARGUMENT,
                  "tls_mode needs a certificate; name the directory that has tls.crt, tls.key and ca.crt in tls_dir");
  }
  return settings;
}

Result<std::shared_ptr<Security>> Security::open(const Settings& settings) {
  auto security = std::make_shared<Security>();
  security->mode_ = settings.mode;
  if (settings.mode == Mode::Off) return security;
  auto certificates = Certificates::open(settings.directory);
  if (!certificates.ok()) return certificates.status();
  security->certificates_ = std::move(certificates.value());
  return security;
}

}  // namespace kvpool::secure
