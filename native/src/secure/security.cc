// SPDX-License-Identifier: Apache-2.0
#include "secure/security.h"

#include <utility>

#include "kvpool/kvpool.h"

namespace kvpool::secure {

namespace {

Result<Settings> modeOf(const char* directory, uint32_t mode) {
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

}  // namespace

Result<Settings> settingsOf(const char* directory, uint32_t mode, uint32_t payloads, Payloads standard) {
  Result<Settings> settings = modeOf(directory, mode);
  if (!settings.ok()) return settings;
  switch (payloads) {
    case KV_PAYLOADS_DEFAULT:
      settings.value().payloads = standard;
      return settings;
    case KV_PAYLOADS_ENCRYPTED:
      settings.value().payloads = Payloads::Encrypted;
      break;
    case KV_PAYLOADS_AUTHENTICATED:
      settings.value().payloads = Payloads::Authenticated;
      break;
    default:
      return Status(KV_INVALID_ARGUMENT,
                    "payloads is " + std::to_string(payloads) + ", which is none of KV_PAYLOADS_*");
  }
  if (settings.value().mode == Mode::Off) {
    return Status(KV_INVALID_ARGUMENT,
                  "payloads are neither encrypted nor authenticated without TLS; name a directory of certificates in "
                  "tls_dir, or leave payloads out");
  }
  return settings;
}

Result<std::shared_ptr<Security>> Security::open(const Settings& settings) {
  auto security = std::make_shared<Security>();
  security->mode_ = settings.mode;
  security->payloads_ = settings.payloads;
  if (settings.mode == Mode::Off) return security;
  auto certificates = Certificates::open(settings.directory);
  if (!certificates.ok()) return certificates.status();
  security->certificates_ = std::move(certificates.value());
  return security;
}

}  // namespace kvpool::secure
