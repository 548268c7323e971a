// SPDX-License-Identifier: Apache-2.0
#include "secure/openssl.h"

#include <openssl/crypto.h>
#include <openssl/err.h>

#include <new>

namespace kvpool::secure {

OSSL_LIB_CTX* libraryContext() {
  static OSSL_LIB_CTX* const context = [] {
    // Before anything else, as the first call decides whether a configuration is read.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    OSSL_LIB_CTX* const made = OSSL_LIB_CTX_new();
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }();
  return context;
}

std::string reasonOf(unsigned long failure) {
  const char* const reason = ERR_reason_error_string(failure);
  return reason == nullptr ? "unknown failure" : reason;
}

std::string lastFailure() {
  std::string text = reasonOf(ERR_peek_last_error());
  ERR_clear_error();
  return text;
}

}  // namespace kvpool::secure
