// SPDX-License-Identifier: Apache-2.0
// Loads CANN as this process's environment says and prints what came of it: in a process of its own, since what is
// loaded stays.
#include <cstdio>

#include "ascend/cann/runtime.h"

int main() {
  const kvpool::ascend::Loading loading = kvpool::ascend::loadRuntime();
  std::printf("%s\n%s\n", loading.absence ? toString(*loading.absence) : "Ready", loading.text.c_str());
  return 0;
}
