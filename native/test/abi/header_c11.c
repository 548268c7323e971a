/* SPDX-License-Identifier: Apache-2.0 */
/* The headers twice, as strict C11: they must stand alone and be guarded. */
#include "kvpool/engine.h"
#include "kvpool/kvpool.h"

int main(void) {
  return kv_abi_version() == 1 ? 0 : 1;
}
