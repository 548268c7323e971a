// SPDX-License-Identifier: Apache-2.0
#include "secure/enrolment.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "kvpool/enrol.h"

namespace kvpool::secure {
namespace {

const std::string kToken = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOlsiYSJdfQ.c2lnbmF0dXJl-_x";

/// What base64url without padding stands for, by OpenSSL's own decoder.
std::vector<uint8_t> decoded(std::string text) {
  for (char& c : text)
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t missing = (4 - text.size() % 4) % 4;
  text.append(missing, '=');
  std::vector<uint8_t> bytes(text.size() / 4 * 3);
  EXPECT_EQ(EVP_DecodeBlock(bytes.data(), reinterpret_cast<const uint8_t*>(text.data()), static_cast<int>(text.size())),
            static_cast<int>(bytes.size()));
  return {bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(missing)};
}

struct Drop {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};

/// Whether the proof in the query is the signature over the text by the key that is in it.
bool proves(const std::string& query, const std::string& text) {
  const size_t second = query.find("&proof=");
  const std::vector<uint8_t> encoded = decoded(query.substr(4, second - 4));
  const std::vector<uint8_t> signature = decoded(query.substr(second + 7));
  const uint8_t* at = encoded.data();
  const std::unique_ptr<EVP_PKEY, Drop> key(d2i_PUBKEY(nullptr, &at, static_cast<long>(encoded.size())));
  if (!key) return false;
  const std::unique_ptr<EVP_MD_CTX, Drop> digest(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get());
  return EVP_DigestVerify(digest.get(), signature.data(), signature.size(),
                          reinterpret_cast<const uint8_t*>(text.data()), text.size()) == 1;
}

TEST(EnrolmentRequest, ProvesThatItHasTheKeyForThisTokenAlone) {
  const Result<EnrolmentRequest> made = EnrolmentRequest::make(kToken);
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_TRUE(proves(made.value().query, "kvpool enrol\n" + kToken));
  EXPECT_FALSE(proves(made.value().query, "kvpool enrol\n" + kToken + "x"));
  EXPECT_FALSE(proves(made.value().query, kToken));
  EXPECT_EQ(made.value().query.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=&"),
            std::string::npos)
      << "goes into a URL as it is: " << made.value().query;
}

TEST(EnrolmentRequest, ThePrivateKeyIsTheOneOfTheQueryAndNewEachTime) {
  const Result<EnrolmentRequest> made = EnrolmentRequest::make(kToken);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const std::string& pem = made.value().privateKey;
  EXPECT_EQ(pem.rfind("-----BEGIN PRIVATE KEY-----", 0), 0u) << pem.substr(0, 30);
  const std::unique_ptr<BIO, Drop> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<EVP_PKEY, Drop> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  ASSERT_TRUE(key);
  uint8_t* encoded = nullptr;
  const int length = i2d_PUBKEY(key.get(), &encoded);
  const std::string& query = made.value().query;
  EXPECT_EQ(std::vector<uint8_t>(encoded, encoded + length), decoded(query.substr(4, query.find('&') - 4)));
  OPENSSL_free(encoded);

  const Result<EnrolmentRequest> other = EnrolmentRequest::make(kToken);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other.value().privateKey, pem);
}

TEST(EnrolmentRequest, WhatIsNoTokenIsRefusedWithWhatToDo) {
  for (const std::string& token :
       {std::string(), std::string("a.b"), std::string("a.b.c.d"), std::string("a.b.c\n"), std::string("a.b.c\r\nX: y"),
        std::string("a b.c.d"), std::string("\xC3\xA4.b.c"), std::string("a.b.c\0", 6)}) {
    const Result<EnrolmentRequest> made = EnrolmentRequest::make(token);
    ASSERT_FALSE(made.ok()) << token;
    EXPECT_EQ(made.status().code(), KV_INVALID_ARGUMENT);
    EXPECT_NE(made.status().text().find("mount a projected volume"), std::string::npos) << made.status().text();
  }
  EXPECT_TRUE(EnrolmentRequest::make("a.b." + std::string(KV_ENROL_TOKEN_BYTES_MAX - 4, 'c')).ok());
  const Result<EnrolmentRequest> huge = EnrolmentRequest::make("a.b." + std::string(KV_ENROL_TOKEN_BYTES_MAX - 3, 'c'));
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.status().text().find("more than 8192 bytes"), std::string::npos) << huge.status().text();
}

}  // namespace
}  // namespace kvpool::secure
