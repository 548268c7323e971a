// SPDX-License-Identifier: Apache-2.0
// What a process shows of itself and whom it trusts: a certificate, its key and roots, checked together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "secure/foreign_names.h"
#include "secure/names.h"

struct ssl_ctx_st;
struct x509_st;
struct x509_store_ctx_st;

namespace kvpool::secure {

/// Contents of the three files of a certificate directory, and of the one beside it that says what other names are.
struct PemTriple {
  std::string certificates;                         // tls.crt: the process's own first, then what leads to a root
  std::string key;                                  // tls.key: PKCS#8, EC P-256 or RSA
  std::string roots;                                // ca.crt
  std::optional<std::string> names = std::nullopt;  // see ForeignNames
  friend bool operator==(const PemTriple&, const PemTriple&) = default;
};

/// SHA-256 of a root certificate.
using RootDigest = std::array<uint8_t, 32>;

/// Immutable; sessions share it, and outlive its successor. From any thread.
class Credentials {
 public:
  /// KV_INVALID_ARGUMENT names the file, what is wrong with it and what to do. `directory` is for these sentences.
  static Result<std::shared_ptr<const Credentials>> parse(const PemTriple& triple, const std::string& directory);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// With the end of the certificate.
  [[nodiscard]] const PeerName& self() const { return self_; }
  /// What certificates of others stand for.
  [[nodiscard]] const ForeignNames& foreign() const { return foreign_; }
  /// The root that the process's own certificate leads to.
  [[nodiscard]] const RootDigest& root() const { return root_; }
  /// Whether certificates that lead to this root are believed.
  [[nodiscard]] bool trusts(const RootDigest& root) const;
  /// Whether both have the same tls.crt.
  [[nodiscard]] bool showsTheSame(const Credentials& other) const { return chain_ == other.chain_; }
  /// Of OpenSSL; for both ends of connections.
  [[nodiscard]] ssl_ctx_st* context() const { return context_; }

 private:
  Credentials(ssl_ctx_st* context, std::string chain, PeerName self, ForeignNames foreign, const RootDigest& root,
              std::vector<RootDigest> roots)
      : context_(context),
        chain_(std::move(chain)),
        self_(std::move(self)),
        foreign_(std::move(foreign)),
        root_(root),
        roots_(std::move(roots)) {}

  ssl_ctx_st* context_;
  std::string chain_;  // in PEM
  PeerName self_;
  ForeignNames foreign_;
  RootDigest root_;
  std::vector<RootDigest> roots_;
};

/// The root that the certificate leads to which was just checked.
RootDigest rootOf(x509_store_ctx_st* check);

/// The one name of a certificate, with its end. KV_INVALID_ARGUMENT when it has none, several, or one that is
/// malformed.
Result<PeerName> nameOf(x509_st* certificate, const ForeignNames& foreign);

/// Where the file is that says what names of others are: not in the directory, in which those who fill it may leave no
/// room.
std::string namesFile(const std::string& directory);

/// Why a certificate does not do, by the number that OpenSSL has for it, and what to do.
std::string verificationProblem(int error);

}  // namespace kvpool::secure
