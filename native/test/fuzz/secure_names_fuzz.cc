// SPDX-License-Identifier: Apache-2.0
// The name in a peer's certificate: whatever is taken for one is written back as it came, or there is a rule for it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "secure/foreign_names.h"

namespace {

/// A name of others names one ServiceAccount, from which that of an engine is made.
void tryForeign(std::string_view uri) {
  static const auto rules = kvpool::secure::ForeignNames::parse(
      "pool 5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01\ntrust-domain c.l\na/m master\na/s node\na/* tenant t ro\n");
  const auto name = rules.value().name(uri);
  if (!name.ok()) return;
  const kvpool::Principal& who = name.value().principal;
  const std::string made = "spiffe://c.l/ns/a/sa/" + (who.name == kvpool::Principal::kAny
                                                          ? (who.role == kvpool::Principal::Role::Master ? "m" : "s")
                                                          : who.name.substr(std::min<size_t>(who.name.size(), 2)));
  if (made != uri && !kvpool::secure::parseName(uri).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view uri(reinterpret_cast<const char*>(data), size);
  tryForeign(uri);
  const auto name = kvpool::secure::parseName(uri);
  if (!name.ok()) return 0;
  const std::string back =
      "spiffe://" + kvpool::toString(name.value().pool) + "/" + kvpool::toString(name.value().principal);
  const auto odd = [](char c) {
    return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '/';
  };
  if (back != uri || size > 400 || std::any_of(back.begin() + 9, back.end(), odd)) std::abort();
  return 0;
}
