// SPDX-License-Identifier: Apache-2.0
#include "wire/certificate_proof.h"

#include <gtest/gtest.h>

#include <vector>

#include "wire/frame.h"
#include "wire/handshake.h"

namespace kvpool::wire {
namespace {

Body bodyOf(const Bytes& frame) {
  return Body(frame).subspan(kFrameHeaderBytes);
}

TEST(CertificateProofTest, IsReadAsItWasMeant) {
  const CertificateProof sent{{{1, 2, 3}, {}, {4}}, {5, 6}};
  Bytes frame;
  appendCertificateProof(frame, sent);
  ASSERT_TRUE(isCertificateProof(bodyOf(frame)));
  ASSERT_TRUE(isAboutCertificates(bodyOf(frame)));
  const CertificateProof read = readCertificateProof(bodyOf(frame));
  EXPECT_EQ(read.chain, sent.chain);
  EXPECT_EQ(read.signature, sent.signature);
  for (size_t size = 0; size < bodyOf(frame).size(); ++size)
    EXPECT_THROW(readCertificateProof(bodyOf(frame).first(size)), Malformed) << size;
}

TEST(CertificateProofTest, ItsAnswerIsReadAsItWasMeant) {
  Bytes frame;
  appendCertificateProven(frame, "why not");
  EXPECT_FALSE(isCertificateProof(bodyOf(frame)));
  EXPECT_TRUE(isAboutCertificates(bodyOf(frame)));
  EXPECT_EQ(readCertificateProven(bodyOf(frame)), "why not");
  Bytes other;
  appendHeartbeat(other);
  EXPECT_FALSE(isAboutCertificates(bodyOf(other)));
}

TEST(CertificateProofTest, TooMuchIsRefused) {
  const std::vector<uint8_t> half(kProofBytesMax / 2);
  const auto read = [](const CertificateProof& proof) {
    Bytes frame;
    appendCertificateProof(frame, proof);
    return readCertificateProof(bodyOf(frame));
  };
  EXPECT_EQ(read({{half, half}, {}}).chain.size(), 2u);
  EXPECT_THROW(read({{half, half, {1}}, {}}), Malformed) << "of all certificates";
  EXPECT_THROW(read({{}, std::vector<uint8_t>(kProofBytesMax + 1)}), Malformed);
  EXPECT_THROW(read({std::vector<std::vector<uint8_t>>(kProofCertificatesMax + 1), {}}), Malformed);
}

}  // namespace
}  // namespace kvpool::wire
