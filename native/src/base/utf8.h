// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kvpool {

/// Whether the bytes are well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view bytes);

}  // namespace kvpool
