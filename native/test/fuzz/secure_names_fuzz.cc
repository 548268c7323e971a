// SPDX-License-Identifier: Apache-2.0
// The name in a peer's certificate: whatever is taken for one is written back as it came.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "secure/names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view uri(reinterpret_cast<const char*>(data), size);
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
