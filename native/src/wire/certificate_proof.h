// SPDX-License-Identifier: Apache-2.0
// Messages by which the ends of a connection prove newer certificates to each other.
#pragma once

#include <string>
#include <string_view>

#include "base/certificate_proof.h"
#include "wire/sbe.h"

namespace kvpool::wire {

inline constexpr size_t kProofBytesMax = size_t{16} << 10;  // of all certificates, and of the signature

/// Whether it is one of these messages. Throws as everything in sbe.h does, like the next ones.
bool isAboutCertificates(Body body);
bool isCertificateProof(Body body);

void appendCertificateProof(Bytes& out, const CertificateProof& proof);
CertificateProof readCertificateProof(Body body);

/// `problem` is empty when the peer's proof was taken.
void appendCertificateProven(Bytes& out, std::string_view problem);
std::string readCertificateProven(Body body);

}  // namespace kvpool::wire
