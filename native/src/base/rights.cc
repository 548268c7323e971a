// SPDX-License-Identifier: Apache-2.0
#include "base/rights.h"

namespace kvpool {

Actor actorOf(const Principal& who) {
  switch (who.role) {
    case Principal::Role::Master:
      return Actor::Master;
    case Principal::Role::Node:
      return Actor::Node;
    case Principal::Role::Agent:
      return Actor::Agent;
    case Principal::Role::Operator:
      return Actor::Operator;
    case Principal::Role::Monitor:
      return Actor::Monitor;
    case Principal::Role::Admin:
      return Actor::Admin;
    case Principal::Role::Tenant:
      break;
  }
  return who.readsOnly ? Actor::Reader : Actor::Writer;
}

bool may(const Principal& who, Verb verb) {
  return kRights.at(static_cast<size_t>(verb)).at(static_cast<size_t>(actorOf(who)));
}

}  // namespace kvpool
