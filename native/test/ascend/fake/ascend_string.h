// SPDX-License-Identifier: Apache-2.0
// ge::AscendString as the fake offers it. Its text depends on the string ABI of the library, so it never crosses a
// border.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "acl_api.h"

namespace ge {

class AscendString {
 public:
  AscendString() = default;
  FAKE_ASCEND_EXPORT AscendString(const char* text);  // NOLINT: not explicit, as the real one
  FAKE_ASCEND_EXPORT bool operator<(const AscendString& other) const;
  FAKE_ASCEND_EXPORT const char* GetString() const;
  FAKE_ASCEND_EXPORT size_t GetLength() const;

 private:
  std::shared_ptr<std::string> text_;
};

static_assert(sizeof(AscendString) == 16);

}  // namespace ge
