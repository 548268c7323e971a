// SPDX-License-Identifier: Apache-2.0
#include "secure/enrolment.h"

#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kvpool/enrol.h"
#include "secure/openssl.h"

namespace kvpool::secure {
namespace {

/// In front of what is signed: of no use anywhere else.
constexpr std::string_view kPurpose = "kvpool enrol\n";

using OwnedDigest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;

Status failed(const char* doing) {
  return {KV_INTERNAL, std::string("cannot ") + doing + ": " + lastFailure()};
}

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Without padding (RFC 7515).
std::string base64url(std::span<const uint8_t> bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? bytes[at + i] : 0U);
    for (size_t i = 0; i <= count; ++i)
      text += kLetters[group >> (18 - 6 * i) & 63U];
  }
  return text;
}

/// Three parts, as it goes into a header of HTTP.
Status checkToken(std::string_view token) {
  const auto isOfToken = [](char c) { return c == '.' || kLetters.find(c) != std::string_view::npos; };
  if (token.size() > KV_ENROL_TOKEN_BYTES_MAX) {
    return {KV_INVALID_ARGUMENT, "the token has more than " + std::to_string(KV_ENROL_TOKEN_BYTES_MAX) +
                                     " bytes; is it that of a ServiceAccount?"};
  }
  if (std::count(token.begin(), token.end(), '.') == 2 && std::all_of(token.begin(), token.end(), isOfToken)) return {};
  return {KV_INVALID_ARGUMENT,
          "this is no token of a ServiceAccount, which is three parts of base64url with dots between them; mount a "
          "projected volume with a serviceAccountToken"};
}

Result<std::string> privateKeyOf(EVP_PKEY* key) {
  const OwnedBio bio(BIO_new(BIO_s_secmem()));
  char* text = nullptr;
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed("write the key");
  }
  const long length = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(length));
}

Result<std::string> publicKeyOf(EVP_PKEY* key) {
  uint8_t* encoded = nullptr;
  const int length = i2d_PUBKEY(key, &encoded);
  if (length <= 0) return failed("encode the public key");
  std::string text = base64url({encoded, static_cast<size_t>(length)});
  OPENSSL_free(encoded);
  return text;
}

Result<std::string> proofOf(EVP_PKEY* key, std::string_view token) {
  const std::string proven = std::string(kPurpose) + std::string(token);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(proven.data());
  const OwnedDigest digest(EVP_MD_CTX_new());
  size_t length = 0;
  if (!digest || EVP_DigestSignInit_ex(digest.get(), nullptr, "SHA256", libraryContext(), nullptr, key, nullptr) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &length, bytes, proven.size()) != 1) {
    return failed("sign with the key");
  }
  std::vector<uint8_t> signature(length);
  if (EVP_DigestSign(digest.get(), signature.data(), &length, bytes, proven.size()) != 1) {
    return failed("sign with the key");
  }
  return base64url(std::span(signature).first(length));
}

}  // namespace

Result<EnrolmentRequest> EnrolmentRequest::make(std::string_view token) {
  if (Status checked = checkToken(token); !checked.ok()) return checked;
  std::string curve = "P-256";  // OpenSSL takes what may be changed
  const OwnedKey key(EVP_PKEY_Q_keygen(libraryContext(), nullptr, "EC", curve.data()));
  if (!key) return failed("make a key");
  Result<std::string> privateKey = privateKeyOf(key.get());
  if (!privateKey.ok()) return privateKey.status();
  const Result<std::string> publicKey = publicKeyOf(key.get());
  if (!publicKey.ok()) return publicKey.status();
  const Result<std::string> proof = proofOf(key.get(), token);
  if (!proof.ok()) return proof.status();
  return EnrolmentRequest{std::move(privateKey.value()), "key=" + publicKey.value() + "&proof=" + proof.value()};
}

}  // namespace kvpool::secure
