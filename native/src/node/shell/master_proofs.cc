// SPDX-License-Identifier: Apache-2.0
#include "node/shell/master_proofs.h"

#include <utility>

#include "base/entropy.h"
#include "base/log.h"
#include "net/clock.h"
#include "wire/certificate_proof.h"
#include "wire/frame.h"

namespace kvpool::node {

void MasterProofs::begin(Id id, std::shared_ptr<const secure::Credentials> shown) {
  const auto seed = static_cast<uint32_t>(randomNumber());
  connections_.emplace(id, Connection{secure::ProofSchedule(std::move(shown), seed), false, INT64_MIN, {}, {}});
}

bool MasterProofs::takes(Id id, wire::Body body) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return false;
  const bool isFirst = !std::exchange(found->second.greeted, true);  // the answer to Hello
  return !isFirst && wire::isAboutCertificates(body);
}

void MasterProofs::frame(net::Stream& stream, wire::Body body, const secure::Credentials& own) {
  Connection& connection = connections_.at(stream.id());
  if (wire::isCertificateProof(body)) {
    proofCame(connection, stream, body, own);
  } else {
    answerCame(connection, stream, body);
  }
}

void MasterProofs::proofCame(Connection& connection, net::Stream& stream, wire::Body body,
                             const secure::Credentials& own) {
  const int64_t now = net::steadyMs();
  if (connection.provenAtMs != INT64_MIN && now - connection.provenAtMs < secure::ProofSchedule::kGapMsMin) {
    throw wire::Malformed("proofs of certificates come too fast");
  }
  connection.provenAtMs = now;
  const std::string name = toString(*stream.principal());
  const Status proven = stream.session()->prove(wire::readCertificateProof(body), own);
  if (proven.ok()) {
    log(LogLevel::Debug, "the connection to " + name + " stands by its newer certificate now");
  } else if (proven.text() != connection.objection) {
    log(LogLevel::Warning,
        name + " proves no newer certificate, and its connection ends with the one before: " + proven.text());
  }
  connection.objection = proven.text();
  send_(stream.id(), wire::framed(wire::appendCertificateProven, proven.text()));
}

void MasterProofs::answerCame(Connection& connection, const net::Stream& stream, wire::Body body) {
  const std::string problem = wire::readCertificateProven(body);
  if (!connection.schedule.answered(net::steadyMs(), net::unixMs(), problem.empty())) {
    throw wire::Malformed("an answer to no proof of a certificate");
  }
  if (!problem.empty() && problem != connection.refusal) {
    log(LogLevel::Warning, toString(*stream.principal()) +
                               " does not take the newer certificate of this process, and the connection ends with the "
                               "one before: " +
                               problem);
  }
  connection.refusal = problem;
}

void MasterProofs::tick(net::Stream& stream, const std::shared_ptr<const secure::Credentials>& own) {
  const auto found = connections_.find(stream.id());
  if (found == connections_.end() || !found->second.greeted || stream.session() == nullptr) return;
  if (!found->second.schedule.isDue(net::steadyMs(), net::unixMs(), own)) return;
  const Result<CertificateProof> proof = stream.session()->proof(*own);
  if (!proof.ok()) {
    found->second.schedule.answered(net::steadyMs(), net::unixMs(), false);
    return log(LogLevel::Error, proof.status().text());
  }
  send_(stream.id(), wire::framed(wire::appendCertificateProof, proof.value()));
}

}  // namespace kvpool::node
