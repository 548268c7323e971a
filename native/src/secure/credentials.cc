// SPDX-License-Identifier: Apache-2.0
#include "secure/credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "secure/openssl.h"
#include "secure/session.h"

namespace kvpool::secure {
namespace {

constexpr int kChainMax = 8;
constexpr int kRsaBitsMin = 2048;

using OwnedStoreContext = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using OwnedNames = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using OwnedTime = std::unique_ptr<ASN1_TIME, Free<ASN1_TIME_free>>;

Status bad(const std::string& file, const std::string& what) {
  return {KV_INVALID_ARGUMENT, file + " " + what};
}

OwnedBio reading(const std::string& text) {
  OwnedBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!bio) throw std::bad_alloc();
  return bio;
}

/// All certificates of a text. KV_INVALID_ARGUMENT when one is malformed, or there is none.
Result<std::vector<OwnedCertificate>> parseCertificates(const std::string& text, const std::string& file) {
  const OwnedBio bio = reading(text);
  std::vector<OwnedCertificate> all;
  for (;;) {
    X509* certificate = X509_new_ex(libraryContext(), nullptr);
    if (certificate == nullptr) throw std::bad_alloc();
    if (PEM_read_bio_X509(bio.get(), &certificate, nullptr, nullptr) == nullptr) {
      X509_free(certificate);  // null where OpenSSL has freed it
      break;
    }
    all.emplace_back(certificate);
  }
  const bool atEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string failure = lastFailure();
  if (!atEnd) return bad(file, "has a certificate that cannot be read (" + failure + "); write it again, in PEM");
  if (all.empty()) return bad(file, "has no certificate in PEM; it begins with -----BEGIN CERTIFICATE-----");
  return all;
}

/// No process of ours asks on a terminal.
int noPassphrase(char* /*into*/, int /*size*/, int /*writes*/, void* /*user*/) {
  return -1;
}

Result<OwnedKey> parseKey(const std::string& text, const std::string& file) {
  const OwnedBio bio = reading(text);
  OwnedKey key(PEM_read_bio_PrivateKey_ex(bio.get(), nullptr, noPassphrase, nullptr, libraryContext(), nullptr));
  if (!key) {
    return bad(file, "has no private key that can be read (" + lastFailure() +
                         "); it must be PEM, PKCS#8 and without a passphrase");
  }
  if (EVP_PKEY_is_a(key.get(), "RSA") == 1 && EVP_PKEY_get_bits(key.get()) >= kRsaBitsMin) return key;
  std::array<char, 64> group{};
  size_t length = 0;
  if (EVP_PKEY_is_a(key.get(), "EC") == 1 &&
      EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), &length) == 1 &&
      std::string_view(group.data(), length) == "prime256v1") {
    return key;
  }
  ERR_clear_error();
  return bad(file, "has neither a key of EC P-256 nor one of RSA with 2048 bits or more; make one of these");
}

int64_t millisecondsOf(const ASN1_TIME* time) {
  const OwnedTime epoch(ASN1_TIME_set(nullptr, 0));
  int days = 0;
  int seconds = 0;
  if (!epoch || ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) return 0;
  return (int64_t{days} * 86'400 + seconds) * 1000;
}

RootDigest digestOf(const X509* certificate) {
  RootDigest digest{};
  unsigned int length = 0;
  const std::unique_ptr<EVP_MD, Free<EVP_MD_free>> sha256(EVP_MD_fetch(libraryContext(), "SHA256", nullptr));
  if (!sha256 || X509_digest(certificate, sha256.get(), digest.data(), &length) != 1) throw std::bad_alloc();
  return digest;
}

/// The root that it leads to, if a peer that has the same roots would take it.
Result<RootDigest> verifyOwn(SSL_CTX* context, const std::vector<OwnedCertificate>& chain, const std::string& file) {
  const OwnedStoreContext check(X509_STORE_CTX_new_ex(libraryContext(), nullptr));
  const auto drop = [](STACK_OF(X509) * certificates) { sk_X509_free(certificates); };  // a macro
  const std::unique_ptr<STACK_OF(X509), decltype(drop)> owned(sk_X509_new_null(), drop);
  STACK_OF(X509)* const between = owned.get();
  for (size_t i = 1; i < chain.size(); ++i)
    sk_X509_push(between, chain[i].get());
  if (!check || X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context), chain[0].get(), between) != 1) {
    throw std::bad_alloc();
  }
  if (X509_verify_cert(check.get()) == 1) return rootOf(check.get());
  const int error = X509_STORE_CTX_get_error(check.get());
  ERR_clear_error();
  return bad(file, verificationProblem(error));
}

