// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made when they run.
#pragma once

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "secure/credentials.h"

namespace kvpool::test {

inline constexpr const char* kPool = "11111111-2222-3333-4444-555555555555";
inline constexpr const char* kOtherPool = "99999999-2222-4333-8444-555555555555";

/// The whole name of a member of kPool.
inline std::string named(const std::string& path) {
  return std::string("spiffe://") + kPool + "/" + path;
}

/// A root that signs what a test asks for, sense or not.
class CertificateAuthority {
 public:
  struct Wish {
    std::vector<std::string> uris = {};
    long beginsInSeconds = -60;
    long endsInSeconds = 3600;
    std::string curve = "P-256";  // empty: RSA
    int rsaBits = 2048;
    std::string purposes = {};  // extended key usage
    size_t padding = 0;         // bytes of a DNS name besides
  };

  /// Of EC; the caller's. What the macro EVP_EC_gen does, without a cast that drops const.
  static EVP_PKEY* newKey(std::string curve) { return EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data()); }

  explicit CertificateAuthority(const std::string& name = "test root") : key_(newKey("P-256")) {
    root_ = sign(name, key_, {{}, -60, 3600, "P-256", 2048, {}, 0}, true);
  }
  ~CertificateAuthority() {
    X509_free(root_);
    EVP_PKEY_free(key_);
  }
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  [[nodiscard]] std::string roots() const { return pem(root_); }

  [[nodiscard]] secure::PemTriple issue(const Wish& wish) const {
    EVP_PKEY* const key = wish.curve.empty() ? EVP_RSA_gen(static_cast<unsigned>(wish.rsaBits)) : newKey(wish.curve);
    X509* const certificate = sign("a member", key, wish, false);
    secure::PemTriple triple{pem(certificate), pem(key), roots()};
    X509_free(certificate);
    EVP_PKEY_free(key);
    return triple;
  }
  /// A member of kPool by the path of its name.
  [[nodiscard]] secure::PemTriple issue(const std::string& path) const { return issue(Wish{{named(path)}}); }
  /// The same as credentials; the test fails if they cannot be used.
  [[nodiscard]] std::shared_ptr<const secure::Credentials> credentials(const Wish& wish) const {
    auto parsed = secure::Credentials::parse(issue(wish), "DIR");
    EXPECT_TRUE(parsed.ok()) << parsed.status().text();
    return parsed.ok() ? parsed.value() : nullptr;
  }
  [[nodiscard]] std::shared_ptr<const secure::Credentials> credentials(const std::string& path) const {
    return credentials(Wish{{named(path)}});
  }

  static void write(const secure::PemTriple& triple, const std::string& directory) {
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/tls.crt") << triple.certificates;
    std::ofstream(directory + "/tls.key") << triple.key;
    std::ofstream(directory + "/ca.crt") << triple.roots;
  }

 private:
  template <typename Write>
  static std::string written(Write write) {
    BIO* const bio = BIO_new(BIO_s_mem());
    write(bio);
    char* data = nullptr;
    const long length = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<size_t>(length));
    BIO_free(bio);
    return text;
  }
  static std::string pem(X509* certificate) {
    return written([certificate](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
  }
  static std::string pem(EVP_PKEY* key) {
    return written([key](BIO* bio) { PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
  }

  /// The caller's.
  static X509_NAME* newName(const std::string& text) {
    X509_NAME* const name = X509_NAME_new();
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1,
                               0);
    return name;
  }

  static void add(X509* certificate, int nid, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    ASSERT_NE(extension, nullptr) << value;
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  [[nodiscard]] X509* sign(const std::string& subject, EVP_PKEY* key, const Wish& wish, bool isRoot) const {
    static long serial = 0;
    X509* const certificate = X509_new();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), wish.beginsInSeconds);
    X509_gmtime_adj(X509_getm_notAfter(certificate), wish.endsInSeconds);
    X509_NAME* const name = newName(subject);
    X509_set_subject_name(certificate, name);
    X509_set_issuer_name(certificate, isRoot ? name : X509_get_subject_name(root_));
    X509_NAME_free(name);
    X509_set_pubkey(certificate, key);
    if (isRoot) add(certificate, NID_basic_constraints, "critical,CA:TRUE");
    if (!wish.purposes.empty()) add(certificate, NID_ext_key_usage, wish.purposes);
    std::string alternatives;
    for (const std::string& uri : wish.uris)
      alternatives += (alternatives.empty() ? "URI:" : ",URI:") + uri;
    for (size_t made = 0; made < wish.padding; made += 1000)
      alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + std::string(1000, 'x');
    if (!alternatives.empty()) add(certificate, NID_subject_alt_name, alternatives);
    X509_sign(certificate, key_, EVP_sha256());
    return certificate;
  }

  EVP_PKEY* key_;
  X509* root_ = nullptr;
};

}  // namespace kvpool::test
