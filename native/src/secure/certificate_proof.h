// SPDX-License-Identifier: Apache-2.0
// How one end of a TLS connection proves, over that connection, that it holds another certificate than its handshake
// has shown; the idea is that of RFC 9261. The certificate's key signs what TLS exports of this connection and of no
// other, so that a proof is worth nothing on another one, and to no one else.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/certificate_proof.h"
#include "base/status.h"
#include "secure/credentials.h"

namespace kvpool::secure {

/// What TLS exports under this label is of one connection, and both ends have it.
using ConnectionBinding = std::array<uint8_t, 32>;
inline constexpr std::string_view kBindingLabel = "EXPORTER-kvpool-certificate-proof";

/// Which end of the connection proves: what one end signs is no proof of the other.
enum class Prover : uint8_t { Dialer, Listener };

Result<CertificateProof> makeProof(const Credentials& own, Prover prover, const ConnectionBinding& binding);

/// Whom a proof has shown.
struct Proven {
  PeerName peer;
  RootDigest root;
};
/// KV_NOT_PERMITTED when the peer does not hold the certificate, or it does not lead to a root of `own`; the sentence
/// is about the peer: "its certificate ...".
Result<Proven> checkProof(const CertificateProof& proof, const Credentials& own, Prover prover,
                          const ConnectionBinding& binding);

}  // namespace kvpool::secure
