// SPDX-License-Identifier: Apache-2.0
#include "secure/certificate_proof.h"

#include <openssl/err.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "secure/openssl.h"

namespace kvpool::secure {
namespace {

using Bytes = std::vector<uint8_t>;
using OwnedDigest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using OwnedStoreContext = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;

Status refused(const std::string& what) {
  return {KV_NOT_PERMITTED, "its certificate " + what};
}

/// Laid out as what TLS 1.3 signs in CertificateVerify, under another name: neither can be taken for the other.
std::string signedBytes(const CertificateProof& proof, Prover prover, const ConnectionBinding& binding) {
  constexpr size_t kSpaces = 64;
  std::string all(kSpaces, ' ');
  all += prover == Prover::Dialer ? "kvpool, certificate of the dialer" : "kvpool, certificate of the listener";
  all += '\0';
  all.append(reinterpret_cast<const char*>(binding.data()), binding.size());
  for (const Bytes& certificate : proof.chain)
    all.append(certificate.begin(), certificate.end());
  return all;
}

const uint8_t* bytesOf(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

/// For signing or checking, with the one algorithm that there is for the key.
bool useAlgorithm(EVP_PKEY* key, EVP_PKEY_CTX* context) {
  if (EVP_PKEY_is_a(key, "EC") == 1) return true;
  return EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

Result<Bytes> derOf(X509* certificate) {
  uint8_t* bytes = nullptr;
  const int length = i2d_X509(certificate, &bytes);
  if (length < 0) return Status(KV_INTERNAL, "OpenSSL does not write a certificate: " + lastFailure());
  Bytes der(bytes, bytes + length);
  OPENSSL_free(bytes);
  return der;
}

OwnedCertificate parse(const Bytes& der) {
  X509* certificate = X509_new_ex(libraryContext(), nullptr);
  if (certificate == nullptr) throw std::bad_alloc();
  const uint8_t* at = der.data();
  if (d2i_X509(&certificate, &at, static_cast<long>(der.size())) == nullptr) {
    X509_free(certificate);  // null where OpenSSL has freed it
    return nullptr;
  }
  OwnedCertificate owned(certificate);
  return at == der.data() + der.size() ? std::move(owned) : nullptr;
}

bool isSignedBy(X509* certificate, const CertificateProof& proof, Prover prover, const ConnectionBinding& binding) {
  EVP_PKEY* const key = X509_get0_pubkey(certificate);
  const OwnedDigest check(EVP_MD_CTX_new());
  if (!check) throw std::bad_alloc();
  const std::string all = signedBytes(proof, prover, binding);
  EVP_PKEY_CTX* context = nullptr;
  return key != nullptr &&
         EVP_DigestVerifyInit_ex(check.get(), &context, "SHA256", libraryContext(), nullptr, key, nullptr) == 1 &&
         useAlgorithm(key, context) &&
         EVP_DigestVerify(check.get(), proof.signature.data(), proof.signature.size(), bytesOf(all), all.size()) == 1;
}

/// The root that the chain leads to, by the rules of a handshake.
Result<RootDigest> verify(const std::vector<OwnedCertificate>& chain, const Credentials& own, Prover prover) {
  const OwnedStoreContext check(X509_STORE_CTX_new_ex(libraryContext(), nullptr));
  const auto drop = [](STACK_OF(X509) * certificates) { sk_X509_free(certificates); };  // a macro
  const std::unique_ptr<STACK_OF(X509), decltype(drop)> between(sk_X509_new_null(), drop);
  if (!between) throw std::bad_alloc();
  for (size_t i = 1; i < chain.size(); ++i)
    sk_X509_push(between.get(), chain[i].get());
  X509_STORE* const roots = SSL_CTX_get_cert_store(own.context());
  if (!check || X509_STORE_CTX_init(check.get(), roots, chain[0].get(), between.get()) != 1 ||
      X509_STORE_CTX_set_default(check.get(), prover == Prover::Dialer ? "ssl_client" : "ssl_server") != 1) {
    throw std::bad_alloc();
  }
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_depth(rules, SSL_CTX_get_verify_depth(own.context()));
  X509_VERIFY_PARAM_set_auth_level(rules, SSL_CTX_get_security_level(own.context()));
  if (X509_verify_cert(check.get()) == 1) return rootOf(check.get());
  return refused(verificationProblem(X509_STORE_CTX_get_error(check.get())));
}

}  // namespace

Result<CertificateProof> makeProof(const Credentials& own, Prover prover, const ConnectionBinding& binding) {
  ERR_clear_error();
  CertificateProof proof;
  STACK_OF(X509)* between = nullptr;
  SSL_CTX_get0_chain_certs(own.context(), &between);
  std::vector<X509*> chain{SSL_CTX_get0_certificate(own.context())};
  const int rest = std::min(sk_X509_num(between), static_cast<int>(kProofCertificatesMax) - 1);  // no path is longer
  for (int i = 0; i < rest; ++i)
    chain.push_back(sk_X509_value(between, i));
  for (X509* const certificate : chain) {
    Result<Bytes> der = derOf(certificate);
    if (!der.ok()) return der.status();
    proof.chain.push_back(std::move(der.value()));
  }
  EVP_PKEY* const key = SSL_CTX_get0_privatekey(own.context());
  const OwnedDigest signing(EVP_MD_CTX_new());
  if (!signing) throw std::bad_alloc();
  const std::string all = signedBytes(proof, prover, binding);
  EVP_PKEY_CTX* context = nullptr;
  size_t length = 0;
  bool good = EVP_DigestSignInit_ex(signing.get(), &context, "SHA256", libraryContext(), nullptr, key, nullptr) == 1 &&
              useAlgorithm(key, context) &&
              EVP_DigestSign(signing.get(), nullptr, &length, bytesOf(all), all.size()) == 1;
  proof.signature.resize(length);
  good = good && EVP_DigestSign(signing.get(), proof.signature.data(), &length, bytesOf(all), all.size()) == 1;
  if (!good) return Status(KV_INTERNAL, "OpenSSL does not sign with the key of tls.key: " + lastFailure());
  proof.signature.resize(length);  // of ECDSA it varies
  return proof;
}

Result<Proven> checkProof(const CertificateProof& proof, const Credentials& own, Prover prover,
                          const ConnectionBinding& binding) {
  std::vector<OwnedCertificate> chain;
  for (const Bytes& der : proof.chain) {
    chain.push_back(parse(der));
    if (chain.back() == nullptr) {
      ERR_clear_error();
      return refused("cannot be read");
    }
  }
  if (chain.empty() || chain.size() > kProofCertificatesMax) return refused("is missing, or its chain too long");
  const Result<RootDigest> root = verify(chain, own, prover);
  const bool held = root.ok() && isSignedBy(chain[0].get(), proof, prover, binding);
  ERR_clear_error();
  if (!root.ok()) return root.status();
  if (!held) return refused("is not its own: the signature of this connection does not fit");
  Result<PeerName> name = nameOf(chain[0].get(), own.foreign());
  if (!name.ok()) return refused(name.status().text());
  return Proven{std::move(name.value()), root.value()};
}

}  // namespace kvpool::secure
