/* SPDX-License-Identifier: Apache-2.0 */
/* The library names the OpenSSL that it is linked with, not one that was there when the build was configured. */
#include "kvpool/sbom.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char wanted[100];
  snprintf(wanted, sizeof(wanted), "\"name\":\"OpenSSL\",\"version\":\"%s\"", OpenSSL_version(OPENSSL_VERSION_STRING));
  if (strstr(kv_sbom(), wanted) != NULL) return 0;
  printf("no %s in %s\n", wanted, kv_sbom());
  return 1;
}
