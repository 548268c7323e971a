// SPDX-License-Identifier: Apache-2.0
#include "base/principal.h"

namespace kvpool {

std::string toString(const Principal& principal) {
  switch (principal.role) {
    case Principal::Role::Master:
      return "master/" + principal.name;
    case Principal::Role::Node:
      return "node/" + principal.name;
    case Principal::Role::Agent:
      return "agent/" + principal.name;
    case Principal::Role::Admin:
      return "admin/" + principal.name;
    case Principal::Role::Operator:
      return "operator";
    case Principal::Role::Monitor:
      return "monitor";
    case Principal::Role::Tenant:
      break;
  }
  return "tenant/" + principal.tenant + (principal.readsOnly ? "/ro/" : "/rw/") + principal.name;
}

}  // namespace kvpool
