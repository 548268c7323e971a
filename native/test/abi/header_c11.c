/* SPDX-License-Identifier: Apache-2.0 */
/* The header twice, as strict C11: it must stand alone and be guarded. */
#include "kvpool/kvpool.h"

int main(void) {
  return kv_abi_version() == 1 ? 0 : 1;
}
