// SPDX-License-Identifier: Apache-2.0
// What a peer says of a newer certificate: no bytes are a proof, as no input has the key of a member of this run. A
// proof that was good is none when any of its bytes was changed.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "certificate_authority.h"
#include "fuzz/input.h"
#include "secure/certificate_proof.h"
#include "wire/certificate_proof.h"
#include "wire/frame.h"

namespace {

using namespace kvpool;

constexpr secure::ConnectionBinding kBinding{1, 2, 3};

struct Members {
  test::CertificateAuthority authority;
  std::shared_ptr<const secure::Credentials> node = authority.credentials("node/a");
  std::shared_ptr<const secure::Credentials> master = authority.credentials("master/m");
  CertificateProof good = secure::makeProof(*node, secure::Prover::Dialer, kBinding).value();
};

const Members& members() {
  static const Members all;
  return all;
}

bool isTaken(const CertificateProof& proof) {
  return secure::checkProof(proof, *members().master, secure::Prover::Dialer, kBinding).ok();
}

void tryBody(wire::Body body) {
  try {
    if (isTaken(wire::readCertificateProof(body))) std::abort();
  } catch (const wire::Malformed&) {
  }
}

void tryChanged(test::Input& input) {
  CertificateProof proof = members().good;
  if (!isTaken(proof)) std::abort();
  std::vector<uint8_t>& part = input.byte() % 2 == 0 ? proof.chain[0] : proof.signature;
  const size_t at = input.number(2) % part.size();
  const uint8_t change = input.byte();
  if (change == 0) {
    part.resize(at);
  } else {
    part[at] ^= change;
  }
  if (isTaken(proof)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test::Input input(data, size);
  if (input.byte() % 2 == 0) {
    tryBody(wire::Body(data, size).subspan(size == 0 ? 0 : 1));
  } else {
    tryChanged(input);
  }
  return 0;
}
