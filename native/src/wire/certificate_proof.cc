// SPDX-License-Identifier: Apache-2.0
#include "wire/certificate_proof.h"

#include "dev_kvpool_wire/CertificateProof.h"
#include "dev_kvpool_wire/CertificateProven.h"
#include "wire/frame.h"

namespace kvpool::wire {
namespace {

std::vector<uint8_t> copy(std::string_view bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool isCertificateProof(Body body) {
  return templateOf(body) == sbe::CertificateProof::sbeTemplateId();
}

bool isAboutCertificates(Body body) {
  return isCertificateProof(body) || templateOf(body) == sbe::CertificateProven::sbeTemplateId();
}

void appendCertificateProof(Bytes& out, const CertificateProof& proof) {
  size_t room = groupRoom(proof.chain.size(), 0) + textRoom(proof.signature.size());
  for (const std::vector<uint8_t>& certificate : proof.chain)
    room += textRoom(certificate.size());
  appendFrame<sbe::CertificateProof>(out, room, [&](sbe::CertificateProof& message) {
    auto& chain = message.chainCount(static_cast<uint16_t>(proof.chain.size()));
    for (const std::vector<uint8_t>& certificate : proof.chain) {
      chain.next().putCertificate(reinterpret_cast<const char*>(certificate.data()),
                                  static_cast<uint32_t>(certificate.size()));
    }
    message.putSignature(reinterpret_cast<const char*>(proof.signature.data()),
                         static_cast<uint32_t>(proof.signature.size()));
  });
}

CertificateProof readCertificateProof(Body body) {
  Reader<sbe::CertificateProof> reader(body);
  CertificateProof proof;
  size_t left = kProofBytesMax;
  proof.chain = reader.list(&sbe::CertificateProof::chain, kProofCertificatesMax, [&](auto& entry) {
    const std::string_view certificate = reader.bytes(entry, left);
    left -= certificate.size();
    return copy(certificate);
  });
  proof.signature = copy(reader.bytes(kProofBytesMax));
  return proof;
}

void appendCertificateProven(Bytes& out, std::string_view problem) {
  const std::string_view text = problem.substr(0, kTextBytesMax);
  appendFrame<sbe::CertificateProven>(out, textRoom(text.size()),
                                      [&](sbe::CertificateProven& message) { message.putProblem(text); });
}

std::string readCertificateProven(Body body) {
  Reader<sbe::CertificateProven> reader(body);
  return text(reader.bytes(), "problem");
}

}  // namespace kvpool::wire
