/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbom.h: what code of other projects is linked into the library. The conventions are those of kvpool.h.
 */
#ifndef KVPOOL_SBOM_H
#define KVPOOL_SBOM_H

#include "kvpool/kvpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A software bill of materials in CycloneDX 1.5 JSON: names, versions, licences. Static memory, never NULL. */
KV_API const char *kv_sbom(void);

#ifdef __cplusplus
}
#endif
#endif
