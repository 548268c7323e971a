// SPDX-License-Identifier: Apache-2.0
#include "base/symbols.h"

#include <dlfcn.h>

namespace kvpool {

void* Symbols::find(const std::string& name) const {
  return ::dlsym(library_, name.c_str());
}

}  // namespace kvpool
