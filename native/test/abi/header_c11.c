/* SPDX-License-Identifier: Apache-2.0 */
/* The headers twice, as strict C11: they must stand alone and be guarded. */
#include <string.h>

#include "kvpool/engine.h"
#include "kvpool/enrol.h"
#include "kvpool/kvpool.h"

/* Texts of the sizes that the header names, and nothing where they do not fit. */
static int enrols(void) {
  char key[KV_ENROL_KEY_BYTES] = "";
  char query[KV_ENROL_QUERY_BYTES] = "";
  char err[256] = "";
  if (kv_enrol_request("a.b.c", key, 16, query, sizeof query, err, sizeof err) != KV_BUFFER_TOO_SMALL) return 0;
  if (key[0] != 0 || query[0] != 0 || err[0] == 0) return 0;
  if (kv_enrol_request("a.b", key, sizeof key, query, sizeof query, NULL, 0) != KV_INVALID_ARGUMENT) return 0;
  if (kv_enrol_request(NULL, key, sizeof key, query, sizeof query, NULL, 0) != KV_INVALID_ARGUMENT) return 0;
  if (kv_enrol_request("a.b.c", key, sizeof key, query, sizeof query, err, sizeof err) != KV_OK) return 0;
  return strncmp(query, "key=", 4) == 0 && strstr(key, "PRIVATE KEY") != NULL;
}

int main(void) {
  return kv_abi_version() == 1 && enrols() ? 0 : 1;
}