OwnedContext newContext() {
  OwnedContext context(SSL_CTX_new_ex(libraryContext(), nullptr, TLS_method()));
  if (!context) throw std::bad_alloc();
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384");
  // Not what OpenSSL would offer by itself: since 3.5 that begins with X25519 and ML-KEM together, with which a
  // handshake takes more time and 2 KiB more, and after a takeover 1,000 clients have one at once. A string, as
  // OpenSSL's macro takes what may be changed.
  std::string groups = "X25519:P-256";
  SSL_CTX_set1_groups_list(raw, groups.data());
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);  // thousands of connections are idle
  SSL_CTX_set_max_cert_list(raw, static_cast<long>(Session::kBytesBeforeAuthentication));
  SSL_CTX_set_verify_depth(raw, kChainMax);
  Session::prepare(raw);
  return context;
}

}  // namespace

std::string verificationProblem(int error) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "has expired; renew it (kvpool cert issue), and compare the clocks";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "is not valid yet; compare the clocks of both machines";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "was signed by none of the roots in ca.crt; both ends need certificates of the pool's one CA";
    case X509_V_ERR_INVALID_PURPOSE:
      return "is for another purpose; its extended key usage must allow clientAuth and serverAuth";
    default:
      return std::string("does not do: ") + X509_verify_cert_error_string(error);
  }
}

Result<PeerName> nameOf(X509* certificate, const ForeignNames& foreign) {
  const OwnedNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> uris;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type != GEN_URI) continue;
    const auto* const text = static_cast<const ASN1_STRING*>(value);
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<size_t>(ASN1_STRING_length(text)));
  }
  ERR_clear_error();
  if (uris.size() != 1) {
    return Status(KV_INVALID_ARGUMENT, "has " + std::to_string(uris.size()) +
                                           " URIs among its names; it must have exactly one, such as "
                                           "spiffe://POOL-ID/node/NAME (kvpool cert issue)");
  }
  Result<PeerName> name = foreign.name(uris[0]);
  if (name.ok()) name.value().principal.notAfterMs = millisecondsOf(X509_get0_notAfter(certificate));
  return name;
}

RootDigest rootOf(X509_STORE_CTX* check) {
  STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(check);
  return digestOf(sk_X509_value(chain, sk_X509_num(chain) - 1));
}

std::string namesFile(const std::string& directory) {
  const size_t end = directory.find_last_not_of('/');
  return directory.substr(0, end == std::string::npos ? 0 : end + 1) + ".names/names";
}

Result<std::shared_ptr<const Credentials>> Credentials::parse(const PemTriple& triple, const std::string& directory) {
  const std::string certificateFile = directory + "/tls.crt";
  const std::string keyFile = directory + "/tls.key";
  const auto chain = parseCertificates(triple.certificates, certificateFile);
  if (!chain.ok()) return chain.status();
  const auto roots = parseCertificates(triple.roots, directory + "/ca.crt");
  if (!roots.ok()) return roots.status();
  const Result<OwnedKey> key = parseKey(triple.key, keyFile);
  if (!key.ok()) return key.status();
  Result<ForeignNames> foreign = triple.names ? ForeignNames::parse(*triple.names) : ForeignNames();
  if (!foreign.ok()) return bad(namesFile(directory), ": " + foreign.status().text());
  Result<PeerName> self = nameOf(chain.value()[0].get(), foreign.value());
  if (!self.ok()) return bad(certificateFile, ": " + self.status().text());

  OwnedContext context = newContext();
  if (SSL_CTX_use_certificate(context.get(), chain.value()[0].get()) != 1) {
    return bad(certificateFile, "cannot be used: " + lastFailure());
  }
  for (size_t i = 1; i < chain.value().size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context.get(), chain.value()[i].get()) != 1) {
      return bad(certificateFile, "cannot be used: " + lastFailure());
    }
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key.value().get()) != 1 || SSL_CTX_check_private_key(context.get()) != 1) {
    ERR_clear_error();
    return bad(keyFile,
               "is not the key of the first certificate in " + certificateFile + "; write both files of one issue");
  }
  std::vector<RootDigest> digests;
  for (const OwnedCertificate& root : roots.value()) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root.get());
    digests.push_back(digestOf(root.get()));
  }
  ERR_clear_error();
  const Result<RootDigest> own = verifyOwn(context.get(), chain.value(), certificateFile);
  if (!own.ok()) return own.status();
  return std::shared_ptr<const Credentials>(new Credentials(context.release(), triple.certificates,
                                                            std::move(self.value()), std::move(foreign.value()),
                                                            own.value(), std::move(digests)));
}

bool Credentials::trusts(const RootDigest& root) const {
  return std::find(roots_.begin(), roots_.end(), root) != roots_.end();
}

Credentials::~Credentials() {
  SSL_CTX_free(context_);
}

}  // namespace kvpool::secure
