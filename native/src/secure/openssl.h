// SPDX-License-Identifier: Apache-2.0
// What of OpenSSL this folder has in common: owners of its objects, and the library context that all of it comes from.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace kvpool::secure {

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using OwnedBio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using OwnedCertificate = std::unique_ptr<X509, Free<X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using OwnedSsl = std::unique_ptr<SSL, Free<SSL_free>>;

/// Apart from any OpenSSL that the process has besides, without its configuration, kept until the process ends.
OSSL_LIB_CTX* libraryContext();

/// What OpenSSL says of a failure that it has numbered.
std::string reasonOf(unsigned long failure);
/// What OpenSSL says of the last failure in this thread, which it then forgets.
std::string lastFailure();

}  // namespace kvpool::secure
