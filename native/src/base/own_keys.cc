// SPDX-License-Identifier: Apache-2.0
#include "base/own_keys.h"

#include "base/rights.h"

namespace kvpool {
namespace {

constexpr char kMark = '\0';
constexpr std::string_view kDefault = "default";

}  // namespace

OwnKeys::OwnKeys(const std::optional<Principal>& who, bool separated)
    : all_(who ? may(*who, Verb::ReadAny) : !separated) {
  if (!who || who->role != Principal::Role::Tenant || who->tenant == kDefault) return;
  prefix_ = kMark + who->tenant + kMark;
}

bool OwnKeys::isOfTenant(std::string_view qualified) {
  return !qualified.empty() && qualified.front() == kMark;
}

std::string_view OwnKeys::qualify(std::string_view key, std::string& room) const {
  if (key.empty() || key.front() == kMark) return {};
  if (prefix_.empty()) return key;
  room = prefix_;
  room += key;
  return room;
}

bool OwnKeys::see(std::string_view qualified) const {
  if (all_) return true;
  if (prefix_.empty()) return !isOfTenant(qualified);
  return qualified.substr(0, prefix_.size()) == prefix_;
}

}  // namespace kvpool
