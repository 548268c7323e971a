// SPDX-License-Identifier: Apache-2.0
#include "secure/grant_seal.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>

#include "secure/openssl.h"

namespace kvpool::secure {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

/// What is signed in front of the key: numbers one behind the other.
class Head {
 public:
  template <typename Number>
  Head& add(Number value) {
    std::memcpy(bytes_.data() + length_, &value, sizeof value);
    length_ += sizeof value;
    return *this;
  }
  [[nodiscard]] const uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] size_t length() const { return length_; }

 private:
  std::array<uint8_t, 53> bytes_{};
  size_t length_ = 0;
};

EVP_MAC* hmac() {
  static EVP_MAC* const fetched = EVP_MAC_fetch(libraryContext(), OSSL_MAC_NAME_HMAC, nullptr);
  return fetched;
}

/// Of calls that fail only where they are called wrongly, or without memory.
void must(int done) {
  if (done != 1) throw std::runtime_error("HMAC-SHA256 of OpenSSL failed: " + lastFailure());
}

}  // namespace

void GrantSeal::Free::operator()(evp_mac_ctx_st* context) const {
  EVP_MAC_CTX_free(context);
}

GrantSeal::GrantSeal(const GrantSecret& secret) : context_(EVP_MAC_CTX_new(hmac())) {
  if (!context_) throw std::runtime_error("OpenSSL has no HMAC: " + lastFailure());
  std::array<char, 7> digest = {'S', 'H', 'A', '2', '5', '6', '\0'};  // is not written to
  const std::array<OSSL_PARAM, 2> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
  must(EVP_MAC_init(context_.get(), secret.data(), secret.size(), parameters.data()));
}

GrantMac GrantSeal::of(const GrantClaims& claims) {
  Head head;
  head.add(claims.authority.epoch).add(claims.authority.nonce);
  head.add(claims.object.epoch).add(claims.object.counter).add(claims.payloadLength);
  head.add(claims.retention.pins).add(claims.retention.softPinMs).add(claims.retention.group);
  must(EVP_MAC_init(context_.get(), nullptr, 0, nullptr));  // the key stays
  must(EVP_MAC_update(context_.get(), head.data(), head.length()));
  must(EVP_MAC_update(context_.get(), reinterpret_cast<const uint8_t*>(claims.key.data()), claims.key.size()));
  std::array<uint8_t, 32> whole{};
  size_t length = 0;
  must(EVP_MAC_final(context_.get(), whole.data(), &length, whole.size()));
  GrantMac mac;
  std::memcpy(&mac.first, whole.data(), sizeof mac.first);
  std::memcpy(&mac.second, whole.data() + sizeof mac.first, sizeof mac.second);
  return mac;
}

}  // namespace kvpool::secure
