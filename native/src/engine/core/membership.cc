// SPDX-License-Identifier: Apache-2.0
#include "engine/core/membership.h"

#include <string>

#include "base/rights.h"
#include "kvpool/kvpool.h"

namespace kvpool::engine {
namespace {

Status notAClient(const Principal& who) {
  return {KV_NOT_PERMITTED, toString(who) +
                                " has no transfer engine: give its process the certificate of a client, such as "
                                "tenant/TENANT/rw/NAME"};
}

}  // namespace

Status judgeMembers(const Principal* self, const Principal* peer) {
  if (self == nullptr) return {};
  if (peer == nullptr) return {KV_NOT_PERMITTED, "it shows no certificate"};
  for (const Principal* const one : {self, peer}) {
    if (!may(*one, Verb::Transfer)) return notAClient(*one);
  }
  if (self->tenant == peer->tenant) return {};
  return {KV_NOT_PERMITTED, toString(*peer) + " is of tenant " + peer->tenant + " and " + toString(*self) +
                                " of tenant " + self->tenant +
                                ": memory is open to transfer engines of the same tenant only; is the address right, "
                                "and are both certificates those of one tenant?"};
}

Status judgeOwn(const Principal& self) {
  return may(self, Verb::Transfer) ? Status() : notAClient(self);
}

Status judgeWriter(const Principal* who) {
  if (who == nullptr || may(*who, Verb::TransferWrite)) return {};
  return {KV_NOT_PERMITTED, toString(*who) + " may read and not write, by its certificate"};
}

bool isSameMember(const Principal& a, const Principal& b) {
  return actorOf(a) == actorOf(b) && a.tenant == b.tenant;
}

}  // namespace kvpool::engine
